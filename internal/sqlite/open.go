package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/ncruces/go-sqlite3"
	"github.com/ncruces/go-sqlite3/vfs"
)

// The marks by which a file is known as a store of this format.
const (
	applicationID = 0x474d454d // "GMEM"
	formatVersion = 1
)

// schema is the format's tables. Numbers are scope<<43 | number throughout.
const schema = `
CREATE TABLE scopes(
	id INTEGER PRIMARY KEY, tenant TEXT NOT NULL, namespace TEXT NOT NULL, key BLOB NOT NULL,
	version INTEGER NOT NULL, last_seq INTEGER NOT NULL, time INTEGER NOT NULL,
	UNIQUE(tenant, namespace)) STRICT;
CREATE TABLE records(
	id INTEGER PRIMARY KEY, kind INTEGER NOT NULL, body BLOB, salt BLOB, digest BLOB,
	group_key INTEGER NOT NULL, same_key INTEGER NOT NULL, single INTEGER NOT NULL,
	created INTEGER NOT NULL, expires INTEGER NOT NULL, corrects INTEGER NOT NULL,
	corrected_by INTEGER NOT NULL, forgotten INTEGER NOT NULL, flag TEXT NOT NULL) STRICT;
CREATE INDEX records_group ON records(group_key) WHERE group_key <> 0;
CREATE INDEX records_same ON records(same_key) WHERE same_key <> 0;
CREATE INDEX records_rare ON records(kind) WHERE kind > 3;
CREATE TABLE changes(id INTEGER PRIMARY KEY, seq INTEGER NOT NULL, op INTEGER NOT NULL) STRICT;
CREATE TABLE blobs(
	scope INTEGER NOT NULL, part TEXT NOT NULL, version INTEGER NOT NULL, data BLOB NOT NULL,
	PRIMARY KEY(scope, part)) STRICT;
CREATE TABLE idempotency(
	scope INTEGER NOT NULL, key BLOB NOT NULL, result BLOB NOT NULL,
	PRIMARY KEY(scope, key)) STRICT, WITHOUT ROWID;
`

// oldestSQLite is the version whose fixes are relied upon.
const oldestSQLite = 3_053_000

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
		db.writer, err = db.connect(writeConn)
		return err
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

// checkPath looks at the file before SQLite does, which would write to what it
// takes for its own.
func checkPath(path string, readOnly bool) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if _, err := os.Stat(filepath.Dir(path)); errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%s: %w", filepath.Dir(path), ErrNoFolder)
		}
		if readOnly {
			return fmt.Errorf("%s: there is no such file, and a read-only store creates none: %w", path, ErrNoFolder)
		}
		return nil
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%s: %w", path, ErrPermission)
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is no regular file: %w", path, ErrNotADatabase)
	case info.Size() == 0:
		return nil
	}
	return checkHeader(path)
}

func checkHeader(path string) error {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrPermission) {
		return fmt.Errorf("%s: %w", path, ErrPermission)
	}
	if err != nil {
		return err
	}
	head := make([]byte, 100)
	n, _ := file.ReadAt(head, 0)
	if err := file.Close(); err != nil {
		return err
	}
	if n < len(head) || !strings.HasPrefix(string(head), "SQLite format 3\x00") {
		return fmt.Errorf("%s: %w", path, ErrNotADatabase)
	}
	return nil
}

// prepareFile creates the file's tables if it is empty, and checks that it is a
// store of a format that this version reads.
func (db *DB) prepareFile(ctx context.Context) error {
	c, err := db.rawConn(db.opts.ReadOnly)
	if err != nil {
		return classify("open "+db.path, err)
	}
	err = db.checkFormat(c)
	if errors.Is(err, errEmpty) {
		if db.opts.ReadOnly {
			err = fmt.Errorf("%s is empty: %w", db.path, ErrNotADatabase)
		} else {
			err = db.create(ctx, c)
		}
	}
	return classify("open "+db.path, errors.Join(err, c.Close()))
}

var errEmpty = errors.New("the file is empty")

