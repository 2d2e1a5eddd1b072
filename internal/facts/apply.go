package facts

import (
	"cmp"
	"slices"
)

// minRebuild is the number of changed rows below which a set is never built anew.
const minRebuild = 1024

// Apply returns the set with facts added and records removed. A fact whose
// record the set has replaces it; a record that is both added and removed is
// not in the result. Records that the set does not have are removed for nothing.
func (s *Set) Apply(add []Fact, remove []uint64) *Set {
	steps := s.steps(add, remove)
	if len(steps) == 0 {
		return s
	}
	if s.edits+len(steps) > max(minRebuild, s.records.rows) {
		return s.rebuild(steps)
	}
	next := *s
	next.edits += len(steps)
	next.internAll(steps)
	changes := next.apply(steps)
	next.records = s.records.edit(changes)
	return &next
}

// step is what happens to one record.
type step struct {
	record   uint64
	old, new *Fact // nil: not there
	oldRow   row
	newRow   row
}

// steps lists what changes, by ascending record.
func (s *Set) steps(add []Fact, remove []uint64) []step {
	byRecord := make(map[uint64]*Fact, len(add)+len(remove))
	for i := range add {
		byRecord[add[i].Record&recordMask] = &add[i]
	}
	for _, record := range remove {
		byRecord[record&recordMask] = nil
	}
	steps := make([]step, 0, len(byRecord))
	for record, fact := range byRecord {
		st := step{record: record, new: fact}
		if r, ok := s.records.find(record); ok {
			old := s.fact(record, r)
			if fact != nil && same(&old, fact) {
				continue
			}
			st.old, st.oldRow = &old, r
		} else if fact == nil {
			continue
		}
		steps = append(steps, st)
	}
	slices.SortFunc(steps, func(a, b step) int { return cmp.Compare(a.record, b.record) })
	return steps
}

func same(a, b *Fact) bool {
	return a.Entity == b.Entity && a.Predicate == b.Predicate && a.Value == b.Value && a.Single == b.Single
}

func (s *Set) fact(record uint64, r row) Fact {
	return Fact{
		Record: record, Entity: s.terms.text(r.entity), Predicate: s.terms.text(r.name()),
		Value: s.terms.text(r.value), Single: r.single(),
	}
}

// rebuild makes the set anew with changes.
func (s *Set) rebuild(steps []step) *Set {
	drop := make(map[uint64]bool, len(steps))
	var added []Fact
	for i := range steps {
		drop[steps[i].record] = true
		if steps[i].new != nil {
			added = append(added, *steps[i].new)
		}
	}
	return Build(s.relations, append(s.list(drop), added...))
}

// internAll numbers the texts of new facts and makes their predicates.
func (s *Set) internAll(steps []step) {
	var texts, canonical []string
	for i := range steps {
		if f := steps[i].new; f != nil {
			name := s.names.resolve(f.Predicate)
			texts = append(texts, f.Entity, f.Predicate, f.Value, name)
			canonical = append(canonical, name)
		}
	}
	s.terms = s.terms.extend(texts)
	s.predicates = slices.Clone(s.predicates)
	s.addPredicates(canonical)
	for i := range steps {
		f := steps[i].new
		if f == nil {
			continue
		}
		r := &steps[i].newRow
		r.entity, _ = s.terms.lookup(f.Entity)
		r.value, _ = s.terms.lookup(f.Value)
		r.predicate, _ = s.terms.lookup(f.Predicate)
		if f.Single {
			r.predicate |= rowSingle
		}
	}
}

// op is a change to one predicate's tables.
type op struct {
	predicate uint32
	key       uint64 // entity<<32|value
	record    uint64
	single    bool
	remove    bool
}

// apply changes the predicates that steps touch and returns the changes to the
// table of records.
func (s *Set) apply(steps []step) []change[row] {
	ops := make([]op, 0, len(steps))
	changes := make([]change[row], 0, len(steps))
	for i := range steps {
		st := &steps[i]
		if st.old != nil {
			ops = append(ops, s.op(st.record, st.oldRow, true))
		}
		if st.new != nil {
			ops = append(ops, s.op(st.record, st.newRow, false))
		}
		changes = append(changes, change[row]{key: st.record, value: st.newRow, remove: st.new == nil})
	}
	// A record's removal comes before its addition under the same statement.
	slices.SortStableFunc(ops, func(a, b op) int {
		return cmp.Or(cmp.Compare(a.predicate, b.predicate), cmp.Compare(a.key, b.key), cmp.Compare(a.record, b.record))
	})
	for low := 0; low < len(ops); {
		n := ops[low].predicate
		high := low + 1
		for high < len(ops) && ops[high].predicate == n {
			high++
		}
		before := s.predicates[n]
		s.predicates[n] = before.apply(ops[low:high])
		s.conflicts += s.predicates[n].conflicts.rows - before.conflicts.rows
		low = high
	}
	return changes
}

