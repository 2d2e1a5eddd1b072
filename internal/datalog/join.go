package datalog

import (
	"context"
	"slices"
	"strings"
)

// The flags of a word, see Facts.
const (
	moreFlag   = 1 << 63
	recordMask = 1<<62 - 1
)

// checkEvery is after how many examinations or states the context is asked.
const checkEvery = 4096

// states are partial bindings, side by side: the terms of the variables bound by
// now, and the word of each fact that binds them.
type states struct {
	terms []uint32 // width for each
	words []uint64 // depth for each
	width int
	depth int
	count int
}

// join is one evaluation.
type join struct {
	ctx     context.Context
	facts   Facts
	names   []string
	selects []int
	limits  Limits

	steps   []step
	column  []int // where in a state a variable's term stands, by variable
	columns int

	now      states
	next     states
	work     Work
	bound    string
	examined map[uint64]bool // contradictory groups: entity<<32|predicate
	fresh    []uint64        // those of the step at hand
	ticks    int
}

func newJoin(ctx context.Context, facts Facts, p *Program, limits Limits) *join {
	j := &join{
		ctx: ctx, facts: facts, names: p.Variables, selects: p.Select, limits: limits,
		column: make([]int, len(p.Variables)),
		steps:  make([]step, len(p.Atoms)),
	}
	for i, a := range p.Atoms {
		j.steps[i] = j.newStep(i, a)
	}
	return j
}

// run joins all atoms. Afterwards now holds the matches, unless bound is set.
func (j *join) run() error {
	j.now = states{count: 1}
	for i := range j.steps {
		s := &j.steps[i]
		j.next = states{terms: j.next.terms[:0], words: j.next.words[:0], width: j.now.width, depth: j.now.depth + 1}
		for _, t := range s.ends() {
			if t.kind == variable && j.column[t.number] == j.next.width {
				j.next.width++
			}
		}
		if err := j.step(s); err != nil {
			return err
		}
		if j.bound != "" {
			return nil
		}
		j.work.States = max(j.work.States, j.next.count)
		for _, group := range j.fresh {
			if j.examined == nil {
				j.examined = make(map[uint64]bool)
			}
			j.examined[group] = true
		}
		j.now, j.next = j.next, j.now
	}
	return nil
}

// step joins one atom to all states.
func (j *join) step(s *step) error {
	j.fresh = j.fresh[:0]
	for i := range j.now.count {
		if err := j.tick(1); err != nil {
			return err
		}
		terms := j.now.terms[i*j.now.width : (i+1)*j.now.width]
		words := j.now.words[i*j.now.depth : (i+1)*j.now.depth]
		if err := j.extend(s, terms, words); err != nil {
			return err
		}
		if j.work.Examinations > j.limits.Examinations {
			j.work.Examinations, j.bound = j.limits.Examinations, BoundExaminations
			return nil
		}
	}
	if j.next.count > j.limits.States {
		j.work.States, j.bound = j.limits.States, BoundStates
	}
	return nil
}

// tick counts work and asks the context now and then.
func (j *join) tick(n int) error {
	if j.ticks += n; j.ticks < checkEvery {
		return nil
	}
	j.ticks = 0
	return j.ctx.Err()
}

// term returns the term of a constant, or of a variable that a state binds.
func (j *join) term(t Term, terms []uint32) uint32 {
	if t.kind == variable {
		return terms[j.column[t.number]]
	}
	return t.number
}

// extend joins one atom to one state.
func (j *join) extend(s *step, terms []uint32, words []uint64) error {
	if s.facts == 0 {
		return nil
	}
	p := s.Predicate.number
	switch s.by {
	case ByEntityValue:
		e, v := j.term(s.Entity, terms), j.term(s.Value, terms)
		if word, ok := j.facts.Statement(e, p, v); ok {
			j.work.Examinations++
			j.contradictory(s, e)
			j.keep(terms, words, word)
		}
		return nil
	case ByEntity:
		e := j.term(s.Entity, terms)
		return j.each(func(skip int) ([]uint64, []uint64) { return j.facts.OfEntity(e, p, skip) }, func(i int, key, word uint64) {
			if i == 0 {
				j.contradictory(s, e)
			}
			j.keep(terms, words, word, uint32(key))
		})
	case ByValue:
		v := j.term(s.Value, terms)
		return j.each(func(skip int) ([]uint64, []uint64) { return j.facts.OfValue(p, v, skip) }, func(_ int, key, word uint64) {
			j.contradictory(s, uint32(key))
			j.keep(terms, words, word, uint32(key))
		})
	}
	if s.statements > j.limits.Examinations-j.work.Examinations {
		j.work.Examinations = j.limits.Examinations + 1
		return nil
	}
	loop := s.Entity == s.Value
	return j.each(func(skip int) ([]uint64, []uint64) { return j.facts.OfPredicate(p, skip) }, func(_ int, key, word uint64) {
		e, v := uint32(key>>32), uint32(key)
		j.contradictory(s, e)
		switch {
		case !loop:
			j.keep(terms, words, word, e, v)
		case e == v:
			j.keep(terms, words, word, e)
		}
	})
}

// each fetches facts, counts them and tests each. Once a bound is broken it only
// counts.
func (j *join) each(fetch func(skip int) (keys, words []uint64), test func(i int, key, word uint64)) error {
	for skip := 0; ; {
		keys, words := fetch(skip)
		if len(keys) == 0 {
			return nil
		}
		j.work.Examinations += len(keys)
		if j.work.Examinations > j.limits.Examinations {
			return nil
		}
		if j.next.count <= j.limits.States {
			for i, key := range keys {
				test(skip+i, key, words[i])
			}
		}
		if err := j.tick(len(keys)); err != nil {
			return err
		}
		skip += len(keys)
	}
}

// keep adds a state: one of now, one more fact, and the terms that it binds.
func (j *join) keep(terms []uint32, words []uint64, word uint64, bound ...uint32) {
	if j.next.count++; j.next.count > j.limits.States {
		return
	}
	j.next.terms = append(append(j.next.terms, terms...), bound...)
	j.next.words = append(append(j.next.words, words...), word)
}

// contradictory notes the group of a fact that is examined.
func (j *join) contradictory(s *step, entity uint32) {
	if s.contradictory && j.facts.Contradictory(entity, s.Predicate.number) {
		j.fresh = append(j.fresh, uint64(entity)<<32|uint64(s.Predicate.number))
	}
}

// conflicts returns the contradictory groups that matches rest on.
func (j *join) conflicts() map[uint64]bool {
	groups := map[uint64]bool{}
	for i := range j.steps {
		s := &j.steps[i]
		if !s.contradictory {
			continue
		}
		for m := range j.now.count {
			e := j.term(s.Entity, j.now.terms[m*j.now.width:(m+1)*j.now.width])
			group := uint64(e)<<32 | uint64(s.Predicate.number)
			if j.examined[group] {
				groups[group] = true
			}
		}
	}
	return groups
}

// sortedGroups orders groups by entity, then predicate.
func (j *join) sortedGroups(groups map[uint64]bool) []Group {
	out := make([]Group, 0, len(groups))
	for g := range groups {
		out = append(out, Group{uint32(g >> 32), uint32(g)})
	}
	slices.SortFunc(out, func(a, b Group) int {
		if c := j.facts.Compare(a.Entity, b.Entity); c != 0 {
			return c
		}
		return strings.Compare(j.facts.PredicateName(a.Predicate), j.facts.PredicateName(b.Predicate))
	})
	return out
}
