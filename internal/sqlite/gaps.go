package sqlite

import (
	"encoding/binary"

	"github.com/ncruces/go-sqlite3/vfs"
)

// SQLite's secure_delete overwrites what is deleted, but not the copies that
// balancing leaves behind: when a page's cells move to its neighbour, their bytes
// stay in the gap between the page's cell pointers and its cells, and outlive the
// cells when these are deleted later. Nothing ever reads a gap, so it is cleared
// whenever a page is written to the main file. The log cannot be cleared so, for
// its frames carry checksums that are made before; [DB.Scrub] truncates it.

// maxPages keeps the first byte of an overflow or free page, which begins with a
// page number, below every kind of B-tree page: 128 GiB in pages of 4096 bytes.
const maxPages = 1<<25 - 1

// mainFile is the file of the database proper, below the driver's checksums.
type mainFile struct {
	vfs.File
	page []byte // a copy to clear: what is to be written belongs to SQLite
}

// SharedMemory is the file's, for the log's index. Memory mapping is not passed
// on: pages with checksums are never mapped, but the driver (v0.37.0) takes the
// way to unmap from a file before it knows that the file has checksums, and
// crashes when it uses it on closing.
func (f *mainFile) SharedMemory() vfs.SharedMemory {
	if shared, ok := f.File.(vfs.FileSharedMemory); ok {
		return shared.SharedMemory()
	}
	return nil
}

// WriteAt writes a page, without what lies in its gaps.
func (f *mainFile) WriteAt(p []byte, at int64) (int, error) {
	if from, to := gap(p, at); !zero(p[from:to]) {
		summed := checksum(p) == [8]byte(p[len(p)-8:])
		f.page = append(f.page[:0], p...)
		clear(f.page[from:to])
		if summed {
			sum := checksum(f.page)
			copy(f.page[len(f.page)-8:], sum[:])
		}
		p = f.page
	}
	return f.File.WriteAt(p, at)
}

// gap returns where the gap of a B-tree page lies; it is empty if p is something
// else or not what it seems.
func gap(p []byte, at int64) (from, to int) {
	if len(p) < 512 || len(p) > 1<<15 || len(p)&(len(p)-1) != 0 || at%int64(len(p)) != 0 {
		return 0, 0
	}
	header := 0
	if at == 0 {
		header = 100 // of the file
	}
	from = header + 8
	switch p[header] {
	case 2, 5: // inner pages have one more pointer
		from += 4
	case 10, 13:
	default:
		return 0, 0
	}
	from += 2 * int(binary.BigEndian.Uint16(p[header+3:]))
	to = int(binary.BigEndian.Uint16(p[header+5:]))
	if from > to || to > len(p) {
		return 0, 0
	}
	return from, to
}

func zero(p []byte) bool {
	for _, b := range p {
		if b != 0 {
			return false
		}
	}
	return true
}

// checksum is that of SQLite's checksum VFS over a page without its last 8 bytes.
func checksum(page []byte) (sum [8]byte) {
	var a, b uint32
	for p := page[:len(page)-8]; len(p) > 0; p = p[8:] {
		a += binary.LittleEndian.Uint32(p) + b
		b += binary.LittleEndian.Uint32(p[4:]) + a
	}
	binary.LittleEndian.PutUint32(sum[:], a)
	binary.LittleEndian.PutUint32(sum[4:], b)
	return sum
}