func (db *DB) checkFormat(c *sqlite3.Conn) error {
	number := func(sql string) (n int64, err error) {
		s, _, err := c.Prepare(sql)
		if err != nil {
			return 0, err
		}
		if s.Step() {
			n = s.ColumnInt64(0)
		}
		return n, errors.Join(s.Err(), s.Close())
	}
	linked, err := number("SELECT substr(sqlite_version(),1,1)*1000000 + substr(sqlite_version(),3,2)*1000")
	if err != nil {
		return err
	}
	if linked < oldestSQLite {
		return fmt.Errorf("this program was built with SQLite %d; it needs %d", linked, oldestSQLite)
	}
	id, err := number("PRAGMA application_id")
	if err != nil {
		return err
	}
	version, err := number("PRAGMA user_version")
	if err != nil {
		return err
	}
	tables, err := number("SELECT count(*) FROM sqlite_schema")
	switch {
	case err != nil:
		return err
	case id == 0 && version == 0 && tables == 0:
		return errEmpty
	case id != applicationID:
		return ErrNotADatabase
	case version > formatVersion:
		return ErrNewerFormat
	}
	return nil
}

// create makes the tables, durable before the file is used in WAL mode.
func (db *DB) create(ctx context.Context, c *sqlite3.Conn) error {
	if err := c.Exec("PRAGMA synchronous=" + db.level("EXTRA") + "; PRAGMA page_size=4096"); err != nil {
		return err
	}
	if !db.opts.noChecksums {
		if _, err := c.FileControl("main", sqlite3.FCNTL_RESERVE_BYTES, 8); err != nil {
			return err
		}
	}
	if err := c.BusyHandler(db.wait(ctx)); err != nil {
		return err
	}
	if err := c.Exec("BEGIN EXCLUSIVE"); err != nil {
		return err
	}
	err := db.checkFormat(c)
	if errors.Is(err, errEmpty) {
		err = c.Exec(schema + fmt.Sprintf("PRAGMA application_id=%d; PRAGMA user_version=%d", applicationID, formatVersion))
	}
	if err != nil {
		return errors.Join(err, c.Exec("ROLLBACK"))
	}
	if err := c.Exec("COMMIT"); err != nil {
		return err
	}
	return c.Exec("PRAGMA journal_mode=WAL")
}

// level is the synchronous level, or OFF for a negative control.
func (db *DB) level(name string) string {
	if db.opts.synchronousOff {
		return "OFF"
	}
	return name
}

// rawConn opens a hardened connection.
func (db *DB) rawConn(readOnly bool) (*sqlite3.Conn, error) {
	flags := sqlite3.OPEN_READWRITE | sqlite3.OPEN_CREATE
	if readOnly {
		flags = sqlite3.OPEN_READONLY
	}
	name := db.dsn(false)
	c, err := sqlite3.OpenFlags(name, flags|sqlite3.OPEN_URI|sqlite3.OPEN_NOFOLLOW)
	if readOnly && errors.Is(err, sqlite3.CANTOPEN) {
		// On a medium that cannot be written there can be no shared-memory file.
		c, err = sqlite3.OpenFlags(db.dsn(true), flags|sqlite3.OPEN_URI|sqlite3.OPEN_NOFOLLOW)
	}
	if err != nil {
		return nil, err
	}
	// Each wait is short; patiently makes them long.
	if err := errors.Join(c.BusyTimeout(time.Second), harden(c)); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

func (db *DB) dsn(immutable bool) string {
	absolute, err := filepath.Abs(db.path)
	if err != nil || db.opts.VFS != privateVFS() {
		absolute = db.path
	}
	if resolved, err := filepath.EvalSymlinks(absolute); err == nil && db.opts.VFS == privateVFS() {
		absolute = resolved
	}
	query := url.Values{"vfs": {db.opts.VFS}}
	if immutable {
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

// wait is the busy handler: it waits a little longer each time, up to the
// timeout.
func (db *DB) wait(ctx context.Context) func(context.Context, int) bool {
	start := time.Time{}
	return func(_ context.Context, count int) bool {
		if count == 0 {
			start = time.Now()
		}
		if ctx.Err() != nil || time.Since(start) > db.opts.BusyTimeout {
			return false
		}
		time.Sleep(min(200*time.Microsecond<<min(count, 5), 2*time.Millisecond))
		return true
	}
}

var _ vfs.VFSFilename = private{}
