package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"github.com/ncruces/go-sqlite3"
)

// classify says what was being done and, for an error of SQLite or the
// operating system, which of this package's errors it is.
func classify(doing string, err error) error {
	if err == nil {
		return nil
	}
	for _, own := range []error{
		ErrNotADatabase, ErrDamaged, ErrNewerFormat, ErrReadOnly, ErrStorageFull, ErrBusy, ErrClosed, ErrNoFolder, ErrPermission, ErrScrubPending,
	} {
		if errors.Is(err, own) {
			return err
		}
	}
	var kind error
	switch {
	case errors.Is(err, sqlite3.FULL), errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		kind = ErrStorageFull
	case errors.Is(err, sqlite3.NOTADB):
		kind = ErrNotADatabase
	case errors.Is(err, sqlite3.CORRUPT), errors.Is(err, sqlite3.IOERR_DATA), errors.Is(err, sqlite3.IOERR_CORRUPTFS):
		kind = ErrDamaged
	case errors.Is(err, sqlite3.BUSY), errors.Is(err, sqlite3.LOCKED):
		kind = ErrBusy
	case errors.Is(err, fs.ErrPermission), errors.Is(err, sqlite3.PERM):
		kind = ErrPermission
	case errors.Is(err, sqlite3.READONLY), errors.Is(err, syscall.EROFS):
		kind = ErrReadOnly
	case errors.Is(err, sqlite3.CANTOPEN) && errors.Is(err, fs.ErrNotExist):
		kind = ErrNoFolder
	default:
		return err
	}
	return fmt.Errorf("%s: %w (%w)", doing, kind, err)
}
