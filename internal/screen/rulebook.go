package screen

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// rulebook is the compiled list of rules.
type rulebook struct {
	names      []string       // of the rules, in the order of the list
	number     map[string]int // by name
	words      table
	address    uint16     // the word for an address of mail
	classes    [][]uint64 // by word: one bit a class
	starts     [][]uint16 // by word: the patterns that can begin with it
	patterns   []pattern
	backwards  []bool // by word: written backwards
	rotated    []bool // by word: in ROT13
	lookAlikes map[rune]rune
}

const maxRules = 32

// pattern is one wording of a rule.
type pattern struct {
	rule     string
	weight   int
	atBegin  bool // of a sentence, line, clause or quotation; a word of courtesy may come before
	atEnd    bool // of one
	elements []element
}

// The classes that are asked for by number, and the word that stands for an
// address of mail.
const (
	courtesy    = 0
	mention     = 1
	conjunction = 2
	addressWord = "someone-at-somewhere"
)

// element is one word of a pattern.
type element struct {
	class    uint16
	gap      int  // other words allowed before it
	optional bool // it may be missing, and its gap with it
}

// matches reports whether a pattern matches from a token on, which is known to
// be in the class of its first element.
func (g *rulebook) matches(p *pattern, tokens []token, at int) bool {
	return (!p.atBegin || g.begins(tokens, at)) && g.follows(p, 1, tokens, at+1)
}

// begins reports whether a token comes after a conjunction, or only words of
// courtesy stand between it and the beginning of its sentence.
func (g *rulebook) begins(tokens []token, at int) bool {
	const courtesies = 4
	if at > 0 && !tokens[at].stop && g.in(tokens[at-1].word, conjunction) {
		return true
	}
	for back := 0; back <= courtesies; back++ {
		if tokens[at-back].begin || at == back {
			return true
		}
		if !g.in(tokens[at-back-1].word, courtesy) {
			return false
		}
	}
	return false
}

// mentioned reports whether a token stands in a quotation that the text speaks
// about: as an attack, an example, a phrase.
func (g *rulebook) mentioned(tokens []token, at int) bool {
	const inside, before = 6, 12
	open := at
	for !tokens[open].quoted {
		if tokens[open].stop || open == 0 || at-open == inside {
			return false
		}
		open--
	}
	for i := open - 1; i >= 0 && open-i <= before; i-- {
		if g.in(tokens[i].word, mention) {
			return true
		}
	}
	return false
}

// follows reports whether the rest of a pattern, from its n-th element, matches
// from a token on.
func (g *rulebook) follows(p *pattern, n int, tokens []token, at int) bool {
	if n == len(p.elements) {
		return !p.atEnd || at == len(tokens) || tokens[at].begin || tokens[at].stop
	}
	e := p.elements[n]
	for i := at; i < len(tokens) && i <= at+e.gap && !tokens[i].stop; i++ {
		if g.in(tokens[i].word, e.class) && g.follows(p, n+1, tokens, i+1) {
			return true
		}
	}
	return e.optional && g.follows(p, n+1, tokens, at)
}

func (g *rulebook) in(word, class uint16) bool {
	return g.classes[word][class/64]&(1<<(class%64)) != 0
}

// compile reads the lists in rules.go.
func compile() *rulebook {
	c := compiler{
		rulebook: &rulebook{number: map[string]int{}, lookAlikes: map[rune]rune{}},
		ids:      map[string]uint16{"": 0}, classIDs: map[string]uint16{}, members: [][]string{nil},
	}
	c.class("@courtesy")                               // class 0
	c.class("@mention")                                // class 1
	c.class("and|then|but|also|please|instead|kindly") // class 2
	c.class(addressWord)
	for _, r := range rules() {
		c.rule(r.name)
		for _, line := range strings.Split(strings.TrimSpace(r.patterns), "\n") {
			c.pattern(r.name, r.weight, strings.Fields(line))
		}
	}
	for _, name := range markerNames() {
		c.rule(name)
	}
	pairs := []rune(lookAlikePairs)
	for i := 0; i+1 < len(pairs); i += 2 {
		c.lookAlikes[pairs[i]] = pairs[i+1]
	}
	c.link()
	return c.rulebook
}

// compiler collects words and classes by their text.
type compiler struct {
	*rulebook
	ids      map[string]uint16
	spelt    []string // by word
	classIDs map[string]uint16
	members  [][]string // by word: the classes that it is in
}

func (c *compiler) rule(name string) {
	if _, ok := c.number[name]; !ok {
		c.number[name] = len(c.names)
		c.names = append(c.names, name)
	}
}

// pattern compiles a wording as rule describes it.
func (c *compiler) pattern(rule string, weight int, fields []string) {
	p := pattern{rule: rule, weight: weight}
	gap := 0
	for _, f := range fields {
		switch {
		case f == "^":
			p.atBegin = true
		case f == "$":
			p.atEnd = true
		case len(f) == 2 && f[0] == '.':
			gap = int(f[1] - '0')
		default:
			word, optional := strings.CutPrefix(f, "?")
			p.elements = append(p.elements, element{c.class(word), gap, optional})
			gap = 0
		}
	}
	c.patterns = append(c.patterns, p)
}

