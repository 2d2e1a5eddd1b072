package datalog_test

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/grounded-memory/grounded/internal/datalog"
	"github.com/grounded-memory/grounded/internal/facts"
	"pgregory.net/rapid"
)

// A query of the tests is text: a term that starts with ? is a variable, one
// that starts with = is the constant after it.
type query struct {
	where   [][3]string
	selects []string // nil: all, in order of first use
}

func isVariable(term string) bool { return strings.HasPrefix(term, "?") }

func (q *query) variables() []string {
	var names []string
	for _, a := range q.where {
		for _, t := range []string{a[0], a[2]} {
			if isVariable(t) && !slices.Contains(names, t) {
				names = append(names, t)
			}
		}
	}
	return names
}

func (q *query) selected() []string {
	if q.selects == nil {
		return q.variables()
	}
	return q.selects
}

func constantOf(term string) string { return strings.TrimPrefix(term, "=") }

// program makes a program of a query, numbering variables by first use.
func (q *query) program(s *facts.Set) datalog.Program {
	p := datalog.Program{Variables: q.variables()}
	term := func(t string) datalog.Term {
		if isVariable(t) {
			return datalog.Var(slices.Index(p.Variables, t))
		}
		if id, ok := s.Lookup(constantOf(t)); ok {
			return datalog.Const(id, true)
		}
		return datalog.Missing(constantOf(t))
	}
	for _, a := range q.where {
		predicate := datalog.Missing(a[1])
		if id, ok := s.Predicate(a[1]); ok {
			predicate = datalog.Const(id, true)
		}
		p.Atoms = append(p.Atoms, datalog.Atom{Entity: term(a[0]), Predicate: predicate, Value: term(a[2])})
	}
	for _, name := range q.selected() {
		p.Select = append(p.Select, slices.Index(p.Variables, name))
	}
	return p
}

var _ datalog.Facts = (*facts.Set)(nil)

var wide = datalog.Limits{Examinations: 5_000_000, States: 5_000_000, Alternatives: 5_000_000}

// statement is a fact with its records.
type statement struct {
	entity, predicate, value string
	records                  []uint64
}

type groupName struct{ entity, predicate string }

// world is the naive reading of facts.
type world struct {
	statements    []*statement
	contradictory map[groupName]bool
	resolve       func(string) string
}

func newWorld(relations []facts.Relation, all []facts.Fact) *world {
	w := &world{contradictory: map[groupName]bool{}}
	canonical, declared := map[string]string{}, map[string]bool{}
	for _, r := range relations {
		for _, name := range append([]string{r.Name}, r.Aliases...) {
			canonical[name] = r.Name
		}
		declared[r.Name] = r.Single
	}
	w.resolve = func(name string) string {
		if c, ok := canonical[name]; ok {
			return c
		}
		return name
	}
	known := map[[3]string]*statement{}
	single, values := map[groupName]bool{}, map[groupName]map[string]bool{}
	for _, f := range all {
		p := w.resolve(f.Predicate)
		key, group := [3]string{f.Entity, p, f.Value}, groupName{f.Entity, p}
		if known[key] == nil {
			known[key] = &statement{f.Entity, p, f.Value, nil}
			w.statements = append(w.statements, known[key])
		}
		known[key].records = append(known[key].records, f.Record)
		if values[group] == nil {
			values[group] = map[string]bool{}
		}
		values[group][f.Value] = true
		single[group] = single[group] || f.Single
	}
	for group, v := range values {
		isSingle, ok := declared[group.predicate]
		if !ok {
			isSingle = single[group]
		}
		if isSingle && len(v) > 1 {
			w.contradictory[group] = true
		}
	}
	return w
}

type match struct {
	bind map[string]string
	used []*statement
}

// extend returns the matches of m and one more atom, and the statements that
// had to be looked at: those that agree with what is known.
func (w *world) extend(m match, atom [3]string) (out []match, examined []*statement) {
	for _, s := range w.statements {
		if s.predicate != w.resolve(atom[1]) {
			continue
		}
		bind := maps.Clone(m.bind)
		agrees := func(term, text string, known map[string]string) bool {
			if !isVariable(term) {
				return constantOf(term) == text
			}
			value, ok := known[term]
			return !ok || value == text
		}
		if !agrees(atom[0], s.entity, m.bind) || !agrees(atom[2], s.value, m.bind) {
			continue
		}
		examined = append(examined, s)
		if isVariable(atom[0]) {
			bind[atom[0]] = s.entity
		}
		if !agrees(atom[2], s.value, bind) {
			continue
		}
		if isVariable(atom[2]) {
			bind[atom[2]] = s.value
		}
		out = append(out, match{bind, append(slices.Clone(m.used), s)})
	}
	return out, examined
}

