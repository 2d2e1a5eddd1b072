package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/grounded-memory/grounded/bench/csqlite"
	"github.com/grounded-memory/grounded/internal/datalog"
	"github.com/grounded-memory/grounded/internal/facts"
)

// wide are limits that no CoDEx query reaches.
var wide = datalog.Limits{Examinations: 1 << 40, States: 1 << 30, Alternatives: 1 << 30}

// joinPeers are the three engines with the same facts.
type joinPeers struct {
	set    *facts.Set
	sqlite *csqlite.DB
	prolog *prolog
	number map[string]int
}

// codex compares the time of every CoDEx-M query, warm. The engine keeps every
// proof and puts answers and proofs into order; SQLite is only stepped through
// every match, and Prolog collects the answers alone, each once and in order,
// with the atoms in the order of the engine's plan.
func codex(ctx context.Context) error {
	folder, err := os.MkdirTemp("", "bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	queries, err := codexQueries()
	if err != nil {
		return err
	}
	peers, err := loadJoinPeers(folder, queries)
	if err != nil {
		return err
	}
	defer peers.sqlite.Close()
	t := &table{}
	t.add("query", "answers", "proofs", "examined", "grounded", "SQLite "+csqlite.Version(), "SWI-Prolog", "only backtracking", "vs SQLite", "vs Prolog", "orders")
	var overSQLite, overProlog []float64
	worst, worstID, orders := 1e9, "", true
	for _, q := range queries {
		row, err := peers.compare(ctx, q)
		if err != nil {
			return fmt.Errorf("%s: %w", q.ID, err)
		}
		overSQLite = append(overSQLite, ratio(row.sqlite, row.engine))
		prologTime, bare, prologRatio := "not installed", "-", "-"
		faster := ratio(row.sqlite, row.engine)
		if peers.prolog != nil {
			overProlog = append(overProlog, ratio(row.prolog, row.engine))
			prologTime, bare, prologRatio = show(row.prolog), show(row.bare), times(ratio(row.prolog, row.engine))
			faster = min(faster, ratio(row.prolog, row.engine))
		}
		if faster < worst {
			worst, worstID = faster, q.ID
		}
		same := "same"
		if !row.same {
			same, orders = "DIFFER", false
		}
		t.add(q.ID, fmt.Sprint(q.Answers), fmt.Sprint(q.Minimal), fmt.Sprint(row.examined), show(row.engine), show(row.sqlite), prologTime, bare,
			times(ratio(row.sqlite, row.engine)), prologRatio, fmt.Sprintf("%s (%d)", same, row.orders))
	}
	t.print()
	verdict(geomean(overSQLite) >= 4, "geometric mean %s faster than SQLite (target 4×)", times(geomean(overSQLite)))
	if peers.prolog != nil {
		verdict(geomean(overProlog) >= 2, "geometric mean %s faster than SWI-Prolog (target 2×)", times(geomean(overProlog)))
		if err := peers.prolog.close(); err != nil {
			return err
		}
	}
	verdict(worst >= 0.5, "worst query %s: %s the speed of the faster peer (target 0.5×)", worstID, times(worst))
	verdict(orders, "the same examinations for every order of atoms")
	fmt.Println()
	return nil
}

func loadJoinPeers(folder string, queries []*codexQuery) (*joinPeers, error) {
	all, err := codexFacts()
	if err != nil {
		return nil, err
	}
	p := &joinPeers{set: facts.Build(nil, all), number: map[string]int{}}
	if p.sqlite, err = csqlite.Open(":memory:"); err != nil {
		return nil, err
	}
	if err := p.fillSQLite(all); err != nil {
		return nil, err
	}
	p.prolog, err = startProlog(folder, all, queries)
	return p, err
}

func (p *joinPeers) term(text string) int {
	n, ok := p.number[text]
	if !ok {
		n = len(p.number) + 1
		p.number[text] = n
	}
	return n
}

// fillSQLite makes the tables that a careful person would: integers throughout,
// and an index that covers each direction.
func (p *joinPeers) fillSQLite(all []facts.Fact) error {
	err := p.sqlite.Exec("PRAGMA cache_size=-262144; CREATE TABLE facts(record INTEGER PRIMARY KEY, entity INTEGER NOT NULL, predicate INTEGER NOT NULL, value INTEGER NOT NULL); BEGIN")
	if err != nil {
		return err
	}
	insert, err := p.sqlite.Prepare("INSERT INTO facts VALUES(?,?,?,?)")
	if err != nil {
		return err
	}
	defer insert.Close()
	for _, f := range all {
		if _, err := insert.Drain(int64(f.Record), int64(p.term(f.Entity)), int64(p.term(f.Predicate)), int64(p.term(f.Value))); err != nil {
			return err
		}
	}
	return p.sqlite.Exec("COMMIT; CREATE INDEX by_entity ON facts(predicate, entity, value, record); CREATE INDEX by_value ON facts(predicate, value, entity, record); ANALYZE")
}

// joinRow is what one query took.
type joinRow struct {
	engine, sqlite, prolog, bare time.Duration
	examined, orders             int
	same                         bool
}

func (p *joinPeers) compare(ctx context.Context, q *codexQuery) (*joinRow, error) {
	program := q.program(p.set, q.written())
	first, err := datalog.Evaluate(ctx, p.set, program, wide)
	if err != nil {
		return nil, err
	}
	if len(first.Answers) != q.Answers {
		return nil, fmt.Errorf("%d answers, want %d", len(first.Answers), q.Answers)
	}
	statement, err := p.sqlite.Prepare(q.sql(p.term))
	if err != nil {
		return nil, err
	}
	defer statement.Close()
	engine := side{"grounded", func() error {
		_, err := datalog.Evaluate(ctx, p.set, program, wide)
		return err
	}}
	row := &joinRow{examined: first.Work.Examinations}
	var prologTimes, bareTimes []time.Duration
	sides := []side{engine, {"SQLite", func() error { _, err := statement.Drain(); return err }}}
	if p.prolog != nil {
		var order []int
		for _, step := range first.Plan {
			order = append(order, step.Atom)
		}
		answers, once, _, err := p.prolog.run(1, q, order)
		if err != nil {
			return nil, err
		}
		if answers != q.Answers {
			return nil, fmt.Errorf("%d answers in Prolog, want %d", answers, q.Answers)
		}
		repeat := max(1, int(3*time.Millisecond/max(1, once)))
		sides = append(sides, side{"SWI-Prolog", func() error {
			_, one, bare, err := p.prolog.run(repeat, q, order)
			prologTimes, bareTimes = append(prologTimes, one), append(bareTimes, bare)
			return err
		}})
	}
	medians, err := interleave(9, 300*time.Millisecond, sides...)
	if err != nil {
		return nil, err
	}
	row.engine, row.sqlite, row.prolog = medians[0], medians[1], quantile(prologTimes, 0.5)
	row.bare = quantile(bareTimes, 0.5)
	row.same, row.orders, err = p.everyOrder(ctx, q, first)
	return row, err
}

// everyOrder evaluates the query with its atoms in every order.
func (p *joinPeers) everyOrder(ctx context.Context, q *codexQuery, first *datalog.Result) (same bool, orders int, err error) {
	same = true
	err = permutations(len(q.Where), func(order []int) error {
		r, err := datalog.Evaluate(ctx, p.set, q.program(p.set, order), wide)
		if err != nil {
			return err
		}
		orders++
		if r.Work != first.Work || len(r.Answers) != len(first.Answers) {
			same = false
		}
		return nil
	})
	return same, orders, err
}