// class numbers a set of alternatives.
func (c *compiler) class(text string) uint16 {
	id, ok := c.classIDs[text]
	if ok {
		return id
	}
	id = uint16(len(c.classIDs))
	c.classIDs[text] = id
	for _, word := range alternatives(text) {
		w, ok := c.ids[word]
		if !ok {
			w = uint16(len(c.members))
			c.ids[word] = w
			c.members = append(c.members, nil)
		}
		c.members[w] = append(c.members[w], text)
	}
	return id
}

// alternatives spells out a class: "rule+" is rule and rules, "@name" the list of
// that name.
func alternatives(text string) []string {
	var out []string
	for _, word := range strings.Split(text, "|") {
		switch {
		case strings.HasPrefix(word, "@"):
			for _, w := range strings.Fields(classes(word[1:])) {
				out = append(out, alternatives(w)...)
			}
		case strings.HasSuffix(word, "+"):
			out = append(out, word[:len(word)-1], word[:len(word)-1]+"s")
		default:
			out = append(out, word)
		}
	}
	return out
}

// link makes the tables that reading goes by.
func (c *compiler) link() {
	c.spelt = make([]string, len(c.members))
	for word, id := range c.ids {
		c.spelt[id] = word
	}
	c.address = c.ids[addressWord]
	size := (len(c.classIDs) + 63) / 64
	c.classes = make([][]uint64, len(c.members))
	c.starts = make([][]uint16, len(c.members))
	for w, classes := range c.members {
		c.classes[w] = make([]uint64, size)
		for _, text := range classes {
			id := c.classIDs[text]
			c.classes[w][id/64] |= 1 << (id % 64)
			for i := range c.patterns {
				if c.patterns[i].elements[0].class == id {
					c.starts[w] = append(c.starts[w], uint16(i))
				}
			}
		}
		slices.Sort(c.starts[w])
	}
	c.turn()
	c.spellings()
}

// turn adds the backwards and ROT13 forms of the words that give such texts away.
func (c *compiler) turn() {
	size := len(c.members)
	give := alternatives("@overlook|@earlier|@orders|@secret")
	c.backwards, c.rotated = make([]bool, size, 3*size), make([]bool, size, 3*size)
	for _, word := range give {
		if len(word) < shuffledLetters {
			continue
		}
		for _, form := range []string{reverse(word), strings.Map(rot13, word)} {
			if _, ok := c.ids[form]; ok {
				continue
			}
			c.ids[form] = uint16(len(c.spelt))
			c.spelt = append(c.spelt, form)
			c.classes = append(c.classes, make([]uint64, len(c.classes[0])))
			c.starts = append(c.starts, nil)
			c.backwards = append(c.backwards, form == reverse(word))
			c.rotated = append(c.rotated, form != reverse(word))
		}
	}
}

// spellings fills the table of words: each as it is, then, where that is free,
// with its inner letters in any order and with one of them left out.
func (c *compiler) spellings() {
	c.words = newTable(16 * len(c.spelt))
	for id, word := range c.spelt {
		if id > 0 {
			s := spell(word)
			c.words.put(s.hash, uint16(id))
		}
	}
	for id, word := range c.spelt {
		if len(word) < shuffledLetters || !isASCII(word) {
			continue
		}
		s := spell(word)
		c.words.put(s.shuffled(), uint16(id))
		if len(word) <= shuffledLetters {
			continue
		}
		for i := 1; i < len(word)-1; i++ {
			s := spell(word[:i] + word[i+1:])
			c.words.put(s.hash, uint16(id))
		}
	}
}

func spell(word string) *speller {
	s := newSpeller()
	for i := range len(word) {
		if b := skeleton[word[i]]; b != 0 {
			s.add(b)
		}
	}
	return &s
}

// lookAlike returns the small Latin letter that a letter looks like.
func (g *rulebook) lookAlike(r rune) rune {
	if r < utf8.RuneSelf {
		return r
	}
	if to, ok := g.lookAlikes[r]; ok {
		return to
	}
	return r
}

// table is an open hash table from hashes to words.
type table struct {
	keys []uint64
	ids  []uint16
	used int
}

func newTable(entries int) table {
	size := 64
	for size < 2*entries {
		size *= 2
	}
	return table{keys: make([]uint64, size), ids: make([]uint16, size)}
}

// put adds a hash unless it is there or the table is half full.
func (t *table) put(hash uint64, id uint16) {
	mask := uint64(len(t.keys) - 1)
	at := (hash >> 7) & mask
	for ; t.ids[at] != 0; at = (at + 1) & mask {
		if t.keys[at] == hash {
			return
		}
	}
	if t.used++; t.used <= len(t.keys)/2 {
		t.keys[at], t.ids[at] = hash, id
	}
}

// get returns the word of a hash, or 0.
func (t *table) get(hash uint64) uint16 {
	mask := uint64(len(t.keys) - 1)
	for at := (hash >> 7) & mask; t.ids[at] != 0; at = (at + 1) & mask {
		if t.keys[at] == hash {
			return t.ids[at]
		}
	}
	return 0
}
