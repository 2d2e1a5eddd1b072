package sqlite

import (
	"context"
	"errors"
	"io"

	"github.com/ncruces/go-sqlite3"
)

// seqBits is how many bits of a row's id are its sequence number or version.
const seqBits = 43

// ReadTx is one read transaction on one scope: everything it returns is of one
// moment. It is used by one goroutine, inside the function that it was given to.
type ReadTx struct {
	conn  *conn
	id    int64 // of the scope, 0 if it was never written
	state ScopeState
}

// View runs fn on one read transaction.
func (db *DB) View(ctx context.Context, scope Scope, fn func(*ReadTx) error) (err error) {
	if err := db.enter(); err != nil {
		return err
	}
	defer db.leave()
	c, err := db.reader(ctx)
	if err != nil {
		return err
	}
	defer func() { // also if fn panics
		err = classify("read", c.end(ctx, err))
		db.readers <- c
	}()
	if ctx.Done() != nil {
		c.SetInterrupt(ctx)
	}
	var tx *ReadTx
	if err := db.patiently(ctx, func() (err error) {
		tx, err = c.begin(scope)
		return err
	}); err != nil {
		return err
	}
	return fn(tx)
}

// end ends a read transaction and makes the connection ready for the next one.
func (c *conn) end(ctx context.Context, err error) error {
	if ctx.Done() != nil {
		c.SetInterrupt(context.Background())
	}
	if !c.GetAutocommit() {
		err = errors.Join(err, c.run("ROLLBACK", nil))
	}
	if ctx.Err() != nil && errors.Is(err, sqlite3.INTERRUPT) {
		return ctx.Err()
	}
	return err
}

// begin begins a read transaction, whose snapshot is taken by reading the state.
func (c *conn) begin(scope Scope) (*ReadTx, error) {
	if err := c.run("BEGIN", nil); err != nil {
		return nil, classify("begin a read", err)
	}
	tx := &ReadTx{conn: c}
	if err := tx.load(scope); err != nil {
		return nil, classify("begin a read", errors.Join(err, c.run("ROLLBACK", nil)))
	}
	return tx, nil
}

// load reads the scope's state.
func (tx *ReadTx) load(scope Scope) error {
	return tx.conn.run("SELECT id, version, last_seq, time, key FROM scopes WHERE tenant=? AND namespace=?", func(s *sqlite3.Stmt) error {
		tx.id = s.ColumnInt64(0)
		tx.state = ScopeState{Exists: true, Version: uint64(s.ColumnInt64(1)), LastSeq: uint64(s.ColumnInt64(2)), Time: s.ColumnInt64(3)}
		copy(tx.state.Key[:], s.ColumnRawBlob(4))
		return nil
	}, scope.Tenant, scope.Namespace)
}

// State returns what is kept of the scope beside its records.
func (tx *ReadTx) State() (ScopeState, error) { return tx.state, nil }

func (tx *ReadTx) rowID(number uint64) int64 { return tx.id<<seqBits | int64(number) }

// lastID is the greatest row id that the scope can have.
func (tx *ReadTx) lastID() int64 { return (tx.id+1)<<seqBits - 1 }

const columns = "id, kind, body, salt, digest, group_key, same_key, single, created, expires, corrects, corrected_by, forgotten, flag"

func scan(s *sqlite3.Stmt, r *Row) {
	*r = Row{
		Seq: uint64(s.ColumnInt64(0)) & (1<<seqBits - 1), Kind: uint8(s.ColumnInt64(1)), Body: s.ColumnBlob(2, nil),
		GroupKey: s.ColumnInt64(5), SameKey: s.ColumnInt64(6), Single: s.ColumnInt64(7) != 0,
		CreatedAt: s.ColumnInt64(8), ExpiresAt: s.ColumnInt64(9), Corrects: uint64(s.ColumnInt64(10)),
		CorrectedBy: uint64(s.ColumnInt64(11)), ForgottenAt: s.ColumnInt64(12), Flag: s.ColumnText(13),
	}
	copy(r.Salt[:], s.ColumnRawBlob(3))
	copy(r.Digest[:], s.ColumnRawBlob(4))
}

// each yields rows. The row is reused for the next; its body is not.
func (tx *ReadTx) each(sql string, yield func(*Row) error, params ...any) error {
	if tx.id == 0 {
		return nil
	}
	var row Row
	return tx.conn.run("SELECT "+columns+" FROM records "+sql, func(s *sqlite3.Stmt) error {
		scan(s, &row)
		return yield(&row)
	}, params...)
}

// Row returns one record.
func (tx *ReadTx) Row(seq uint64) (row Row, ok bool, err error) {
	if seq >= 1<<seqBits {
		return row, false, nil
	}
	err = tx.each("WHERE id=?", func(r *Row) error {
		row, ok = *r, true
		return nil
	}, tx.rowID(seq))
	return row, ok, err
}

