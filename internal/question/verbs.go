package question

import (
	"slices"
	"strings"
)

// plain is a predicate as it stands.
func plain(words []string) [][]string { return [][]string{words} }

// verbs returns the forms of a predicate whose first word is a verb in its base
// form.
func verbs(past bool) func([]string) [][]string {
	return func(words []string) [][]string {
		out := [][]string{words, withFirst(words, thirdPerson(words[0]))}
		if past {
			out = append(out, withFirst(words, pastTense(words[0])))
		}
		return out
	}
}

func withFirst(words []string, first string) []string {
	out := slices.Clone(words)
	out[0] = first
	return out
}

// withLinks adds the prepositions that the answer to an asker often has in the
// predicate: a place "in" or "at", a time "on" or "in".
func withLinks(asker string, forms func([]string) [][]string) func([]string) [][]string {
	var links []string
	switch asker {
	case "where":
		links = []string{"in", "at"}
	case "when":
		links = []string{"on", "in"}
	}
	return func(words []string) [][]string {
		out := forms(words)
		for _, form := range out[:len(out):len(out)] {
			for _, link := range links {
				out = append(out, withLast(form, link))
			}
		}
		return out
	}
}

func thirdPerson(verb string) string {
	switch small := strings.ToLower(verb); {
	case small == "have":
		return "has"
	case small == "be":
		return "is"
	case endsWith(small, "s", "x", "z", "ch", "sh", "o"):
		return verb + "es"
	case endsWith(small, "y") && !endsWith(small, "ay", "ey", "oy", "uy"):
		return verb[:len(verb)-1] + "ies"
	}
	return verb + "s"
}

func pastTense(verb string) string {
	switch small := strings.ToLower(verb); {
	case endsWith(small, "e"):
		return verb + "d"
	case endsWith(small, "y") && !endsWith(small, "ay", "ey", "oy", "uy"):
		return verb[:len(verb)-1] + "ied"
	}
	return verb + "ed"
}

func endsWith(word string, endings ...string) bool {
	return slices.ContainsFunc(endings, func(e string) bool { return strings.HasSuffix(word, e) })
}
