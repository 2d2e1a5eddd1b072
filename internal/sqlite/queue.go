package sqlite

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"
	"time"
)

// update is one call of Update that waits in the queue.
type update struct {
	ctx   context.Context
	scope Scope
	fn    func(*WriteTx) error
	since time.Time
	panic *panicked  // of fn, set before done
	done  chan error // its outcome is durable
}

// queue is the updates that wait for a transaction.
type queue struct {
	sync.Mutex
	waiting []*update
	led     bool // somebody works it off
}

// panicked is a panic of a caller's function, raised again in the caller's
// goroutine by a leader that had to go on.
type panicked struct {
	value any
	stack []byte
}

// Error is the panic and where it was raised.
func (p *panicked) Error() string { return fmt.Sprintf("%v\n\n%s", p.value, p.stack) }

// errGivenUp is the outcome of an update whose function did not return.
var errGivenUp = errors.New("the function of an update panicked or ended its goroutine")

// Update runs fn in a transaction and returns when what it wrote is on the disk;
// if fn fails, it has written nothing. Concurrent updates of this process share
// one transaction and one flush, each under a savepoint of its own. fn may run on
// another goroutine, and again from the start if the transaction that it shared
// failed. It must not call Update, for that would wait for itself. If it panics,
// Update does.
func (db *DB) Update(ctx context.Context, scope Scope, fn func(*WriteTx) error) error {
	if db.opts.ReadOnly {
		return ErrReadOnly
	}
	if err := db.enter(); err != nil {
		return err
	}
	defer db.leave()
	if err := ctx.Err(); err != nil {
		return err
	}
	u := &update{ctx: ctx, scope: scope, fn: fn, since: time.Now(), done: make(chan error, 1)}
	if db.enqueue(u) {
		db.leadFirst(ctx)
	}
	select {
	case err := <-u.done:
		return u.outcome(err)
	default:
	}
	select {
	case err := <-u.done:
		return u.outcome(err)
	case <-ctx.Done():
		if db.withdraw(u) {
			return ctx.Err()
		}
		return u.outcome(<-u.done) // it has begun
	}
}

func (u *update) outcome(err error) error {
	if u.panic != nil {
		panic(u.panic)
	}
	return err
}

// call runs the caller's function. A panic is kept for its caller: here it would
// take others' updates with it.
func (u *update) call(tx *WriteTx) (err error) {
	defer func() {
		if value := recover(); value != nil {
			u.panic, err = &panicked{value, debug.Stack()}, errGivenUp
		}
	}()
	return u.fn(tx)
}

// enqueue says whether the caller is to lead.
func (db *DB) enqueue(u *update) (lead bool) {
	db.queue.Lock()
	defer db.queue.Unlock()
	db.queue.waiting = append(db.queue.waiting, u)
	lead = !db.queue.led
	db.queue.led = true
	return lead
}

// withdraw takes an update out of the queue, if it has not begun.
func (db *DB) withdraw(u *update) bool {
	db.queue.Lock()
	defer db.queue.Unlock()
	i := slices.Index(db.queue.waiting, u)
	if i < 0 {
		return false
	}
	db.queue.waiting = slices.Delete(db.queue.waiting, i, i+1)
	return true
}

// take empties the queue.
func (db *DB) take() []*update {
	db.queue.Lock()
	defer db.queue.Unlock()
	batch := db.queue.waiting
	db.queue.waiting = nil
	return batch
}

// putBack lets updates wait again, before all others.
func (db *DB) putBack(batch []*update) {
	db.queue.Lock()
	defer db.queue.Unlock()
	db.queue.waiting = append(batch, db.queue.waiting...)
}

// refuse takes out the updates that have waited as long as they may.
func (db *DB) refuse(err error) {
	db.queue.Lock()
	defer db.queue.Unlock()
	db.queue.waiting = slices.DeleteFunc(db.queue.waiting, func(u *update) bool {
		late := !errors.Is(err, ErrBusy) || time.Since(u.since) >= db.opts.BusyTimeout
		if late {
			u.done <- err
		}
		return late
	})
}

