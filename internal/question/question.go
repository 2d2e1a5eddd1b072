// Package question reads a narrow grammar of questions about facts.
//
// [Parse] turns a text into its possible readings, the best first; it knows no
// facts, so it gives every place where a name could end and a predicate begin,
// and the caller takes the first reading that its facts hold something for.
//
// # Grammar
//
// E is an entity, V a value, P a predicate of one or more words. Small words are
// known in any case; apostrophes may be straight or typographic; "the", "a" and
// "an" before P are skipped, before E and V tried with and without.
//
//	what|who|where|when|which|whose|how is|was|are|were …
//	    E's P · the P of|for E                the value
//	    E P ("where is E located", "who is E married to")
//	    V's P, P of V with the preposition in P ("who is married to V")
//	what|who|where|when does|did|do|has E P   the value ("where does E live")
//	E's P · P of E                            the value
//	[list|show|give me|name|tell me|…] [all] [the] any of these
//	is|was|are|were …
//	    E's P V · V E's P                     does it hold?
//	    the P of E V · V the P of E
//	    E P V ("is E married to V")
//	does|did|do|has|have E P V · does E have P V
//	who|what|which [noun] has [a] P V · … has V as [its] P · whose P is V
//	who|what|which [noun] P V ("who works at V")      the entities
//	list [everyone|…] with P V · whose P is V · that P V
//
// A verb after "does", "do" and "did" is tried as it stands and as the third
// person ("live", "lives"), after "did" in the past too ("lived"), by rule only;
// after "where" each also with "in" and "at", after "when" with "on" and "in".
//
// # Limits
//
// A text of more than 1,024 bytes in term form, or with control characters, has
// no reading; no text has more than 64.
package question

import (
	"slices"
	"strings"

	"github.com/grounded-memory/grounded/internal/textform"
)

// Version names the grammar. It changes whenever a text could get other readings.
const Version = "question/1"

// MaxReadings is the greatest number of readings of one text.
const MaxReadings = 64

// Kind is what a question asks for.
type Kind int

// The kinds of questions.
const (
	ValueOf      Kind = iota + 1 // the values of Predicate of Entity
	EntitiesWith                 // the entities whose Predicate is Value
	Holds                        // whether Predicate of Entity is Value
)

// Question is one reading. Entity and Value are in term form, as written;
// Predicate is in predicate form. What the kind does not need is empty.
type Question struct {
	Kind                     Kind
	Entity, Predicate, Value string
}

// Parse returns the readings of a text, the best first; none if it is no
// question of the grammar.
func Parse(text string) []Question {
	term, err := textform.Term(text)
	if err != nil {
		return nil
	}
	p := parser{seen: map[Question]bool{}}
	words := strings.Fields(term)
	// The text's own punctuation may belong to the last name ("Acme Inc.").
	for _, ending := range endings(words) {
		p.question(ending)
	}
	return p.readings
}

// endings returns the words with the closing marks of a question taken off, then
// with the question marks only, then with all closing punctuation, then as they
// are.
func endings(words []string) [][]string {
	last := words[len(words)-1]
	var out [][]string
	for _, cut := range []string{"?!", "?", "?!.,;:\u2026", ""} {
		ending := slices.Clone(words)
		if trimmed := strings.TrimRight(last, cut); trimmed != "" {
			ending[len(ending)-1] = trimmed
		} else {
			ending = ending[:len(ending)-1]
		}
		same := func(other []string) bool { return slices.Equal(other, ending) }
		if len(ending) > 0 && !slices.ContainsFunc(out, same) {
			out = append(out, ending)
		}
	}
	return out
}

// parser collects the readings of one text.
type parser struct {
	readings []Question
	seen     map[Question]bool
}

