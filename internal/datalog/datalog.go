// Package datalog joins up to six fact patterns and keeps every minimal proof
// of every answer, within bounds that are counted and never exceeded.
//
// A fact is a statement (entity, predicate, value), said by one or more records.
// An atom is a pattern of one: its predicate is a constant, its entity and value
// are constants or variables. A match binds every variable so that each atom is
// a fact; an answer is a match seen through the selected variables. A variable
// stands for one term wherever it occurs, twice in one atom too.
//
// # Plan
//
// [Evaluate] looks at every order of the atoms (at most 720, by dynamic
// programming over the sets of atoms joined so far) and takes the one that is
// estimated to test the fewest facts, from the exact numbers of statements and
// of different entities and values under the constants. Atoms without a variable
// come first, then atoms that share a variable with those joined before; atoms
// without any connection come last. Before all that the atoms are put into an
// order of their own, so that the order they were written in changes nothing.
//
// # Work
//
// Atoms are joined one after the other, each to all states: the partial bindings
// that were alive after the atom before. For each state the facts that agree
// with the constants and with the variables bound by now are fetched and tested,
// each of them one examination. Two bounds stop the work at once, and no rows
// come of it: examinations in all, and states alive after an atom. An atom is
// charged whole: what its join would examine for all states, so that the counts
// are the same wherever facts lie in memory. Where an atom breaks both bounds,
// examinations are named; a broken bound is reported as reached, not passed.
//
// # Proofs
//
// An alternative of an answer is a set of records that proves it and of which no
// part does: one record for each statement of a match, where no other match of
// the same answer makes do with fewer of its statements. Alternatives are in the
// order of their size, then of their record ids. If all answers have more than
// the bound in all, each has its first, the rest of the bound is given out in
// turn, and the result says so. More answers than the bound are a bound broken.
//
// # Contradictions
//
// If a record of a contradictory group takes part in any match, the result is
// the groups that do and nothing else; this is found before answers are counted.
// Contradictory groups that were examined without taking part are counted.
package datalog

import (
	"context"
	"errors"
	"fmt"
	"math"
)

// MaxAtoms is the greatest number of atoms of a program.
const MaxAtoms = 6

// The bounds that a [Result] can name.
const (
	BoundExaminations = "examinations"
	BoundStates       = "states"
	BoundAnswers      = "answers"
)

// How a [Step] finds its facts: by what is known when it is reached.
const (
	ByPredicate   = "predicate"    // neither end: every fact of the predicate
	ByEntity      = "entity"       // the facts of an entity
	ByValue       = "value"        // the facts with a value
	ByEntityValue = "entity+value" // one fact
)

// Facts is what a join needs to know. Terms and predicates are numbers; the
// numbers of terms and of predicates have nothing to do with each other.
//
// The methods that return keys and words return facts that lie side by side in
// memory, for each a key, whose lower half is the term that was not asked for
// (for OfPredicate: entity<<32|value), and a word: the fact's least record id,
// below 1<<62, with bit 63 set if further records say the same. Bit 62 has no
// meaning. If there may be more, the caller calls again with skip raised by the
// number of facts returned. It does not change the slices.
type Facts interface {
	Text(term uint32) string
	// Compare orders terms by the bytes of their texts.
	Compare(a, b uint32) int
	// Ordered returns a number below which terms compare like numbers.
	Ordered() uint32
	// PredicateName returns the name that orders predicates.
	PredicateName(predicate uint32) string
	// Counts returns how many facts a predicate has, over how many different
	// entities and values.
	Counts(predicate uint32) (statements, entities, values int)
	CountOfEntity(entity, predicate uint32) int
	CountOfValue(predicate, value uint32) int
	// ContradictionsOf returns how many groups of a predicate are contradictory.
	ContradictionsOf(predicate uint32) int
	Contradictory(entity, predicate uint32) bool
	OfPredicate(predicate uint32, skip int) (keys, words []uint64, more bool)
	OfEntity(entity, predicate uint32, skip int) (keys, words []uint64, more bool)
	OfValue(predicate, value uint32, skip int) (keys, words []uint64, more bool)
	// Statement returns the word of one fact.
	Statement(entity, predicate, value uint32) (word uint64, ok bool)
	// StatementRecords lists the records of one fact, ascending.
	StatementRecords(entity, predicate, value uint32) []uint64
}

type kind uint8

const (
	unknown kind = iota // a constant that no fact has
	constant
	variable
)

// Term is a constant or a variable. The zero Term is a constant that no fact has.
type Term struct {
	kind   kind
	number uint32
	text   string // of a constant that no fact has, if it is known
}

// Const is a constant: a term or predicate of the facts, or, if ok is false,
// one that no fact has, so that its atom has no match.
func Const(id uint32, ok bool) Term {
	if !ok {
		return Term{}
	}
	return Term{kind: constant, number: id}
}