// awaited says whether an update waits that has not waited too long.
func (db *DB) awaited() bool {
	db.queue.Lock()
	defer db.queue.Unlock()
	return len(db.queue.waiting) > 0 && time.Since(db.queue.waiting[0].since) < db.opts.BusyTimeout
}

// handOver ends a lead: another goroutine takes it if somebody waits.
func (db *DB) handOver() {
	db.queue.Lock()
	defer db.queue.Unlock()
	if len(db.queue.waiting) > 0 {
		go db.lead()
		return
	}
	db.queue.led = false
	db.idle.Reset(idleAfter)
}

// leadFirst runs the transaction of a caller whom nobody was before, without a
// change of goroutines.
func (db *DB) leadFirst(ctx context.Context) {
	defer db.handOver()
	db.group(ctx)
}

// lead works the queue off: whatever waits when a transaction has the write lock
// shares it.
func (db *DB) lead() {
	defer db.handOver() // also if a caller's function ends this goroutine
	for db.waits() {
		db.group(context.Background())
	}
}

func (db *DB) waits() bool {
	db.queue.Lock()
	defer db.queue.Unlock()
	return len(db.queue.waiting) > 0
}

// group runs one transaction for everything that waits. ctx is that of a caller
// who leads, and gives up the lead when it ends.
func (db *DB) group(ctx context.Context) {
	db.writing.Lock()
	defer db.writing.Unlock()
	if err := db.begin(ctx); err != nil {
		db.refuse(classify("write", err))
		return
	}
	db.transaction(db.take())
	if db.pending.Load() {
		_, _ = db.truncate(0) // Maintain and Scrub report why it cannot be done
	}
}

// begin takes the turn and the write lock.
func (db *DB) begin(ctx context.Context) error {
	db.waitWhile = func() bool { return ctx.Err() == nil && db.awaited() }
	db.turn.take(db.waitWhile)
	defer db.turn.give()
	return db.writer.run("BEGIN IMMEDIATE", nil)
}

// transaction runs a batch in one transaction. If one of its updates makes SQLite
// give the whole transaction up, the others wait for the next one.
func (db *DB) transaction(batch []*update) {
	good := make([]*update, 0, len(batch))
	var running *update
	defer func() {
		if running == nil {
			return
		}
		// Its function ends this goroutine.
		_ = db.writer.run("ROLLBACK", nil)
		running.done <- errGivenUp
		db.putBack(append(good, batch[slices.Index(batch, running)+1:]...))
	}()
	for i, u := range batch {
		running = u
		err := db.one(u)
		running = nil
		if db.writer.GetAutocommit() { // rolled back as a whole
			if err == nil {
				err = errors.New("the transaction was given up")
			}
			u.done <- classify("write", err)
			db.putBack(append(good, batch[i+1:]...))
			return
		}
		if err != nil {
			u.done <- classify("write", err)
			continue
		}
		good = append(good, u)
	}
	err := db.writer.run("COMMIT", nil)
	if err != nil && !db.writer.GetAutocommit() {
		err = errors.Join(err, db.writer.run("ROLLBACK", nil))
	}
	for _, u := range good {
		u.done <- classify("write", err)
	}
}

// one runs an update under its savepoint.
func (db *DB) one(u *update) error {
	if err := u.ctx.Err(); err != nil {
		return err
	}
	c := db.writer
	if err := c.run("SAVEPOINT one", nil); err != nil {
		return err
	}
	tx := &WriteTx{ReadTx: ReadTx{conn: c}}
	err := tx.load(u.scope)
	if err == nil && tx.id == 0 {
		err = tx.newScope(u.scope, db.opts.Rand)
	}
	if err == nil {
		err = u.call(tx)
	}
	if err == nil && tx.changed {
		err = tx.store()
	}
	if c.GetAutocommit() {
		return err
	}
	if err != nil || !tx.changed {
		// A scope that nothing was written to does not come into being.
		return errors.Join(err, c.run("ROLLBACK TO one", nil), c.run("RELEASE one", nil))
	}
	return c.run("RELEASE one", nil)
}