var (
	askers      = []string{"what", "who", "where", "when", "which", "whom", "how"}
	copulas     = []string{"is", "was", "are", "were"}
	auxiliaries = []string{"does", "do", "did"}
	havers      = []string{"has", "have", "had"}
	articles    = []string{"the", "a", "an"}
	owners      = []string{"its", "their", "his", "her", "a", "an", "the"}
	of          = []string{"of", "for"}
	linkers     = []string{"of", "to", "by", "in", "at", "for", "on", "from", "with", "under"}
	listers     = []string{"list", "show", "give", "name", "find", "tell", "get", "recall", "remind"}
	crowds      = []string{"everyone", "everybody", "everything", "anyone", "anything", "entities", "people", "those", "things", "all"}
	openings    = [][]string{
		{"please"},
		{"hey"},
		{"so"},
		{"and"},
		{"can", "you", "tell", "me"},
		{"could", "you", "tell", "me"},
		{"do", "you", "know"},
		{"do", "you", "remember"},
		{"i", "want", "to", "know"},
		{"tell", "me"},
		{"remind", "me"},
	}
)

// is reports whether the word at a place is one of a list, in any case.
func is(words []string, at int, list []string) bool {
	return at >= 0 && at < len(words) && slices.Contains(list, strings.ToLower(words[at]))
}

func (p *parser) question(words []string) {
	for _, opening := range openings {
		if startsWith(words, opening) {
			words = words[len(opening):]
		}
	}
	if is(words, len(words)-1, []string{"please"}) {
		words = words[:len(words)-1]
	}
	if len(words) < 2 {
		return
	}
	if w, ok := contraction(words[0]); ok {
		words = append([]string{w, "is"}, words[1:]...)
	}
	switch {
	case is(words, 0, []string{"whose"}):
		p.whose(words[1:])
	case is(words, 0, askers):
		p.asked(strings.ToLower(words[0]), words[1:])
	case is(words, 0, copulas):
		p.copula(words[1:])
	case is(words, 0, auxiliaries):
		p.auxiliary(words[1:], strings.EqualFold(words[0], "did"))
	case is(words, 0, havers):
		p.entityPredicateValue(words[1:], plain)
	case is(words, 0, listers):
		p.list(words[1:])
	default:
		p.valueOf(words)
	}
}

func startsWith(words, opening []string) bool {
	if len(words) < len(opening) {
		return false
	}
	for i, w := range opening {
		if !strings.EqualFold(words[i], w) {
			return false
		}
	}
	return true
}

// contraction opens "what's".
func contraction(word string) (string, bool) {
	w, ok := possessive(word)
	return w, ok && slices.Contains(askers, strings.ToLower(w))
}

// possessive takes the ending 's off a word, or the apostrophe after an s.
func possessive(word string) (string, bool) {
	for _, apostrophe := range []string{"'", "\u2019", "\u02BC", "\u2018"} {
		if w, ok := strings.CutSuffix(word, apostrophe+"s"); ok && w != "" {
			return w, true
		}
		if w, ok := strings.CutSuffix(word, apostrophe+"S"); ok && w != "" {
			return w, true
		}
		if w, ok := strings.CutSuffix(word, apostrophe); ok && strings.HasSuffix(strings.ToLower(w), "s") {
			return w, true
		}
	}
	return "", false
}

// asked reads what follows "what", "who", "where" and so on.
func (p *parser) asked(asker string, words []string) {
	switch {
	case is(words, 0, copulas):
		p.valueOf(words[1:])
		p.entityPredicate(words[1:], withLinks(asker, plain))
		p.linked(words[1:], strings.ToLower(words[0]))
	case is(words, 0, auxiliaries):
		p.entityPredicate(words[1:], withLinks(asker, verbs(strings.EqualFold(words[0], "did"))))
	case is(words, 0, havers):
		p.having(words[1:])
		p.entityPredicate(words[1:], plain)
	default:
		// "what Alice's manager is"
		if is(words, len(words)-1, copulas) {
			p.valueOf(words[:len(words)-1])
		}
		p.nouns(words)
	}
}

