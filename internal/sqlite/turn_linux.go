package sqlite

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// SQLite's write lock goes to whoever asks at the right moment, so a process
// that writes all the time could keep another one waiting for ever. A process
// that wants to write first takes the turn, a lock on one byte of the file that
// SQLite never locks or stores anything in, and gives it back when it has the
// write lock: the one that waits is next, and the one that has just written
// queues behind it.
type turn struct{ file *os.File }

// turnByte lies in the page that SQLite reserves for its locks, beyond them.
const turnByte = 0x40000000 + 2048

func openTurn(path string) (*turn, error) {
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	return &turn{file}, nil
}

func (t *turn) lock(kind int16) error {
	return unix.FcntlFlock(t.file.Fd(), unix.F_OFD_SETLK, &unix.Flock_t{Type: kind, Start: turnByte, Len: 1})
}

// take waits for the turn as long as it is worth it. It is a courtesy: whoever
// cannot get it, or is on a file system without such locks, goes on without.
func (t *turn) take(worth func() bool) {
	if t == nil {
		return
	}
	for {
		if err := t.lock(unix.F_WRLCK); err != unix.EAGAIN && err != unix.EACCES || !worth() {
			return
		}
		time.Sleep(500 * time.Microsecond)
	}
}

func (t *turn) give() {
	if t != nil {
		_ = t.lock(unix.F_UNLCK) // closing the file gives it back as well
	}
}

func (t *turn) close() error {
	if t == nil {
		return nil
	}
	return t.file.Close()
}
