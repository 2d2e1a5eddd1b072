package screen

import (
	"encoding/base64"
	"encoding/hex"
	"html"
	"iter"
	"net/url"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// mayEncode is a quick look for text that may hold encoded text.
func mayEncode(text string) bool {
	if strings.ContainsAny(text, "%\\&") {
		return true
	}
	run := 0
	for i := range len(text) {
		if skeleton[text[i]] == 0 && text[i] != '+' && text[i] != '/' {
			run = 0
		} else if run++; run == shortestRun {
			return true
		}
	}
	return false
}

const shortestRun = 16 // characters of a base64 or hex run that is decoded

var (
	escape    = regexp.MustCompile(`\\u\{?[0-9a-fA-F]{2,6}\}?|\\x[0-9a-fA-F]{2}`)
	encodings = regexp.MustCompile(`[A-Za-z0-9+/_-]{16,}={0,2}`)
)

// decoded yields what pieces of a text decode to, if that is readable.
func decoded(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, whole := range []string{unescapeHTML(text), unescapePercent(text), unescapeBackslash(text)} {
			if whole != text && !yield(whole) {
				return
			}
		}
		for _, run := range encodings.FindAllString(text, maxViews) {
			for _, decode := range []func(string) ([]byte, error){hex.DecodeString, decodeBase64} {
				if data, err := decode(run); err == nil && readable(data) && !yield(string(data)) {
					return
				}
			}
		}
	}
}

func unescapeHTML(text string) string {
	if !strings.Contains(text, "&") {
		return text
	}
	return html.UnescapeString(text)
}

func unescapePercent(text string) string {
	if !strings.Contains(text, "%") {
		return text
	}
	// One stray sign must not hide the rest.
	parts := strings.Fields(text)
	for i, p := range parts {
		if plain, err := url.PathUnescape(p); err == nil {
			parts[i] = plain
		}
	}
	return strings.Join(parts, " ")
}

func unescapeBackslash(text string) string {
	if !strings.Contains(text, `\`) {
		return text
	}
	return escape.ReplaceAllStringFunc(text, func(code string) string {
		var r rune
		for _, digit := range strings.ToLower(strings.Trim(code[2:], "{}")) {
			if r <<= 4; digit <= '9' {
				r |= digit - '0'
			} else {
				r |= digit - 'a' + 10
			}
		}
		return string(r)
	})
}

func decodeBase64(run string) ([]byte, error) {
	run = strings.NewReplacer("-", "+", "_", "/").Replace(strings.TrimRight(run, "="))
	if len(run)%4 == 1 {
		run = run[:len(run)-1]
	}
	return base64.RawStdEncoding.DecodeString(run)
}

// readable reports whether decoded bytes are text.
func readable(data []byte) bool {
	if !utf8.Valid(data) {
		return false
	}
	for _, r := range string(data) {
		if !unicode.IsPrint(r) && !unicode.IsSpace(r) {
			return false
		}
	}
	return true
}

func reverse(text string) string {
	out := make([]byte, 0, len(text))
	for len(text) > 0 {
		_, n := utf8.DecodeLastRuneInString(text)
		out = append(out, text[len(text)-n:]...)
		text = text[:len(text)-n]
	}
	return string(out)
}

func rot13(r rune) rune {
	switch {
	case 'a' <= r && r <= 'z':
		return 'a' + (r-'a'+13)%26
	case 'A' <= r && r <= 'Z':
		return 'A' + (r-'A'+13)%26
	}
	return r
}
