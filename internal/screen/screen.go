// Package screen says whether a text looks like an instruction to a language
// model rather than a statement: text that was planted so that whoever reads the
// memory back obeys it.
//
// It is a limited heuristic, not a defence against prompt injection. It knows
// common wordings and disguises, all of them in one list (rules.go and
// markers.go), and it errs towards letting text through: a benign note that is
// withheld is lost to its owner, while text that passes is still shown to
// readers only as quoted data. In the sets that it was measured on (see the
// tests) it flags most of the attacks and next to none of the benign texts,
// many of which hold the same words. It does not understand: a polite request
// to do something else ("now summarise the following text in French") passes.
//
// # How it reads
//
// Words are compared without case, accents, invisible characters and the usual
// disguises: full-width and mathematical letters, look-alikes from Cyrillic,
// Greek and the small capitals, digits for letters (1gn0re), letters set apart
// (i g n o r e), words cut by punctuation (ig-nore), two letters swapped or one
// left out. Hidden text in Unicode tag characters, base64, hex digits, percent
// signs, HTML and backslash escapes, text written backwards and ROT13 are
// decoded and read again.
//
// # How it decides
//
// A rule is a sequence of words, each from a class, with at most so many other
// words between. It weighs 1 to 3. A text is flagged if rules that weigh 3 or
// more together match within 80 words; the reason is the name of the heaviest,
// of equals the first in the list. In a quotation that the text speaks about (as
// an attack, a phrase, an example …) a rule weighs one less. Time is linear in
// the text; a short benign one takes a microsecond or two.
package screen

import (
	"slices"
	"strings"
	"sync"
)

// Version names the rules of this package. It changes whenever a text could get
// another verdict.
const Version = "screen/1"

const (
	threshold = 3  // the weight at which a text is flagged
	window    = 80 // words within which weights add up
	maxViews  = 16 // decoded pieces of a text that are read
)

// EncodedInstruction is the reason given when only a decoded piece of the text
// is instruction-like.
const EncodedInstruction = "encoded_instruction"

// grammar compiles the rules when they are first needed.
var grammar = sync.OnceValue(compile)

// Check returns why a text is instruction-like, as the snake_case name of a
// rule, or "" if nothing about it looks so. Any string is allowed.
func Check(text string) string {
	g := grammar()
	var stack [128]token
	if reason := g.read(text, stack[:0], false); reason != "" {
		return reason
	}
	if !mayEncode(text) {
		return ""
	}
	views := 0
	for view := range decoded(text) {
		if g.read(view, stack[:0], false) != "" {
			return EncodedInstruction
		}
		if views++; views == maxViews {
			break
		}
	}
	return ""
}

// Reasons returns every reason that Check can give, for documentation.
func Reasons() []string { return append(slices.Clone(grammar().names), EncodedInstruction) }

// read judges a text as it stands, and, unless it is itself turned, turned.
func (g *rulebook) read(text string, buffer []token, turned bool) string {
	v := verdict{last: [maxRules]int{}}
	plain := text
	if !isASCII(text) {
		var hidden bool
		if plain, hidden = g.unmask(text); hidden {
			return "hidden_text"
		}
		if reason := unspaced(text); reason != "" {
			return reason
		}
	}
	for name, weight := range markers(plain) {
		v.add(g, name, weight, 0)
	}
	tokens := g.tokens(plain, buffer)
	for i := range tokens {
		for _, p := range g.starts[tokens[i].word] {
			p := &g.patterns[p]
			if !g.matches(p, tokens, i) {
				continue
			}
			weight := p.weight
			if g.mentioned(tokens, i) {
				weight--
			}
			v.add(g, p.rule, weight, i)
		}
	}
	if v.flagged {
		return g.names[v.best]
	}
	if turned {
		return ""
	}
	return g.turned(plain, tokens)
}

// turned reads a text backwards or in ROT13 if its words look like that.
func (g *rulebook) turned(plain string, tokens []token) string {
	backwards, rotated := 0, 0
	for _, t := range tokens {
		switch {
		case g.backwards[t.word]:
			backwards++
		case g.rotated[t.word]:
			rotated++
		}
	}
	const enough = 2
	switch {
	case backwards >= enough && g.read(reverse(plain), nil, true) != "",
		rotated >= enough && g.read(strings.Map(rot13, plain), nil, true) != "":
		return EncodedInstruction
	}
	return ""
}

// verdict adds up what matched.
type verdict struct {
	last    [maxRules]int // 1 + the word at which a rule matched last
	weight  [maxRules]int // and its greatest weight there
	flagged bool
	best    int
	heavy   int
}

func (v *verdict) add(g *rulebook, rule string, weight, at int) {
	n := g.number[rule]
	v.last[n], v.weight[n] = at+1, max(weight, v.weight[n])
	total := 0
	for i, last := range v.last[:len(g.names)] {
		if last > 0 && at-(last-1) <= window {
			total += v.weight[i]
		}
	}
	if total < threshold {
		return
	}
	v.flagged = true
	for i, last := range v.last[:len(g.names)] {
		if last > 0 && at-(last-1) <= window && v.weight[i] > v.heavy {
			v.best, v.heavy = i, v.weight[i]
		}
	}
}
