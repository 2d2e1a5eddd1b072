package notes

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Flags say what was seen in a document when it was indexed.
type Flags uint8

// The flags.
const (
	Claim    Flags = 1 << iota // a claim, not a note
	Question                   // the text ends in a question mark, closing quotes and brackets aside
	Name                       // a capitalised word follows a word that ends no sentence, the word I aside
)

func flagsOf(d *Doc) Flags {
	var f Flags
	if d.Claim {
		f |= Claim
	}
	if endsInQuestion(d.Text) {
		f |= Question
	}
	if hasName(d.Text) {
		f |= Name
	}
	return f
}

func endsInQuestion(text string) bool {
	text = strings.TrimRightFunc(text, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.In(r, unicode.Pe, unicode.Pf) || r == '"' || r == '\'' || r == '*'
	})
	last, _ := utf8.DecodeLastRuneInString(text)
	return strings.ContainsRune("?？؟⸮;՞", last)
}

// hasName looks for a capital after a space after a letter, digit or comma.
func hasName(text string) bool {
	before, last := rune(0), rune(0) // the two runes before r
	for i, r := range text {
		if unicode.IsUpper(r) && last == ' ' && (unicode.IsLetter(before) || unicode.IsDigit(before) || before == ',') && !isI(text[i:]) {
			return true
		}
		if r != ' ' || last != ' ' {
			before, last = last, r
		}
	}
	return false
}

// isI says whether a text starts with the word I.
func isI(text string) bool {
	if text[0] != 'I' {
		return false
	}
	next, _ := utf8.DecodeRuneInString(text[1:])
	return !unicode.IsLetter(next)
}

// dayOf returns the day of a time in seconds since 1970.
func dayOf(seconds int64) int32 {
	if seconds == 0 {
		return NoDay
	}
	day := seconds / 86400
	if seconds%86400 < 0 {
		day--
	}
	return int32(max(int64(NoDay)+1, min(day, 1<<31-1)))
}
