package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/ncruces/go-sqlite3"
)

// scrubWait is how long Scrub waits for readers of old snapshots.
const scrubWait = 5 * time.Second

// Scrub copies the log into the file and truncates it, so that nothing of what
// was erased before is left in any file. If a reader holds an older snapshot
// open for long, it returns ErrScrubPending.
func (db *DB) Scrub(ctx context.Context) error {
	if db.opts.ReadOnly {
		return ErrReadOnly
	}
	if err := db.enter(); err != nil {
		return err
	}
	defer db.leave()
	return db.scrub(ctx)
}

func (db *DB) scrub(ctx context.Context) error {
	wait := time.Millisecond
	for start := time.Now(); ; {
		done, err := db.truncateLog()
		if done || err != nil {
			return classify("truncate the log", err)
		}
		db.pending.Store(true)
		if time.Since(start) > scrubWait {
			return ErrScrubPending
		}
		select {
		case <-time.After(wait):
			wait = min(2*wait, 50*time.Millisecond)
		case <-ctx.Done():
			return fmt.Errorf("%w: %w", ErrScrubPending, ctx.Err())
		}
	}
}

// truncateLog makes one attempt, with little patience for other processes: while
// it waits, nobody writes.
func (db *DB) truncateLog() (done bool, err error) {
	db.writing.Lock()
	defer db.writing.Unlock()
	return db.truncate(20 * time.Millisecond)
}

// truncate is for who holds writing.
func (db *DB) truncate(patience time.Duration) (done bool, err error) {
	deadline := time.Now().Add(patience)
	db.waitWhile = func() bool { return time.Now().Before(deadline) }
	db.turn.take(db.waitWhile)
	defer db.turn.give()
	c := db.writer
	_, _, err = c.WALCheckpoint("main", sqlite3.CHECKPOINT_TRUNCATE)
	if errors.Is(err, sqlite3.BUSY) {
		return false, nil
	}
	if err == nil {
		db.pending.Store(false)
		// The connection that truncates the log keeps its pages, with what lies in
		// their gaps, and would log them again. All others drop theirs.
		err = c.ReleaseMemory()
	}
	return err == nil, err
}

// idleAfter is how long nothing is written before the log is truncated without
// being asked for, so that it is short when the next process comes.
const idleAfter = time.Second

// rest truncates the log, best effort.
func (db *DB) rest() {
	if db.enter() != nil {
		return
	}
	defer db.leave()
	if done, _ := db.truncateLog(); !done && db.pending.Load() {
		db.idle.Reset(idleAfter)
	}
}

// Maintain truncates the log and lets SQLite refresh what it knows of the tables.
func (db *DB) Maintain(ctx context.Context) error {
	if db.opts.ReadOnly {
		return ErrReadOnly
	}
	if err := db.enter(); err != nil {
		return err
	}
	defer db.leave()
	if err := db.scrub(ctx); err != nil {
		return err
	}
	db.writing.Lock()
	defer db.writing.Unlock()
	return classify("maintain", db.writer.run("PRAGMA optimize", nil))
}

// Check reads every page and returns what is wrong with the file's structure.
func (db *DB) Check(ctx context.Context) (problems []string, err error) {
	err = db.View(ctx, Scope{}, func(tx *ReadTx) error {
		return tx.conn.run("PRAGMA integrity_check", func(s *sqlite3.Stmt) error {
			if text := s.ColumnText(0); text != "ok" {
				problems = append(problems, text)
			}
			return nil
		})
	})
	if errors.Is(err, ErrDamaged) {
		return append(problems, err.Error()), nil
	}
	return problems, err
}

// Backup copies the store, as it is at one moment, to a new file of mode 0600.
func (db *DB) Backup(ctx context.Context, path string) error {
	if err := db.enter(); err != nil {
		return err
	}
	defer db.leave()
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, filesOfOwner)
	if err != nil {
		return classify("create "+path, err)
	}
	if err := errors.Join(file.Chmod(filesOfOwner), file.Close()); err != nil {
		return err
	}
	c, err := db.reader(ctx)
	if err != nil {
		return errors.Join(err, os.Remove(path))
	}
	defer func() { db.readers <- c }()
	target := DB{path: path, opts: db.opts}
	if err := c.Backup("main", target.dsn()); err != nil {
		return classify("back up", errors.Join(err, os.Remove(path)))
	}
	if file, err = os.OpenFile(path, os.O_RDWR, 0); err != nil {
		return err
	}
	return errors.Join(file.Sync(), file.Close())
}
