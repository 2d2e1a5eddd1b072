package datalog

import (
	"cmp"
	"math/bits"
	"slices"
	"strings"
)

// step is one atom of a join, and how its facts are found.
type step struct {
	Atom
	written int // its index as written
	by      string

	facts         int       // how many facts agree with its constants
	binds         int       // how many variables it binds
	different     [2]uint64 // different terms at entity and value, under the constants
	variables     uint64    // the variables in it, a bit each
	contradictory bool      // its predicate has contradictory groups
}

func (s *step) ends() [2]Term { return [2]Term{s.Entity, s.Value} }

// place is where the plan stands once a set of atoms has been joined.
type place struct {
	cost   uint64 // facts tested and states probed on the best way here; all ones: not reached
	states uint64 // estimated states; both in 1/fraction
	last   int8   // the atom joined last
}

// places are all sets of atoms, by the bits of their indexes.
type places [1 << MaxAtoms]place

// better reports whether the way to a set over one place beats that over another,
// if both cost the same in all, perhaps too much to be told apart: the one that
// cost less before the last atom, or before the last two, does.
func (ps *places) better(over, other int) bool {
	for over != other {
		if c := cmp.Compare(ps[over].cost, ps[other].cost); c != 0 {
			return c < 0
		}
		over, other = over&^(1<<ps[over].last), other&^(1<<ps[other].last)
	}
	return false
}

const (
	unreached = 1<<64 - 1 // as a cost
	unbound   = 1<<64 - 1 // as a number of different terms
	fraction  = 256
	manyCost  = 1 << 62 // costs and estimates end here
)

// newStep counts what is known of an atom.
func (j *join) newStep(written int, a Atom) step {
	s := step{Atom: a, written: written}
	for _, t := range s.ends() {
		if t.kind == variable {
			s.variables |= 1 << t.number
		}
	}
	if a.Predicate.kind == unknown {
		return s
	}
	p := a.Predicate.number
	statements, entities, values := j.facts.Counts(p)
	s.facts, s.different = statements, [2]uint64{uint64(entities), uint64(values)}
	s.contradictory = j.facts.ContradictionsOf(p) > 0
	// A constant that no fact has is counted as one that is known and has none.
	switch e, v := a.Entity, a.Value; {
	case e.kind != variable && v.kind != variable:
		s.facts = 0
		if e.kind == constant && v.kind == constant {
			if _, ok := j.facts.Statement(e.number, p, v.number); ok {
				s.facts = 1
			}
		}
	case e.kind != variable:
		s.facts = 0
		if e.kind == constant {
			s.facts = j.facts.CountOfEntity(e.number, p)
		}
		s.different[1] = uint64(s.facts)
	case v.kind != variable:
		s.facts = 0
		if v.kind == constant {
			s.facts = j.facts.CountOfValue(p, v.number)
		}
		s.different[0] = uint64(s.facts)
	}
	return s
}

// canonical orders atoms by what they say, whatever the order they were written in.
func (j *join) canonical(a, b *step) int {
	return cmp.Or(
		strings.Compare(j.predicateName(a.Predicate), j.predicateName(b.Predicate)),
		j.compareTerms(a.Entity, b.Entity),
		j.compareTerms(a.Value, b.Value),
	)
}

func (j *join) predicateName(t Term) string {
	if t.kind == constant {
		return j.facts.PredicateName(t.number)
	}
	return t.text
}

// compareTerms puts constants before variables.
func (j *join) compareTerms(a, b Term) int {
	if a.kind == variable || b.kind == variable {
		if a.kind != b.kind {
			return cmp.Compare(bit(a.kind == variable), bit(b.kind == variable))
		}
		return strings.Compare(j.names[a.number], j.names[b.number])
	}
	return strings.Compare(j.text(a), j.text(b))
}

func (j *join) text(t Term) string {
	if t.kind == constant {
		return j.facts.Text(t.number)
	}
	return t.text
}

func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}

