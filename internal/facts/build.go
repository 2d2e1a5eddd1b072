package facts

import (
	"cmp"
	"slices"
	"strings"
)

// Build makes a set of facts under declared relations. Of facts with one record
// id the last counts.
func Build(relations []Relation, facts []Fact) *Set {
	sorted := slices.Clone(facts)
	slices.SortStableFunc(sorted, func(a, b Fact) int { return cmp.Compare(a.Record, b.Record) })
	kept := sorted[:0]
	for i := range sorted {
		if i+1 < len(sorted) && sorted[i+1].Record == sorted[i].Record {
			continue
		}
		kept = append(kept, sorted[i])
	}
	texts, numbers := numberTexts(kept)
	records := make([]uint64, len(kept))
	rows := make([]row, len(kept))
	for i := range kept {
		f := &kept[i]
		records[i] = f.Record & recordMask
		rows[i] = row{numbers[f.Predicate], numbers[f.Entity], numbers[f.Value]}
		if f.Single {
			rows[i].predicate |= rowSingle
		}
	}
	return assemble(relations, texts, records, rows)
}

// numberTexts numbers the texts of facts in ascending order. The texts are
// copied to one place, so that they keep nothing else in memory.
func numberTexts(facts []Fact) ([]string, map[string]uint32) {
	numbers := make(map[string]uint32)
	size := 0
	var texts []string
	for i := range facts {
		for _, text := range [...]string{facts[i].Entity, facts[i].Predicate, facts[i].Value} {
			if _, ok := numbers[text]; !ok {
				numbers[text] = 0
				texts = append(texts, text)
				size += len(text)
			}
		}
	}
	slices.Sort(texts)
	var all strings.Builder
	all.Grow(size)
	for _, text := range texts {
		all.WriteString(text)
	}
	place := 0
	for i, text := range texts {
		numbers[text] = uint32(i)
		texts[i] = all.String()[place : place+len(text)]
		place += len(text)
	}
	return texts, numbers
}

// assemble makes a set from numbered rows by ascending record. Both Build and
// Load end here. It keeps the slices.
func assemble(relations []Relation, texts []string, records []uint64, rows []row) *Set {
	s := &Set{
		terms:     newDictionary(texts),
		records:   newTable(records, rows),
		relations: cloneRelations(relations),
		names:     newResolver(relations),
	}
	columns := s.columns(rows)
	b := &builder{records: records, rows: rows, predicates: s.predicates}
	b.fill(columns)
	b.fillByValue(len(texts))
	for _, p := range s.predicates {
		p.findConflicts()
		s.conflicts += p.conflicts.rows
	}
	return s
}

// columns makes the predicates that rows use and takes rows apart.
func (s *Set) columns(rows []row) columns {
	predicateOf := s.numberPredicates(rows)
	c := columns{
		predicates: make([]uint32, len(rows)), entities: make([]uint32, len(rows)), values: make([]uint32, len(rows)),
		terms: len(predicateOf), different: len(s.predicates),
	}
	for i := range rows {
		c.predicates[i], c.entities[i], c.values[i] = predicateOf[rows[i].name()], rows[i].entity, rows[i].value
	}
	return c
}

// numberPredicates makes the predicates that rows use and returns the predicate
// of every written name, by its term.
func (s *Set) numberPredicates(rows []row) []uint32 {
	const unknown = 1<<32 - 1
	predicateOf := make([]uint32, s.terms.count)
	for i := range predicateOf {
		predicateOf[i] = unknown
	}
	var written []uint32
	for i := range rows {
		if name := rows[i].name(); predicateOf[name] == unknown {
			predicateOf[name] = 0
			written = append(written, name)
		}
	}
	slices.Sort(written)
	canonical := make([]string, len(written))
	for i, name := range written {
		canonical[i] = s.names.resolve(s.terms.text(name))
	}
	s.terms = s.terms.extend(canonical)
	s.addPredicates(canonical)
	for i, name := range written {
		predicateOf[name], _ = s.number(canonical[i])
	}
	return predicateOf
}

// addPredicates makes the predicates that are not there yet. Their names must
// be terms.
func (s *Set) addPredicates(names []string) {
	terms := make([]uint32, 0, len(names))
	for _, name := range names {
		term, _ := s.terms.lookup(name)
		if _, ok := s.numbers.find(uint64(term)); !ok {
			terms = append(terms, term)
		}
	}
	slices.Sort(terms)
	terms = slices.Compact(terms)
	changes := make([]change[uint32], len(terms))
	for i, term := range terms {
		changes[i] = change[uint32]{key: uint64(term), value: uint32(len(s.predicates))}
		s.predicates = append(s.predicates, &predicate{name: term, declared: s.names.declared[s.terms.text(term)]})
	}
	s.numbers = s.numbers.edit(changes)
}

// number returns the index of the predicate with a canonical name.
func (s *Set) number(canonical string) (uint32, bool) {
	term, ok := s.terms.lookup(canonical)
	if !ok {
		return 0, false
	}
	return s.numbers.find(uint64(term))
}