// expected is what an evaluation should give.
type expected struct {
	work                datalog.Work
	bound               string
	conflicts           []groupName
	otherContradictions int
	answers             []string            // the binding as text, in order
	proofs              map[string][]string // all alternatives, in order
	complete            bool
}

// evaluate joins atoms in the given order and knows nothing of indexes.
func (w *world) evaluate(q *query, order []int, limits datalog.Limits) *expected {
	x := &expected{proofs: map[string][]string{}}
	matches := []match{{bind: map[string]string{}}}
	examined := map[groupName]bool{}
	for _, n := range order {
		var next []match
		fresh := map[groupName]bool{}
		for _, m := range matches {
			more, looked := w.extend(m, q.where[n])
			next = append(next, more...)
			x.work.Examinations += len(looked)
			for _, s := range looked {
				fresh[groupName{s.entity, s.predicate}] = true
			}
		}
		switch {
		case x.work.Examinations > limits.Examinations:
			x.bound, x.work.Examinations = datalog.BoundExaminations, limits.Examinations
		case len(next) > limits.States:
			x.bound, x.work.States = datalog.BoundStates, limits.States
		default:
			x.work.States = max(x.work.States, len(next))
			for g := range fresh {
				examined[g] = w.contradictory[g]
			}
		}
		matches = next
		if x.bound != "" {
			break
		}
	}
	touched := map[groupName]bool{}
	if x.bound == "" {
		for _, m := range matches {
			for _, s := range m.used {
				if g := (groupName{s.entity, s.predicate}); w.contradictory[g] {
					touched[g] = true
				}
			}
		}
	}
	for g, contradictory := range examined {
		if contradictory && !touched[g] {
			x.otherContradictions++
		}
	}
	x.conflicts = slices.SortedFunc(maps.Keys(touched), func(a, b groupName) int {
		return cmp.Or(strings.Compare(a.entity, b.entity), strings.Compare(a.predicate, b.predicate))
	})
	if x.bound == "" && len(touched) == 0 {
		x.answer(q, matches, limits)
	}
	return x
}

// answer lists all record sets of all matches and strikes those with a part.
func (x *expected) answer(q *query, matches []match, limits datalog.Limits) {
	sets := map[string]map[string][]uint64{}
	for _, m := range matches {
		bind := ""
		for _, name := range q.selected() {
			bind += m.bind[name] + "\x00"
		}
		if sets[bind] == nil {
			sets[bind] = map[string][]uint64{}
		}
		choose(m.used, nil, func(records []uint64) {
			slices.Sort(records)
			records = slices.Compact(records)
			sets[bind][fmt.Sprint(records)] = records
		})
	}
	x.answers = slices.Sorted(maps.Keys(sets))
	if len(x.answers) > limits.Alternatives {
		x.bound, x.answers = datalog.BoundAnswers, nil
		return
	}
	total := 0
	for bind, all := range sets {
		var minimal [][]uint64
		for _, a := range all {
			if !slices.ContainsFunc(slices.Collect(maps.Values(all)), func(b []uint64) bool { return len(b) < len(a) && contains(a, b) }) {
				minimal = append(minimal, a)
			}
		}
		slices.SortFunc(minimal, func(a, b []uint64) int { return cmp.Or(cmp.Compare(len(a), len(b)), slices.Compare(a, b)) })
		for _, m := range minimal {
			x.proofs[bind] = append(x.proofs[bind], fmt.Sprint(m))
		}
		total += len(minimal)
	}
	x.complete = total <= limits.Alternatives
	given, have := map[string]int{}, 0
	for have < min(total, limits.Alternatives) {
		for _, bind := range x.answers {
			if have < limits.Alternatives && given[bind] < len(x.proofs[bind]) {
				given[bind]++
				have++
			}
		}
	}
	for bind := range x.proofs {
		x.proofs[bind] = x.proofs[bind][:given[bind]]
	}
}

func contains(a, b []uint64) bool {
	return !slices.ContainsFunc(b, func(r uint64) bool { return !slices.Contains(a, r) })
}

