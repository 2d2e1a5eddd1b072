package main

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/grounded-memory/grounded/internal/datalog"
	"github.com/grounded-memory/grounded/internal/facts"
)

// codexFolder holds the facts and queries that the product's tests use.
func codexFolder() (string, error) {
	root, err := repository()
	return filepath.Join(root, "internal", "datalog", "testdata", "codex"), err
}

// codexFacts reads CoDEx-M, 206,205 facts; its README tells the form.
func codexFacts() ([]facts.Fact, error) {
	folder, err := codexFolder()
	if err != nil {
		return nil, err
	}
	file, err := os.Open(filepath.Join(folder, "codex-m.gz"))
	if err != nil {
		return nil, err
	}
	defer file.Close()
	unzipped, err := gzip.NewReader(file)
	if err != nil {
		return nil, err
	}
	lines := bufio.NewScanner(unzipped)
	lines.Buffer(nil, 1<<20)
	var names []string
	var all []facts.Fact
	predicate := ""
	for first := true; lines.Scan(); first = false {
		if line := lines.Text(); !first && line[0] == 'P' {
			predicate = line
			continue
		}
		numbers, err := steps(lines.Text(), first)
		if err != nil {
			return nil, err
		}
		if first {
			for _, n := range numbers {
				names = append(names, "Q"+strconv.Itoa(n))
			}
			continue
		}
		for _, n := range numbers[1:] {
			all = append(all, facts.Fact{Record: uint64(len(all) + 1), Entity: names[n], Predicate: predicate, Value: names[numbers[0]]})
		}
	}
	return all, lines.Err()
}

// steps reads ascending numbers that are written as differences: all of the
// first line, all but the first of any other.
func steps(line string, first bool) ([]int, error) {
	fields := strings.Fields(line)
	numbers := make([]int, len(fields))
	for i, field := range fields {
		n, err := strconv.Atoi(field)
		if err != nil {
			return nil, err
		}
		if i > 1 || first && i > 0 {
			n += numbers[i-1]
		}
		numbers[i] = n
	}
	return numbers, nil
}

// codexQuery is one query with what it must find.
type codexQuery struct {
	ID      string
	Facts   string
	Where   [][3]string
	Select  []string
	Answers int
	Minimal int `json:"minimal_witness_sets"`
}

func codexQueries() ([]*codexQuery, error) {
	folder, err := codexFolder()
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(filepath.Join(folder, "queries.jsonl"))
	if err != nil {
		return nil, err
	}
	var out []*codexQuery
	for line := range strings.Lines(string(text)) {
		q := new(codexQuery)
		if err := json.Unmarshal([]byte(line), q); err != nil {
			return nil, err
		}
		if q.Facts == "codex-m.tsv" {
			out = append(out, q)
		}
	}
	return out, nil
}

// program is the query with its atoms in the given order.
func (q *codexQuery) program(set *facts.Set, order []int) datalog.Program {
	var p datalog.Program
	term := func(text string) datalog.Term {
		if !strings.HasPrefix(text, "?") {
			return datalog.Const(set.Lookup(text))
		}
		n := slices.Index(p.Variables, text)
		if n < 0 {
			n = len(p.Variables)
			p.Variables = append(p.Variables, text)
		}
		return datalog.Var(n)
	}
	for _, i := range order {
		a := q.Where[i]
		p.Atoms = append(p.Atoms, datalog.Atom{Entity: term(a[0]), Predicate: datalog.Const(set.Predicate(a[1])), Value: term(a[2])})
	}
	for _, name := range q.Select {
		p.Select = append(p.Select, slices.Index(p.Variables, name))
	}
	return p
}

// written is the order in which the atoms are written.
func (q *codexQuery) written() []int {
	order := make([]int, len(q.Where))
	for i := range order {
		order[i] = i
	}
	return order
}

// sql is the query as a self-join: every variable and the row of every atom, so
// that each row is an answer with one proof.
func (q *codexQuery) sql(number func(string) int) string {
	var columns, from, where []string
	places := map[string]string{}
	for i, a := range q.Where {
		from = append(from, fmt.Sprintf("facts f%d", i))
		where = append(where, fmt.Sprintf("f%d.predicate=%d", i, number(a[1])))
		for end, column := range map[int]string{0: "entity", 2: "value"} {
			place := fmt.Sprintf("f%d.%s", i, column)
			switch first, seen := places[a[end]]; {
			case !strings.HasPrefix(a[end], "?"):
				where = append(where, fmt.Sprintf("%s=%d", place, number(a[end])))
			case seen:
				where = append(where, place+"="+first)
			default:
				places[a[end]] = place
			}
		}
	}
	for _, name := range q.Select {
		columns = append(columns, places[name])
	}
	for i := range q.Where {
		columns = append(columns, fmt.Sprintf("f%d.record", i))
	}
	return "SELECT " + strings.Join(columns, ",") + " FROM " + strings.Join(from, ",") + " WHERE " + strings.Join(where, " AND ")
}

// goal is the query for Prolog, its atoms in the given order.
func (q *codexQuery) goal(order []int) string {
	term := func(text string) string {
		if strings.HasPrefix(text, "?") {
			return "V" + text[1:]
		}
		return strings.ToLower(text)
	}
	var atoms []string
	for _, i := range order {
		a := q.Where[i]
		atoms = append(atoms, fmt.Sprintf("%s(%s,%s)", term(a[1]), term(a[0]), term(a[2])))
	}
	return strings.Join(atoms, ",")
}

// tuple is the selected variables for Prolog.
func (q *codexQuery) tuple() string {
	if len(q.Select) == 0 {
		return "yes"
	}
	return "t(V" + strings.ReplaceAll(strings.Join(q.Select, ",V"), "?", "") + ")"
}

// permutations calls yield with every order of n things.
func permutations(n int, yield func([]int) error) error {
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	var place func(i int) error
	place = func(i int) error {
		if i == n {
			return yield(order)
		}
		for k := i; k < n; k++ {
			order[i], order[k] = order[k], order[i]
			if err := place(i + 1); err != nil {
				return err
			}
			order[i], order[k] = order[k], order[i]
		}
		return nil
	}
	return place(0)
}