// nouns reads "[which noun] has P V" and "[which noun] P V".
func (p *parser) nouns(words []string) {
	const most = 2
	for n := 0; n <= most && n < len(words); n++ {
		switch rest := words[n:]; {
		case is(rest, 0, havers):
			p.having(rest[1:])
		case is(rest, 0, copulas):
			p.linked(rest[1:], strings.ToLower(rest[0]))
		case is(rest, 0, []string{"with"}):
			p.having(rest[1:])
		}
	}
	for n := 0; n <= most && n < len(words); n++ {
		if !is(words, n, havers) && !is(words, n, copulas) && !is(words, n, auxiliaries) {
			p.predicateValue(words[n:])
		}
	}
}

// having reads "P V" and "V as its P" after "has".
func (p *parser) having(words []string) {
	for i := len(words) - 2; i > 0; i-- {
		if is(words, i, []string{"as"}) {
			rest := words[i+1:]
			if is(rest, 0, owners) {
				rest = rest[1:]
			}
			p.add(EntitiesWith, nil, rest, words[:i])
		}
	}
	p.predicateValue(skipArticle(words))
}

// predicateValue reads "P V", the shortest predicate first.
func (p *parser) predicateValue(words []string) {
	for i := 1; i < len(words); i++ {
		p.add(EntitiesWith, nil, words[:i], words[i:])
		if is(words, i, []string{"of", "is", "="}) && i+1 < len(words) {
			p.add(EntitiesWith, nil, words[:i], words[i+1:])
		}
	}
}

// whose reads "P is V", and "whose P is E" the other way round.
func (p *parser) whose(words []string) {
	for i := 1; i+1 < len(words); i++ {
		if is(words, i, copulas) {
			p.add(EntitiesWith, nil, words[:i], words[i+1:])
		}
	}
}

// linked reads "married to V": a predicate that ends in a preposition.
func (p *parser) linked(words []string, copula string) {
	for i := 1; i < len(words); i++ {
		if is(words, i-1, linkers) {
			p.add(EntitiesWith, nil, skipArticle(words[:i]), words[i:])
			p.add(EntitiesWith, nil, append([]string{copula}, words[:i]...), words[i:])
		}
	}
}

// list reads what follows "list".
func (p *parser) list(words []string) {
	for is(words, 0, []string{"me", "all", "of", "us"}) {
		words = words[1:]
	}
	rest := words
	if is(rest, 0, crowds) {
		rest = rest[1:]
	}
	for i := range min(len(rest), 3) {
		switch {
		case is(rest, i, []string{"whose"}):
			p.whose(rest[i+1:])
		case is(rest, i, []string{"with"}):
			p.having(rest[i+1:])
		case is(rest, i, []string{"that", "who", "which"}):
			p.nouns(rest[i+1:])
		}
	}
	p.valueOf(words)
}

// valueOf reads "E's P" and "P of E".
func (p *parser) valueOf(words []string) {
	for i, w := range words[:max(len(words)-1, 0)] {
		if owner, ok := possessive(w); ok {
			p.add(ValueOf, withLast(words[:i], owner), words[i+1:], nil)
		}
	}
	for i := 1; i+1 < len(words); i++ {
		if is(words, i, of) {
			p.add(ValueOf, words[i+1:], words[:i], nil)
		}
	}
	// "McDonald's revenue": the ending may be the name's own.
	for i, w := range words[:max(len(words)-1, 0)] {
		if _, ok := possessive(w); ok {
			p.add(ValueOf, words[:i+1], words[i+1:], nil)
		}
	}
}

func withLast(words []string, last string) []string {
	return append(slices.Clone(words), last)
}

// entityPredicate reads "E P", the shortest predicate first.
func (p *parser) entityPredicate(words []string, forms func([]string) [][]string) {
	for i := len(words) - 1; i > 0; i-- {
		for _, form := range forms(words[i:]) {
			p.add(ValueOf, words[:i], form, nil)
		}
	}
}

