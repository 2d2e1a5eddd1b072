package textform

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func ExampleWords() {
	fmt.Println(Words("The K8s  outage, in “ＦＲＡ”—again?"))
	// Output: [the k8s outage in fra again]
}

func ExamplePredicate() {
	name, _ := Predicate("Works - At")
	fmt.Println(name)
	// Output: works_at
}

func TestTermForms(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"  Ada\t Lovelace \n", "Ada Lovelace"},
		{"e\u0301", "\u00e9"},                    // combining and precomposed
		{"\uff21\uff22", "AB"},                   // full-width
		{"\ufb01ne", "fine"},                     // ligature
		{"\u212a", "K"},                          // Kelvin sign
		{"Stra\u00dfe", "Straße"},                // case stays
		{"\u0430", "\u0430"},                     // look-alike stays
		{"a\u200bb", "a\u200bb"},                 // zero-width stays: identity is bytes
		{"\u00a0x\u3000y\u2028z\u0085", "x y z"}, // every white space
		{"?x", "?x"},
	} {
		got, err := Term(c.in)
		if err != nil || got != c.want {
			t.Errorf("Term(%q) = %q, %v; want %q", c.in, got, err, c.want)
		}
	}
}

func TestTermRefusals(t *testing.T) {
	long := strings.Repeat("\ufdfa", 1024/33+1) // 3 bytes each before, 33 after
	for _, c := range []struct {
		in   string
		want error
	}{{"", ErrEmpty}, {" \u3000 ", ErrEmpty}, {"a\x00b", ErrControl}, {"a\x1bb", ErrControl}, {"\xff", ErrNotUTF8}, {"\xed\xa0\x80", ErrNotUTF8}} {
		if _, err := Term(c.in); !errors.Is(err, c.want) {
			t.Errorf("Term(%q): %v; want %v", c.in, err, c.want)
		}
	}
	for _, s := range []string{long, strings.Repeat("a", 1025), strings.Repeat(" ", 1<<20) + "a"} {
		if got, err := Term(s); err == nil {
			t.Errorf("Term of %d bytes = %d bytes, no error", len(s), len(got))
		}
	}
	if got, err := Term(strings.Repeat("a  ", 341) + "a"); err != nil || len(got) != 683 {
		t.Errorf("a term that is short once normalised: %d bytes, %v", len(got), err)
	}
	if got, err := Term(strings.Repeat("a", 1024)); err != nil || len(got) != 1024 {
		t.Errorf("a term of exactly the limit: %d bytes, %v", len(got), err)
	}
}

func TestPredicateForms(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"Works At", "works_at"},
		{" works-at ", "works_at"},
		{"WORKS__AT", "works_at"},
		{"Stra\u00dfe", "strasse"},
		{"STRASSE", "strasse"},
		{"a\u200b\u2060b", "ab"},
		{"\u03a3\u03c2", "\u03c3\u03c3"}, // final sigma
		{"\u13a0", "\u13a0"},
		{"\uab70", "\u13a0"},
		{"\u0131", "\u0131"}, // dotless i stays
		{"\u0130", "i\u0307"},
	} {
		got, err := Predicate(c.in)
		if err != nil || got != c.want {
			t.Errorf("Predicate(%q) = %q, %v; want %q", c.in, got, err, c.want)
		}
	}
}

func TestReserved(t *testing.T) {
	for _, s := range []string{"__x", " __x", "_\u200b_x", "\uff3f\uff3fx", "__retrieval_bridge__", "\u2060__X", "__"} {
		if !Reserved(s) {
			t.Errorf("Reserved(%q) = false", s)
		}
	}
	for _, s := range []string{"_x", "x__", "- -x", "", "_ _x"} {
		if Reserved(s) {
			t.Errorf("Reserved(%q) = true", s)
		}
	}
}

func TestWordForms(t *testing.T) {
	for _, c := range []struct {
		in   string
		want []string
	}{
		{"cat concatenate", []string{"cat", "concatenate"}},
		{"C++ costs $5 & more", []string{"c", "+", "+", "costs", "$", "5", "more"}},
		{"3.14 can't e.g.", []string{"3.14", "can't", "e.g"}},
		{"!!! ... ---", nil},
		{"\"AND\" OR (NOT)*", []string{"and", "or", "not"}},
		{"\u4e2d\u6587", []string{"\u4e2d", "\u6587"}},
		{"I \u2764\ufe0f NY \U0001f1e9\U0001f1ea", []string{"i", "\u2764", "ny", "\U0001f1e9\U0001f1ea"}},
		{"\u05e9\u05dc\u05d5\u05dd \u0645\u0631\u062d\u0628\u0627", []string{"\u05e9\u05dc\u05d5\u05dd", "\u0645\u0631\u062d\u0628\u0627"}},
		{"a\u202eb", []string{"ab"}},
		{"bad\xffbytes", []string{"bad", "\ufffd", "bytes"}},
	} {
		if got := Words(c.in); !slices.Equal(got, c.want) {
			t.Errorf("Words(%q) = %q; want %q", c.in, got, c.want)
		}
	}
}

