package sqlite

import (
	"context"
	"errors"
	"os"
	"runtime"
	"sync"
	"testing"
	"time"
)

// soon fails the test if fn has not returned after a time in which it should
// long have done.
func soon(t *testing.T, what string, fn func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		fn()
	}()
	select {
	case <-done:
	case <-time.After(5 * time.Second):
		t.Fatalf("%s: still waiting", what)
	}
}

// TestDeadlineWhileLocked: a caller's deadline ends its wait for another
// process's write lock, also that of the first in the queue, and the others wait on.
func TestDeadlineWhileLocked(t *testing.T) {
	path := temp(t)
	db := open(t, path, func(o *Options) { o.BusyTimeout = time.Minute })
	other := foreign(t, path, "BEGIN IMMEDIATE")
	var waiting sync.WaitGroup
	soon(t, "a deadline while another process writes", func() {
		short, cancel := context.WithTimeout(ctx, 20*time.Millisecond)
		defer cancel()
		ran := false
		err := db.Update(short, acme, func(*WriteTx) error { ran = true; return nil })
		if !errors.Is(err, context.DeadlineExceeded) || ran {
			t.Errorf("%v; ran: %v", err, ran)
		}
	})
	waiting.Go(func() {
		if _, err := insert(db, acme, "waited"); err != nil {
			t.Errorf("who waits on: %v", err)
		}
	})
	time.Sleep(20 * time.Millisecond)
	if err := errors.Join(other.Exec("ROLLBACK"), other.Close()); err != nil {
		t.Error(err)
	}
	soon(t, "after the lock was free", waiting.Wait)
}

// TestBusy: after its timeout a write is refused, and the next one works.
func TestBusy(t *testing.T) {
	path := temp(t)
	db := open(t, path, func(o *Options) { o.BusyTimeout = 30 * time.Millisecond })
	other := foreign(t, path, "BEGIN IMMEDIATE")
	soon(t, "a busy store", func() {
		if _, err := insert(db, acme, "refused"); !errors.Is(err, ErrBusy) {
			t.Errorf("busy: %v", err)
		}
	})
	if err := errors.Join(other.Exec("ROLLBACK"), other.Close()); err != nil {
		t.Error(err)
	}
	if _, err := insert(db, acme, "x"); err != nil {
		t.Error(err)
	}
	if got := bodies(t, db, acme); len(got) != 1 {
		t.Errorf("it holds %q", got)
	}
}

// TestCloseWhileNested: a call inside another one, after Close began to wait, is
// refused instead of waiting for ever.
func TestCloseWhileNested(t *testing.T) {
	db := open(t, temp(t))
	soon(t, "closing", func() {
		var closing sync.WaitGroup
		err := db.View(ctx, acme, func(*ReadTx) error {
			closing.Go(func() {
				if err := db.Close(); err != nil {
					t.Errorf("close: %v", err)
				}
			})
			for {
				err := db.View(ctx, acme, func(*ReadTx) error { return nil })
				if err != nil {
					return err
				}
				runtime.Gosched()
			}
		})
		if !errors.Is(err, ErrClosed) {
			t.Errorf("nested: %v", err)
		}
		closing.Wait()
	})
}

// TestPanic: a caller's function that panics, or ends its goroutine, has written
// nothing, and neither its batch nor the store suffers from it.
func TestPanic(t *testing.T) {
	db := open(t, temp(t), func(o *Options) { o.Readers = 1 })
	catch := func(fn func()) (caught any) {
		defer func() { caught = recover() }()
		fn()
		return nil
	}
	bad := []func(){
		func() { panic("boom") },
		runtime.Goexit,
	}
	var group sync.WaitGroup
	for i := range 60 {
		group.Go(func() {
			if i%3 != 0 {
				if _, err := insert(db, acme, "good"); err != nil {
					t.Error(err)
				}
				return
			}
			caught := catch(func() {
				_ = db.Update(ctx, acme, func(tx *WriteTx) error {
					_, err := tx.Insert(&Row{Kind: 1, Body: []byte("bad")})
					bad[i/3%2]()
					return err
				})
			})
			if p, ok := caught.(*panicked); i/3%2 == 0 && (!ok || p.value != "boom") {
				t.Errorf("caught %v", caught)
			}
		})
		group.Go(func() {
			if i%10 == 0 {
				_ = catch(func() {
					_ = db.View(ctx, acme, func(*ReadTx) error { bad[i/10%2](); return nil })
				})
			}
		})
	}
	soon(t, "writes beside panics", group.Wait)
	got := bodies(t, db, acme)
	if len(got) != 40 {
		t.Errorf("%d rows", len(got))
	}
	for _, body := range got {
		if body != "good" {
			t.Errorf("a write that panicked is there: %s", body)
		}
	}
	soon(t, "a write and a read afterwards", func() {
		if _, err := insert(db, acme, "x"); err != nil {
			t.Error(err)
		}
	})
}

// logSize is how long the log is.
func logSize(t *testing.T, path string) int64 {
	t.Helper()
	info, err := os.Stat(path + "-wal")
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}

// TestPendingScrub: what Scrub could not do because of a reader is done by the
// next write, also that of the next process.
func TestPendingScrub(t *testing.T) {
	path := temp(t)
	db, reading := open(t, path), open(t, path)
	write := func(db *DB) {
		t.Helper()
		if _, err := insert(db, acme, "x"); err != nil {
			t.Fatal(err)
		}
	}
	write(db)
	pend := func() {
		t.Helper()
		err := reading.View(ctx, acme, func(*ReadTx) error {
			write(db)
			short, cancel := context.WithTimeout(ctx, 30*time.Millisecond)
			defer cancel()
			return db.Scrub(short)
		})
		if !errors.Is(err, ErrScrubPending) {
			t.Fatalf("with a reader: %v", err)
		}
	}
	pend()
	write(db)
	soon(t, "truncation after a write", func() {
		for logSize(t, path) > 0 {
			time.Sleep(time.Millisecond)
		}
	})
	pend()
	next := open(t, path)
	write(next)
	soon(t, "truncation by the next process", func() {
		for logSize(t, path) > 0 {
			time.Sleep(time.Millisecond)
		}
	})
}

// TestIdle: the log is truncated when nothing has been written for a while.
func TestIdle(t *testing.T) {
	path := temp(t)
	db := open(t, path)
	if _, err := insert(db, acme, "x"); err != nil {
		t.Fatal(err)
	}
	if logSize(t, path) == 0 {
		t.Fatal("there is no log")
	}
	soon(t, "truncation when idle", func() {
		for logSize(t, path) > 0 {
			time.Sleep(time.Millisecond)
		}
	})
}
