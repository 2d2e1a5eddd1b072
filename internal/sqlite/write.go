package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io"
)

// WriteTx is one update of one scope. It is used by one goroutine at a time,
// inside the function that it was given to. Reads see what it has written.
type WriteTx struct {
	ReadTx
	changed bool
}

// update is one call of Update that waits in the queue.
type update struct {
	ctx   context.Context
	scope Scope
	fn    func(*WriteTx) error
	err   error
	done  chan struct{}
}

// Update runs fn in a transaction and returns when what it wrote is on the disk;
// if fn fails, it has written nothing. Concurrent updates of this process share
// one transaction and one flush, each under a savepoint of its own. fn may run
// on another goroutine, and again from the start if the transaction that it
// shared failed; it must not call Update.
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
	u := &update{ctx: ctx, scope: scope, fn: fn, done: make(chan struct{})}
	db.queue.Lock()
	db.queue.waiting = append(db.queue.waiting, u)
	lead := !db.queue.led
	db.queue.led = true
	db.queue.Unlock()
	if lead {
		db.lead()
	}
	select {
	case <-u.done:
	case <-ctx.Done():
		if db.withdraw(u) {
			return ctx.Err()
		}
		<-u.done
	}
	return u.err
}

// withdraw takes an update out of the queue, if it has not been started.
func (db *DB) withdraw(u *update) bool {
	db.queue.Lock()
	defer db.queue.Unlock()
	for i, other := range db.queue.waiting {
		if other == u {
			db.queue.waiting = append(db.queue.waiting[:i], db.queue.waiting[i+1:]...)
			return true
		}
	}
	return false
}

// lead works the queue off: whatever waits when a transaction begins shares it.
// The caller's own update is in the first one.
func (db *DB) lead() {
	db.group()
	db.queue.Lock()
	if len(db.queue.waiting) == 0 {
		db.queue.led = false
		db.queue.Unlock()
		return
	}
	db.queue.Unlock()
	go func() {
		for {
			db.group()
			db.queue.Lock()
			if len(db.queue.waiting) == 0 {
				db.queue.led = false
				db.queue.Unlock()
				return
			}
			db.queue.Unlock()
		}
	}()
}

// group runs one transaction for everything that waits.
func (db *DB) group() {
	db.writing.Lock()
	defer db.writing.Unlock()
	db.queue.Lock()
	batch := db.queue.waiting
	db.queue.waiting = nil
	db.queue.Unlock()
	for len(batch) > 0 {
		batch = db.transaction(batch)
	}
}

// finish reports an update's outcome to its caller.
func (u *update) finish(err error) {
	u.err = err
	close(u.done)
}

// transaction runs a batch in one transaction. It returns the updates that must
// run again, because one of them made SQLite give the whole transaction up.
func (db *DB) transaction(batch []*update) (again []*update) {
	fail := func(all []*update, err error) {
		for _, u := range all {
			u.finish(classify("write", err))
		}
	}
	if err := db.begin(batch[0].ctx); err != nil {
		fail(batch, err)
		return nil
	}
	var good []*update
	end := "ROLLBACK" // unless one of them has written something
	for i, u := range batch {
		wrote, err := db.one(u, len(batch) == 1)
		if db.writer.GetAutocommit() { // rolled back as a whole
			if err == nil {
				err = errors.New("the transaction was given up")
			}
			u.finish(classify("write", err))
			return append(good, batch[i+1:]...)
		}
		if err != nil {
			u.finish(classify("write", err))
			continue
		}
		good = append(good, u)
		if wrote {
			end = "COMMIT"
		}
	}
	if err := db.writer.run(end, nil); err != nil {
		if !db.writer.GetAutocommit() {
			err = errors.Join(err, db.writer.run("ROLLBACK", nil))
		}
		fail(good, err)
		return nil
	}
	for _, u := range good {
		u.finish(nil)
	}
	return nil
}

// begin takes the turn and the write lock. A first caller that gives up does not
// end the wait of the others: the timeout does.
func (db *DB) begin(ctx context.Context) error {
	db.turn.take(context.WithoutCancel(ctx), db.opts.BusyTimeout)
	defer db.turn.give()
	return db.writer.run("BEGIN IMMEDIATE", nil)
}

// one runs an update and reports whether it wrote anything that stays. An update
// that shares its transaction has a savepoint. One that is alone needs none, so
// that SQLite need not keep every page as it was: the transaction stands or falls
// with it.
func (db *DB) one(u *update, alone bool) (wrote bool, err error) {
	if err := u.ctx.Err(); err != nil {
		return false, err
	}
	c := db.writer
	if !alone {
		if err := c.run("SAVEPOINT one", nil); err != nil {
			return false, err
		}
	}
	tx := &WriteTx{ReadTx: ReadTx{conn: c}}
	err = tx.load(u.scope)
	if err == nil && tx.id == 0 {
		err = tx.newScope(u.scope, db.opts.Rand)
	}
	if err == nil {
		err = u.fn(tx)
	}
	if err == nil && tx.changed {
		err = tx.store()
	}
	wrote = err == nil && tx.changed
	switch {
	case alone || c.GetAutocommit():
		return wrote, err
	case wrote:
		return wrote, c.run("RELEASE one", nil)
	}
	// A scope that nothing was written to does not come into being.
	return false, errors.Join(err, c.run("ROLLBACK TO one", nil), c.run("RELEASE one", nil))
}