// Missing is a constant that no fact has, as Const(0, false) is, by its text. The
// text gives its atom the place among the others that it would have if the facts
// knew it, so that the plan depends neither on the order that atoms were written
// in nor on terms that once were known.
func Missing(text string) Term { return Term{text: text} }

// Var is the n-th variable of a program, counted from 0.
func Var(n int) Term { return Term{kind: variable, number: uint32(n)} }

// Atom is a pattern of a fact. Its predicate is a constant.
type Atom struct {
	Entity, Predicate, Value Term
}

// Program is a conjunction of atoms and what is asked of it.
type Program struct {
	Atoms     []Atom
	Variables []string // the names of the variables, all different; they only break ties
	Select    []int    // the variables of an answer, all different; none asks whether there is a match
}

// Limits bounds an evaluation; each is at least 1, and States below 2³¹.
type Limits struct {
	Examinations int // facts fetched and tested
	States       int // partial bindings alive after an atom
	Alternatives int // alternatives in the whole result, and answers
}

// Step is one step of a plan.
type Step struct {
	Atom int    // which atom, as written
	By   string // ByPredicate, ByEntity, ByValue or ByEntityValue
}

// Work is what an evaluation did.
type Work struct {
	Examinations int // facts fetched and tested
	States       int // the most partial bindings that were alive after an atom
}

// Answer is one binding of the selected variables with its alternatives.
type Answer struct {
	Bind   []uint32   // a term for each selected variable
	Proofs [][]uint64 // each a minimal set of record ids, ascending
}

// Group is the facts of one entity under one predicate.
type Group struct {
	Entity, Predicate uint32
}

// Result is what Evaluate found. If Bound or Conflicts is set there are no
// answers.
type Result struct {
	Answers              []Answer // by the bytes of their terms' texts
	AlternativesComplete bool     // no alternative is left out
	Plan                 []Step
	Work                 Work
	Bound                string  // the bound that was broken, "" if none was
	Conflicts            []Group // contradictory groups that matches rest on
	// ContradictionsExamined counts the other contradictory groups of which a
	// fact was examined, in steps that were completed.
	ContradictionsExamined int
}

// ErrProgram says that a program is not well formed.
var ErrProgram = errors.New("datalog: malformed program")

// Evaluate answers a program from facts within limits. It returns an error only
// for a malformed program (ErrProgram) or when ctx is done.
func Evaluate(ctx context.Context, facts Facts, program Program, limits Limits) (*Result, error) {
	if err := check(&program, limits); err != nil {
		return nil, err
	}
	j := newJoin(ctx, facts, &program, limits)
	j.choose()
	result := &Result{Plan: make([]Step, len(j.steps))}
	for i := range j.steps {
		result.Plan[i] = Step{j.steps[i].written, j.steps[i].by}
	}
	if err := j.run(); err != nil {
		return nil, err
	}
	result.Work, result.Bound = j.work, j.bound
	var conflicts map[uint64]bool
	if j.bound == "" {
		conflicts = j.conflicts()
	}
	for group := range j.examined {
		if !conflicts[group] {
			result.ContradictionsExamined++
		}
	}
	switch {
	case j.bound != "":
	case len(conflicts) > 0:
		result.Conflicts = j.sortedGroups(conflicts)
	default:
		if err := j.answer(result); err != nil {
			return nil, err
		}
	}
	return result, nil
}

func check(p *Program, limits Limits) error {
	if len(p.Atoms) == 0 || len(p.Atoms) > MaxAtoms {
		return fmt.Errorf("%w: %d atoms", ErrProgram, len(p.Atoms))
	}
	if limits.States > math.MaxInt32 {
		return fmt.Errorf("%w: more than 2³¹ states", ErrProgram)
	}
	if limits.Examinations < 1 || limits.States < 1 || limits.Alternatives < 1 {
		return fmt.Errorf("%w: a limit below 1", ErrProgram)
	}
	if len(p.Variables) > 2*MaxAtoms {
		return fmt.Errorf("%w: %d variables", ErrProgram, len(p.Variables))
	}
	occurs := make([]bool, len(p.Variables))
	for _, a := range p.Atoms {
		if a.Predicate.kind == variable {
			return fmt.Errorf("%w: a variable predicate", ErrProgram)
		}
		for _, t := range [...]Term{a.Entity, a.Value} {
			if t.kind != variable {
				continue
			}
			if int64(t.number) >= int64(len(occurs)) {
				return fmt.Errorf("%w: variable %d has no name", ErrProgram, t.number)
			}
			occurs[t.number] = true
		}
	}
	for i, n := range p.Select {
		if n < 0 || n >= len(occurs) || !occurs[n] {
			return fmt.Errorf("%w: variable %d is selected and does not occur", ErrProgram, n)
		}
		for _, m := range p.Select[:i] {
			if n == m {
				return fmt.Errorf("%w: variable %d is selected twice", ErrProgram, n)
			}
		}
	}
	return nil
}