// copula reads what follows "is".
func (p *parser) copula(words []string) {
	for i, w := range words {
		owner, ok := possessive(w)
		if !ok || p.full() {
			continue
		}
		for from := range i { // V E's P
			p.add(Holds, withLast(words[from+1:i], owner), words[i+1:], words[:from+1])
		}
		for to := i + 2; to < len(words); to++ { // E's P V
			p.add(Holds, withLast(words[:i], owner), words[i+1:to], words[to:])
		}
	}
	for i := 1; i+1 < len(words); i++ {
		if !is(words, i, of) {
			continue
		}
		for from := 1; from < i; from++ { // V the P of E
			if is(words, from, articles) {
				p.add(Holds, words[i+1:], words[from:i], words[:from])
			}
		}
		for to := i + 2; to < len(words); to++ { // the P of E V
			p.add(Holds, words[i+1:to], words[:i], words[to:])
		}
	}
	p.entityPredicateValue(words, plain)
}

// auxiliary reads what follows "does".
func (p *parser) auxiliary(words []string, past bool) {
	for i := 1; i+2 < len(words); i++ {
		if is(words, i, havers) {
			rest := skipArticle(words[i+1:])
			for to := 1; to < len(rest); to++ {
				p.add(Holds, words[:i], rest[:to], rest[to:])
			}
		}
	}
	p.entityPredicateValue(words, verbs(past))
}

// entityPredicateValue reads "E P V", the shortest entity first.
func (p *parser) entityPredicateValue(words []string, forms func([]string) [][]string) {
	for from := 1; from < len(words)-1; from++ {
		for to := from + 1; to < len(words) && to-from <= mostWords && !p.full(); to++ {
			for _, form := range forms(words[from:to]) {
				p.add(Holds, words[:from], form, words[to:])
			}
		}
	}
}

// full reports whether no reading fits any more.
func (p *parser) full() bool { return len(p.readings) == MaxReadings }

// mostWords are more words than a predicate can hold.
const mostWords = textform.MaxPredicate / 2

// add adds a reading, with and without the articles and quotation marks of its
// names.
func (p *parser) add(kind Kind, entity, predicate, value []string) {
	predicate = skipArticle(predicate)
	if p.full() || len(predicate) == 0 || len(predicate) > mostWords || is(predicate, 0, of) || is(predicate, len(predicate)-1, articles) {
		return
	}
	if kind != EntitiesWith && !mayName(entity) || kind != ValueOf && !mayName(value) {
		return
	}
	name, err := textform.Predicate(strings.TrimRight(strings.Join(predicate, " "), "?!.,;: "))
	if err != nil {
		return
	}
	for _, e := range names(entity) {
		for _, v := range names(value) {
			q := Question{Kind: kind, Entity: e, Predicate: name, Value: v}
			if !p.seen[q] && !p.full() {
				p.seen[q] = true
				p.readings = append(p.readings, q)
			}
		}
	}
}

// mayName reports whether words can be a name: no "of" or article is left hanging.
func mayName(words []string) bool {
	last := len(words) - 1
	return last >= 0 && !is(words, 0, of) && !is(words, last, of) && !is(words, last, articles)
}

// names returns a name as written, then without its article, then without its
// quotation marks; one empty name for no words.
func names(words []string) []string {
	out := []string{strings.Join(words, " ")}
	if rest := skipArticle(words); len(rest) > 0 && len(rest) < len(words) {
		out = append(out, strings.Join(rest, " "))
	}
	if inner, ok := unquote(out[0]); ok {
		out = append(out, inner)
	}
	return out
}

func unquote(name string) (string, bool) {
	for _, marks := range [][2]string{{`"`, `"`}, {"\u201C", "\u201D"}, {"'", "'"}, {"\u2018", "\u2019"}, {"\u00AB", "\u00BB"}, {"`", "`"}, {"\u201E", "\u201C"}} {
		if inner, ok := strings.CutPrefix(name, marks[0]); ok {
			if inner, ok = strings.CutSuffix(inner, marks[1]); ok && strings.TrimSpace(inner) != "" {
				return strings.TrimSpace(inner), true
			}
		}
	}
	return "", false
}

func skipArticle(words []string) []string {
	if is(words, 0, articles) {
		return words[1:]
	}
	return words
}