// Rows yields every record after a sequence number, ascending.
func (tx *ReadTx) Rows(after uint64, yield func(*Row) error) error {
	if after >= 1<<seqBits {
		return nil
	}
	return tx.each("WHERE id>? AND id<=? ORDER BY id", yield, tx.rowID(after), tx.lastID())
}

// Group yields the records of a group, ascending.
func (tx *ReadTx) Group(key int64, yield func(*Row) error) error {
	return tx.each("WHERE group_key=? AND group_key<>0 AND id>? AND id<=? ORDER BY id", yield, key, tx.rowID(0), tx.lastID())
}

// GroupHasSingle says whether any record of a group, in whatever state, was
// written as single.
func (tx *ReadTx) GroupHasSingle(key int64) (has bool, err error) {
	if tx.id == 0 {
		return false, nil
	}
	err = tx.conn.run("SELECT 1 FROM records WHERE group_key=? AND group_key<>0 AND id>? AND id<=? AND single<>0 LIMIT 1", func(*sqlite3.Stmt) error {
		has = true
		return nil
	}, key, tx.rowID(0), tx.lastID())
	return has, err
}

// Same yields the records whose supplied fields have this digest, ascending.
func (tx *ReadTx) Same(key int64, yield func(*Row) error) error {
	return tx.each("WHERE same_key=? AND same_key<>0 AND id>? AND id<=? ORDER BY id", yield, key, tx.rowID(0), tx.lastID())
}

// KindRows yields the records of a kind, ascending. Kinds above 3 are few and
// have an index.
func (tx *ReadTx) KindRows(kind uint8, yield func(*Row) error) error {
	if kind > 3 {
		return tx.each("WHERE kind=? AND kind>3 AND id>? AND id<=? ORDER BY id", yield, int64(kind), tx.rowID(0), tx.lastID())
	}
	return tx.each("WHERE kind=? AND id>? AND id<=? ORDER BY id", yield, int64(kind), tx.rowID(0), tx.lastID())
}

// Changes yields the change log after a version, in order.
func (tx *ReadTx) Changes(after uint64, yield func(Change) error) error {
	if tx.id == 0 {
		return nil
	}
	return tx.conn.run("SELECT id, seq, op FROM changes WHERE id>? AND id<=? ORDER BY id", func(s *sqlite3.Stmt) error {
		return yield(Change{uint64(s.ColumnInt64(0)) & (1<<seqBits - 1), uint64(s.ColumnInt64(1)), Op(s.ColumnInt64(2))})
	}, tx.rowID(after), tx.lastID())
}

// blobPiece is how much of a snapshot is read at once: SQLite would otherwise make
// a whole copy of it in its own memory.
const blobPiece = 256 << 10

// Blob returns a snapshot and the version that it was made at.
func (tx *ReadTx) Blob(part string) (data []byte, version uint64, ok bool, err error) {
	row := int64(0)
	err = tx.conn.run("SELECT rowid, version FROM blobs WHERE scope=? AND part=?", func(s *sqlite3.Stmt) error {
		row, version, ok = s.ColumnInt64(0), uint64(s.ColumnInt64(1)), true
		return nil
	}, tx.id, part)
	if err != nil || !ok {
		return nil, 0, false, err
	}
	blob, err := tx.conn.OpenBlob("main", "blobs", "data", row, false)
	if err != nil {
		return nil, 0, false, err
	}
	data = make([]byte, blob.Size())
	for rest := data; len(rest) > 0 && err == nil; {
		var n int
		if n, err = blob.Read(rest[:min(len(rest), blobPiece)]); err == io.EOF {
			err = nil
		}
		rest = rest[n:]
	}
	return data, version, err == nil, errors.Join(err, blob.Close())
}

// Idempotent returns the result that was stored for a key's digest.
func (tx *ReadTx) Idempotent(key [32]byte) (result []byte, ok bool, err error) {
	err = tx.conn.run("SELECT result FROM idempotency WHERE scope=? AND key=?", func(s *sqlite3.Stmt) error {
		result, ok = s.ColumnBlob(0, nil), true
		return nil
	}, tx.id, key[:])
	return result, ok, err
}

// IdempotencyKeys yields every key's digest with its result, by digest.
func (tx *ReadTx) IdempotencyKeys(yield func(key [32]byte, result []byte) error) error {
	return tx.conn.run("SELECT key, result FROM idempotency WHERE scope=? ORDER BY key", func(s *sqlite3.Stmt) error {
		var key [32]byte
		copy(key[:], s.ColumnRawBlob(0))
		return yield(key, s.ColumnBlob(1, nil))
	}, tx.id)
}

// Scopes lists the scopes that were ever written to, by name.
func (db *DB) Scopes(ctx context.Context) (out []Scope, err error) {
	err = db.View(ctx, Scope{}, func(tx *ReadTx) error {
		return tx.conn.run("SELECT tenant, namespace FROM scopes ORDER BY tenant, namespace", func(s *sqlite3.Stmt) error {
			out = append(out, Scope{s.ColumnText(0), s.ColumnText(1)})
			return nil
		})
	})
	return out, err
}
