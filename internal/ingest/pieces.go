package ingest

import (
	"iter"
	"strings"
	"unicode/utf8"
)

// pieces cuts a text into pieces of at most so many bytes: at the end of a
// paragraph, line or word, or failing that between characters. Pieces of white
// space are left out.
func pieces(text string, limit int) iter.Seq[string] {
	return func(yield func(string) bool) {
		for len(text) > limit {
			end := cut(text, limit)
			if strings.TrimSpace(text[:end]) != "" && !yield(text[:end]) {
				return
			}
			text = text[end:]
		}
		if strings.TrimSpace(text) != "" {
			yield(text)
		}
	}
}

func cut(text string, limit int) int {
	for _, end := range []string{"\n\n", "\n", " "} {
		if i := strings.LastIndex(text[:limit], end); i > limit/2 {
			return i + len(end)
		}
	}
	return wholeRunes(text, limit)
}

// wholeRunes returns the greatest length up to a limit that cuts no character.
func wholeRunes(text string, limit int) int {
	for end := limit; end > limit-utf8.UTFMax; end-- {
		if utf8.RuneStart(text[end]) {
			return end
		}
	}
	return limit
}

// clip cuts a name to a length in bytes.
func clip(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	const dots = "…"
	return text[:wholeRunes(text, limit-len(dots))] + dots
}
