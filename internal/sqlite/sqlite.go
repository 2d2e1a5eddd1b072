// Package sqlite keeps records in one SQLite file. It is the only package that
// speaks SQL, and it knows no rules: what a row means, who may write it and when
// it counts is decided by its caller inside the transactions that this package
// executes.
//
// # Layout
//
//	scopes       one row a tenant and namespace: a number, a random key, the
//	             version, the last sequence number, the greatest time recorded
//	records      one row a record; its id is scope<<43 | sequence number
//	changes      the change log: scope<<43 | version → sequence number, operation
//	blobs        snapshots of derived indexes, by scope and part
//	idempotency  digest of a key → result
//
// Secondary indexes hold whole numbers only (keyed digests that the caller
// computes), never text, so a deleted index entry tells nothing.
//
// # Durability
//
// The file is created under synchronous=EXTRA, so that no power cut brings an
// empty database back, and used in WAL mode under synchronous=FULL: a
// transaction is on the disk when it returns. Concurrent updates of one process
// share one transaction and one flush, each under a savepoint of its own
// ([DB.Update]). Processes take turns, see turn_linux.go.
//
// Pages carry checksums (8 reserved bytes each): a flipped bit is [ErrDamaged],
// never another row. Every file is created with mode 0600, whatever the umask.
//
// # Deletion
//
// [WriteTx.Erase] removes a row's content; secure_delete overwrites it in its
// page. [DB.Scrub] then copies the log into the file and truncates it; after
// that no file of the store holds the content.
package sqlite

import (
	"context"
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"time"
)

// What can go wrong with a store's file. Errors of this package wrap these.
var (
	ErrNotADatabase = errors.New("not a Grounded Memory store; choose another file")
	ErrDamaged      = errors.New("the file is damaged; keep a copy, run grounded doctor, and restore a backup")
	ErrNewerFormat  = errors.New("the file was written by a newer version; use that version")
	ErrReadOnly     = errors.New("the store is read-only")
	ErrStorageFull  = errors.New("the disk is full; nothing was written; free some space")
	ErrBusy         = errors.New("another process kept the store locked for too long; try again")
	ErrClosed       = errors.New("the store is closed")
	ErrNoFolder     = errors.New("the folder does not exist; create it first")
	ErrPermission   = errors.New("no permission to use this file or folder")
	ErrScrubPending = errors.New("another reader holds an old snapshot open; the log is truncated by the next write or by grounded maintain")
)

// Options configures a DB. Rand is required.
type Options struct {
	ReadOnly    bool
	BusyTimeout time.Duration // how long a write waits for other processes
	Readers     int           // connections for reading; default 8
	VFS         string        // a registered virtual file system; default: private files of the operating system
	Rand        io.Reader     // for the scopes' keys

	// For the negative controls of tests only.
	synchronousOff, insecureDelete, noChecksums bool
}

// Scope is one tenant and namespace.
type Scope struct{ Tenant, Namespace string }

// ScopeState is what is kept of a scope beside its records.
type ScopeState struct {
	Exists  bool
	Version uint64 // counts changes
	LastSeq uint64 // of the newest record
	Time    int64  // the greatest time recorded, in microseconds
	Key     [16]byte
}

// Row is one record as it is stored. A forgotten one has no content.
type Row struct {
	Seq         uint64
	Kind        uint8
	Body        []byte
	Salt        [16]byte
	Digest      [32]byte
	GroupKey    int64 // 0: in no group
	SameKey     int64 // 0: equal to none
	Single      bool
	CreatedAt   int64
	ExpiresAt   int64 // 0: never
	Corrects    uint64
	CorrectedBy uint64
	ForgottenAt int64
	Flag        string
}

// Op is what a change did.
type Op uint8

// The operations of the change log.
const (
	OpAdded Op = iota + 1
	OpRetired
)

// Change is one line of the change log.
type Change struct {
	Version, Seq uint64
	Op           Op
}

// DB is an open store. It is safe for concurrent use.
type DB struct {
	path      string
	opts      Options
	immutable bool // read without log and locks, on a medium that cannot be written

	readers chan *conn
	writer  *conn // held by whoever holds writing
	turn    *turn

	writing   sync.Mutex  // one transaction at a time in this process
	waitWhile func() bool // how long whoever holds writing waits for other processes
	pending   atomic.Bool // the log may hold what was erased
	queue     queue
	idle      *time.Timer // runs rest when nothing was written for a while

	calls struct {
		sync.Mutex
		inFlight int
		closed   bool
		ended    chan struct{} // closed when Close has begun and no call is in flight
	}
}

// enter notes that a call is in flight; leave ends it.
func (db *DB) enter() error {
	db.calls.Lock()
	defer db.calls.Unlock()
	if db.calls.closed {
		return ErrClosed
	}
	db.calls.inFlight++
	return nil
}

func (db *DB) leave() {
	db.calls.Lock()
	defer db.calls.Unlock()
	db.calls.inFlight--
	if db.calls.closed && db.calls.inFlight == 0 {
		close(db.calls.ended)
	}
}

// Close waits for calls in flight, refuses new ones, and closes the file.
func (db *DB) Close() error {
	db.calls.Lock()
	if db.calls.closed {
		db.calls.Unlock()
		return ErrClosed
	}
	db.calls.closed = true
	db.calls.ended = make(chan struct{})
	if db.calls.inFlight == 0 {
		close(db.calls.ended)
	}
	db.calls.Unlock()
	<-db.calls.ended
	db.idle.Stop()
	db.writing.Lock() // a call that panicked may have left before its update ended
	defer db.writing.Unlock()
	var errs []error
	for range cap(db.readers) {
		if c := <-db.readers; c != nil {
			errs = append(errs, c.Close())
		}
	}
	if db.writer != nil {
		errs = append(errs, db.writer.Close())
	}
	errs = append(errs, db.turn.close())
	return classify("close the store", errors.Join(errs...))
}

// reader lends a connection for reading, opening it when it is first used.
func (db *DB) reader(ctx context.Context) (*conn, error) {
	select {
	case c := <-db.readers:
		if c != nil {
			return c, nil
		}
		err := db.patiently(ctx, func() (err error) {
			c, err = db.connect(readConn)
			return err
		})
		if err != nil {
			db.readers <- nil
		}
		return c, err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
