// Package rewrite holds the bridges of one scope and rewrites queries with them.
//
// A bridge is a directed permission: where its phrase occurs in a query, the
// target may stand instead. [Set.Expand] follows them breadth first from the
// query and returns every variant within the limits, each with the shortest
// chain of rewrites that leads to it; or the phrases that have two targets; or
// the bound that was exceeded. It works on words in phrase form, so a phrase
// matches at word boundaries only, whatever the case or width of its letters.
//
// # Conflict before budget
//
// A phrase is reached if it occurs in the query or in any variant up to the last
// step. A phrase with two or more different targets that is reached is a
// conflict, and that comes before any budget: otherwise a small budget would
// hide that the scope contradicts itself, and a greater one would turn an
// answer into a conflict. So the exploration goes on beyond Limits.Variants,
// with the results already given up, only to find conflicts. That part is
// bounded: it ends at 1,024 variants, or at 2^20 words in all of them, and
// rewrites nothing beyond Limits.Steps. All in all a call compares at most about
// 2^24 words. What these bounds leave unexplored is reported as the bound
// "variants". They count in an order that depends on nothing but the bridges
// and the query, so the outcome is the same on every run and store.
//
// # Layout
//
// A [Set] is immutable: a few segments, each a table of bridges sorted by phrase,
// target and record, and a hash table of the words that a phrase can begin with.
// The sorted phrases that begin with some words are one range, so the table is
// its own trie: to look at one word more is to narrow the range. A query word
// that begins no phrase costs one probe, however many bridges there are.
// [Set.Apply] adds a small segment, marks removed bridges dead, and merges
// segments of similar size, so that n single writes cost O(n log n).
//
// [Set.AppendBinary] writes one segment without dead bridges; codec.go has the
// format.
package rewrite

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"
)

// Bridge is one eligible, asserted bridge.
type Bridge struct {
	Record         uint64   // its sequence number
	Phrase, Target []string // words in phrase form
	PhraseText     string   // as supplied
	TargetText     string   // as supplied
}

// Set is the bridges of one scope. It is immutable and safe for concurrent use;
// the zero value is empty.
type Set struct {
	segments  []*segment // each at most half as big as the one before it
	conflicts int
}

// separator joins words to a key. It sorts before every byte of a word, so keys
// sort as their word sequences do.
const separator = "\x00"

// usable reports whether words can be a key. No word in phrase form is empty,
// holds a zero byte or is not UTF-8.
func usable(words []string) bool {
	for _, w := range words {
		if w == "" || strings.Contains(w, separator) || !utf8.ValidString(w) {
			return false
		}
	}
	return len(words) > 0
}

// Build returns the set of the given bridges. Of two with one record number the
// later one counts. A bridge with no words on a side, or with a word that is
// empty, holds a zero byte or is not UTF-8, permits nothing and is left out.
func Build(bridges []Bridge) *Set { return new(Set).Apply(bridges, nil) }

// Apply returns the set without the removed records and with the added bridges.
// Records to remove that are not there are ignored; an added record that is
// there already replaces it. The receiver stays as it was.
func (s *Set) Apply(add []Bridge, remove []uint64) *Set {
	fresh := newSegment(add)
	out := &Set{segments: slices.Clone(s.segments), conflicts: s.conflicts}
	touched := make(map[string]bool, len(add)+len(remove))
	for i := range add {
		out.kill(add[i].Record, touched)
	}
	for _, record := range remove {
		out.kill(record, touched)
	}
	for g := range fresh.phrases() {
		touched[fresh.phrase(g)] = true
	}
	if len(touched) == 0 {
		return s
	}
	if len(s.segments) > 0 {
		out.conflicts -= s.countConflicts(touched)
	}
	if fresh.len() > 0 {
		out.segments = append(out.segments, fresh)
	}
	out.tidy()
	out.conflicts += out.countConflicts(touched)
	return out
}

// kill marks a record dead and notes its phrase.
func (s *Set) kill(record uint64, touched map[string]bool) {
	for i, seg := range s.segments {
		if entry, ok := seg.find(record); ok && !seg.isDead(entry) {
			s.segments[i] = seg.without(entry)
			touched[seg.entry(entry).phrase] = true
			return
		}
	}
}

// tidy drops empty segments, rewrites those of which a third is dead, and merges
// neighbours of similar size.
func (s *Set) tidy() {
	kept := s.segments[:0]
	for _, seg := range s.segments {
		if seg.dead > 0 && seg.dead*3 >= len(seg.records) {
			seg = merge(seg, &segment{})
		}
		for len(kept) > 0 && seg.len() > 0 && kept[len(kept)-1].len() < 2*seg.len() {
			seg = merge(kept[len(kept)-1], seg)
			kept = kept[:len(kept)-1]
		}
		if seg.len() > 0 {
			kept = append(kept, seg)
		}
	}
	clear(s.segments[len(kept):])
	s.segments = kept
}

// Len returns the number of bridges.
func (s *Set) Len() int {
	n := 0
	for _, seg := range s.segments {
		n += seg.len()
	}
	return n
}

// Conflicts returns how many phrases have two or more different targets.
func (s *Set) Conflicts() int { return s.conflicts }

func (s *Set) countConflicts(phrases map[string]bool) int {
	n := 0
	for phrase := range phrases {
		if s.conflicting(phrase) {
			n++
		}
	}
	return n
}

// conflicting reports whether a phrase has two different targets.
func (s *Set) conflicting(phrase string) bool {
	target, found := "", false
	for _, seg := range s.segments {
		from, to := seg.bridgesOf(phrase)
		for i := from; i < to; i++ {
			if seg.isDead(i) {
				continue
			}
			if t := seg.entry(i).target; !found {
				target, found = t, true
			} else if t != target {
				return true
			}
		}
	}
	return false
}

// mapping is what one phrase may be rewritten to, by its lowest bridge.
type mapping struct {
	target string // key
	record uint64
	seg    *segment
	entry  int
}

// mappings returns the different targets of a phrase by lowest record, and all
// its records, ascending.
func (s *Set) mappings(phrase string) ([]mapping, []uint64) {
	var all []mapping
	for _, seg := range s.segments {
		from, to := seg.bridgesOf(phrase)
		for i := from; i < to; i++ {
			if !seg.isDead(i) {
				all = append(all, mapping{seg.entry(i).target, seg.records[i], seg, i})
			}
		}
	}
	records := make([]uint64, len(all))
	for i, m := range all {
		records[i] = m.record
	}
	slices.Sort(records)
	slices.SortFunc(all, func(a, b mapping) int {
		return cmp.Or(strings.Compare(a.target, b.target), cmp.Compare(a.record, b.record))
	})
	all = slices.CompactFunc(all, func(a, b mapping) bool { return a.target == b.target })
	slices.SortFunc(all, func(a, b mapping) int { return cmp.Compare(a.record, b.record) })
	return all, records
}
