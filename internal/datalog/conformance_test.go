package datalog_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/grounded-memory/grounded/internal/datalog"
	"github.com/grounded-memory/grounded/internal/facts"
)

// TestB1_Oracle runs every query of two or three atoms over two predicates and
// four variables, most with a variable twice in one atom, in every order.
func TestB1_Oracle(t *testing.T) {
	all := text(
		"a p a", "a p b", "b p c", "c p a", "c p c", "d p d", "b p d", "d p a", "e p b",
		"a q b", "b q b", "b q a", "c q d", "d q d", "e q e", "e q a", "a q e", "d q c",
	)
	s, w := facts.Build(nil, all), newWorld(nil, all)
	var atoms [][3]string
	names := []string{"?a", "?b", "?c", "?d"}
	for _, p := range []string{"p", "q"} {
		for _, e := range names {
			for _, v := range names {
				atoms = append(atoms, [3]string{e, p, v})
			}
		}
	}
	queries, loops := 0, 0
	run := func(where ...[3]string) {
		q := &query{where: where}
		q.selects = q.selected()
		queries++
		if slices.ContainsFunc(where, func(a [3]string) bool { return a[0] == a[2] }) {
			loops++
		}
		if testing.Short() && queries%10 != 0 {
			return
		}
		r := evaluate(t, s, q, wide)
		if diff := w.evaluate(q, planOrder(r), wide).compare(s, r); diff != "" {
			t.Fatalf("%v: %s", where, diff)
		}
		permutations(len(where), func(order []int) {
			p := &query{selects: q.selects}
			for _, n := range order {
				p.where = append(p.where, where[n])
			}
			other := evaluate(t, s, p, wide)
			if !slices.Equal(rows(s, other), rows(s, r)) || other.Work != r.Work {
				t.Fatalf("%v differs from %v", p.where, where)
			}
		})
	}
	for i := range atoms {
		for k := range i {
			run(atoms[i], atoms[k])
			for l := range k {
				run(atoms[i], atoms[k], atoms[l])
			}
		}
	}
	if queries != 5_456 || loops != 3_156 {
		t.Errorf("%d queries, %d with a variable twice in one atom", queries, loops)
	}
}

// unlabelled takes the labels off blank nodes, which each suite chooses anew.
func unlabelled(row string) string {
	fields := strings.Split(row, " ")
	for i, f := range fields {
		if strings.HasPrefix(f, "_:") {
			fields[i] = "_:"
		}
	}
	return strings.Join(fields, " ")
}

// TestConformance runs the basic graph patterns of the W3C SPARQL suites and the
// conjunctive queries of DataScript. Several rows of one answer in the W3C suites
// are several matches here.
func TestConformance(t *testing.T) {
	for _, file := range []string{"w3c-cq-extracted.json", "datascript-cq.json"} {
		t.Run(strings.TrimSuffix(file, ".json"), func(t *testing.T) {
			data, err := os.ReadFile(shared(t, "conformance/"+file))
			if err != nil {
				t.Fatal(err)
			}
			var cases []struct {
				Name                   string
				Distinct               bool
				Select                 []string
				Where, Facts, Expected [][]string
			}
			if err := json.Unmarshal(data, &cases); err != nil {
				t.Fatal(err)
			}
			refused, run := 0, 0
			for _, c := range cases {
				q := &query{selects: c.Select}
				variable := false
				for _, a := range c.Where {
					q.where = append(q.where, [3]string{a[0], a[1], a[2]})
					variable = variable || isVariable(a[1])
				}
				var all []facts.Fact
				for i, f := range c.Facts {
					all = append(all, facts.Fact{Record: uint64(i + 1), Entity: f[0], Predicate: f[1], Value: f[2]})
				}
				s := facts.Build(nil, all)
				if variable {
					p := q.program(s)
					p.Atoms[0].Predicate = datalog.Var(0)
					if _, err := datalog.Evaluate(context.Background(), s, p, wide); !errors.Is(err, datalog.ErrProgram) {
						t.Errorf("%s: a variable predicate gives %v", c.Name, err)
					}
					refused++
					continue
				}
				run++
				var want []string
				for _, row := range c.Expected {
					want = append(want, unlabelled(strings.Join(row, " ")))
				}
				matches := len(want)
				slices.Sort(want)
				want = slices.Compact(want)
				r := evaluate(t, s, q, wide)
				var got []string
				for _, row := range rows(s, r) {
					got = append(got, unlabelled(row))
				}
				slices.Sort(got)
				got = slices.Compact(got)
				if !slices.Equal(got, want) {
					t.Errorf("%s: %q, want %q", c.Name, got, want)
				}
				every := evaluate(t, s, &query{where: q.where}, wide)
				if file == "w3c-cq-extracted.json" && !c.Distinct && len(every.Answers) != matches {
					t.Errorf("%s: %d matches, want %d", c.Name, len(every.Answers), matches)
				}
			}
			t.Logf("%d run, %d with a variable predicate refused", run, refused)
		})
	}
}
