package sqlite

import (
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
