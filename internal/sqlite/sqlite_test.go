package sqlite

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

var (
	ctx    = context.Background()
	acme   = Scope{"acme", "team"}
	others = Scope{"acme", "other"}
)

func open(t testing.TB, path string, change ...func(*Options)) *DB {
	t.Helper()
	o := Options{Rand: rand.Reader, BusyTimeout: 10 * time.Second}
	for _, c := range change {
		c(&o)
	}
	db, err := Open(ctx, path, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if !o.ReadOnly && o.VFS == "" {
			if problems, err := db.Check(ctx); err == nil && len(problems) > 0 {
				t.Errorf("the file is not sound: %v", problems)
			}
		}
		if err := db.Close(); err != nil && !errors.Is(err, ErrClosed) {
			t.Errorf("close: %v", err)
		}
	})
	return db
}

func temp(t testing.TB) string { return filepath.Join(t.TempDir(), "store.db") }

func insert(db *DB, scope Scope, body string) (seq uint64, err error) {
	err = db.Update(ctx, scope, func(tx *WriteTx) (err error) {
		seq, err = tx.Insert(&Row{Kind: 1, Body: []byte(body), GroupKey: 7, SameKey: int64(len(body)), CreatedAt: 5, Flag: "f"})
		return err
	})
	return seq, err
}

func bodies(t testing.TB, db *DB, scope Scope) (out []string) {
	t.Helper()
	if err := db.View(ctx, scope, func(tx *ReadTx) error {
		return tx.Rows(0, func(r *Row) error {
			out = append(out, string(r.Body))
			return nil
		})
	}); err != nil {
		t.Fatal(err)
	}
	return out
}

func Example() {
	dir, _ := os.MkdirTemp("", "sqlite-example-")
	defer os.RemoveAll(dir)
	db, _ := Open(ctx, filepath.Join(dir, "store.db"), Options{Rand: rand.Reader})
	_ = db.Update(ctx, acme, func(tx *WriteTx) error {
		_, err := tx.Insert(&Row{Kind: 1, Body: []byte("hello")})
		return err
	})
	_ = db.View(ctx, acme, func(tx *ReadTx) error {
		row, ok, err := tx.Row(1)
		fmt.Println(string(row.Body), ok, err)
		return err
	})
	fmt.Println(db.Close())
	// Output:
	// hello true <nil>
	// <nil>
}

