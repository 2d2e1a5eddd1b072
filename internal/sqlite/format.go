package sqlite

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/ncruces/go-sqlite3"
)

// The marks by which a file is known as a store of this format.
const (
	applicationID = 0x474d454d // "GMEM"
	formatVersion = 1
	pageSize      = 4096
	checksumBytes = 8 // reserved at the end of every page
)

// schema is the format's tables and indexes, each as SQLite stores it. Numbers
// are scope<<43 | number throughout.
var schema = [...]string{
	`CREATE TABLE scopes(
	id INTEGER PRIMARY KEY, tenant TEXT NOT NULL, namespace TEXT NOT NULL, key BLOB NOT NULL,
	version INTEGER NOT NULL, last_seq INTEGER NOT NULL, time INTEGER NOT NULL,
	UNIQUE(tenant, namespace)) STRICT`,
	`CREATE TABLE records(
	id INTEGER PRIMARY KEY, kind INTEGER NOT NULL, body BLOB, salt BLOB, digest BLOB,
	group_key INTEGER NOT NULL, same_key INTEGER NOT NULL, single INTEGER NOT NULL,
	created INTEGER NOT NULL, expires INTEGER NOT NULL, corrects INTEGER NOT NULL,
	corrected_by INTEGER NOT NULL, forgotten INTEGER NOT NULL, flag TEXT NOT NULL) STRICT`,
	`CREATE INDEX records_group ON records(group_key) WHERE group_key <> 0`,
	`CREATE INDEX records_same ON records(same_key) WHERE same_key <> 0`,
	`CREATE INDEX records_rare ON records(kind) WHERE kind > 3`,
	`CREATE TABLE changes(id INTEGER PRIMARY KEY, seq INTEGER NOT NULL, op INTEGER NOT NULL) STRICT`,
	`CREATE TABLE blobs(
	scope INTEGER NOT NULL, part TEXT NOT NULL, version INTEGER NOT NULL, data BLOB NOT NULL,
	PRIMARY KEY(scope, part)) STRICT`,
	`CREATE TABLE idempotency(
	scope INTEGER NOT NULL, key BLOB NOT NULL, result BLOB NOT NULL,
	PRIMARY KEY(scope, key)) STRICT, WITHOUT ROWID`,
}

// oldestSQLite is the version whose fixes are relied upon.
const oldestSQLite = 3_053_000

