package main

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ncruces/go-sqlite3"

	"github.com/grounded-memory/grounded"
	"github.com/grounded-memory/grounded/bench/csqlite"
)

const (
	insertRecord = "INSERT INTO records(id, kind, body, salt, digest, group_key, same_key, single, created, expires, corrects, corrected_by, forgotten, flag) VALUES(?,1,?,?,?,?,?,1,1790000000000000,0,0,0,0,'')"
	insertChange = "INSERT INTO changes(id, seq, op) VALUES(?,?,1)"
)

// bare is SQLite with the tables and indexes of the product, and nothing else.
type bare interface {
	Exec(sql string) error
	// record inserts the n-th record with the body given.
	record(n int64, body []byte) error
	// change inserts the n-th line of the change log.
	change(n int64) error
	close() error
}

// write compares writing with SQLite alone: the same rows, tables, indexes and
// durability (WAL, synchronous=FULL).
func write(ctx context.Context) error {
	folder, err := os.MkdirTemp("", "bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	w, err := newWriteBench(ctx, folder)
	if err != nil {
		return err
	}
	defer w.close()
	if err := w.one(ctx); err != nil {
		return err
	}
	if err := w.concurrent(ctx); err != nil {
		return err
	}
	return w.batch(ctx)
}

type writeBench struct {
	folder string
	store  *grounded.Store
	memory *grounded.Memory
	body   []byte // of a record like those written
	schema []string
	files  int
	facts  int
}

func newWriteBench(ctx context.Context, folder string) (*writeBench, error) {
	w := &writeBench{folder: folder}
	path := filepath.Join(folder, "grounded.db")
	var err error
	if w.store, err = grounded.Open(ctx, path, nil); err != nil {
		return nil, err
	}
	if w.memory, err = w.store.Scope("bench", "write"); err != nil {
		return nil, err
	}
	written, err := w.memory.Remember(ctx, w.fact())
	if err != nil {
		return nil, err
	}
	got, err := w.memory.Get(ctx, &grounded.GetRequest{ID: written.ID})
	if err != nil {
		return nil, err
	}
	if w.body, err = json.Marshal(got.Record); err != nil {
		return nil, err
	}
	db, err := csqlite.Open(path)
	if err != nil {
		return nil, err
	}
	defer db.Close()
	statement, err := db.Prepare("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%'")
	if err != nil {
		return nil, err
	}
	defer statement.Close()
	w.schema, err = statement.Text()
	return w, err
}

func (w *writeBench) close() error { return w.store.Close() }

func (w *writeBench) fact() *grounded.RememberRequest {
	w.facts++
	return factOf(w.facts)
}

// factOf is the n-th fact: short texts, two facts an entity, different values.
func factOf(n int) *grounded.RememberRequest {
	return &grounded.RememberRequest{
		Entity: fmt.Sprintf("Person %06d", n/2), Predicate: [...]string{"works_on", "manages"}[n%2],
		Value: fmt.Sprintf("project %06d", n), Source: "HR export 2026-03", Cardinality: grounded.Multi,
	}
}

// bare makes a new file with the product's tables.
func (w *writeBench) bare(inC bool) (bare, error) {
	w.files++
	path := filepath.Join(w.folder, fmt.Sprintf("bare%d.db", w.files))
	var b bare
	var err error
	if inC {
		b, err = openC(path)
	} else {
		b, err = openNcruces(path)
	}
	if err != nil {
		return nil, err
	}
	setup := "PRAGMA page_size=4096; PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA secure_delete=ON;"
	for _, sql := range w.schema {
		setup += sql + ";"
	}
	return b, b.Exec(setup)
}

// inTransaction inserts one record durably.
func inTransaction(b bare, n int64, body []byte) error {
	if err := b.Exec("BEGIN IMMEDIATE"); err != nil {
		return err
	}
	if err := b.record(n, body); err != nil {
		return err
	}
	return b.Exec("COMMIT")
}

// one measures a single durable write.
func (w *writeBench) one(ctx context.Context) error {
	c, err := w.bare(true)
	if err != nil {
		return err
	}
	defer c.close()
	n, err := w.bare(false)
	if err != nil {
		return err
	}
	defer n.close()
	var inC, inGo int64
	medians, err := interleave(400, 3*time.Second,
		side{"grounded", func() error { _, err := w.memory.Remember(ctx, w.fact()); return err }},
		side{"C", func() error { inC++; return inTransaction(c, inC, w.body) }},
		side{"ncruces", func() error { inGo++; return inTransaction(n, inGo, w.body) }},
	)
	if err != nil {
		return err
	}
	t := &table{}
	t.add("one durable write", "median", "vs C SQLite", "vs the product's SQLite")
	t.add("grounded, Remember", show(medians[0]), times(ratio(medians[0], medians[1])), times(ratio(medians[0], medians[2])))
	t.add("bare insert, C SQLite "+csqlite.Version(), show(medians[1]))
	t.add("bare insert, go-sqlite3", show(medians[2]))
	t.print()
	verdict(ratio(medians[0], medians[1]) <= 1.3, "one write takes %s a bare insert's time in C (target 1.3×)", times(ratio(medians[0], medians[1])))
	fmt.Println()
	return nil
}

// concurrent measures 64 writers against one, in turns of a second.
func (w *writeBench) concurrent(ctx context.Context) error {
	rates := map[int][]float64{}
	var next atomic.Int64
	next.Store(int64(w.facts))
	for range 3 {
		for _, writers := range []int{1, 64} {
			rate, err := w.writers(ctx, writers, &next)
			if err != nil {
				return err
			}
			rates[writers] = append(rates[writers], rate)
		}
	}
	w.facts = int(next.Load())
	one, many := middle(rates[1]), middle(rates[64])
	t := &table{}
	t.add("concurrent writers", "durable writes/s", "vs one")
	t.add("1", fmt.Sprintf("%.0f", one), "")
	t.add("64", fmt.Sprintf("%.0f", many), times(many/one))
	t.print()
	verdict(many >= 8*one, "64 writers write %s as fast as one (target 8×)", times(many/one))
	fmt.Println()
	return nil
}

func (w *writeBench) writers(ctx context.Context, writers int, next *atomic.Int64) (rate float64, err error) {
	var done atomic.Int64
	errs := make([]error, writers)
	start := time.Now()
	var group sync.WaitGroup
	for i := range writers {
		group.Go(func() {
			for errs[i] == nil && time.Since(start) < time.Second {
				_, errs[i] = w.memory.Remember(ctx, factOf(int(next.Add(1))))
				done.Add(1)
			}
		})
	}
	group.Wait()
	return float64(done.Load()) / time.Since(start).Seconds(), errors.Join(errs...)
}

// batch measures 100,000 facts in one transaction, each time into a new file.
func (w *writeBench) batch(ctx context.Context) error {
	const size = 100_000
	sides := []side{
		{"grounded, Load", func() error { return w.load(ctx, size) }},
		{"bare inserts, C SQLite " + csqlite.Version(), func() error { return w.insertBatch(true, size) }},
		{"bare inserts, go-sqlite3", func() error { return w.insertBatch(false, size) }},
	}
	spent := make([][]time.Duration, len(sides))
	for range 3 {
		for i, s := range sides {
			start := time.Now()
			if err := s.run(); err != nil {
				return fmt.Errorf("%s: %w", s.name, err)
			}
			spent[i] = append(spent[i], time.Since(start))
		}
	}
	t := &table{}
	t.add("100,000 facts at once", "time", "facts/s")
	medians := make([]time.Duration, len(sides))
	for i, s := range sides {
		medians[i] = quantile(spent[i], 0.5)
		t.add(s.name, show(medians[i]), fmt.Sprintf("%.0f", size/medians[i].Seconds()))
	}
	t.print()
	for i, name := range []string{1: "C SQLite", 2: "the SQLite that the product uses"} {
		if i > 0 {
			rate := ratio(medians[i], medians[0])
			verdict(rate >= 0.5, "import at %s the rate of %s (target 0.5×)", times(rate), name)
		}
	}
	fmt.Println()
	return nil
}

func (w *writeBench) load(ctx context.Context, size int) error {
	w.files++
	store, err := grounded.Open(ctx, filepath.Join(w.folder, fmt.Sprintf("load%d.db", w.files)), nil)
	if err != nil {
		return err
	}
	memory, err := store.Scope("bench", "load")
	if err != nil {
		return err
	}
	if _, err := memory.Load(ctx, factItems(size), nil); err != nil {
		return err
	}
	return store.Close()
}

// factItems yields the first facts.
func factItems(size int) iter.Seq2[grounded.WriteItem, error] {
	return func(yield func(grounded.WriteItem, error) bool) {
		for n := range size {
			if !yield(grounded.WriteItem{Remember: factOf(n)}, nil) {
				return
			}
		}
	}
}

// insertBatch writes what Load writes: the records and their change log.
func (w *writeBench) insertBatch(inC bool, size int64) error {
	b, err := w.bare(inC)
	if err != nil {
		return err
	}
	if err := b.Exec("BEGIN IMMEDIATE"); err != nil {
		return err
	}
	for n := range size {
		if err := b.record(n+1, w.body); err != nil {
			return err
		}
		if err := b.change(n + 1); err != nil {
			return err
		}
	}
	return errors.Join(b.Exec("COMMIT"), b.close())
}

// keys are what a record has beside its body.
type keys struct {
	salt, digest []byte
	group, same  int64
}

func newKeys() keys {
	k := keys{salt: make([]byte, 16), digest: make([]byte, 32), group: 1 + rand.Int64N(1<<62), same: 1 + rand.Int64N(1<<62)}
	for _, part := range [][]byte{k.salt, k.digest[:16], k.digest[16:]} {
		binary.LittleEndian.PutUint64(part, rand.Uint64())
		binary.LittleEndian.PutUint64(part[8:], rand.Uint64())
	}
	return k
}

// inC is SQLite's C library.
type inC struct {
	*csqlite.DB
	insert, log *csqlite.Stmt
}

func openC(path string) (*inC, error) {
	db, err := csqlite.Open(path)
	return &inC{DB: db}, err
}

func (c *inC) drain(statement **csqlite.Stmt, sql string, params ...any) (err error) {
	if *statement == nil {
		if *statement, err = c.Prepare(sql); err != nil {
			return err
		}
	}
	_, err = (*statement).Drain(params...)
	return err
}

func (c *inC) record(n int64, body []byte) error {
	k := newKeys()
	return c.drain(&c.insert, insertRecord, n, body, k.salt, k.digest, k.group, k.same)
}

func (c *inC) change(n int64) error { return c.drain(&c.log, insertChange, n, n) }

func (c *inC) close() error {
	for _, s := range []*csqlite.Stmt{c.insert, c.log} {
		if s != nil {
			_ = s.Close()
		}
	}
	return c.Close()
}

// inGo is the SQLite that the product uses.
type inGo struct {
	*sqlite3.Conn
	insert, log *sqlite3.Stmt
}

func openNcruces(path string) (*inGo, error) {
	c, err := sqlite3.Open(path)
	return &inGo{Conn: c}, err
}

func (c *inGo) step(statement **sqlite3.Stmt, sql string, params ...any) (err error) {
	if *statement == nil {
		if *statement, _, err = c.Prepare(sql); err != nil {
			return err
		}
	}
	s := *statement
	for i, p := range params {
		switch v := p.(type) {
		case int64:
			err = s.BindInt64(i+1, v)
		case []byte:
			err = s.BindBlob(i+1, v)
		}
		if err != nil {
			return err
		}
	}
	err = s.Exec()
	return errors.Join(err, s.Reset())
}

func (c *inGo) record(n int64, body []byte) error {
	k := newKeys()
	return c.step(&c.insert, insertRecord, n, body, k.salt, k.digest, k.group, k.same)
}

func (c *inGo) change(n int64) error { return c.step(&c.log, insertChange, n, n) }

func (c *inGo) close() error {
	var errs []error
	for _, s := range []*sqlite3.Stmt{c.insert, c.log} {
		if s != nil {
			errs = append(errs, s.Close())
		}
	}
	return errors.Join(append(errs, c.Close())...)
}
