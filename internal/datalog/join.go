package datalog

import (
	"context"
	"slices"
	"strings"
)

// The parts of a word, see Facts.
const (
	moreFlag   = 1 << 63
	recordMask = 1<<62 - 1
)

// checkEvery is after how many examinations or states the context is asked.
const checkEvery = 4096

// states are the partial bindings that are alive: the terms of the variables
// bound by now, side by side.
type states struct {
	terms []uint32 // width for each state
	width int
	count int // goes on counting after the bound is broken, when no more are kept
}

func (s *states) of(i int) []uint32 { return s.terms[i*s.width : (i+1)*s.width] }

// trail is, for each state after a step, the word of the fact that the step
// joined to it, and the state before. Followed back it gives a match's facts.
type trail struct {
	words   []uint64
	parents []int32
}

// join is one evaluation.
type join struct {
	ctx     context.Context
	facts   Facts
	names   []string
	selects []int
	limits  Limits

	steps   []step
	column  [2 * MaxAtoms]int // where in a state a variable's term stands; -1: not bound yet
	columns int

	now      states
	next     states
	trails   [MaxAtoms]trail
	work     Work
	bound    string
	examined map[uint64]bool // contradictory groups: entity<<32|predicate
	fresh    []uint64        // those of the step at hand
	ticks    int
}