func TestLife(t *testing.T) {
	db := open(t, temp(t))
	for i := 1; i <= 3; i++ {
		if seq, err := insert(db, acme, strings.Repeat("x", i)); err != nil || seq != uint64(i) {
			t.Fatalf("insert %d: %d, %v", i, seq, err)
		}
	}
	if seq, err := insert(db, others, "y"); err != nil || seq != 1 {
		t.Fatalf("another scope counts from 1: %d, %v", seq, err)
	}
	if err := db.Update(ctx, acme, func(tx *WriteTx) error {
		return errors.Join(tx.MarkCorrected(1, 2), tx.PutBlob("p", 3, []byte("blob")), tx.AdvanceTime(9), tx.AdvanceTime(4), tx.Erase(3, 8), tx.PutIdempotent([32]byte{1}, []byte("r")))
	}); err != nil {
		t.Fatal(err)
	}
	err := db.View(ctx, acme, func(tx *ReadTx) error {
		s, _ := tx.State()
		if !s.Exists || s.Version != 5 || s.LastSeq != 3 || s.Time != 9 || s.Key == [16]byte{} {
			t.Errorf("state %+v", s)
		}
		var log []Change
		err := tx.Changes(2, func(c Change) error { log = append(log, c); return nil })
		if err != nil || fmt.Sprint(log) != "[{3 3 1} {4 1 2} {5 3 2}]" {
			t.Errorf("log %v, %v", log, err)
		}
		row, ok, err := tx.Row(1)
		if err != nil || !ok || row.CorrectedBy != 2 || string(row.Body) != "x" || row.Flag != "f" || row.CreatedAt != 5 {
			t.Errorf("row %+v, %v", row, err)
		}
		row, ok, err = tx.Row(3)
		if err != nil || !ok || row.ForgottenAt != 8 || row.Body != nil || row.Flag != "" || row.GroupKey != 0 || row.SameKey != 0 || row.Digest != [32]byte{} {
			t.Errorf("tombstone %+v, %v", row, err)
		}
		if _, ok, _ := tx.Row(4); ok {
			t.Error("a row that was never written is there")
		}
		if _, _, ok, _ := tx.Blob("p"); ok {
			t.Error("an erasure leaves a snapshot")
		}
		if r, ok, _ := tx.Idempotent([32]byte{1}); !ok || string(r) != "r" {
			t.Errorf("idempotency %q, %v", r, ok)
		}
		n := 0
		err = tx.Group(7, func(*Row) error { n++; return nil })
		if err != nil || n != 2 {
			t.Errorf("%d in the group, %v", n, err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	scopes, err := db.Scopes(ctx)
	if err != nil || fmt.Sprint(scopes) != "[{acme other} {acme team}]" {
		t.Errorf("scopes %v, %v", scopes, err)
	}
}

// TestFailedUpdateLeavesNothing, in a batch with others that succeed.
func TestFailedUpdateLeavesNothing(t *testing.T) {
	db := open(t, temp(t))
	boom := errors.New("boom")
	var group sync.WaitGroup
	var failed atomic.Int32
	for i := range 60 {
		group.Go(func() {
			err := db.Update(ctx, acme, func(tx *WriteTx) error {
				if _, err := tx.Insert(&Row{Kind: 1, Body: []byte{byte(i)}}); err != nil {
					return err
				}
				if i%3 == 0 {
					return boom
				}
				return nil
			})
			if errors.Is(err, boom) {
				failed.Add(1)
			} else if err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if got := bodies(t, db, acme); len(got) != 40 || failed.Load() != 20 {
		t.Errorf("%d rows, %d failures", len(got), failed.Load())
	}
	_ = db.Update(ctx, Scope{"never", "made"}, func(*WriteTx) error { return nil })
	if scopes, _ := db.Scopes(ctx); len(scopes) != 1 {
		t.Errorf("a scope that nothing was written to exists: %v", scopes)
	}
}

// TestSnapshot: a read sees one moment, whatever is written meanwhile.
func TestSnapshot(t *testing.T) {
	db := open(t, temp(t))
	if _, err := insert(db, acme, "one"); err != nil {
		t.Fatal(err)
	}
	err := db.View(ctx, acme, func(tx *ReadTx) error {
		if _, err := insert(db, acme, "two"); err != nil {
			return err
		}
		if _, ok, err := tx.Row(2); ok || err != nil {
			t.Errorf("a later write is seen: %v", err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestWhatIsNoStore: a clear error, and the file stays as it was.
func TestWhatIsNoStore(t *testing.T) {
	dir := t.TempDir()
	text := filepath.Join(dir, "text")
	foreign := filepath.Join(dir, "foreign")
	newer := filepath.Join(dir, "newer")
	cut := filepath.Join(dir, "cut")
	write := func(path string, data []byte) {
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(text, bytes.Repeat([]byte("no database "), 20))
	db := open(t, filepath.Join(dir, "good"))
	if _, err := insert(db, acme, "x"); err != nil {
		t.Fatal(err)
	}
	if err := db.Scrub(ctx); err != nil {
		t.Fatal(err)
	}
	good, err := os.ReadFile(filepath.Join(dir, "good"))
	if err != nil {
		t.Fatal(err)
	}
	write(cut, good[:5000])
	// With another application id, and with a later format version; without checksums, so that the bytes can be changed.
	plain := open(t, filepath.Join(dir, "plain"), func(o *Options) { o.noChecksums = true })
	if err := plain.Scrub(ctx); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(dir, "plain"))
	if err != nil {
		t.Fatal(err)
	}
	data[68]++
	write(foreign, data)
	data[68]--
	data[63]++
	write(newer, data)
	for path, want := range map[string]error{
		text: ErrNotADatabase, foreign: ErrNotADatabase, newer: ErrNewerFormat, dir: ErrNotADatabase, cut: ErrDamaged,
		filepath.Join(dir, "no", "folder", "x"): ErrNoFolder,
	} {
		before, _ := os.ReadFile(path)
		db, err := Open(ctx, path, Options{Rand: rand.Reader})
		if err == nil {
			_, err = db.Check(ctx)
			if problems, _ := db.Check(ctx); len(problems) > 0 {
				err = ErrDamaged
			}
			_ = db.Close()
		}
		if !errors.Is(err, want) {
			t.Errorf("%s: %v; want %v", filepath.Base(path), err, want)
		}
		if after, _ := os.ReadFile(path); !bytes.Equal(before, after) {
			t.Errorf("%s was changed", filepath.Base(path))
		}
	}
}

func TestReadOnly(t *testing.T) {
	path := temp(t)
	if _, err := Open(ctx, path, Options{ReadOnly: true}); !errors.Is(err, ErrNoFolder) {
		t.Errorf("a read-only store that is not there: %v", err)
	}
	if _, err := insert(open(t, path), acme, "x"); err != nil {
		t.Fatal(err)
	}
	db := open(t, path, func(o *Options) { o.ReadOnly = true })
	if got := bodies(t, db, acme); fmt.Sprint(got) != "[x]" {
		t.Errorf("read %q", got)
	}
	if _, err := insert(db, acme, "y"); !errors.Is(err, ErrReadOnly) {
		t.Errorf("written: %v", err)
	}
}

func TestClosed(t *testing.T) {
	db := open(t, temp(t))
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := insert(db, acme, "x"); !errors.Is(err, ErrClosed) {
		t.Errorf("update: %v", err)
	}
	if err := db.View(ctx, acme, func(*ReadTx) error { return nil }); !errors.Is(err, ErrClosed) {
		t.Errorf("view: %v", err)
	}
}

func TestCancelled(t *testing.T) {
	db := open(t, temp(t))
	gone, cancel := context.WithCancel(ctx)
	cancel()
	if err := db.Update(gone, acme, func(*WriteTx) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("update: %v", err)
	}
	if _, err := insert(db, acme, "x"); err != nil {
		t.Fatal(err)
	}
	live, cancel := context.WithCancel(ctx)
	err := db.View(live, acme, func(tx *ReadTx) error {
		cancel()
		return tx.Rows(0, func(*Row) error { return nil })
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("view: %v", err)
	}
	if got := bodies(t, db, acme); len(got) != 1 {
		t.Errorf("a cancelled read leaves the connection unusable: %q", got)
	}
}

// TestErasure: after Scrub no file holds what was erased, over random deletions,
// in pages, index pages and the log. Without secure deletion some of it stays.
func TestErasure(t *testing.T) {
	if left := erasure(t); left != 0 {
		t.Errorf("%d erased texts are left in the files", left)
	}
	if left := erasure(t, func(o *Options) { o.insecureDelete = true }); left == 0 {
		t.Error("without secure deletion nothing is left: the test finds nothing")
	}
}

func erasure(t *testing.T, change ...func(*Options)) (left int) {
	t.Helper()
	path := temp(t)
	db := open(t, path, change...)
	secret := func(i int) string { return fmt.Sprintf("secret-%04d-", i) }
	for i := range 300 {
		body := strings.Repeat(secret(i), 1+(i*i*7)%90) // some need pages of their own
		if i%50 == 0 {
			body = strings.Repeat(secret(i), 2000)
		}
		if _, err := insert(db, acme, body); err != nil {
			t.Fatal(err)
		}
	}
	erased := map[int]bool{}
	for i := 0; i < 300; i += 1 + i%3 {
		erased[i] = true
	}
	if err := db.Update(ctx, acme, func(tx *WriteTx) error {
		for i := range erased {
			if err := tx.Erase(uint64(i+1), 1); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if err := db.Scrub(ctx); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(path + "*")
	if err != nil {
		t.Fatal(err)
	}
	var all []byte
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, data...)
	}
	for i := range 300 {
		found := bytes.Contains(all, []byte(secret(i)))
		if found && erased[i] {
			left++
		}
		if !found && !erased[i] {
			t.Fatalf("the search does not find %q, which is there", secret(i))
		}
	}
	return left
}

// TestScrubWaitsForReaders and says so if one does not end.
func TestScrubWaitsForReaders(t *testing.T) {
	db := open(t, temp(t))
	if _, err := insert(db, acme, "x"); err != nil {
		t.Fatal(err)
	}
	err := db.View(ctx, acme, func(*ReadTx) error {
		if _, err := insert(db, acme, "y"); err != nil {
			return err
		}
		short, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
		defer cancel()
		return db.Scrub(short)
	})
	if !errors.Is(err, ErrScrubPending) {
		t.Errorf("with a reader: %v", err)
	}
	if err := db.Scrub(ctx); err != nil {
		t.Errorf("without: %v", err)
	}
}

// child runs this test binary again as another process that writes to a store.
func child(t *testing.T, path string, n int) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestChild$", "-test.v")
	cmd.Env = append(os.Environ(), "SQLITE_CHILD="+path, fmt.Sprintf("SQLITE_CHILD_WRITES=%d", n))
	return cmd
}

// TestChild is what a child process does: it writes and acknowledges each write
// with a line.
func TestChild(t *testing.T) {
	path := os.Getenv("SQLITE_CHILD")
	if path == "" {
		t.Skip("only as a child process of other tests")
	}
	var n int
	if _, err := fmt.Sscan(os.Getenv("SQLITE_CHILD_WRITES"), &n); err != nil {
		t.Fatal(err)
	}
	db, err := Open(ctx, path, Options{Rand: rand.Reader, BusyTimeout: 5 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		if _, err := insert(db, acme, fmt.Sprintf("child-%d-%d", os.Getpid(), i)); err != nil {
			t.Fatal(err)
		}
		fmt.Printf("acknowledged child-%d-%d\n", os.Getpid(), i)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestKill: a process that is killed while it writes loses nothing that it had
// acknowledged, and leaves a sound file.
func TestKill(t *testing.T) {
	kills := 20
	if testing.Short() {
		kills = 4
	}
	path := temp(t)
	var acknowledged []string
	for i := range kills {
		cmd := child(t, path, 100_000)
		var out bytes.Buffer
		cmd.Stdout = &out
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(60+13*i) * time.Millisecond)
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait()
		for _, line := range strings.Split(out.String(), "\n") {
			if body, ok := strings.CutPrefix(line, "acknowledged "); ok {
				acknowledged = append(acknowledged, body)
			}
		}
	}
	if len(acknowledged) < kills {
		t.Fatalf("only %d writes were acknowledged before %d kills", len(acknowledged), kills)
	}
	there := map[string]bool{}
	for _, body := range bodies(t, open(t, path), acme) {
		there[body] = true
	}
	for _, body := range acknowledged {
		if !there[body] {
			t.Errorf("%s was acknowledged and is lost", body)
		}
	}
}

// TestTwoProcesses write to one file; neither is refused within five seconds,
// nothing is lost, and neither waits until the other is done.
func TestTwoProcesses(t *testing.T) {
	path := temp(t)
	const writes = 150
	db := open(t, path)
	a, b := child(t, path, writes), child(t, path, writes)
	for _, cmd := range []*exec.Cmd{a, b} {
		cmd.Stdout, cmd.Stderr = nil, os.Stderr
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
	}
	for _, cmd := range []*exec.Cmd{a, b} {
		if err := cmd.Wait(); err != nil {
			t.Errorf("a writer failed: %v", err)
		}
	}
	got := bodies(t, db, acme)
	if len(got) != 2*writes {
		t.Errorf("%d rows of %d", len(got), 2*writes)
	}
	if changes := turns(got); changes < writes/10 {
		t.Errorf("the processes took turns only %d times in %d writes", changes, 2*writes)
	}
}

// TestManyProcessesOpenAtOnce: a store that many processes create, use and close
// at the same moment refuses none of them.
func TestManyProcessesOpenAtOnce(t *testing.T) {
	rounds := 4
	if testing.Short() {
		rounds = 1
	}
	for range rounds {
		path := temp(t)
		const processes, writes = 16, 3
		var group sync.WaitGroup
		for range processes {
			group.Go(func() {
				cmd := child(t, path, writes)
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Errorf("%v\n%s", err, out)
				}
			})
		}
		group.Wait()
		if got := bodies(t, open(t, path), acme); len(got) != processes*writes {
			t.Errorf("%d rows of %d", len(got), processes*writes)
		}
	}
}

// turns counts how often the writer changed.
func turns(bodies []string) (n int) {
	writer := func(s string) string { return s[:strings.LastIndex(s, "-")] }
	for i := 1; i < len(bodies); i++ {
		if writer(bodies[i]) != writer(bodies[i-1]) {
			n++
		}
	}
	return n
}