// choose puts the steps into the order that is estimated to test the fewest
// facts. The estimates are those of Selinger et al.: a join divides by the
// greater number of different terms at its two ends.
func (j *join) choose() {
	slices.SortStableFunc(j.steps, func(a, b step) int { return j.canonical(&a, &b) })
	n := len(j.steps)
	var places places
	for i := range places {
		places[i].cost = unreached
	}
	places[0] = place{states: fraction}
	for set := range 1<<n - 1 {
		from := &places[set]
		if from.cost == unreached {
			continue
		}
		least := j.leastDifferent(set)
		for rest := j.candidates(set); rest != 0; rest &= rest - 1 {
			next := bits.TrailingZeros(uint(rest))
			tested, states := j.steps[next].estimate(from.states, &least)
			cost := min(from.cost+tested+from.states, manyCost)
			to := &places[set|1<<next]
			if cost < to.cost || cost == to.cost && places.better(set, (set|1<<next)&^(1<<to.last)) {
				*to = place{cost, states, int8(next)}
			}
		}
	}
	order := make([]step, n)
	for set := 1<<n - 1; set != 0; {
		last := places[set].last
		order[bits.OnesCount(uint(set))-1] = j.steps[last]
		set &^= 1 << last
	}
	j.steps = order
	j.findAccess()
}

// candidates returns the atoms that may be joined next to a set, a bit each:
// those without a variable first, then those with a connection, then all.
func (j *join) candidates(set int) int {
	bound := j.boundBy(set)
	ground, connected, all := 0, 0, 0
	for i := range j.steps {
		if set>>i&1 == 1 {
			continue
		}
		all |= 1 << i
		switch s := &j.steps[i]; {
		case s.variables == 0:
			ground |= 1 << i
		case s.variables&bound != 0:
			connected |= 1 << i
		}
	}
	switch {
	case ground != 0:
		return ground
	case connected != 0:
		return connected
	}
	return all
}

func (j *join) boundBy(set int) uint64 {
	var bound uint64
	for i := range j.steps {
		if set>>i&1 == 1 {
			bound |= j.steps[i].variables
		}
	}
	return bound
}

// estimate returns how many facts are tested, and how many states there are
// then, if the atom is joined to so many states. All are in 1/fraction.
func (s *step) estimate(states uint64, least *[2 * MaxAtoms]uint64) (tested, after uint64) {
	tested = multiply(states, uint64(s.facts))
	after = tested
	ends := s.ends()
	for end, t := range ends {
		if t.kind != variable {
			continue
		}
		if least := least[t.number]; least != unbound {
			by := max(least, s.different[end], 1)
			tested, after = tested/by, after/by
		} else if end == 1 && ends[0] == t {
			after /= max(s.different[0], s.different[1], 1)
		}
	}
	return tested, after
}

// leastDifferent returns, for each variable, the least number of different terms
// that it has in the atoms of a set.
func (j *join) leastDifferent(set int) [2 * MaxAtoms]uint64 {
	var out [2 * MaxAtoms]uint64
	for i := range out {
		out[i] = unbound
	}
	for rest := set; rest != 0; rest &= rest - 1 {
		s := &j.steps[bits.TrailingZeros(uint(rest))]
		for end, t := range s.ends() {
			if t.kind == variable {
				out[t.number] = min(out[t.number], s.different[end])
			}
		}
	}
	return out
}

// multiply returns a·b, at most manyCost.
func multiply(a, b uint64) uint64 {
	high, low := bits.Mul64(a, b)
	if high > 0 {
		return manyCost
	}
	return min(low, manyCost)
}

// findAccess finds out by what each step finds its facts, and numbers the
// variables in the order in which they are bound.
func (j *join) findAccess() {
	for i := range j.column {
		j.column[i] = -1
	}
	known := func(t Term) bool { return t.kind != variable || j.column[t.number] >= 0 }
	for i := range j.steps {
		s := &j.steps[i]
		switch e, v := known(s.Entity), known(s.Value); {
		case e && v:
			s.by = ByEntityValue
		case e:
			s.by = ByEntity
		case v:
			s.by = ByValue
		default:
			s.by = ByPredicate
		}
		for _, t := range s.ends() {
			if !known(t) {
				j.column[t.number] = j.columns
				j.columns++
				s.binds++
			}
		}
	}
}
