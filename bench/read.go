package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/grounded-memory/grounded"
	"github.com/grounded-memory/grounded/internal/datalog"
	"github.com/grounded-memory/grounded/internal/facts"
	"github.com/grounded-memory/grounded/internal/index"
	"github.com/grounded-memory/grounded/internal/sqlite"
)

const manyFacts = 100_000

// hundredThousand makes a store of 100,000 facts with its snapshots.
func hundredThousand(ctx context.Context, folder string) (string, error) {
	path := filepath.Join(folder, "facts.db")
	store, err := grounded.Open(ctx, path, nil)
	if err != nil {
		return "", err
	}
	memory, err := store.Scope("default", "default")
	if err != nil {
		return "", err
	}
	if _, err := memory.Load(ctx, factItems(manyFacts), nil); err != nil {
		return "", err
	}
	// What has been read has an index, and on closing it is kept as a snapshot.
	_, err = memory.Query(ctx, &grounded.QueryRequest{Where: []grounded.Atom{grounded.NewAtom(grounded.Var("x"), "manages", grounded.Const("nobody"))}})
	if err != nil {
		return "", err
	}
	return path, store.Close()
}

// read measures what a read costs beside its evaluation when nothing has been
// written since the one before.
func read(ctx context.Context) error {
	folder, err := os.MkdirTemp("", "bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	path, err := hundredThousand(ctx, folder)
	if err != nil {
		return err
	}
	store, err := grounded.Open(ctx, path, nil)
	if err != nil {
		return err
	}
	defer store.Close()
	memory, err := store.Scope("default", "default")
	if err != nil {
		return err
	}
	db, err := sqlite.Open(ctx, path, sqlite.Options{Rand: rand.Reader})
	if err != nil {
		return err
	}
	defer db.Close()
	live := &live{db: db, index: index.New()}
	if err := live.load(ctx); err != nil {
		return err
	}
	asked := 0
	next := func() *grounded.RememberRequest { asked++; return factOf(asked * 7919 % manyFacts) }
	medians, err := interleave(200, 3*time.Second,
		side{"evaluation", func() error { return live.evaluate(ctx, live.set, next()) }},
		side{"evaluation on a fresh view", func() error {
			return live.view(ctx, func(v *index.View) error { return live.evaluate(ctx, v.AllFacts, next()) })
		}},
		side{"query", func() error {
			f := next()
			r, err := memory.Query(ctx, &grounded.QueryRequest{Where: []grounded.Atom{grounded.NewAtom(grounded.Const(f.Entity), f.Predicate, grounded.Var("v"))}})
			if err == nil && len(r.Answers) != 1 {
				err = fmt.Errorf("%d answers", len(r.Answers))
			}
			return err
		}},
	)
	if err != nil {
		return err
	}
	t := &table{}
	t.add("one fact of 100,000, nothing changed", "median", "beside the evaluation")
	t.add("evaluation in memory", show(medians[0]), "")
	t.add("with a read transaction and the version checked", show(medians[1]), show(medians[1]-medians[0]))
	t.add("Query: certificate and all", show(medians[2]), show(medians[2]-medians[0]))
	t.print()
	over := medians[1] - medians[0]
	verdict(over <= 10*time.Microsecond, "seeing that nothing changed takes %s (target 10 µs)", show(over))
	fmt.Println()
	return nil
}

// live is the store and the index as the product holds them.
type live struct {
	db    *sqlite.DB
	index *index.Index
	set   *facts.Set
}

// source answers what an index that is up to date asks.
type source struct {
	index.Source
	state sqlite.ScopeState
}

func (s *source) State() (version, lastSeq uint64, err error) {
	return s.state.Version, s.state.LastSeq, nil
}

func (l *live) load(ctx context.Context) error {
	return l.db.View(ctx, sqlite.Scope{Tenant: "default", Namespace: "default"}, func(tx *sqlite.ReadTx) error {
		state, err := tx.State()
		if err != nil {
			return err
		}
		v, _, err := l.index.View(ctx, &rows{source{state: state}, tx}, time.Now().UnixMicro(), index.Facts)
		if err == nil {
			l.set = v.AllFacts
		}
		return err
	})
}

// rows reads the snapshots only.
type rows struct {
	source
	tx *sqlite.ReadTx
}

func (r *rows) Blob(part string) (data []byte, version uint64, ok bool, err error) {
	return r.tx.Blob(part)
}

func (r *rows) Changes(uint64, func(index.Change) error) error { return nil }

func (r *rows) Entries(uint64, index.Parts, func(*index.Entry) error) error { return nil }

func (l *live) view(ctx context.Context, use func(*index.View) error) error {
	return l.db.View(ctx, sqlite.Scope{Tenant: "default", Namespace: "default"}, func(tx *sqlite.ReadTx) error {
		state, err := tx.State()
		if err != nil {
			return err
		}
		v, _, err := l.index.View(ctx, &source{state: state}, time.Now().UnixMicro(), index.Facts)
		if err != nil {
			return err
		}
		return use(v)
	})
}

func (l *live) evaluate(ctx context.Context, set *facts.Set, f *grounded.RememberRequest) error {
	program := datalog.Program{
		Atoms:     []datalog.Atom{{Entity: datalog.Const(set.Lookup(f.Entity)), Predicate: datalog.Const(set.Predicate(f.Predicate)), Value: datalog.Var(0)}},
		Variables: []string{"v"}, Select: []int{0},
	}
	r, err := datalog.Evaluate(ctx, set, program, wide)
	if err == nil && len(r.Answers) != 1 {
		err = fmt.Errorf("%d answers", len(r.Answers))
	}
	return err
}

// build makes the product's program.
func build(folder string) (string, error) {
	root, err := repository()
	if err != nil {
		return "", err
	}
	binary := filepath.Join(folder, "grounded")
	c := exec.Command("go", "build", "-o", binary, "./cmd/grounded")
	c.Dir, c.Stderr = root, os.Stderr
	return binary, c.Run()
}

// cold measures a new process that answers one question.
func cold(ctx context.Context) error {
	folder, err := os.MkdirTemp("", "bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	binary, err := build(folder)
	if err != nil {
		return err
	}
	path, err := hundredThousand(ctx, folder)
	if err != nil {
		return err
	}
	if out, err := exec.CommandContext(ctx, binary, "--db", path, "maintain").CombinedOutput(); err != nil {
		return fmt.Errorf("maintain: %w: %s", err, out)
	}
	f := factOf(4711)
	where := fmt.Sprintf("[%q,%q,\"?v\"]", f.Entity, f.Predicate)
	process := func(name string, args ...string) side {
		return side{name, func() error {
			out, err := exec.CommandContext(ctx, args[0], args[1:]...).CombinedOutput()
			if err != nil {
				return fmt.Errorf("%w: %s", err, out)
			}
			return nil
		}}
	}
	medians, err := interleave(40, 0,
		process("start", binary, "limits"),
		process("query", binary, "--db", path, "query", "--where", where),
	)
	if err != nil {
		return err
	}
	t := &table{}
	t.add("a new process, 100,000 facts", "median")
	t.add("start and stop alone (grounded limits)", show(medians[0]))
	t.add("one fact (grounded query)", show(medians[1]))
	t.print()
	verdict(medians[1] <= 40*time.Millisecond, "%s from start to end (target 40 ms)", show(medians[1]))
	fmt.Println()
	return nil
}
