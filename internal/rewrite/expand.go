package rewrite

import (
	"cmp"
	"context"
	"encoding/binary"
	"slices"
	"strings"
)

// Limits bound an expansion.
type Limits struct {
	Variants int // the query is one of them; less than 1 counts as 1
	Steps    int // rewrites that lead to one variant
}

// Rewrite is one step: at word At of the variant that it was applied to, the
// phrase gave way to the target. Bridge is the lowest record that permits it,
// Phrase and Target are that record's texts.
type Rewrite struct {
	Bridge         uint64
	Phrase, Target string
	At             int
}

// Variant is one form of the query.
type Variant struct {
	Words    []string
	Rewrites []Rewrite // from the query to the variant; empty for the query
}

// Conflict is a reached phrase with two or more different targets.
type Conflict struct {
	Phrase  string   // in phrase form, its words joined by a space
	Records []uint64 // all its bridges, ascending
}

// The values of Result.Bound.
const (
	BoundVariants = "variants"
	BoundSteps    = "steps"
)

// Result is one of three: Variants, of which the first is the query; or
// Conflicts, by phrase; or the Bound that some rewrite would have exceeded with a
// variant that is new.
//
// Variants stand in the order of their number of rewrites, then of their bridges,
// then of the places of their rewrites, first rewrite first.
type Result struct {
	Variants  []Variant
	Conflicts []Conflict
	Bound     string
}

// What is explored beyond Limits.Variants, see the package comment.
const (
	exploredVariants = 1 << 10
	exploredWords    = 1 << 20
	comparedWords    = 1 << 24
	narrowingWords   = 32 // what looking at one word more of a phrase counts for
)

// Expand rewrites a query, given as words in phrase form. The error is the
// context's.
func (s *Set) Expand(ctx context.Context, words []string, limits Limits) (*Result, error) {
	x := expansion{
		set: s, limits: Limits{max(limits.Variants, 1), max(limits.Steps, 0)},
		ids: map[string]uint32{}, phrases: map[string]*phrase{}, seen: map[string]*node{}, conflicts: map[string][]uint64{},
	}
	root := &node{key: x.intern(words)}
	x.seen[root.key] = root
	level, all := []*node{root}, []*node{root}
	for step := 0; len(level) > 0; step++ {
		next, err := x.expand(ctx, level, step)
		if err != nil {
			return nil, err
		}
		slices.SortFunc(next, compareDerivations)
		level = next
		all = append(all, next...)
	}
	return x.result(all), nil
}

// expansion is the state of one call. Words are numbered, and a variant is the
// string of its words' numbers, four bytes each, so that it is its own key.
type expansion struct {
	set    *Set
	limits Limits

	words   []string
	ids     map[string]uint32
	starts  [][]span           // by word, then by segment: the phrases that begin with it
	phrases map[string]*phrase // by key

	seen      map[string]*node
	conflicts map[string][]uint64 // by phrase in phrase form
	bound     string
	explored  int // words of all variants
	compared  int // words scanned, copied and hashed
	key       []byte
}

const wordBytes = 4

// node is one variant and its best derivation.
type node struct {
	key   string
	chain []link
}

type link struct {
	mapping *target
	phrase  *phrase
	at      int
}

// phrase is a phrase of the set that occurs in a variant.
type phrase struct {
	words   int
	targets []target // by record
}

type target struct {
	mapping
	key  string // in word numbers, once it is known
	same bool   // it is the phrase itself
}

// compareDerivations orders by bridges, then by places, of chains that are
// equally long.
func compareDerivations(a, b *node) int { return compareChains(a.chain, b.chain) }

func compareChains(a, b []link) int {
	byRecord := slices.CompareFunc(a, b, func(a, b link) int { return cmp.Compare(a.mapping.record, b.mapping.record) })
	if byRecord != 0 {
		return byRecord
	}
	return slices.CompareFunc(a, b, func(a, b link) int { return cmp.Compare(a.at, b.at) })
}

// expand finds the conflicts of a level and returns the next one, unsorted.
func (x *expansion) expand(ctx context.Context, level []*node, step int) ([]*node, error) {
	var next []*node
	for _, n := range level {
		words := len(n.key) / wordBytes
		for at := range words {
			if at%256 == 0 && ctx.Err() != nil {
				return nil, ctx.Err()
			}
			if x.compared > comparedWords {
				x.bound = cmp.Or(x.bound, BoundVariants)
				return nil, nil
			}
			for _, p := range x.phrasesAt(n.key, at) {
				next = x.rewrite(next, n, at, p, step)
			}
		}
		x.compared += words
	}
	return next, nil
}

// rewrite applies every target of a phrase at one place.
func (x *expansion) rewrite(next []*node, n *node, at int, p *phrase, step int) []*node {
	for i := range p.targets {
		t := &p.targets[i]
		if t.same {
			continue
		}
		if x.full() || step == x.limits.Steps && x.bound != "" {
			break // Nothing more is to be learnt from what this leads to.
		}
		key := x.replace(n.key, at, p, t)
		old, known := x.seen[string(key)]
		switch {
		case known && len(old.chain) == step+1:
			chain := append(slices.Clip(n.chain), link{t, p, at})
			if compareChains(chain, old.chain) < 0 {
				old.chain = chain
			}
		case known: // a cycle, or a longer way to the same
		case step == x.limits.Steps:
			x.bound = BoundSteps
		default:
			added := &node{string(key), append(slices.Clip(n.chain), link{t, p, at})}
			x.seen[added.key] = added
			x.explored += len(key) / wordBytes
			next = append(next, added)
			if len(x.seen) > x.limits.Variants {
				x.bound = BoundVariants
			}
		}
	}
	return next
}