// maxScopes is how many scopes a file holds at most.
const maxScopes = 1<<(63-seqBits) - 2

func (tx *WriteTx) newScope(scope Scope, random io.Reader) error {
	var key [16]byte
	if _, err := io.ReadFull(random, key[:]); err != nil {
		return fmt.Errorf("no random bytes: %w", err)
	}
	err := tx.conn.run("INSERT INTO scopes(tenant, namespace, key, version, last_seq, time) VALUES(?,?,?,0,0,0)", nil, scope.Tenant, scope.Namespace, key[:])
	if err != nil {
		return err
	}
	tx.id = tx.conn.LastInsertRowID()
	if tx.id > maxScopes {
		return errors.New("the file holds as many scopes as it can")
	}
	tx.state = ScopeState{Exists: true, Key: key}
	return nil
}

func (tx *WriteTx) store() error {
	return tx.conn.run("UPDATE scopes SET version=?, last_seq=?, time=? WHERE id=?", nil,
		tx.state.Version, tx.state.LastSeq, tx.state.Time, tx.id)
}

// log appends to the change log.
func (tx *WriteTx) log(seq uint64, op Op) error {
	tx.state.Version++
	tx.changed = true
	return tx.conn.run("INSERT INTO changes(id, seq, op) VALUES(?,?,?)", nil, tx.rowID(tx.state.Version), seq, int64(op))
}

// Insert stores a new record under the next sequence number, which it returns
// and which Row.Seq need not hold.
func (tx *WriteTx) Insert(row *Row) (uint64, error) {
	seq := tx.state.LastSeq + 1
	if err := tx.insert(seq, row); err != nil {
		return 0, err
	}
	tx.state.LastSeq = seq
	return seq, tx.log(seq, OpAdded)
}

// InsertAt stores a record or a tombstone under its own sequence number, which
// must be greater than any before.
func (tx *WriteTx) InsertAt(row *Row) error {
	if row.Seq <= tx.state.LastSeq || row.Seq >= 1<<seqBits {
		return fmt.Errorf("sequence number %d does not follow %d", row.Seq, tx.state.LastSeq)
	}
	if err := tx.insert(row.Seq, row); err != nil {
		return err
	}
	tx.state.LastSeq = row.Seq
	return tx.log(row.Seq, OpAdded)
}

func (tx *WriteTx) insert(seq uint64, r *Row) error {
	var body, salt, digest any
	if r.ForgottenAt == 0 {
		body, salt, digest = r.Body, r.Salt[:], r.Digest[:]
	}
	single := int64(0)
	if r.Single {
		single = 1
	}
	return tx.conn.run("INSERT INTO records("+columns+") VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?)", nil,
		tx.rowID(seq), int64(r.Kind), body, salt, digest, r.GroupKey, r.SameKey, single,
		r.CreatedAt, r.ExpiresAt, r.Corrects, r.CorrectedBy, r.ForgottenAt, r.Flag)
}

// MarkCorrected notes that a record was superseded.
func (tx *WriteTx) MarkCorrected(seq, by uint64) error {
	if err := tx.conn.run("UPDATE records SET corrected_by=? WHERE id=?", nil, by, tx.rowID(seq)); err != nil {
		return err
	}
	return tx.log(seq, OpRetired)
}

// Erase removes a record's content and leaves a tombstone: its number, kind,
// times and place in its chain. It drops the scope's snapshots, which may hold
// the content.
func (tx *WriteTx) Erase(seq uint64, at int64) error {
	err := tx.conn.run(`UPDATE records SET body=NULL, salt=NULL, digest=NULL, group_key=0, same_key=0, single=0, expires=0, flag='', forgotten=?
		WHERE id=?`, nil, at, tx.rowID(seq))
	if err != nil {
		return err
	}
	if err := tx.DropBlobs(); err != nil {
		return err
	}
	return tx.log(seq, OpRetired)
}

// AdvanceTime records a time, if it is greater than the one recorded.
func (tx *WriteTx) AdvanceTime(at int64) error {
	if at > tx.state.Time {
		tx.state.Time = at
		tx.changed = true
	}
	return nil
}

// PutIdempotent stores the result of the first write with a key.
func (tx *WriteTx) PutIdempotent(key [32]byte, result []byte) error {
	tx.changed = true
	return tx.conn.run("INSERT INTO idempotency(scope, key, result) VALUES(?,?,?)", nil, tx.id, key[:], result)
}

// PutBlob stores a snapshot, in place of an older one of the same part.
func (tx *WriteTx) PutBlob(part string, version uint64, data []byte) error {
	tx.changed = true
	return tx.conn.run("INSERT OR REPLACE INTO blobs(scope, part, version, data) VALUES(?,?,?,?)", nil, tx.id, part, version, data)
}

// DropBlobs removes the scope's snapshots.
func (tx *WriteTx) DropBlobs() error {
	tx.changed = true
	return tx.conn.run("DELETE FROM blobs WHERE scope=?", nil, tx.id)
}
