package textform

import (
	"strings"
	"unicode"
)

// Token is one thing to find a text by.
type Token struct {
	Text string
	At   int // the place of its word among the words of the text, from 0
}

// IndexTokens returns what a text is found by: its words, and for scripts that
// are written without spaces (Han, kana, Thai, Lao, Khmer, Myanmar) each
// character and each pair of neighbouring characters as well, so that any piece
// of two characters is found wherever word boundaries were seen. Tokens come in
// order of their words, a word before its characters and pairs.
func IndexTokens(s string) []Token {
	var g grams
	at := 0
	for w := range split(fold(s)) {
		if !w.kept {
			g.last = 0
			continue
		}
		g.word(w.text, at)
		at++
	}
	return g.tokens
}

// QueryTokens returns what to look up for a question's words: what IndexTokens
// gives for a text of these words, neighbouring words in scripts without spaces
// being taken as written together.
func QueryTokens(words []string) []Token {
	var g grams
	for at, w := range words {
		g.word(w, at)
	}
	return g.tokens
}

// grams collects tokens; last is the unspaced character just before, if any.
type grams struct {
	tokens []Token
	last   rune
	lastAt int
}

func (g *grams) word(text string, at int) {
	first := len(g.tokens)
	g.tokens = append(g.tokens, Token{straight(text), at})
	for _, r := range text {
		if r < 0xE00 || !unspaced(r) { // Thai, U+0E00, is the first such script
			g.last = 0
			continue
		}
		if g.last != 0 {
			g.tokens = append(g.tokens, Token{string([]rune{g.last, r}), g.lastAt})
		}
		if len(text) > len(string(r)) {
			g.tokens = append(g.tokens, Token{string(r), at})
		}
		g.last, g.lastAt = r, at
	}
	// A pair that began in the word before stands with that word.
	if len(g.tokens) > first+1 && g.tokens[first+1].At < at {
		g.tokens[first], g.tokens[first+1] = g.tokens[first+1], g.tokens[first]
	}
}

// straight gives a word its typewriter apostrophe, so that "don’t" and "don't"
// are one word to find by.
func straight(word string) string {
	if !strings.ContainsAny(word, "’ʼ") {
		return word
	}
	return strings.NewReplacer("’", "'", "ʼ", "'").Replace(word)
}

// unspaced says that a character belongs to a script that is written without
// spaces between words.
func unspaced(r rune) bool {
	return r == 0x30FC || // the prolonged sound mark, common to both kana
		unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}