// choose yields one record of each statement, in every way; a statement used
// twice may be proved by two records, which is then not minimal.
func choose(used []*statement, chosen []uint64, yield func([]uint64)) {
	if len(used) == 0 {
		yield(slices.Clone(chosen))
		return
	}
	for _, r := range used[0].records {
		choose(used[1:], append(chosen, r), yield)
	}
}

// compare checks a result against what is expected; it returns the difference.
func (x *expected) compare(s *facts.Set, r *datalog.Result) string {
	if r.Bound != x.bound || r.Work != x.work {
		return fmt.Sprintf("bound %q work %+v, want %q %+v", r.Bound, r.Work, x.bound, x.work)
	}
	var conflicts []groupName
	for _, g := range r.Conflicts {
		conflicts = append(conflicts, groupName{s.Text(g.Entity), s.PredicateName(g.Predicate)})
	}
	if !slices.Equal(conflicts, x.conflicts) || r.ContradictionsExamined != x.otherContradictions {
		return fmt.Sprintf("conflicts %v and %d more, want %v and %d", conflicts, r.ContradictionsExamined, x.conflicts, x.otherContradictions)
	}
	var answers []string
	for _, a := range r.Answers {
		bind := ""
		for _, t := range a.Bind {
			bind += s.Text(t) + "\x00"
		}
		answers = append(answers, bind)
		var proofs []string
		for _, p := range a.Proofs {
			proofs = append(proofs, fmt.Sprint(p))
		}
		if !slices.Equal(proofs, x.proofs[bind]) {
			return fmt.Sprintf("answer %q has proofs %v, want %v", bind, proofs, x.proofs[bind])
		}
	}
	if !slices.Equal(answers, x.answers) {
		return fmt.Sprintf("answers %q, want %q", answers, x.answers)
	}
	if x.bound == "" && len(x.conflicts) == 0 && r.AlternativesComplete != x.complete {
		return fmt.Sprintf("alternatives complete: %v", r.AlternativesComplete)
	}
	return ""
}

func planOrder(r *datalog.Result) []int {
	var order []int
	for _, s := range r.Plan {
		order = append(order, s.Atom)
	}
	return order
}

var terms = []string{"a", "b", "c", "d", "?x"}

func drawFacts(t *rapid.T) ([]facts.Relation, []facts.Fact) {
	n := rapid.IntRange(0, 25).Draw(t, "facts")
	single := rapid.SampledFrom([]int{0, 0, 1, 4}).Draw(t, "singles in 10")
	all := make([]facts.Fact, n)
	for i := range all {
		if i > 0 && rapid.IntRange(0, 3).Draw(t, "again") == 0 {
			all[i] = all[rapid.IntRange(0, i-1).Draw(t, "which")]
			all[i].Record = uint64(i + 1)
			continue
		}
		all[i] = facts.Fact{
			Record: uint64(i + 1), Entity: rapid.SampledFrom(terms).Draw(t, "e"),
			Predicate: rapid.SampledFrom([]string{"p", "p", "q", "r", "alias"}).Draw(t, "p"),
			Value:     rapid.SampledFrom(terms).Draw(t, "v"), Single: rapid.IntRange(0, 9).Draw(t, "single") < single,
		}
	}
	var relations []facts.Relation
	if rapid.Bool().Draw(t, "alias") {
		relations = append(relations, facts.Relation{Name: "q", Aliases: []string{"alias"}, Single: rapid.Bool().Draw(t, "q single")})
	}
	if rapid.IntRange(0, 3).Draw(t, "declare") == 0 {
		relations = append(relations, facts.Relation{Name: "p", Single: rapid.Bool().Draw(t, "p single")})
	}
	return relations, all
}

func drawQuery(t *rapid.T) *query {
	q := &query{}
	term := func() string {
		if rapid.IntRange(0, 3).Draw(t, "constant") == 0 {
			return "=" + rapid.SampledFrom(append([]string{"nowhere"}, terms...)).Draw(t, "term")
		}
		return rapid.SampledFrom([]string{"?x", "?y", "?z", "?u"}).Draw(t, "variable")
	}
	for range rapid.IntRange(1, 4).Draw(t, "atoms") {
		q.where = append(q.where, [3]string{term(), rapid.SampledFrom([]string{"p", "p", "p", "q", "q", "alias", "r", "none"}).Draw(t, "predicate"), term()})
	}
	if rapid.Bool().Draw(t, "project") {
		q.selects = []string{}
		for _, name := range q.variables() {
			if rapid.Bool().Draw(t, "select") {
				q.selects = append(q.selects, name)
			}
		}
	}
	return q
}

