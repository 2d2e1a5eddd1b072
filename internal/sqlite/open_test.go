package sqlite

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/ncruces/go-sqlite3"
)

// foreign opens a file as any program would, and runs SQL on it.
func foreign(t *testing.T, path, sql string) *sqlite3.Conn {
	t.Helper()
	c, err := sqlite3.Open("file:" + path)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Exec(sql); err != nil {
		t.Fatal(err)
	}
	return c
}

// copyFiles copies a database with its journal or log, as a crash would leave it.
func copyFiles(t *testing.T, from, to string) {
	t.Helper()
	for _, suffix := range []string{"", "-journal", "-wal"} {
		data, err := os.ReadFile(from + suffix)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			err = os.WriteFile(to+suffix, data, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func journalMode(t *testing.T, db *DB) (mode string) {
	t.Helper()
	if err := db.View(ctx, acme, func(tx *ReadTx) error {
		return tx.conn.run("PRAGMA journal_mode", func(s *sqlite3.Stmt) error {
			mode = s.ColumnText(0)
			return nil
		})
	}); err != nil {
		t.Fatal(err)
	}
	return mode
}

// TestForeignDatabases of other programs stay as they are, byte for byte, also
// where SQLite would have completed or undone what a crash left.
func TestForeignDatabases(t *testing.T) {
	const fill = "CREATE TABLE a(b); WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<500) INSERT INTO a SELECT randomblob(200) FROM n;"
	for name, sql := range map[string]string{
		"empty":       "CREATE TABLE a(b); DROP TABLE a; VACUUM",
		"hot journal": "PRAGMA cache_size=2;" + fill + "BEGIN; UPDATE a SET b=randomblob(200)",
		"log":         "PRAGMA journal_mode=WAL;" + fill,
	} {
		t.Run(name, func(t *testing.T) {
			live := filepath.Join(t.TempDir(), "live")
			c := foreign(t, live, sql)
			path := filepath.Join(t.TempDir(), "crashed")
			copyFiles(t, live, path)
			if err := c.Close(); err != nil {
				t.Fatal(err)
			}
			before := everyFile(t, path)
			if _, err := Open(ctx, path, Options{Rand: rand.Reader}); !errors.Is(err, ErrNotADatabase) {
				t.Errorf("opened: %v", err)
			}
			if !bytes.Equal(before, everyFile(t, path)) {
				t.Error("a file was changed")
			}
		})
	}
}

// TestInterruptedCreation: a store whose creation ended before it was in WAL mode
// is put into it by the next process, or its commits would not be durable.
func TestInterruptedCreation(t *testing.T) {
	path := temp(t)
	if err := open(t, path).Close(); err != nil {
		t.Fatal(err)
	}
	if err := foreign(t, path, "PRAGMA journal_mode=DELETE").Close(); err != nil {
		t.Fatal(err)
	}
	db := open(t, path)
	if mode := journalMode(t, db); mode != "wal" {
		t.Errorf("journal mode %s", mode)
	}
	backup := path + ".backup"
	if err := db.Backup(ctx, backup); err != nil {
		t.Fatal(err)
	}
	if mode := journalMode(t, open(t, backup)); mode != "wal" {
		t.Errorf("journal mode of a backup %s", mode)
	}
}

// TestHeaderBits flips every bit of the file's header.
func TestHeaderBits(t *testing.T) {
	path := temp(t)
	db := open(t, path)
	if _, err := insert(db, acme, "body"); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for bit := range 100 * 8 {
		data := bytes.Clone(good)
		data[bit/8] ^= 1 << (bit % 8)
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := readAll(path); !errors.Is(err, ErrDamaged) {
			t.Errorf("bit %d of byte %d: %q, %v", bit%8, bit/8, got, err)
		}
		if after := everyFile(t, path); !bytes.Equal(after, data) {
			t.Errorf("bit %d of byte %d: a file was changed", bit%8, bit/8)
		}
	}
}

// TestS41_PreparedSchema: a file that has a store's mark but other tables,
// triggers or views, or lacks an index, is refused.
func TestS41_PreparedSchema(t *testing.T) {
	for name, sql := range map[string]string{
		"a trigger":    "CREATE TRIGGER extra AFTER INSERT ON records BEGIN DELETE FROM records; END",
		"a view":       "CREATE VIEW extra AS SELECT 1",
		"a table":      "CREATE TABLE extra(a)",
		"no index":     "DROP INDEX records_same",
		"other index":  "DROP INDEX records_same; CREATE INDEX records_same ON records(body)",
		"view in need": "DROP TABLE scopes; CREATE VIEW scopes AS SELECT 1 AS id",
		"no checksums": "VACUUM",
	} {
		path := temp(t)
		if err := open(t, path).Close(); err != nil {
			t.Fatal(err)
		}
		c := foreign(t, path, "PRAGMA journal_mode=DELETE")
		if name == "no checksums" {
			if _, err := c.FileControl("main", sqlite3.FCNTL_RESERVE_BYTES, 0); err != nil {
				t.Fatal(err)
			}
		}
		if err := errors.Join(c.Exec(sql), c.Close()); err != nil {
			t.Fatal(err)
		}
		db, err := Open(ctx, path, Options{Rand: rand.Reader})
		if err == nil {
			_ = db.Close()
		}
		if !errors.Is(err, ErrDamaged) {
			t.Errorf("with %s: %v", name, err)
		}
	}
}

// TestClassify: what the operating system and SQLite say is told apart.
func TestClassify(t *testing.T) {
	for _, c := range []struct{ err, want error }{
		{syscall.ENOSPC, ErrStorageFull},
		{syscall.EDQUOT, ErrStorageFull},
		{sqlite3.FULL, ErrStorageFull},
		{fmt.Errorf("%w: %w", sqlite3.IOERR_WRITE, syscall.ENOSPC), ErrStorageFull},
		{sqlite3.CORRUPT_INDEX, ErrDamaged},
		{sqlite3.IOERR_DATA, ErrDamaged},
		{sqlite3.NOTADB, ErrNotADatabase},
		{sqlite3.BUSY_SNAPSHOT, ErrBusy},
		{fmt.Errorf("%w: %w", sqlite3.CANTOPEN, syscall.EACCES), ErrPermission},
		{fmt.Errorf("%w: %w", sqlite3.CANTOPEN, syscall.EROFS), ErrReadOnly},
		{fmt.Errorf("%w: %w", sqlite3.CANTOPEN, syscall.ENOENT), ErrNoFolder},
		{sqlite3.READONLY_DBMOVED, ErrReadOnly},
	} {
		if err := classify("try", c.err); !errors.Is(err, c.want) || !errors.Is(err, c.err) || !strings.HasPrefix(err.Error(), "try: ") {
			t.Errorf("%v: %v", c.err, err)
		}
	}
	for _, err := range []error{fmt.Errorf("%w: %w", sqlite3.CANTOPEN, syscall.EMFILE), sqlite3.IOERR_FSYNC, errors.New("a caller's")} {
		if got := classify("try", err); got != err {
			t.Errorf("%v became %v", err, got)
		}
	}
}