// checkPath looks at the file before SQLite does, which would complete or undo
// what another program left unfinished in a file of its own.
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
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrPermission) {
		return fmt.Errorf("%s: %w", path, ErrPermission)
	}
	if err != nil {
		return err
	}
	page := make([]byte, pageSize)
	n, err := file.ReadAt(page, 0)
	if errors.Is(err, io.EOF) {
		err = nil // a file that was cut off
	}
	if err := errors.Join(err, file.Close()); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if err := checkHeader(page[:n]); err != nil && !unborn(page[:n], path) {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// checkHeader says whether a file that begins so is a store. A store's mark is
// in its first page from its first commit on, and never changes.
func checkHeader(page []byte) error {
	const magic = "SQLite format 3\x00"
	const headerBytes = 100
	if len(page) < headerBytes {
		if bytes.HasPrefix(page, []byte(magic)) {
			return ErrDamaged
		}
		return ErrNotADatabase
	}
	version, id := binary.BigEndian.Uint32(page[60:]), binary.BigEndian.Uint32(page[68:])
	isSQLite := strings.HasPrefix(string(page), magic)
	switch {
	case isSQLite && id == applicationID && version > formatVersion:
		// Unless the page's checksum says that it is only a bit that flipped.
		if page[20] == checksumBytes && !sound(page) {
			return ErrDamaged
		}
		return ErrNewerFormat
	case isSQLite && id == applicationID:
		return nil
	case id == applicationID, isSQLite && page[20] == checksumBytes && !sound(page):
		return ErrDamaged
	}
	return ErrNotADatabase
}

// sound says whether a first page has the checksum that it should have.
func sound(page []byte) bool {
	return len(page) == pageSize && checksum(page) == [checksumBytes]byte(page[pageSize-checksumBytes:])
}

// unborn says whether a file is one whose creation a power cut interrupted: its
// first page was never written, and a journal is there to undo the rest.
func unborn(page []byte, path string) bool {
	info, err := os.Stat(path + "-journal")
	return err == nil && info.Size() > 0 && zero(page)
}

// prepareFile creates the file's tables if it is empty, and checks that it is a
// store of a format that this version reads, in WAL mode.
func (db *DB) prepareFile(ctx context.Context) error {
	c, err := db.rawConn(db.opts.ReadOnly)
	if err != nil {
		return classify("open "+db.path, err)
	}
	err = db.checkFormat(c)
	if db.opts.ReadOnly && !db.immutable && (errors.Is(err, sqlite3.CANTOPEN) || errors.Is(err, sqlite3.READONLY)) {
		// On a medium that cannot be written there can be no shared-memory file.
		if err := c.Close(); err != nil {
			return classify("open "+db.path, err)
		}
		if !db.settled() {
			return fmt.Errorf("%s: its newest records are in its log, which cannot be read without writing beside it; run grounded maintain as its owner: %w", db.path, ErrPermission)
		}
		db.immutable = true
		return db.prepareFile(ctx)
	}
	if errors.Is(err, errEmpty) {
		if db.opts.ReadOnly {
			err = fmt.Errorf("%s is empty: %w", db.path, ErrNotADatabase)
		} else {
			err = db.create(ctx, c)
		}
	}
	if err == nil && !db.opts.ReadOnly {
		err = db.logged(c)
	}
	return classify("open "+db.path, errors.Join(err, c.Close()))
}

var errEmpty = errors.New("the file is empty")

// texts runs a statement that returns one column.
func texts(c *sqlite3.Conn, sql string) (out []string, err error) {
	s, _, err := c.Prepare(sql)
	if err != nil {
		return nil, err
	}
	for s.Step() {
		out = append(out, s.ColumnText(0))
	}
	return out, errors.Join(s.Err(), s.Close())
}

func number(c *sqlite3.Conn, sql string) (n int64, err error) {
	s, _, err := c.Prepare(sql)
	if err != nil {
		return 0, err
	}
	if s.Step() {
		n = s.ColumnInt64(0)
	}
	return n, errors.Join(s.Err(), s.Close())
}

func (db *DB) checkFormat(c *sqlite3.Conn) error {
	linked, err := number(c, "SELECT substr(sqlite_version(),1,1)*1000000 + substr(sqlite_version(),3,2)*1000")
	if err != nil {
		return err
	}
	if linked < oldestSQLite {
		return fmt.Errorf("this program was built with SQLite %d; it needs %d", linked, oldestSQLite)
	}
	pages, err := number(c, "PRAGMA page_count")
	if err != nil {
		return err
	}
	if pages == 0 {
		return errEmpty
	}
	return db.checkMarks(c)
}

func (db *DB) checkMarks(c *sqlite3.Conn) error {
	id, err := number(c, "PRAGMA application_id")
	if err != nil {
		return err
	}
	version, err := number(c, "PRAGMA user_version")
	switch {
	case err != nil:
		return err
	case id != applicationID:
		return ErrNotADatabase
	case version > formatVersion:
		return ErrNewerFormat
	case version != formatVersion:
		return ErrDamaged
	}
	return db.checkSchema(c)
}

// checkSchema refuses a file that has the mark but not the tables of a store:
// what a prepared file adds could answer in a table's place.
func (db *DB) checkSchema(c *sqlite3.Conn) error {
	reserved, err := c.FileControl("main", sqlite3.FCNTL_RESERVE_BYTES)
	if err != nil {
		return err
	}
	if reserved != checksumBytes && !db.opts.noChecksums {
		return fmt.Errorf("its pages have no checksums: %w", ErrDamaged)
	}
	found, err := texts(c, "SELECT sql FROM sqlite_schema WHERE name NOT GLOB 'sqlite_*' ORDER BY rowid")
	if err != nil {
		return err
	}
	if len(found) != len(schema) {
		return fmt.Errorf("it has %d tables and indexes of %d: %w", len(found), len(schema), ErrDamaged)
	}
	for i, want := range schema {
		if found[i] != want {
			return fmt.Errorf("a table or index is not as it was made: %w", ErrDamaged)
		}
	}
	return nil
}

// create makes the tables, in one durable commit.
func (db *DB) create(ctx context.Context, c *sqlite3.Conn) error {
	if err := c.Exec(fmt.Sprintf("PRAGMA synchronous=%s; PRAGMA page_size=%d", db.level("EXTRA"), pageSize)); err != nil {
		return err
	}
	if !db.opts.noChecksums {
		if _, err := c.FileControl("main", sqlite3.FCNTL_RESERVE_BYTES, checksumBytes); err != nil {
			return err
		}
	}
	start := time.Now()
	if err := c.BusyHandler(wait(ctx, func() bool { return time.Since(start) < db.opts.BusyTimeout })); err != nil {
		return err
	}
	if err := c.Exec("BEGIN EXCLUSIVE"); err != nil {
		return err
	}
	// The file was empty; if another process has not filled it, it now has a first
	// page without tables.
	tables, err := number(c, "SELECT count(*) FROM sqlite_schema")
	if err == nil && tables > 0 {
		err = db.checkMarks(c)
	} else if err == nil {
		err = c.Exec(fmt.Sprintf("%s; PRAGMA application_id=%d; PRAGMA user_version=%d", strings.Join(schema[:], ";\n"), applicationID, formatVersion))
	}
	if err != nil {
		return errors.Join(err, c.Exec("ROLLBACK"))
	}
	return c.Exec("COMMIT")
}

// logged puts the file into WAL mode, durably, if it is not: another process may
// have been interrupted between creating the tables and this.
func (db *DB) logged(c *sqlite3.Conn) error {
	mode, err := texts(c, "PRAGMA journal_mode")
	if err == nil && mode[0] != "wal" {
		if err = c.Exec("PRAGMA synchronous=" + db.level("EXTRA")); err == nil {
			mode, err = texts(c, "PRAGMA journal_mode=WAL")
		}
	}
	if err == nil && mode[0] != "wal" {
		err = errors.New("this file system has no shared memory, which a store needs; use a local one")
	}
	return err
}

// level is the synchronous level, or OFF for a negative control.
func (db *DB) level(name string) string {
	if db.opts.synchronousOff {
		return "OFF"
	}
	return name
}