func drawLimits(t *rapid.T) datalog.Limits {
	limit := func(name string) int {
		return rapid.SampledFrom([]int{1, 2, 5, 10, 40, 1 << 20, 1 << 20, 1 << 20}).Draw(t, name)
	}
	return datalog.Limits{Examinations: limit("examinations"), States: limit("states"), Alternatives: limit("alternatives")}
}

// TestAgainstBruteForce compares whole results with a reading that knows no
// index, no plan but its order, and no minimal set but by comparing all.
func TestAgainstBruteForce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		relations, all := drawFacts(t)
		s := drawSet(t, relations, all)
		w := newWorld(relations, all)
		for range 30 {
			q, limits := drawQuery(t), drawLimits(t)
			r, err := datalog.Evaluate(context.Background(), s, q.program(s), limits)
			if err != nil {
				t.Fatal(err)
			}
			if diff := w.evaluate(q, planOrder(r), limits).compare(s, r); diff != "" {
				t.Fatalf("%v select %v: %s", q.where, q.selects, diff)
			}
			permuted(t, s, q, limits, r)
			renumbered(t, relations, all, q, limits, s, r)
		}
	})
}

// drawSet makes the same set in one of several ways, so that terms are numbered
// in different orders.
func drawSet(t *rapid.T, relations []facts.Relation, all []facts.Fact) *facts.Set {
	switch rapid.IntRange(0, 2).Draw(t, "way") {
	case 0:
		return facts.Build(relations, all)
	case 1:
		s, err := facts.Load(facts.Build(relations, all).AppendBinary(nil))
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	s := facts.Build(relations, nil)
	for i := range slices.Backward(all) {
		s = s.Apply(all[i:i+1], nil)
	}
	return s
}

// permuted checks that the atoms in another order give the same in all.
func permuted(t *rapid.T, s *facts.Set, q *query, limits datalog.Limits, r *datalog.Result) {
	order := rapid.Permutation(indexes(len(q.where))).Draw(t, "order")
	p := &query{selects: q.selected()}
	for _, n := range order {
		p.where = append(p.where, q.where[n])
	}
	other, err := datalog.Evaluate(context.Background(), s, p.program(s), limits)
	if err != nil {
		t.Fatal(err)
	}
	for i := range other.Plan {
		a, b := q.where[order[other.Plan[i].Atom]], q.where[r.Plan[i].Atom]
		if a != b && !(a[1] == "q" && b[1] == "alias" || a[1] == "alias" && b[1] == "q") {
			t.Fatalf("plan %v of %v differs from %v of %v", other.Plan, p.where, r.Plan, q.where)
		}
	}
	same := *r
	same.Plan = other.Plan
	if fmt.Sprint(same) != fmt.Sprint(*other) {
		t.Fatalf("%v gives %v, as %v it gives %v", q.where, same, p.where, *other)
	}
}

// renumbered checks that a set that numbers terms otherwise, and still knows
// terms that no fact has any more, gives the same in all.
func renumbered(t *rapid.T, relations []facts.Relation, all []facts.Fact, q *query, limits datalog.Limits, s *facts.Set, r *datalog.Result) {
	other := facts.Build(relations, []facts.Fact{{Record: 1_000, Entity: "nowhere", Predicate: "none", Value: "z"}})
	other = other.Apply([]facts.Fact{{Record: 1_001, Entity: "d", Predicate: "r", Value: "nowhere"}}, nil)
	other = other.Apply(all, nil).Apply(nil, []uint64{1_000, 1_001})
	o, err := datalog.Evaluate(context.Background(), other, q.program(other), limits)
	if err != nil {
		t.Fatal(err)
	}
	describe := func(s *facts.Set, r *datalog.Result) string {
		out := fmt.Sprint(r.Plan, r.Work, r.Bound, r.AlternativesComplete, r.ContradictionsExamined)
		for _, g := range r.Conflicts {
			out += fmt.Sprint(s.Text(g.Entity), s.PredicateName(g.Predicate), s.GroupRecords(g.Entity, g.Predicate))
		}
		for i, row := range rows(s, r) {
			out += fmt.Sprint(row, r.Answers[i].Proofs)
		}
		return out
	}
	if a, b := describe(s, r), describe(other, o); a != b {
		t.Fatalf("%v: %s, renumbered %s", q.where, a, b)
	}
}

func indexes(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}