// full reports whether the exploration for conflicts has to end.
func (x *expansion) full() bool {
	return x.compared > comparedWords ||
		x.bound == BoundVariants && (len(x.seen) >= exploredVariants || x.explored >= exploredWords)
}

// replace returns, in a buffer, the variant after one rewrite.
func (x *expansion) replace(key string, at int, p *phrase, t *target) []byte {
	if t.key == "" {
		t.key = x.intern(strings.Split(t.mapping.target, separator))
	}
	x.key = append(x.key[:0], key[:at*wordBytes]...)
	x.key = append(x.key, t.key...)
	x.key = append(x.key, key[(at+p.words)*wordBytes:]...)
	x.compared += len(x.key) / wordBytes
	return x.key
}

// intern returns words as numbers.
func (x *expansion) intern(words []string) string {
	key := make([]byte, 0, wordBytes*len(words))
	for _, w := range words {
		id, ok := x.ids[w]
		if !ok {
			id = uint32(len(x.words))
			x.ids[w] = id
			x.words = append(x.words, w)
			x.starts = append(x.starts, x.startsOf(w))
		}
		key = binary.BigEndian.AppendUint32(key, id)
	}
	return string(key)
}

// startsOf returns the phrases of each segment that begin with a word; nil if
// there is none.
func (x *expansion) startsOf(word string) []span {
	var out []span
	if !usable([]string{word}) {
		return nil
	}
	for i, seg := range x.set.segments {
		if s := seg.first(word); seg.anyLive(s) {
			if out == nil {
				out = make([]span, len(x.set.segments))
			}
			out[i] = s
		}
	}
	return out
}

func (x *expansion) word(key string, at int) uint32 {
	return binary.BigEndian.Uint32([]byte(key[at*wordBytes : (at+1)*wordBytes]))
}

// phrasesAt returns the phrases that stand at one place of a variant, the
// shortest first.
func (x *expansion) phrasesAt(key string, at int) []*phrase {
	starts := x.starts[x.word(key, at)]
	if starts == nil {
		return nil
	}
	var lengths []int
	deepest := 0
	for i, s := range starts {
		seg := x.set.segments[i]
		bytes := len(x.words[x.word(key, at)])
		for words := 1; seg.anyLive(s); words++ {
			if seg.whole(s, bytes) {
				lengths = append(lengths, words)
			}
			deepest = max(deepest, words)
			if at+words == len(key)/wordBytes {
				break
			}
			word := x.words[x.word(key, at+words)]
			s = seg.next(s, bytes, word)
			bytes += len(separator) + len(word)
		}
	}
	// How deep live phrases go does not depend on how they lie in segments, and
	// neither may what is counted.
	x.compared += deepest * narrowingWords
	slices.Sort(lengths)
	lengths = slices.Compact(lengths)
	out := make([]*phrase, 0, len(lengths))
	for _, words := range lengths {
		if p := x.phrase(key[at*wordBytes : (at+words)*wordBytes]); len(p.targets) > 0 {
			out = append(out, p)
		}
	}
	return out
}

// phrase resolves a phrase once, and notes its conflict.
func (x *expansion) phrase(key string) *phrase {
	if p, ok := x.phrases[key]; ok {
		return p
	}
	words := x.wordsOf(key)
	text := strings.Join(words, separator)
	mappings, records := x.set.mappings(text)
	p := &phrase{words: len(words), targets: make([]target, len(mappings))}
	for i, m := range mappings {
		p.targets[i] = target{mapping: m, same: m.target == text}
	}
	if len(mappings) > 1 {
		x.conflicts[plain(text)] = records
	}
	x.phrases[key] = p
	return p
}

func (x *expansion) wordsOf(key string) []string {
	words := make([]string, len(key)/wordBytes)
	for i := range words {
		words[i] = x.words[x.word(key, i)]
	}
	return words
}

func (x *expansion) result(all []*node) *Result {
	if len(x.conflicts) > 0 {
		r := new(Result)
		for phrase, records := range x.conflicts {
			r.Conflicts = append(r.Conflicts, Conflict{phrase, records})
		}
		slices.SortFunc(r.Conflicts, func(a, b Conflict) int { return strings.Compare(a.Phrase, b.Phrase) })
		return r
	}
	if x.bound != "" {
		return &Result{Bound: x.bound}
	}
	variants := make([]Variant, len(all))
	for i, n := range all {
		variants[i] = Variant{Words: x.wordsOf(n.key), Rewrites: make([]Rewrite, len(n.chain))}
		for j, l := range n.chain {
			phrase, target := l.mapping.seg.texts(l.mapping.entry)
			variants[i].Rewrites[j] = Rewrite{l.mapping.record, phrase, target, l.at}
		}
	}
	return &Result{Variants: variants}
}
