package facts

import (
	"slices"
)

// Records returns how many records the set holds.
func (s *Set) Records() int { return s.records.rows }

// Contradictions returns how many groups contradict themselves.
func (s *Set) Contradictions() int { return s.conflicts }

// Lookup returns the term of a text. It may know texts that only predicates, or
// records removed since, have; no statement is found under those.
func (s *Set) Lookup(text string) (uint32, bool) { return s.terms.lookup(text) }

// Text returns the text of a term of this set, and "" for any other number.
func (s *Set) Text(term uint32) string {
	if term >= s.terms.count {
		return ""
	}
	return s.terms.text(term)
}

// Compare orders two terms of this set by the bytes of their texts.
func (s *Set) Compare(a, b uint32) int { return s.terms.compare(a, b) }

// Ordered returns a number such that the terms below it are in the order of
// their texts.
func (s *Set) Ordered() uint32 { return s.terms.base }

// Predicate returns the predicate that a name or alias, in predicate form,
// stands for. It reports false if no record uses it.
func (s *Set) Predicate(name string) (uint32, bool) {
	n, ok := s.number(s.names.resolve(name))
	if !ok || s.predicates[n].byEntity.rows == 0 {
		return 0, false
	}
	return n, true
}

// PredicateName returns the canonical name of a predicate of this set, and ""
// for any other number.
func (s *Set) PredicateName(predicate uint32) string {
	if int(predicate) >= len(s.predicates) {
		return ""
	}
	return s.terms.text(s.predicates[predicate].name)
}

// Contradictory reports whether a group contradicts itself.
func (s *Set) Contradictory(entity, predicate uint32) bool {
	p := s.of(predicate)
	if p.conflicts.rows == 0 {
		return false
	}
	_, ok := p.conflicts.find(uint64(entity))
	return ok
}

// of returns a predicate, an empty one if the set has none of this number.
func (s *Set) of(n uint32) *predicate {
	if int(n) >= len(s.predicates) {
		return &predicate{}
	}
	return s.predicates[n]
}

// Values lists the statements of a group, by the texts of their values.
func (s *Set) Values(entity, predicate uint32) []Item {
	p := s.of(predicate)
	return s.items(p, &p.byEntity, entity, func(other uint32) uint64 { return pair(entity, other) })
}

// Entities lists the statements with a value, by the texts of their entities.
func (s *Set) Entities(predicate, value uint32) []Item {
	p := s.of(predicate)
	return s.items(p, &p.byValue, value, func(other uint32) uint64 { return pair(other, value) })
}

func (s *Set) items(p *predicate, t *table[uint64], high uint32, key func(other uint32) uint64) []Item {
	var out []Item
	for more := true; more; {
		var keys, words []uint64
		keys, words, more = t.run(high, len(out))
		for i, k := range keys {
			out = append(out, Item{uint32(k), p.recordsOf(words[i], key(uint32(k)))})
		}
	}
	slices.SortFunc(out, func(a, b Item) int { return s.terms.compare(a.Term, b.Term) })
	return out
}

// recordsOf lists the records of a statement, ascending.
func (p *predicate) recordsOf(word, key uint64) []uint64 {
	if word&moreFlag == 0 {
		return []uint64{word & recordMask}
	}
	c, _ := p.more.find(key)
	out := make([]uint64, 0, c.records.rows)
	for _, chunk := range c.records.chunks {
		out = append(out, chunk.keys...)
	}
	return out
}

// GroupRecords lists the records of a group, ascending.
func (s *Set) GroupRecords(entity, predicate uint32) []uint64 {
	var out []uint64
	for _, item := range s.Values(entity, predicate) {
		out = append(out, item.Records...)
	}
	slices.Sort(out)
	return out
}

// Counts returns how many different statements a predicate has, and over how
// many different entities and values.
func (s *Set) Counts(predicate uint32) (statements, entities, values int) {
	p := s.of(predicate)
	return p.byEntity.rows, p.entities, p.values
}

// ContradictionsOf returns how many groups of a predicate contradict themselves.
func (s *Set) ContradictionsOf(predicate uint32) int { return s.of(predicate).conflicts.rows }

// CountOfEntity returns how many different values a group has.
func (s *Set) CountOfEntity(entity, predicate uint32) int {
	return s.of(predicate).byEntity.count(entity)
}

// CountOfValue returns how many different entities have a value.
func (s *Set) CountOfValue(predicate, value uint32) int {
	return s.of(predicate).byValue.count(value)
}

// The next three return statements that lie side by side in memory: for each a
// key and a word. A key's lower half is the statement's other end; a word is
// its first record, with bit 63 set if further records say the same, and bit 62
// without a meaning outside. Where there may be more, call again with skip raised
// by the number of statements returned. The slices must not be changed.

// OfEntity returns statements of a group; a key is entity<<32|value.
func (s *Set) OfEntity(entity, predicate uint32, skip int) (keys, words []uint64, more bool) {
	return s.of(predicate).byEntity.run(entity, skip)
}

// OfValue returns statements with a value; a key is value<<32|entity.
func (s *Set) OfValue(predicate, value uint32, skip int) (keys, words []uint64, more bool) {
	return s.of(predicate).byValue.run(value, skip)
}

// OfPredicate returns statements of a predicate; a key is entity<<32|value.
func (s *Set) OfPredicate(predicate uint32, skip int) (keys, words []uint64, more bool) {
	t := &s.of(predicate).byEntity
	c, i := t.at(skip)
	if c == len(t.chunks) {
		return nil, nil, false
	}
	return t.chunks[c].keys[i:], t.chunks[c].values[i:], c+1 < len(t.chunks)
}

// Statement returns the word of one statement.
func (s *Set) Statement(entity, predicate, value uint32) (word uint64, ok bool) {
	return s.of(predicate).byEntity.find(pair(entity, value))
}

// StatementRecords lists the records of one statement, ascending.
func (s *Set) StatementRecords(entity, predicate, value uint32) []uint64 {
	p := s.of(predicate)
	word, ok := p.byEntity.find(pair(entity, value))
	if !ok {
		return nil
	}
	return p.recordsOf(word, pair(entity, value))
}

// list returns all facts by ascending record, without those that drop names.
func (s *Set) list(drop map[uint64]bool) []Fact {
	out := make([]Fact, 0, s.records.rows)
	for _, c := range s.records.chunks {
		for i, r := range c.values {
			if drop[c.keys[i]] {
				continue
			}
			out = append(out, Fact{
				Record: c.keys[i], Entity: s.terms.text(r.entity), Predicate: s.terms.text(r.name()),
				Value: s.terms.text(r.value), Single: r.single(),
			})
		}
	}
	return out
}