// TestEveryScalar holds the forms idempotent for each code point, alone and
// between letters: the library's folding is not for 172 of them.
func TestEveryScalar(t *testing.T) {
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if !utf8.ValidRune(r) {
			continue
		}
		for _, s := range []string{string(r), "a" + string(r) + "b"} {
			checkIdempotent(t, s)
		}
	}
}

type failer interface {
	Helper()
	Errorf(string, ...any)
}

func checkIdempotent(t failer, s string) {
	t.Helper()
	if once, err := Term(s); err == nil {
		if twice, err := Term(once); err != nil || twice != once {
			t.Errorf("Term(%q) = %q, then %q, %v", s, once, twice, err)
		}
	}
	if once, err := Predicate(s); err == nil {
		if twice, err := Predicate(once); err != nil || twice != once {
			t.Errorf("Predicate(%q) = %q, then %q, %v", s, once, twice, err)
		}
	}
	once := Words(s)
	if twice := Words(strings.Join(once, " ")); !slices.Equal(once, twice) {
		t.Errorf("Words(%q) = %q, then %q", s, once, twice)
	}
}

func TestIdempotentOnMixtures(t *testing.T) {
	odd := []rune("aB '’.,_-:3٣߀ẞßıİΣςKÅﬁ\u0301\u0308\u0327\u0345\u034f\u200b\u200d\ufe0f\u202e\ufdfa\u13a0\uab70\u13f8中ภาษาかカー가각❤🇩🇪👨😀\u2028\u0085\t\u00ad\u0e33\u0e4d\u0344\u1100\u1161\u11a8")
	rapid.Check(t, func(t *rapid.T) {
		checkIdempotent(t, string(rapid.SliceOfN(rapid.SampledFrom(odd), 0, 80).Draw(t, "text")))
	})
}

func FuzzForms(f *testing.F) {
	for _, s := range []string{"", "Ada Lovelace", "\u13a0\uab70", strings.Repeat("a\u0301", 40), "\ufdfa", "\xff\xfe", "ภาษาไทย"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		checkIdempotent(t, s)
		Reserved(s)
		checkFound(t, s)
	})
}

// checkFound holds that each pair of neighbouring characters of a script
// without spaces is a token of the text.
func checkFound(t failer, s string) {
	t.Helper()
	texts := map[string]bool{}
	last := 0
	for _, token := range IndexTokens(s) {
		texts[token.Text] = true
		if token.At < last {
			t.Errorf("IndexTokens(%q): place %d after %d", s, token.At, last)
		}
		last = token.At
	}
	for _, word := range Words(s) {
		runes := []rune(word)
		for i := 1; i < len(runes); i++ {
			if pair := string(runes[i-1 : i+1]); unspaced(runes[i-1]) && unspaced(runes[i]) && !texts[pair] {
				t.Errorf("IndexTokens(%q) lacks %q", s, pair)
			}
		}
	}
}

func TestUnspacedScriptsAreFoundByAnyPair(t *testing.T) {
	for _, text := range []string{"東京都に住む", "データベース設計", "ภาษาไทย", "ພາສາລາວ", "ភាសាខ្មែរ", "မြန်မာ"} {
		texts := map[string]bool{}
		for _, token := range IndexTokens("see " + text + ".") {
			texts[token.Text] = true
		}
		runes := []rune(text)
		for i := 1; i < len(runes); i++ {
			pair := string(runes[i-1 : i+1])
			found := false
			for _, token := range QueryTokens(Words(pair)) {
				found = found || texts[token.Text]
			}
			if !found {
				t.Errorf("%q is not found by %q", text, pair)
			}
		}
	}
}

func TestQueryTokensAgreeWithIndexTokens(t *testing.T) {
	for _, s := range []string{"don’t stop", "中文 test データ", "ภาษา"} {
		index := map[string]bool{}
		for _, token := range IndexTokens(s) {
			index[token.Text] = true
		}
		for _, token := range QueryTokens(Words(s)) {
			if !index[token.Text] && len([]rune(token.Text)) != 2 {
				t.Errorf("%q: the question asks %q, which the text does not have", s, token.Text)
			}
		}
	}
}

// TestLongTexts holds that forms take linear time: 64 KiB of the worst texts
// finish at once, and would not if they were quadratic.
func TestLongTexts(t *testing.T) {
	for _, piece := range []string{"a", "\u0301", "\ufdfa", "中", "👨\u200d", "🇩", "'a", "\u200b", "ก"} {
		s := strings.Repeat(piece, 64<<10/len(piece))
		Words(s)
		IndexTokens(s)
	}
}
