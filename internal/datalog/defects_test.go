package datalog_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/grounded-memory/grounded/internal/datalog"
	"github.com/grounded-memory/grounded/internal/facts"
)

// The named cases are faults that other engines were reported for.

// text makes facts of lines "entity predicate value", numbered from 1. Terms
// hold no space.
func text(lines ...string) []facts.Fact {
	out := make([]facts.Fact, len(lines))
	for i, line := range lines {
		f := strings.Fields(line)
		out[i] = facts.Fact{Record: uint64(i + 1), Entity: f[0], Predicate: f[1], Value: f[2]}
	}
	return out
}

func where(lines ...string) [][3]string {
	out := make([][3]string, len(lines))
	for i, line := range lines {
		copy(out[i][:], strings.Fields(line))
	}
	return out
}

func evaluate(t *testing.T, s *facts.Set, q *query, limits datalog.Limits) *datalog.Result {
	t.Helper()
	r, err := datalog.Evaluate(context.Background(), s, q.program(s), limits)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// rows lists answers as text.
func rows(s *facts.Set, r *datalog.Result) []string {
	var out []string
	for _, a := range r.Answers {
		var row []string
		for _, term := range a.Bind {
			row = append(row, s.Text(term))
		}
		out = append(out, strings.Join(row, " "))
	}
	return out
}

// expect checks the answers of a query, with its atoms in every order.
func expect(t *testing.T, all []facts.Fact, q *query, want ...string) {
	t.Helper()
	s := facts.Build(nil, all)
	q.selects = q.selected()
	permutations(len(q.where), func(order []int) {
		p := &query{selects: q.selects}
		for _, n := range order {
			p.where = append(p.where, q.where[n])
		}
		r := evaluate(t, s, p, wide)
		if got := rows(s, r); !slices.Equal(got, want) || r.Bound != "" {
			t.Errorf("%v: %q, want %q", p.where, got, want)
		}
	})
}

func TestD1_D2_RepeatedVariableIsEquality(t *testing.T) {
	expect(t, text("a p c"), &query{where: where("?x p ?x")})
	expect(t, text("a p c", "m p m", "c p a"), &query{where: where("?x p ?x")}, "m")
}

func TestD4_D33_LoopsAmongOthers(t *testing.T) {
	all := text("1 e 1", "2 e 3", "3 e 2", "4 e 4", "1 e 4")
	expect(t, all, &query{where: where("?a e ?a")}, "1", "4")
	expect(t, all, &query{where: where("?b e ?c", "?c e ?c")}, "1 1", "1 4", "4 4")
}

func TestD5_RepeatedVariableAcrossPredicates(t *testing.T) {
	expect(t, text("a p b", "a q a", "b q c"), &query{where: where("?x p ?y", "?x q ?x"), selects: []string{"?x"}}, "a")
}

func TestD6_OnePredicateTwice(t *testing.T) {
	all := text("1 name n", "1 email m", "2 name n")
	expect(t, all, &query{where: where("?e name ?x", "?e email ?y", "?e name ?z"), selects: []string{"?e"}}, "1")
}

func TestD7_UnsatisfiedAtomEmptiesTheResult(t *testing.T) {
	all := text("a p b", "b p c", "c q d")
	expect(t, all, &query{where: where("?x p ?y", "?y p ?z", "?u none ?v")})
	expect(t, all, &query{where: where("?x p ?y", "?y p ?z", "?u q =a")})
	expect(t, all, &query{where: where("?x p ?y", "=a q =d", "?u q ?v")})
	// A component without a connection that is empty only once it is joined.
	expect(t, all, &query{where: where("?x p ?y", "?u q ?v", "?v q ?w")})
}

func TestD8_D9_AtomInTheMiddle(t *testing.T) {
	all := text("a follows a", "a likes p", "b follows b", "c follows a", "p tag t", "b likes q")
	expect(t, all, &query{where: where("?v likes ?p", "?v follows ?v", "?p tag ?t")}, "a p t")
}

// D10: the same before and after whatever is done to the index.
func TestD10_SameBeforeAndAfterCompaction(t *testing.T) {
	q := &query{where: where("?a p ?a")}
	s := facts.Build(nil, nil)
	for i, f := range text("a p a", "b p c", "d p d") {
		s = s.Apply([]facts.Fact{f}, nil)
		loaded, err := facts.Load(s.AppendBinary(nil))
		if err != nil {
			t.Fatal(err)
		}
		a, b := rows(s, evaluate(t, s, q, wide)), rows(loaded, evaluate(t, loaded, q, wide))
		if want := [][]string{{"a"}, {"a"}, {"a", "d"}}[i]; !slices.Equal(a, want) || !slices.Equal(b, want) {
			t.Errorf("after %d facts %q, loaded %q, want %q", i+1, a, b, want)
		}
	}
}

func TestD11_GroundAtomIsMembership(t *testing.T) {
	s := facts.Build(nil, text("a p b", "b p c"))
	r := evaluate(t, s, &query{where: where("=a p =b")}, wide)
	if len(r.Answers) != 1 || len(r.Answers[0].Bind) != 0 || fmt.Sprint(r.Answers[0].Proofs) != "[[1]]" || r.Work.Examinations != 1 {
		t.Errorf("a fact that is there: %+v", r)
	}
	if r := evaluate(t, s, &query{where: where("=b p =a")}, wide); len(r.Answers) != 0 || r.Work.Examinations != 0 {
		t.Errorf("a fact that is not: %+v", r)
	}
	expect(t, text("a p b", "b p c"), &query{where: where("=a p =b", "?x p =c")}, "b")
}

func TestD12_D13_EveryTermIsAConstant(t *testing.T) {
	odd := []string{"?WB", "=", "", "$x", "_:b", "\x00", "\xff\xfe", "NULL", "?x p ?y"}
	for _, term := range odd {
		s := facts.Build(nil, []facts.Fact{{Record: 1, Entity: term, Predicate: "p", Value: "v"}, {Record: 2, Entity: "e", Predicate: "p", Value: term}})
		if got := rows(s, evaluate(t, s, &query{where: [][3]string{{"=" + term, "p", "?v"}}}, wide)); !slices.Equal(got, []string{"v"}) {
			t.Errorf("%q as an entity: %q", term, got)
		}
		if got := rows(s, evaluate(t, s, &query{where: [][3]string{{"?e", "p", "=" + term}}}, wide)); !slices.Equal(got, []string{"e"}) {
			t.Errorf("%q as a value: %q", term, got)
		}
	}
}

func TestD15_D16_D17_NoRowsOfABrokenBound(t *testing.T) {
	var lines []string
	for i := range 40 {
		lines = append(lines, fmt.Sprintf("a%d p b%d", i, i%7))
	}
	s := facts.Build(nil, text(lines...))
	q := &query{where: where("?x p ?y", "?z p ?y", "?z p ?w")}
	full := evaluate(t, s, q, wide)
	for _, c := range []struct {
		name   string
		limits datalog.Limits
	}{
		{datalog.BoundExaminations, datalog.Limits{Examinations: full.Work.Examinations - 1, States: wide.States, Alternatives: wide.Alternatives}},
		{datalog.BoundStates, datalog.Limits{Examinations: wide.Examinations, States: full.Work.States - 1, Alternatives: wide.Alternatives}},
		{datalog.BoundAnswers, datalog.Limits{Examinations: wide.Examinations, States: wide.States, Alternatives: len(full.Answers) - 1}},
	} {
		if r := evaluate(t, s, q, c.limits); r.Bound != c.name || len(r.Answers) > 0 || r.AlternativesComplete {
			t.Errorf("%s: bound %q with %d answers", c.name, r.Bound, len(r.Answers))
		}
	}
	exact := datalog.Limits{Examinations: full.Work.Examinations, States: full.Work.States, Alternatives: len(full.Answers)}
	if r := evaluate(t, s, q, exact); r.Bound != "" || len(r.Answers) != len(full.Answers) || !r.AlternativesComplete {
		t.Errorf("at the bounds exactly: bound %q, %d answers", r.Bound, len(r.Answers))
	}
	if r := evaluate(t, s, &query{where: where("?x p =nowhere")}, datalog.Limits{Examinations: 1, States: 1, Alternatives: 1}); r.Bound != "" || len(r.Answers) > 0 {
		t.Errorf("no match is not a broken bound: %+v", r)
	}
}

// D20: every record of every proof is a fact that its atom allows.
func TestD20_EveryPremiseHolds(t *testing.T) {
	all := text("a next b", "b next c", "a less b", "b less c", "a less c")
	s := facts.Build(nil, all)
	r := evaluate(t, s, &query{where: where("?x less ?y", "?y less ?z")}, wide)
	if got := fmt.Sprint(rows(s, r), r.Answers[0].Proofs); got != "[a b c] [[3 4]]" {
		t.Error(got)
	}
}

func TestD22_D23_D24_EveryDerivationIsKeptOrSaidToBeCut(t *testing.T) {
	var lines []string
	for i := range 40 {
		lines = append(lines, fmt.Sprintf("a p m%d", i), fmt.Sprintf("m%d p z", i))
	}
	s := facts.Build(nil, text(lines...))
	q := &query{where: where("?x p ?m", "?m p =z"), selects: []string{"?x"}}
	r := evaluate(t, s, q, wide)
	if len(r.Answers) != 1 || len(r.Answers[0].Proofs) != 40 || !r.AlternativesComplete {
		t.Fatalf("%d answers, %d proofs", len(r.Answers), len(r.Answers[0].Proofs))
	}
	limits := wide
	limits.Alternatives = 39
	cut := evaluate(t, s, q, limits)
	if len(cut.Answers[0].Proofs) != 39 || cut.AlternativesComplete {
		t.Errorf("cut to %d, complete: %v", len(cut.Answers[0].Proofs), cut.AlternativesComplete)
	}
	if fmt.Sprint(cut.Answers[0].Proofs) != fmt.Sprint(r.Answers[0].Proofs[:39]) {
		t.Error("what is left are not the first alternatives")
	}
}

// TestAlternativesAreSharedInTurn: with too many alternatives each answer has
// one, and the rest goes round.
func TestAlternativesAreSharedInTurn(t *testing.T) {
	all := []facts.Fact{}
	add := func(e string, copies int) {
		for range copies {
			all = append(all, facts.Fact{Record: uint64(len(all) + 1), Entity: e, Predicate: "p", Value: "v"})
		}
	}
	add("a", 1)
	add("b", 5)
	add("c", 2)
	add("d", 9)
	s := facts.Build(nil, all)
	for limit, want := range map[int][]int{4: {1, 1, 1, 1}, 5: {1, 2, 1, 1}, 6: {1, 2, 2, 1}, 7: {1, 2, 2, 2}, 9: {1, 3, 2, 3}, 16: {1, 5, 2, 8}, 17: {1, 5, 2, 9}} {
		limits := wide
		limits.Alternatives = limit
		r := evaluate(t, s, &query{where: where("?x p =v")}, limits)
		var got []int
		for _, a := range r.Answers {
			got = append(got, len(a.Proofs))
		}
		if !slices.Equal(got, want) || r.AlternativesComplete != (limit == 17) {
			t.Errorf("%d alternatives: %v, want %v", limit, got, want)
		}
	}
}

// TestManyCopies: a fact has more records than any bound, six times over; only
// what is asked for is made.
func TestManyCopies(t *testing.T) {
	var all []facts.Fact
	for i := range 6 * 500 {
		all = append(all, facts.Fact{Record: uint64(i + 1), Entity: fmt.Sprint("e", i%6), Predicate: fmt.Sprint("p", i%6), Value: "v"})
	}
	s := facts.Build(nil, all)
	q := &query{}
	for i := range 6 {
		q.where = append(q.where, [3]string{fmt.Sprint("=e", i), fmt.Sprint("p", i), "?x"})
	}
	limits := wide
	limits.Alternatives = 3
	r := evaluate(t, s, q, limits)
	if got := fmt.Sprint(r.Answers[0].Proofs); got != "[[1 2 3 4 5 6] [1 2 3 4 5 12] [1 2 3 4 5 18]]" || r.AlternativesComplete {
		t.Errorf("%s, complete: %v", got, r.AlternativesComplete)
	}
	if r.Work.Examinations != 6 {
		t.Errorf("%d examinations of 6 facts", r.Work.Examinations)
	}
}

func TestD28_D29_AnswersInOrderAndEachOnce(t *testing.T) {
	expect(t, text("b p x", "a p x", "a p y", "ä p x", "B p x", "aa p x"), &query{where: where("?e p ?v"), selects: []string{"?e"}}, "B", "a", "aa", "b", "ä")
}

// D19, B6: the bound is a count, the same on every run.
func TestD19_B6_CrossProductStopsAtTheBound(t *testing.T) {
	all := make([]facts.Fact, 100_000)
	for i := range all {
		all[i] = facts.Fact{Record: uint64(i + 1), Entity: fmt.Sprint("e", i), Predicate: fmt.Sprint("p", i%6), Value: fmt.Sprint("v", i%1000)}
	}
	s := facts.Build(nil, all)
	q := &query{}
	for i := range 6 {
		q.where = append(q.where, [3]string{fmt.Sprint("?a", i), fmt.Sprint("p", i), fmt.Sprint("?b", i)})
	}
	begun := time.Now()
	for _, c := range []struct {
		limits datalog.Limits
		bound  string
		work   datalog.Work
	}{
		{datalog.Limits{Examinations: 50_000, States: 512, Alternatives: 128}, datalog.BoundStates, datalog.Work{Examinations: 16_666, States: 512}},
		{datalog.Limits{Examinations: 50_000, States: 65_536, Alternatives: 128}, datalog.BoundExaminations, datalog.Work{Examinations: 50_000, States: 16_666}},
		{datalog.Limits{Examinations: 5_000_000, States: 65_536, Alternatives: 65_536}, datalog.BoundExaminations, datalog.Work{Examinations: 5_000_000, States: 16_666}},
	} {
		r := evaluate(t, s, q, c.limits)
		if r.Bound != c.bound || r.Work != c.work {
			t.Errorf("%+v: %s after %+v, want %s after %+v", c.limits, r.Bound, r.Work, c.bound, c.work)
		}
		if n := testing.AllocsPerRun(1, func() { evaluate(t, s, q, c.limits) }); n > 200 {
			t.Errorf("%v allocations", n)
		}
	}
	t.Logf("three bounds twice in %v", time.Since(begun))
}

func TestConflictComesBeforeTheAnswersBound(t *testing.T) {
	all := text("a p x", "a p y", "b p x", "c p z", "d p z")
	for i := range all {
		all[i].Single = true
	}
	s := facts.Build(nil, all)
	limits := wide
	limits.Alternatives = 1
	r := evaluate(t, s, &query{where: where("?e p ?v")}, limits)
	if r.Bound != "" || len(r.Conflicts) != 1 || s.Text(r.Conflicts[0].Entity) != "a" || len(r.Answers) > 0 || r.ContradictionsExamined != 0 {
		t.Errorf("%+v", r)
	}
	// The group of a is examined, and no match rests on it.
	r = evaluate(t, s, &query{where: where("?e p =x", "=b p ?v", "?f p ?v", "=c p =z"), selects: []string{"?v"}}, wide)
	if len(r.Conflicts) != 1 {
		t.Errorf("%+v", r)
	}
	r = evaluate(t, facts.Build(nil, append(all, facts.Fact{Record: 9, Entity: "b", Predicate: "q", Value: "b"})), &query{where: where("?e p =x", "?e q =b")}, wide)
	if len(r.Conflicts) != 0 || len(r.Answers) != 1 {
		t.Errorf("%+v", r)
	}
}

// D26: atoms with a connection come before those without, even if those are
// fewer; components are joined one after the other.
func TestD26_ConnectedAtomsFirst(t *testing.T) {
	var lines []string
	for i := range 60 {
		lines = append(lines, fmt.Sprintf("a%d p b%d", i, i), fmt.Sprintf("b%d q c%d", i, i%3))
	}
	lines = append(lines, "u r v", "v s w", "w s w", "x s w")
	s := facts.Build(nil, text(lines...))
	r := evaluate(t, s, &query{where: where("?a p ?b", "?u r ?v", "?b q ?c", "?v s ?w")}, wide)
	if got := fmt.Sprint(r.Plan); got != "[{1 predicate} {3 entity} {0 predicate} {2 entity}]" {
		t.Error(got)
	}
	if len(r.Answers) != 60 || r.Work.Examinations != 1+1+60+60 {
		t.Errorf("%d answers after %d examinations", len(r.Answers), r.Work.Examinations)
	}
}

// D27: a variable that is bound is used to find facts, at either end, and the
// rarer of two constants decides.
func TestD27_BoundEndsAreUsed(t *testing.T) {
	var lines []string
	for i := range 500 {
		lines = append(lines, fmt.Sprintf("a%d p common", i), fmt.Sprintf("a%d q v%d", i, i))
	}
	lines = append(lines, "a7 p rare")
	s := facts.Build(nil, text(lines...))
	for _, c := range []struct {
		q    *query
		want int
	}{
		{&query{where: where("?x q =v9", "?x p ?y")}, 2},
		{&query{where: where("?x p =rare", "?x q ?y")}, 2},
		{&query{where: where("?x p =common", "?x p =rare")}, 2},
		{&query{where: where("=a3 q ?y", "?z q ?y")}, 2},
		{&query{where: where("?x p =common", "?x q =v9", "?x p =rare")}, 1 + 1},
	} {
		if r := evaluate(t, s, c.q, wide); r.Work.Examinations != c.want {
			t.Errorf("%v: %d examinations, want %d", c.q.where, r.Work.Examinations, c.want)
		}
	}
}

// TestContradictionsExaminedAreGroups: many facts of few groups are few groups.
func TestContradictionsExaminedAreGroups(t *testing.T) {
	var all []facts.Fact
	for i := range 3_000 {
		all = append(all, facts.Fact{Record: uint64(i + 1), Entity: fmt.Sprint("e", i%5), Predicate: "p", Value: fmt.Sprint("v", i), Single: true})
	}
	s := facts.Build(nil, all)
	r := evaluate(t, s, &query{where: where("?e p ?v", "?v p ?w")}, wide)
	if r.ContradictionsExamined != 5 || len(r.Conflicts) != 0 || r.Bound != "" {
		t.Errorf("%+v", r)
	}
	r = evaluate(t, s, &query{where: where("=e3 p ?v", "?e p ?v")}, wide)
	if r.ContradictionsExamined != 0 || len(r.Conflicts) != 1 {
		t.Errorf("%+v", r)
	}
}

func TestConflictsOfOneEntityAreInOrder(t *testing.T) {
	all := text("a r x", "a r y", "a q x", "a q y", "a p x", "a p y", "B p x", "B p y")
	for i := range all {
		all[i].Single = true
	}
	s := facts.Build(nil, all)
	r := evaluate(t, s, &query{where: where("?e p ?v", "?f q ?v", "?g r ?v")}, wide)
	var got []string
	for _, g := range r.Conflicts {
		got = append(got, s.Text(g.Entity)+" "+s.PredicateName(g.Predicate))
	}
	if !slices.Equal(got, []string{"B p", "a p", "a q", "a r"}) {
		t.Errorf("%q", got)
	}
}

// TestOneSetOfFactsIsOneAlternative: two matches that rest on the same facts.
func TestOneSetOfFactsIsOneAlternative(t *testing.T) {
	s := facts.Build(nil, text("a p b", "b p a"))
	r := evaluate(t, s, &query{where: where("?x p ?y", "?y p ?x"), selects: []string{}}, wide)
	if len(r.Answers) != 1 || fmt.Sprint(r.Answers[0].Proofs) != "[[1 2]]" || r.Work.States != 2 {
		t.Errorf("%+v", r)
	}
}

// TestCopiesOfManySetsAreMerged: alternatives of several sets of facts with
// several records each come in one order.
func TestCopiesOfManySetsAreMerged(t *testing.T) {
	var all []facts.Fact
	for i := range 24 {
		f := text("a p m0", "a p m1", "a p m2", "m0 q z", "m1 q z", "m2 q z")[i*5%6]
		f.Record = uint64(i + 1)
		all = append(all, f)
	}
	q := &query{where: where("?x p ?m", "?m q =z"), selects: []string{"?x"}}
	s, w := facts.Build(nil, all), newWorld(nil, all)
	for limit := 1; limit <= 3*4*4+1; limit++ {
		limits := wide
		limits.Alternatives = limit
		r := evaluate(t, s, q, limits)
		if diff := w.evaluate(q, planOrder(r), limits).compare(s, r); diff != "" {
			t.Fatalf("%d alternatives: %s", limit, diff)
		}
	}
}

// TestMoreAlternativesThanANumberHolds: they are counted without overflow.
func TestMoreAlternativesThanANumberHolds(t *testing.T) {
	var all []facts.Fact
	for i := range 6 * 3_000 {
		all = append(all, facts.Fact{Record: uint64(i + 1), Entity: fmt.Sprint("e", i%6), Predicate: "p", Value: fmt.Sprint("v", i/6%2)})
	}
	q := &query{selects: []string{}}
	for i := range 6 {
		q.where = append(q.where, [3]string{fmt.Sprint("=e", i), "p", fmt.Sprint("?x", i)})
	}
	limits := wide
	limits.Alternatives = 5
	r := evaluate(t, facts.Build(nil, all), q, limits)
	if got := fmt.Sprint(r.Answers[0].Proofs); got != "[[1 2 3 4 5 6] [1 2 3 4 5 12] [1 2 3 4 5 18] [1 2 3 4 5 24] [1 2 3 4 5 30]]" || r.AlternativesComplete {
		t.Errorf("%s, complete: %v", got, r.AlternativesComplete)
	}
}

// TestRedundantAtomChangesNoAlternative: an atom that adds nothing changes no alternative.
func TestRedundantAtomChangesNoAlternative(t *testing.T) {
	s := codex["codex-s"](t)
	one := evaluate(t, s, &query{where: where("?x P27 Q16", "?x P106 ?a"), selects: []string{"?x"}}, wide)
	two := evaluate(t, s, &query{where: where("?x P27 Q16", "?x P106 ?a", "?x P106 ?b"), selects: []string{"?x"}}, wide)
	if fmt.Sprint(one.Answers) != fmt.Sprint(two.Answers) || len(one.Answers) == 0 {
		t.Error("alternatives differ")
	}
}

func TestMalformedPrograms(t *testing.T) {
	s := facts.Build(nil, text("a p b"))
	p := datalog.Const(0, true)
	ok := datalog.Atom{Entity: datalog.Var(0), Predicate: p, Value: datalog.Var(0)}
	names := []string{"?x"}
	for name, c := range map[string]struct {
		program datalog.Program
		limits  datalog.Limits
	}{
		"no atoms":               {datalog.Program{}, wide},
		"seven atoms":            {datalog.Program{Atoms: slices.Repeat([]datalog.Atom{ok}, 7), Variables: names}, wide},
		"variable predicate":     {datalog.Program{Atoms: []datalog.Atom{{Predicate: datalog.Var(0)}}, Variables: names}, wide},
		"unnamed variable":       {datalog.Program{Atoms: []datalog.Atom{ok}}, wide},
		"negative variable":      {datalog.Program{Atoms: []datalog.Atom{{Entity: datalog.Var(-1), Predicate: p}}, Variables: names}, wide},
		"selected twice":         {datalog.Program{Atoms: []datalog.Atom{ok}, Variables: names, Select: []int{0, 0}}, wide},
		"selected, not in where": {datalog.Program{Atoms: []datalog.Atom{ok}, Variables: []string{"?x", "?y"}, Select: []int{1}}, wide},
		"many variables":         {datalog.Program{Atoms: []datalog.Atom{ok}, Variables: make([]string, 13)}, wide},
		"too many states":        {datalog.Program{Atoms: []datalog.Atom{ok}, Variables: names}, datalog.Limits{Examinations: 1, States: 1 << 31, Alternatives: 1}},
		"limit of nothing":       {datalog.Program{Atoms: []datalog.Atom{ok}, Variables: names}, datalog.Limits{Examinations: 1, States: 1}},
	} {
		if _, err := datalog.Evaluate(context.Background(), s, c.program, c.limits); !errors.Is(err, datalog.ErrProgram) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := datalog.Evaluate(context.Background(), s, datalog.Program{Atoms: []datalog.Atom{ok}, Variables: names}, wide); err != nil {
		t.Error(err)
	}
}

// TestContextStopsEveryPart cancels at each look at the context in turn: in the
// join, in the proofs and in the answers.
func TestContextStopsEveryPart(t *testing.T) {
	s := codex["codex-s"](t)
	for _, q := range []*query{
		{where: where("?x P106 ?a", "?x P106 ?b", "?x P27 ?c"), selects: []string{"?x"}},
		{where: where("?x P106 ?a", "?b P106 ?a", "?x P27 =Q142", "?b P27 =Q142"), selects: []string{"?x", "?b"}},
		{where: where("?x P27 ?a", "?x P106 ?b"), selects: []string{}},
		{where: where("?x P530 ?y", "?y P530 ?z", "?z P530 ?x")},
	} {
		looks := 0
		for ; ; looks++ {
			ctx := &countdown{Context: context.Background(), left: looks}
			r, err := datalog.Evaluate(ctx, s, q.program(s), wide)
			if err == nil {
				break
			}
			if !errors.Is(err, context.Canceled) || r != nil {
				t.Fatalf("cancelled at look %d: %v", looks, err)
			}
			looks += looks / 3 // later ones are many and alike
		}
		if looks == 0 {
			t.Errorf("%v never looks at the context", q.where)
		}
	}
}

// countdown is done after it was looked at some times.
type countdown struct {
	context.Context
	left int
}

func (c *countdown) Err() error {
	if c.left--; c.left < 0 {
		return context.Canceled
	}
	return nil
}

func ExampleEvaluate() {
	s := facts.Build(nil, []facts.Fact{
		{Record: 1, Entity: "Ada", Predicate: "lives_in", Value: "London"},
		{Record: 2, Entity: "Ada", Predicate: "lives_in", Value: "London"}, // said twice
		{Record: 3, Entity: "London", Predicate: "located_in", Value: "England"},
	})
	lives, _ := s.Predicate("lives_in")
	located, _ := s.Predicate("located_in")
	person, city := datalog.Var(0), datalog.Var(1)
	r, err := datalog.Evaluate(context.Background(), s, datalog.Program{
		Atoms: []datalog.Atom{
			{Entity: person, Predicate: datalog.Const(lives, true), Value: city},
			{Entity: city, Predicate: datalog.Const(located, true), Value: datalog.Const(s.Lookup("England"))},
		},
		Variables: []string{"?person", "?city"},
		Select:    []int{0},
	}, datalog.Limits{Examinations: 50_000, States: 512, Alternatives: 128})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, a := range r.Answers {
		fmt.Println(s.Text(a.Bind[0]), a.Proofs)
	}
	fmt.Println(r.Plan, r.Work.Examinations)
	// Output:
	// Ada [[1 3] [2 3]]
	// [{0 predicate} {1 entity+value}] 2
}
