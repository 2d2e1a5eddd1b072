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
	states uint64 // estimated states, in 1/256
	last   int8   // the atom joined last
}

const (
	unreached = 1<<64 - 1
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
	var places [1 << MaxAtoms]place
	for i := range places {
		places[i].cost = unreached
	}
	places[0] = place{0, fraction, -1}
	for set := range 1<<n - 1 {
		if places[set].cost == unreached {
			continue
		}
		for rest := j.candidates(set); rest != 0; rest &= rest - 1 {
			next := bits.TrailingZeros(uint(rest))
			tested, states := j.estimate(set, next, places[set].states)
			cost := min(places[set].cost+tested+places[set].states, manyCost)
			if to := &places[set|1<<next]; cost < to.cost {
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
// then, if an atom is joined to a set of atoms with so many states. All are in
// 1/fraction.
func (j *join) estimate(set, next int, states uint64) (tested, after uint64) {
	s := &j.steps[next]
	tested = multiply(states, uint64(s.facts), 1)
	after = tested
	ends := s.ends()
	for end, t := range ends {
		if t.kind != variable {
			continue
		}
		if least, ok := j.leastDifferent(set, t.number); ok {
			by := max(least, s.different[end], 1)
			tested, after = tested/by, after/by
		} else if end == 1 && ends[0] == t {
			after /= max(s.different[0], s.different[1], 1)
		}
	}
	return tested, after
}

// leastDifferent returns the least number of different terms that a variable has
// in the atoms of a set.
func (j *join) leastDifferent(set int, number uint32) (least uint64, ok bool) {
	least = unreached
	for i := range j.steps {
		if set>>i&1 == 0 {
			continue
		}
		for end, t := range j.steps[i].ends() {
			if t.kind == variable && t.number == number {
				least, ok = min(least, j.steps[i].different[end]), true
			}
		}
	}
	return least, ok
}

// multiply returns a·b/c, at most manyCost.
func multiply(a, b, c uint64) uint64 {
	high, low := bits.Mul64(a, b)
	if high >= c {
		return manyCost
	}
	quotient, _ := bits.Div64(high, low, c)
	return min(quotient, manyCost)
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