func newJoin(ctx context.Context, facts Facts, p *Program, limits Limits) *join {
	j := &join{
		ctx: ctx, facts: facts, names: p.Variables, selects: p.Select, limits: limits,
		steps: make([]step, len(p.Atoms)),
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
		j.next = states{terms: j.next.terms[:0], width: j.now.width + s.binds}
		j.fresh = j.fresh[:0]
		j.reserve(&j.trails[i])
		if err := j.join(s, &j.trails[i]); err != nil {
			return err
		}
		switch {
		case j.work.Examinations > j.limits.Examinations:
			j.work.Examinations, j.bound = j.limits.Examinations, BoundExaminations
			return nil
		case j.next.count > j.limits.States:
			j.work.States, j.bound = j.limits.States, BoundStates
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

// reserve makes room for as many states after a step as before it, and for some
// at least: most steps need no more.
func (j *join) reserve(t *trail) {
	n := min(max(j.now.count, 32), j.limits.States)
	t.words = make([]uint64, 0, n)
	t.parents = make([]int32, 0, n)
	j.next.terms = slices.Grow(j.next.terms, n*j.next.width)
}

// join joins one atom to all states. It returns early once the bound of
// examinations is broken; once that of states is, it only counts.
func (j *join) join(s *step, t *trail) error {
	if s.facts == 0 {
		return nil
	}
	switch s.by {
	case ByEntityValue:
		return j.joinStatement(s, t)
	case ByEntity:
		return j.joinEnd(s, t, s.Entity)
	case ByValue:
		return j.joinEnd(s, t, s.Value)
	}
	return j.joinPredicate(s, t)
}

// tick counts work and asks the context now and then.
func (j *join) tick(n int) error {
	if j.ticks += n; j.ticks < checkEvery {
		return nil
	}
	j.ticks = 0
	return j.ctx.Err()
}

// exhausted reports whether the bound of examinations is broken.
func (j *join) exhausted() bool { return j.work.Examinations > j.limits.Examinations }

// term returns the term of a constant, or of a variable that a state binds.
func (j *join) term(t Term, terms []uint32) uint32 {
	if t.kind == variable {
		return terms[j.column[t.number]]
	}
	return t.number
}

// joinStatement looks up one fact for each state.
func (j *join) joinStatement(s *step, t *trail) error {
	p := s.Predicate.number
	for i := range j.now.count {
		if err := j.tick(1); err != nil {
			return err
		}
		terms := j.now.of(i)
		e := j.term(s.Entity, terms)
		word, ok := j.facts.Statement(e, p, j.term(s.Value, terms))
		if !ok {
			continue
		}
		if j.work.Examinations++; j.exhausted() {
			return nil
		}
		j.contradictory(s, e)
		if j.next.count++; j.next.count <= j.limits.States {
			j.next.terms = append(j.next.terms, terms...)
			t.words = append(t.words, word)
			t.parents = append(t.parents, int32(i))
		}
	}
	return nil
}

// joinEnd fetches the facts of one end, the entity or the value, for each state.
// States side by side often share that end, so the last facts are kept at hand.
func (j *join) joinEnd(s *step, t *trail, end Term) error {
	p := s.Predicate.number
	var last uint32
	var keys, words []uint64
	whole := false // keys are all facts of last
	for i := range j.now.count {
		term := j.term(end, j.now.of(i))
		for skip, more := 0, true; more; skip += len(keys) {
			if whole && term == last {
				more = false
			} else {
				if s.by == ByEntity {
					keys, words, more = j.facts.OfEntity(term, p, skip)
				} else {
					keys, words, more = j.facts.OfValue(p, term, skip)
				}
				last, whole = term, skip == 0 && !more
			}
			if j.work.Examinations += len(keys); j.exhausted() {
				return nil
			}
			if s.contradictory && len(keys) > 0 {
				j.contradictoryKeys(s, term, keys)
			}
			j.keep(i, keys, words, t)
			if err := j.tick(1 + len(keys)); err != nil {
				return err
			}
		}
	}
	return nil
}

// keep adds a state for each fact, which binds the term in the lower half of its
// key beside those of the i-th state.
func (j *join) keep(i int, keys, words []uint64, t *trail) {
	if j.next.count += len(keys); j.next.count > j.limits.States {
		return
	}
	t.words = append(t.words, words...)
	terms := j.now.of(i)
	out := slices.Grow(j.next.terms, len(keys)*j.next.width)
	at := len(out)
	out = out[:at+len(keys)*j.next.width]
	for _, key := range keys {
		for _, term := range terms {
			out[at] = term
			at++
		}
		out[at] = uint32(key)
		at++
		t.parents = append(t.parents, int32(i))
	}
	j.next.terms = out
}

// joinPredicate goes through all facts of a predicate for each state.
func (j *join) joinPredicate(s *step, t *trail) error {
	for i := range j.now.count {
		if s.facts > j.limits.Examinations-j.work.Examinations {
			j.work.Examinations = j.limits.Examinations + 1
			return nil
		}
		j.work.Examinations += s.facts
		for skip, more := 0, true; more && j.next.count <= j.limits.States; {
			var keys, words []uint64
			keys, words, more = j.facts.OfPredicate(s.Predicate.number, skip)
			skip += len(keys)
			if err := j.tick(len(keys)); err != nil {
				return err
			}
			j.keepBoth(s, i, keys, words, t)
		}
	}
	return nil
}

// keepBoth adds a state for each fact, which binds both terms of its key, or one
// if the atom has the same variable twice and the terms agree.
func (j *join) keepBoth(s *step, i int, keys, words []uint64, t *trail) {
	terms, loop := j.now.of(i), s.Entity == s.Value
	for k, key := range keys {
		e, v := uint32(key>>32), uint32(key)
		j.contradictory(s, e)
		if loop && e != v {
			continue
		}
		if j.next.count++; j.next.count > j.limits.States {
			return
		}
		j.next.terms = append(append(j.next.terms, terms...), e)
		if !loop {
			j.next.terms = append(j.next.terms, v)
		}
		t.words = append(t.words, words[k])
		t.parents = append(t.parents, int32(i))
	}
}

// contradictory notes the group of a fact that is examined, if it contradicts
// itself.
func (j *join) contradictory(s *step, entity uint32) {
	if !s.contradictory || !j.facts.Contradictory(entity, s.Predicate.number) {
		return
	}
	group := uint64(entity)<<32 | uint64(s.Predicate.number)
	if n := len(j.fresh); n > 0 && j.fresh[n-1] == group {
		return
	}
	if len(j.fresh) == cap(j.fresh) {
		// Before growing: there may be far fewer groups than facts.
		slices.Sort(j.fresh)
		j.fresh = slices.Compact(j.fresh)
		j.fresh = slices.Grow(j.fresh, len(j.fresh)+16)
	}
	j.fresh = append(j.fresh, group)
}

// contradictoryKeys does so for facts found by one end.
func (j *join) contradictoryKeys(s *step, term uint32, keys []uint64) {
	if s.by == ByEntity {
		j.contradictory(s, term)
		return
	}
	for _, key := range keys {
		j.contradictory(s, uint32(key))
	}
}

// conflicts returns the contradictory groups that matches rest on.
func (j *join) conflicts() map[uint64]bool {
	if len(j.examined) == 0 {
		return nil
	}
	groups := map[uint64]bool{}
	for i := range j.steps {
		s := &j.steps[i]
		if !s.contradictory {
			continue
		}
		for m := range j.now.count {
			group := uint64(j.term(s.Entity, j.now.of(m)))<<32 | uint64(s.Predicate.number)
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
