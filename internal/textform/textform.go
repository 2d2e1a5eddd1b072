// Package textform makes the three normal forms of text that the rest of the
// program compares: term form, predicate form and phrase form.
//
//   - Term form (entities, values, sources, scope names): NFKC, outer white
//     space trimmed, inner white-space runs made one space, no control
//     characters, not empty. Identity is byte equality: it is case-sensitive,
//     and look-alike letters stay different.
//   - Predicate form: NFKC and Unicode case folding, default-ignorable code
//     points removed, runs of white space, "-" and "_" made one "_".
//   - Phrase form (questions, bridge phrases and targets, for matching only):
//     NFKC, case folding, NFKC again, default-ignorable code points removed,
//     split into words at the boundaries of UAX #29, words kept that hold at
//     least one letter, digit or symbol (emoji are symbols).
//
// Every form is idempotent: the form of a form is itself. Case folding by the
// library swaps the two cases of Cherokee on each application, so those letters
// are folded here by the rule of CaseFolding.txt (to the capitals).
//
// The time is linear in the text, and texts of ASCII take a short cut.
package textform

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/words"
	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// Version names the rules of this package. It changes whenever a text could
// get another form.
const Version = "textform/1"

// Limits in bytes.
const (
	MaxTerm      = 1024 // of a term, after normalising
	MaxPredicate = 128  // of a predicate, after normalising
	MaxScopeName = 128  // of a tenant or namespace, after normalising
	maxRaw       = 16   // times the limit: no longer text is looked at at all
)

// What may be wrong with a text.
var (
	ErrNotUTF8 = errors.New("not valid UTF-8")
	ErrEmpty   = errors.New("empty")
	ErrControl = errors.New("holds a control character")
)

// Term returns the term form of a text.
func Term(s string) (string, error) { return term(s, MaxTerm) }

// ScopeName returns the form of a tenant or a namespace: term form, shorter.
func ScopeName(s string) (string, error) { return term(s, MaxScopeName) }

func term(s string, limit int) (string, error) {
	if err := checkRaw(s, limit); err != nil {
		return "", err
	}
	s = oneSpace(norm.NFKC.String(s), isSpace, ' ')
	s = strings.Trim(s, " ")
	return checkForm(s, limit)
}

// Predicate returns the predicate form of a name.
func Predicate(s string) (string, error) {
	if err := checkRaw(s, MaxPredicate); err != nil {
		return "", err
	}
	return checkForm(oneSpace(strings.TrimFunc(fold(s), isSpace), isJoint, '_'), MaxPredicate)
}

// Reserved says whether a name is reserved for the program: whether it begins
// with two underscores once it is folded, in whatever spelling. Predicate form
// would make one of the two, so this is asked of the name as given.
func Reserved(s string) bool {
	return strings.HasPrefix(strings.TrimLeftFunc(fold(s), isSpace), "__")
}

func checkRaw(s string, limit int) error {
	switch {
	case !utf8.ValidString(s):
		return ErrNotUTF8
	case len(s) > maxRaw*limit:
		return fmt.Errorf("%d bytes; at most %d", len(s), limit)
	}
	return nil
}

func checkForm(s string, limit int) (string, error) {
	switch {
	case s == "":
		return "", ErrEmpty
	case len(s) > limit:
		return "", fmt.Errorf("%d bytes in normal form; at most %d", len(s), limit)
	case strings.ContainsFunc(s, unicode.IsControl):
		return "", ErrControl
	}
	return s, nil
}

func isSpace(r rune) bool { return unicode.Is(unicode.White_Space, r) }

func isJoint(r rune) bool { return r == '-' || r == '_' || isSpace(r) }

// oneSpace replaces each run of characters of a class by one character.
func oneSpace(s string, class func(rune) bool, by rune) string {
	if !strings.ContainsFunc(s, class) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	inRun := false
	for _, r := range s {
		if !class(r) {
			b.WriteRune(r)
		} else if !inRun {
			b.WriteRune(by)
		}
		inRun = class(r)
	}
	return b.String()
}

// fold is NFKC, case folding and NFKC again without default-ignorable code
// points, repeated until it settles: what is removed may let its neighbours
// compose. Bytes that are no UTF-8 become U+FFFD.
func fold(s string) string {
	if lower, ok := foldASCII(s); ok {
		return lower
	}
	s = strings.ToValidUTF8(s, "\uFFFD")
	const settles = 8 // one pass and one to see that nothing changed, nearly always
	for range settles {
		folded := norm.NFKC.String(strings.Map(foldCherokee, cases.Fold().String(norm.NFKC.String(s))))
		folded = strings.Map(dropIgnorable, folded)
		if folded == s {
			break
		}
		s = folded
	}
	return s
}

func foldASCII(s string) (string, bool) {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return "", false
		}
	}
	return strings.ToLower(s), true
}

// foldCherokee folds the small Cherokee letters to the capitals.
func foldCherokee(r rune) rune {
	switch {
	case 0xAB70 <= r && r <= 0xABBF:
		return r - 0xAB70 + 0x13A0
	case 0x13F8 <= r && r <= 0x13FD:
		return r - 8
	}
	return r
}

func dropIgnorable(r rune) rune {
	if r >= 0xAD && ignorable(r) {
		return -1
	}
	return r
}

// ignorable is the derived property Default_Ignorable_Code_Point of
// DerivedCoreProperties.txt, by its definition there.
func ignorable(r rune) bool {
	switch {
	case unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r), unicode.Is(unicode.Variation_Selector, r):
		return true
	case 0xFFF9 <= r && r <= 0xFFFB, 0x13430 <= r && r <= 0x13440, unicode.Is(unicode.Prepended_Concatenation_Mark, r):
		return false
	}
	return unicode.Is(unicode.Cf, r)
}

// Words returns the phrase form of a text as its words. Any text has one; that
// of a text without letters, digits and symbols has no words.
func Words(s string) []string {
	var out []string
	for w := range split(fold(s)) {
		if w.kept {
			out = append(out, w.text)
		}
	}
	return out
}

// Phrase returns the phrase form of a text with a space between the words.
func Phrase(s string) string { return strings.Join(Words(s), " ") }

type segment struct {
	text string
	kept bool
}

// split cuts folded text at word boundaries.
func split(folded string) func(yield func(segment) bool) {
	return func(yield func(segment) bool) {
		tokens := words.FromString(folded)
		for tokens.Next() {
			text := tokens.Value()
			if !yield(segment{text, strings.ContainsFunc(text, isContent)}) {
				return
			}
		}
	}
}

func isContent(r rune) bool {
	if r < utf8.RuneSelf {
		return r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || strings.ContainsRune("$+<=>^`|~", r)
	}
	return unicode.In(r, unicode.L, unicode.N, unicode.S)
}