func (s *Set) op(record uint64, r row, remove bool) op {
	n, _ := s.number(s.names.resolve(s.terms.text(r.name())))
	return op{n, pair(r.entity, r.value), record, r.single(), remove}
}

// apply returns the predicate with changes made, which are sorted by statement
// and record.
func (p *predicate) apply(ops []op) *predicate {
	next := *p
	var byEntity, byValue []change[uint64]
	var more []change[copies]
	for low := 0; low < len(ops); {
		key := ops[low].key
		high := low + 1
		for high < len(ops) && ops[high].key == key {
			high++
		}
		before := p.copiesAt(key)
		after := before.apply(ops[low:high])
		c := change[uint64]{key: key, remove: after.records.rows == 0}
		if !c.remove {
			c.value = after.word()
		}
		if before.records.rows > 1 || after.records.rows > 1 {
			more = append(more, change[copies]{key, after, after.records.rows < 2})
		}
		next.singles += bit(after.singles > 0) - bit(before.singles > 0)
		byEntity = append(byEntity, c)
		c.key = key<<32 | key>>32
		byValue = append(byValue, c)
		low = high
	}
	slices.SortFunc(byValue, func(a, b change[uint64]) int { return cmp.Compare(a.key, b.key) })
	next.byEntity = p.byEntity.edit(byEntity)
	next.byValue = p.byValue.edit(byValue)
	next.more = p.more.edit(more)
	next.entities += differentEnds(&p.byEntity, &next.byEntity, byEntity)
	next.values += differentEnds(&p.byValue, &next.byValue, byValue)
	next.conflicts = p.conflicts.edit(p.conflictChanges(&next, ops))
	return &next
}

func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}

// copiesAt returns the records of a statement, as a table even where it is one.
func (p *predicate) copiesAt(key uint64) copies {
	word, ok := p.byEntity.find(key)
	switch {
	case !ok:
		return copies{}
	case word&moreFlag != 0:
		c, _ := p.more.find(key)
		return c
	}
	single := word&singleFlag != 0
	return copies{newTable([]uint64{word & recordMask}, []bool{single}), bit(single)}
}

// apply returns the copies with changes made, all of one statement.
func (c copies) apply(ops []op) copies {
	changes := make([]change[bool], 0, len(ops))
	for _, o := range ops {
		if n := len(changes); n > 0 && changes[n-1].key == o.record {
			changes = changes[:n-1] // the record stays, its cardinality may change
		}
		changes = append(changes, change[bool]{o.record, o.single, o.remove})
	}
	for _, ch := range changes {
		if single, ok := c.records.find(ch.key); ok && single {
			c.singles--
		}
		if !ch.remove && ch.value {
			c.singles++
		}
	}
	c.records = c.records.edit(changes)
	return c
}

// differentEnds returns by how many the different upper halves grew, where only
// the keys of changes changed.
func differentEnds(before, after *table[uint64], changes []change[uint64]) int {
	grown := 0
	for i := range changes {
		high := uint32(changes[i].key >> 32)
		if i > 0 && uint32(changes[i-1].key>>32) == high {
			continue
		}
		grown += bit(after.has(high)) - bit(before.has(high))
	}
	return grown
}

// has reports whether the table has rows with an upper half.
func (t *table[V]) has(high uint32) bool {
	c, i := t.lower(pair(high, 0))
	return c < len(t.chunks) && uint32(t.chunks[c].keys[i]>>32) == high
}

// conflictChanges lists which groups became contradictory and which ceased to be.
func (p *predicate) conflictChanges(next *predicate, ops []op) []change[none] {
	var out []change[none]
	for low := 0; low < len(ops); {
		entity := uint32(ops[low].key >> 32)
		high, removed, single := low, false, false
		for ; high < len(ops) && uint32(ops[high].key>>32) == entity; high++ {
			removed = removed || ops[high].remove
			single = single || !ops[high].remove && ops[high].single
		}
		low = high
		_, before := p.conflicts.find(uint64(entity))
		if before && !removed {
			continue
		}
		if !before && !single && p.declared == undeclared && p.byEntity.count(entity) > 1 {
			continue // no member was single, and none is now
		}
		if after := next.contradictory(entity); after != before {
			out = append(out, change[none]{key: uint64(entity), remove: before})
		}
	}
	return out
}
