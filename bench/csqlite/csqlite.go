// Package csqlite is SQLite as a C program would use it: a statement is bound and
// stepped to its end inside one call, so that the peer pays nothing for Go.
//
// It needs a C compiler and the development files of SQLite (libsqlite3-dev).
package csqlite

/*
#cgo LDFLAGS: -lsqlite3
#include <sqlite3.h>
#include <stdlib.h>

// drain steps a statement to its end and reads every column of every row.
static int drain(sqlite3_stmt *s, sqlite3_int64 *rows, sqlite3_int64 *sum) {
	int columns = sqlite3_column_count(s), code;
	*rows = 0;
	while ((code = sqlite3_step(s)) == SQLITE_ROW) {
		++*rows;
		for (int i = 0; i < columns; i++) {
			*sum += sqlite3_column_int64(s, i);
		}
	}
	sqlite3_reset(s);
	return code;
}

static int bind_text(sqlite3_stmt *s, int i, const char *text, int size) {
	return sqlite3_bind_text(s, i, text, size, SQLITE_TRANSIENT);
}

static int bind_blob(sqlite3_stmt *s, int i, const void *data, int size) {
	return sqlite3_bind_blob(s, i, data, size, SQLITE_TRANSIENT);
}
*/
import "C"

import (
	"errors"
	"fmt"
	"unsafe"
)

// Version is the version of the library.
func Version() string { return C.GoString(C.sqlite3_libversion()) }

// DB is one connection. It is used by one goroutine at a time.
type DB struct{ db *C.sqlite3 }

// Open opens or creates a file; ":memory:" is a database in memory.
func Open(path string) (*DB, error) {
	name := C.CString(path)
	defer C.free(unsafe.Pointer(name))
	d := new(DB)
	if code := C.sqlite3_open(name, &d.db); code != C.SQLITE_OK {
		return nil, fmt.Errorf("sqlite: cannot open %s: %d", path, int(code))
	}
	return d, nil
}

// Close closes the connection.
func (d *DB) Close() error {
	C.sqlite3_close_v2(d.db)
	return nil
}

func (d *DB) failed() error { return errors.New("sqlite: " + C.GoString(C.sqlite3_errmsg(d.db))) }

// Exec runs statements without parameters.
func (d *DB) Exec(sql string) error {
	text := C.CString(sql)
	defer C.free(unsafe.Pointer(text))
	if C.sqlite3_exec(d.db, text, nil, nil, nil) != C.SQLITE_OK {
		return d.failed()
	}
	return nil
}

// Stmt is a prepared statement.
type Stmt struct {
	db   *DB
	stmt *C.sqlite3_stmt
}

// Prepare compiles one statement.
func (d *DB) Prepare(sql string) (*Stmt, error) {
	text := C.CString(sql)
	defer C.free(unsafe.Pointer(text))
	s := &Stmt{db: d}
	if C.sqlite3_prepare_v2(d.db, text, -1, &s.stmt, nil) != C.SQLITE_OK {
		return nil, d.failed()
	}
	return s, nil
}

// Close ends the statement.
func (s *Stmt) Close() error {
	C.sqlite3_finalize(s.stmt)
	return nil
}

// Drain binds parameters (int64, string, []byte or nil), steps the statement to
// its end and reads every column. It returns the number of rows.
func (s *Stmt) Drain(params ...any) (int, error) {
	for i, p := range params {
		n := C.int(i + 1)
		switch v := p.(type) {
		case int64:
			C.sqlite3_bind_int64(s.stmt, n, C.sqlite3_int64(v))
		case string:
			C.bind_text(s.stmt, n, (*C.char)(unsafe.Pointer(unsafe.StringData(v))), C.int(len(v)))
		case []byte:
			C.bind_blob(s.stmt, n, unsafe.Pointer(unsafe.SliceData(v)), C.int(len(v)))
		case nil:
			C.sqlite3_bind_null(s.stmt, n)
		default:
			return 0, fmt.Errorf("sqlite: a parameter of type %T", p)
		}
	}
	var rows, sum C.sqlite3_int64
	if C.drain(s.stmt, &rows, &sum) != C.SQLITE_DONE {
		return 0, s.db.failed()
	}
	return int(rows), nil
}

// Text returns the first column of every row, as text.
func (s *Stmt) Text() ([]string, error) {
	var out []string
	for {
		switch C.sqlite3_step(s.stmt) {
		case C.SQLITE_ROW:
			text := C.sqlite3_column_text(s.stmt, 0)
			out = append(out, C.GoStringN((*C.char)(unsafe.Pointer(text)), C.sqlite3_column_bytes(s.stmt, 0)))
		case C.SQLITE_DONE:
			C.sqlite3_reset(s.stmt)
			return out, nil
		default:
			C.sqlite3_reset(s.stmt)
			return nil, s.db.failed()
		}
	}
}
