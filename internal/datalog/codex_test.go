package datalog_test

import (
	"bufio"
	"compress/gzip"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/grounded-memory/grounded/internal/datalog"
	"github.com/grounded-memory/grounded/internal/facts"
)

// loadCodex reads a packed fact set; testdata/codex/README.md tells the form.
func loadCodex(t testing.TB, name string) []facts.Fact {
	file, err := os.Open(filepath.Join("testdata", "codex", name+".gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	unzipped, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(unzipped)
	lines.Buffer(nil, 1<<20)
	var ids []string
	var all []facts.Fact
	predicate := ""
	for first := true; lines.Scan(); first = false {
		line := lines.Text()
		if !first && line[0] == 'P' {
			predicate = line
			continue
		}
		fields := strings.Fields(line)
		numbers := make([]int, len(fields))
		for i, field := range fields {
			if numbers[i], err = strconv.Atoi(field); err != nil {
				t.Fatal(err)
			}
			if i > 1 || first && i > 0 {
				numbers[i] += numbers[i-1]
			}
		}
		if first {
			for _, n := range numbers {
				ids = append(ids, "Q"+strconv.Itoa(n))
			}
			continue
		}
		for _, n := range numbers[1:] {
			all = append(all, facts.Fact{Record: uint64(len(all) + 1), Entity: ids[n], Predicate: predicate, Value: ids[numbers[0]]})
		}
	}
	if lines.Err() != nil {
		t.Fatal(lines.Err())
	}
	return all
}

// codex loads each fact set once.
var codex = map[string]func(testing.TB) *facts.Set{"codex-s": once("codex-s"), "codex-m": once("codex-m")}

func once(name string) func(testing.TB) *facts.Set {
	var loaded sync.Once
	var set *facts.Set
	return func(t testing.TB) *facts.Set {
		loaded.Do(func() { set = facts.Build(nil, loadCodex(t, name)) })
		return set
	}
}

type codexQuery struct {
	ID          string
	Facts       string
	Where       [][3]string
	Select      []string
	Answers     int
	Proofs      *int
	Assignments *int
	Minimal     int `json:"minimal_witness_sets"`
	Most        int `json:"max_alternatives"`
}

func (q *codexQuery) matches() int {
	if q.Proofs != nil {
		return *q.Proofs
	}
	return *q.Assignments
}

func (q *codexQuery) set() string { return strings.TrimSuffix(q.Facts, ".tsv") }

func codexQueries(t testing.TB) []*codexQuery {
	data, err := os.ReadFile(filepath.Join("testdata", "codex", "queries.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	var out []*codexQuery
	for line := range strings.Lines(string(data)) {
		q := new(codexQuery)
		if err := json.Unmarshal([]byte(line), q); err != nil {
			t.Fatal(err)
		}
		out = append(out, q)
	}
	return out
}

// TestCodex checks every count that other engines agree on.
func TestCodex(t *testing.T) {
	for _, q := range codexQueries(t) {
		t.Run(q.set()+"/"+q.ID, func(t *testing.T) {
			s := codex[q.set()](t)
			r, err := datalog.Evaluate(context.Background(), s, (&query{q.Where, q.Select}).program(s), wide)
			if err != nil {
				t.Fatal(err)
			}
			minimal, most := 0, 0
			for _, a := range r.Answers {
				minimal += len(a.Proofs)
				most = max(most, len(a.Proofs))
			}
			if len(r.Answers) != q.Answers || minimal != q.Minimal || q.Most > 0 && most != q.Most || !r.AlternativesComplete {
				t.Errorf("%d answers, %d minimal sets, at most %d for one; want %d, %d, %d", len(r.Answers), minimal, most, q.Answers, q.Minimal, q.Most)
			}
			if q.matches() > r.Work.States {
				t.Errorf("%d states for %d matches", r.Work.States, q.matches())
			}
			t.Logf("%d examinations, %d states, plan %v", r.Work.Examinations, r.Work.States, r.Plan)
		})
	}
}

// TestB3_BudgetOfMixedQuery: the six atoms that a written order or a careless
// one does not finish stay within the examinations that a query has by default.
func TestB3_BudgetOfMixedQuery(t *testing.T) {
	const byDefault = 50_000
	s := codex["codex-m"](t)
	for _, q := range codexQueries(t) {
		if q.set() != "codex-m" {
			continue
		}
		limits := wide
		limits.Examinations = byDefault
		r, err := datalog.Evaluate(context.Background(), s, (&query{q.Where, q.Select}).program(s), limits)
		if err != nil {
			t.Fatal(err)
		}
		if r.Bound != "" {
			t.Errorf("%s stops at %s", q.ID, r.Bound)
		}
	}
}

// TestD25_WorkDoesNotDependOnTheWrittenOrder permutes atoms in every way.
func TestD25_WorkDoesNotDependOnTheWrittenOrder(t *testing.T) {
	for _, q := range codexQueries(t) {
		if q.set() != "codex-s" || !slices.Contains([]string{"q3_bad", "q4_cyc", "q6_mix", "q6_empty"}, q.ID) {
			continue
		}
		s := codex[q.set()](t)
		first, err := datalog.Evaluate(context.Background(), s, (&query{q.Where, q.Select}).program(s), wide)
		if err != nil {
			t.Fatal(err)
		}
		permutations(len(q.Where), func(order []int) {
			p := &query{selects: q.Select}
			for _, n := range order {
				p.where = append(p.where, q.Where[n])
			}
			r, err := datalog.Evaluate(context.Background(), s, p.program(s), wide)
			if err != nil {
				t.Fatal(err)
			}
			if r.Work != first.Work || len(r.Answers) != len(first.Answers) {
				t.Fatalf("%s as %v: %+v and %d answers, want %+v and %d", q.ID, order, r.Work, len(r.Answers), first.Work, len(first.Answers))
			}
			for i, step := range r.Plan {
				if order[step.Atom] != first.Plan[i].Atom || step.By != first.Plan[i].By {
					t.Fatalf("%s as %v: plan %v, want %v", q.ID, order, r.Plan, first.Plan)
				}
			}
		})
	}
}

func permutations(n int, yield func([]int)) {
	order := indexes(n)
	var place func(i int)
	place = func(i int) {
		if i == n {
			yield(order)
			return
		}
		for k := i; k < n; k++ {
			order[i], order[k] = order[k], order[i]
			place(i + 1)
			order[i], order[k] = order[k], order[i]
		}
	}
	place(0)
}

// BenchmarkCodex runs each query with all proofs kept.
func BenchmarkCodex(b *testing.B) {
	for _, q := range codexQueries(b) {
		b.Run(q.set()+"/"+q.ID, func(b *testing.B) {
			s := codex[q.set()](b)
			program := (&query{q.Where, q.Select}).program(s)
			var r *datalog.Result
			for b.Loop() {
				var err error
				if r, err = datalog.Evaluate(context.Background(), s, program, wide); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(r.Work.Examinations), "examinations")
		})
	}
}

// root is the folder of go.mod; data beside the repository is looked up from it.
func shared(t testing.TB, name string) string {
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for dir != filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
		dir = filepath.Dir(dir)
	}
	path := filepath.Join(dir, "..", "shared", "data", name)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("../shared/data/%s is absent", name)
	}
	return path
}

// TestCodexIsTheOriginal compares the packed facts with the published ones.
func TestCodexIsTheOriginal(t *testing.T) {
	for _, name := range []string{"codex-s", "codex-m"} {
		data, err := os.ReadFile(shared(t, "codex/"+name+".tsv"))
		if err != nil {
			t.Fatal(err)
		}
		want := strings.Split(strings.TrimSpace(string(data)), "\n")
		var got []string
		for _, f := range loadCodex(t, name) {
			got = append(got, f.Entity+"\t"+f.Predicate+"\t"+f.Value)
		}
		slices.Sort(want)
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("%s: the packed facts differ from the published ones", name)
		}
	}
}

// chopped hands out facts one at a time and says nothing of the order of terms.
type chopped struct{ *facts.Set }

func (c chopped) Ordered() uint32 { return 0 }

func chop(keys, words []uint64, more bool) ([]uint64, []uint64, bool) {
	if len(keys) < 2 {
		return keys, words, more
	}
	return keys[:1], words[:1], true
}

func (c chopped) OfPredicate(predicate uint32, skip int) ([]uint64, []uint64, bool) {
	return chop(c.Set.OfPredicate(predicate, skip))
}

func (c chopped) OfEntity(entity, predicate uint32, skip int) ([]uint64, []uint64, bool) {
	return chop(c.Set.OfEntity(entity, predicate, skip))
}

func (c chopped) OfValue(predicate, value uint32, skip int) ([]uint64, []uint64, bool) {
	return chop(c.Set.OfValue(predicate, value, skip))
}

// TestResultsDoNotDependOnHowFactsAreStored also compares the two ways in which
// answers are put into order.
func TestResultsDoNotDependOnHowFactsAreStored(t *testing.T) {
	s := codex["codex-s"](t)
	for _, q := range codexQueries(t) {
		if q.set() != "codex-s" || q.Answers > 10_000 {
			continue
		}
		program := (&query{q.Where, q.Select}).program(s)
		for _, limits := range []datalog.Limits{wide, {Examinations: 50_000, States: 4_096, Alternatives: 700}, {Examinations: 500, States: 300, Alternatives: 128}} {
			a, err := datalog.Evaluate(context.Background(), s, program, limits)
			if err != nil {
				t.Fatal(err)
			}
			b, err := datalog.Evaluate(context.Background(), chopped{s}, program, limits)
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(a, b) {
				t.Errorf("%s within %+v: the results differ", q.ID, limits)
			}
		}
	}
}
