package sqlite

import (
	"context"
	"errors"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/ncruces/go-sqlite3"
	"github.com/ncruces/go-sqlite3/vfs"
)

// Open opens the store at path; if there is none, and it may be written, it is
// created.
func Open(ctx context.Context, path string, opts Options) (*DB, error) {
	if opts.Readers <= 0 {
		opts.Readers = 8
	}
	if opts.BusyTimeout <= 0 {
		opts.BusyTimeout = 30 * time.Second
	}
	if opts.VFS == "" {
		opts.VFS = privateVFS()
		if err := checkPath(path, opts.ReadOnly); err != nil {
			return nil, err
		}
	}
	db := &DB{path: path, opts: opts, readers: make(chan *conn, opts.Readers)}
	for range opts.Readers {
		db.readers <- nil
	}
	db.idle = time.AfterFunc(idleAfter, db.rest)
	db.idle.Stop()
	if err := db.patiently(ctx, func() error { return db.prepareFile(ctx) }); err != nil {
		return nil, err
	}
	if opts.ReadOnly {
		c, err := db.reader(ctx) // a file that cannot be read is reported now
		if err != nil {
			return nil, errors.Join(err, db.Close())
		}
		db.readers <- c
		return db, nil
	}
	err := db.patiently(ctx, func() (err error) {
		if db.writer, err = db.connect(writeConn); err != nil {
			return err
		}
		db.pending.Store(!db.settled())
		return db.writer.BusyHandler(wait(context.Background(), func() bool { return db.waitWhile() }))
	})
	if err == nil && opts.VFS == privateVFS() {
		db.turn, err = openTurn(path)
	}
	if err != nil {
		return nil, errors.Join(classify("open the store", err), db.Close())
	}
	return db, nil
}

// patiently tries again while other processes are in the way. SQLite waits by
// itself for most locks, but not where a file is being created, changes to WAL
// mode, or is closed by its last other user.
func (db *DB) patiently(ctx context.Context, try func() error) error {
	for start := time.Now(); ; {
		err := try()
		if !errors.Is(err, ErrBusy) || time.Since(start) > db.opts.BusyTimeout {
			return err
		}
		select {
		case <-time.After(2 * time.Millisecond):
		case <-ctx.Done():
			return errors.Join(err, ctx.Err())
		}
	}
}

// rawConn opens a hardened connection.
func (db *DB) rawConn(readOnly bool) (*sqlite3.Conn, error) {
	flags := sqlite3.OPEN_READWRITE | sqlite3.OPEN_CREATE
	if readOnly {
		flags = sqlite3.OPEN_READONLY
	}
	c, err := sqlite3.OpenFlags(db.dsn(), flags|sqlite3.OPEN_URI|sqlite3.OPEN_NOFOLLOW)
	if err != nil {
		return nil, err
	}
	// Each wait is short; patiently makes them long.
	if err := errors.Join(c.BusyTimeout(time.Second), harden(c)); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// settled says whether a file needs no log to be read: there is none, or nothing
// in it. Then it can be read where no shared-memory file can be made.
func (db *DB) settled() bool {
	info, err := os.Stat(db.path + "-wal")
	return errors.Is(err, fs.ErrNotExist) || err == nil && info.Size() == 0
}

func (db *DB) dsn() string {
	absolute, err := filepath.Abs(db.path)
	if err != nil || db.opts.VFS != privateVFS() {
		absolute = db.path
	}
	if resolved, err := filepath.EvalSymlinks(absolute); err == nil && db.opts.VFS == privateVFS() {
		absolute = resolved
	}
	query := url.Values{"vfs": {db.opts.VFS}}
	if db.immutable {
		query.Set("immutable", "1")
	}
	return (&url.URL{Scheme: "file", OmitHost: true, Path: filepath.ToSlash(absolute), RawQuery: query.Encode()}).String()
}

// harden turns off what a store never needs and a prepared file could misuse.
func harden(c *sqlite3.Conn) error {
	for op, on := range map[sqlite3.DBConfig]bool{
		sqlite3.DBCONFIG_DEFENSIVE: true, sqlite3.DBCONFIG_TRUSTED_SCHEMA: false, sqlite3.DBCONFIG_ENABLE_TRIGGER: false,
		sqlite3.DBCONFIG_ENABLE_VIEW: false, sqlite3.DBCONFIG_DQS_DML: false, sqlite3.DBCONFIG_DQS_DDL: false,
	} {
		if _, err := c.Config(op, on); err != nil {
			return err
		}
	}
	c.Limit(sqlite3.LIMIT_ATTACHED, 0)
	c.Limit(sqlite3.LIMIT_EXPR_DEPTH, 50)
	c.Limit(sqlite3.LIMIT_TRIGGER_DEPTH, 1)
	return c.Exec("PRAGMA trusted_schema=OFF; PRAGMA cell_size_check=ON; PRAGMA mmap_size=0")
}

// wait is the busy handler of a connection that writes: it waits a little longer
// each time, as long as it is worth it.
func wait(ctx context.Context, worth func() bool) func(context.Context, int) bool {
	return func(_ context.Context, count int) bool {
		if ctx.Err() != nil || !worth() {
			return false
		}
		time.Sleep(min(200*time.Microsecond<<min(count, 5), 2*time.Millisecond))
		return true
	}
}

var _ vfs.VFSFilename = private{}
