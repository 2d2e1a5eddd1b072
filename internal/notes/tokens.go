package notes

import "github.com/grounded-memory/grounded/internal/textform"

// Tokens splits a text into what is indexed and looked up: its words in phrase
// form, and in scripts without spaces its characters and pairs of them.
func Tokens(text string) []string {
	tokens := textform.IndexTokens(text)
	out := make([]string, len(tokens))
	for i, t := range tokens {
		out[i] = t.Text
	}
	return out
}
