package sqlite

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	mathrand "math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/ncruces/go-sqlite3"
	"github.com/ncruces/go-sqlite3/vfs"
)

// disk is a file system whose power can be cut: it knows of each file what is on
// the medium and what was only written, and which names the folder durably holds.
// Files are real ones of the operating system underneath, so locks and shared
// memory work; their contents are followed here.
type disk struct {
	vfs.VFS
	mu     sync.Mutex
	files  map[string]*medium
	random *mathrand.Rand
	ops    int

	failAt int             // the operation that fails, 0 for none
	fail   error           // and how
	images []image         // taken at random moments
	every  int             // about how many operations lie between images
	acked  func() []string // what has been acknowledged so far
}

// medium is one file: durable is what survives a power cut for certain.
type medium struct {
	durable     []byte
	named       bool // the folder durably holds its name
	gone        bool // removed, perhaps not durably
	pending     []change
	syncsFolder bool
}

// change is a write or a truncation that was not synced yet.
type change struct {
	at       int64
	data     []byte
	truncate bool
}

// image is a disk after a power cut, and what had been acknowledged before it.
type image struct {
	files map[string][]byte
	acked []string
}

func (d *disk) name(path string) string { return filepath.Base(path) }

// step counts an operation, takes an image at times, and fails if it is its turn.
func (d *disk) step() error {
	d.ops++
	if d.every > 0 && d.random.IntN(d.every) == 0 {
		d.images = append(d.images, image{d.cut(), d.acked()})
	}
	if d.failAt > 0 && d.ops >= d.failAt {
		return d.fail
	}
	return nil
}

// cut makes what a power cut now could leave: of the changes that were not
// synced any number, in their order or not, the last one perhaps torn.
func (d *disk) cut() map[string][]byte {
	out := map[string][]byte{}
	for name, m := range d.files {
		there := !m.gone
		if !m.named && d.random.IntN(2) == 0 {
			there = false
		}
		if m.gone && d.random.IntN(2) == 0 {
			there = true // the removal was not durable
		}
		if !there {
			continue
		}
		data := slices.Clone(m.durable)
		mode := d.random.IntN(3) // nothing, a prefix, or any subset
		for i, c := range m.pending {
			if mode == 0 || mode == 1 && i >= d.random.IntN(len(m.pending)+1) || mode == 2 && d.random.IntN(2) == 0 {
				continue
			}
			if d.random.IntN(4) == 0 && len(c.data) > 512 {
				c.data = c.data[:512*(1+d.random.IntN(len(c.data)/512))]
			}
			data = c.apply(data)
		}
		out[name] = data
	}
	return out
}

func (c change) apply(data []byte) []byte {
	if c.truncate {
		if int64(len(data)) > c.at {
			return data[:c.at]
		}
		return append(data, make([]byte, c.at-int64(len(data)))...)
	}
	if end := c.at + int64(len(c.data)); int64(len(data)) < end {
		data = append(data, make([]byte, end-int64(len(data)))...)
	}
	copy(data[c.at:], c.data)
	return data
}

// Open is for names that the driver does not pass on: none.
func (d *disk) Open(string, vfs.OpenFlag) (vfs.File, vfs.OpenFlag, error) {
	return nil, 0, sqlite3.CANTOPEN
}

// OpenFilename opens a file and follows it.
func (d *disk) OpenFilename(name *vfs.Filename, flags vfs.OpenFlag) (vfs.File, vfs.OpenFlag, error) {
	system := d.VFS.(vfs.VFSFilename)
	file, got, err := system.OpenFilename(name, flags)
	if err != nil || name.String() == "" {
		return file, got, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	key := d.name(name.String())
	m := d.files[key]
	if m == nil || m.gone {
		m = &medium{}
		d.files[key] = m
	}
	m.syncsFolder = flags&(vfs.OPEN_MAIN_JOURNAL|vfs.OPEN_WAL) != 0
	return &followed{unmapped{file}, d, m}, got, nil
}

// Delete removes a file; with syncFolder durably.
func (d *disk) Delete(path string, syncFolder bool) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.step(); err != nil {
		return err
	}
	if err := d.VFS.Delete(path, syncFolder); err != nil {
		return err
	}
	if m := d.files[d.name(path)]; m != nil {
		m.gone = true
	}
	if syncFolder {
		d.syncFolder()
	}
	return nil
}

func (d *disk) syncFolder() {
	maps.DeleteFunc(d.files, func(_ string, m *medium) bool { return m.gone })
	for _, m := range d.files {
		m.named = true
	}
}

// unmapped keeps of a file what the driver needs, but memory mapping.
type unmapped struct{ vfs.File }

func (f unmapped) SharedMemory() vfs.SharedMemory {
	return f.File.(vfs.FileSharedMemory).SharedMemory()
}

// followed is an open file.
type followed struct {
	unmapped
	disk *disk
	m    *medium
}

// WriteAt writes, and notes that it is not durable yet.
func (f *followed) WriteAt(p []byte, at int64) (int, error) {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	if err := f.disk.step(); err != nil {
		return 0, err
	}
	n, err := f.unmapped.WriteAt(p, at)
	f.m.pending = append(f.m.pending, change{at: at, data: slices.Clone(p[:n])})
	return n, err
}

// Truncate cuts, and notes that it is not durable yet.
func (f *followed) Truncate(size int64) error {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	if err := f.disk.step(); err != nil {
		return err
	}
	f.m.pending = append(f.m.pending, change{at: size, truncate: true})
	return f.unmapped.Truncate(size)
}

// Sync makes what was written durable.
func (f *followed) Sync(flags vfs.SyncFlag) error {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	if err := f.disk.step(); err != nil {
		return err
	}
	for _, c := range f.m.pending {
		f.m.durable = c.apply(f.m.durable)
	}
	f.m.pending = nil
	if f.m.syncsFolder {
		f.disk.syncFolder()
	}
	return nil
}

var diskNames int

// newDisk registers a disk for one test.
func newDisk(t *testing.T, seed uint64) (*disk, string) {
	t.Helper()
	diskNames++
	name := fmt.Sprintf("disk-%d-%d", os.Getpid(), diskNames)
	d := &disk{VFS: vfs.Find("os"), files: map[string]*medium{}, random: mathrand.New(mathrand.NewPCG(seed, 1)), acked: func() []string { return nil }}
	vfs.Register(name, d)
	t.Cleanup(func() { vfs.Unregister(name) })
	return d, name
}

// TestPowerCut cuts the power at random moments of a run, more than a hundred
// images in all: each opens, is sound, and holds everything that had been
// acknowledged. With synchronous=OFF some lose acknowledged writes.
func TestPowerCut(t *testing.T) {
	images, lost := powerCuts(t, 6)
	if lost != 0 {
		t.Errorf("%d of %d images lost what had been acknowledged", lost, images)
	}
	if images < 100 {
		t.Errorf("only %d images", images)
	}
	if _, lost := powerCuts(t, 2, func(o *Options) { o.synchronousOff = true }); lost == 0 {
		t.Error("without syncing nothing was lost: the disk forgets nothing")
	}
}

func powerCuts(t *testing.T, runs int, change ...func(*Options)) (images, lost int) {
	t.Helper()
	for run := range runs {
		d, name := newDisk(t, uint64(run))
		var acknowledged []string
		d.acked = func() []string { return slices.Clone(acknowledged) }
		d.every = 8
		path := filepath.Join(t.TempDir(), "store.db")
		opts := Options{Rand: rand.Reader, VFS: name, Readers: 1}
		for _, c := range change {
			c(&opts)
		}
		db, err := Open(ctx, path, opts)
		if err != nil {
			t.Fatal(err)
		}
		for i := range 25 {
			body := fmt.Sprintf("body-%d-%s", i, strings.Repeat("x", i*97%3000))
			if _, err := insert(db, acme, body); err != nil {
				t.Fatal(err)
			}
			d.mu.Lock()
			acknowledged = append(acknowledged, body)
			d.mu.Unlock()
			if i%9 == 8 {
				if err := db.Scrub(ctx); err != nil {
					t.Fatal(err)
				}
			}
		}
		d.every = 0
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		for _, img := range d.images {
			images++
			if !holds(t, img) {
				lost++
			}
		}
	}
	return images, lost
}

// holds opens an image and says whether it is sound and holds all that was
// acknowledged.
func holds(t *testing.T, img image) bool {
	t.Helper()
	dir := t.TempDir()
	for name, data := range img.files {
		if strings.HasSuffix(name, "-shm") {
			continue
		}
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	db, err := Open(ctx, filepath.Join(dir, "store.db"), Options{Rand: rand.Reader})
	if err != nil {
		return len(img.acked) == 0 && errors.Is(err, ErrNotADatabase)
	}
	defer db.Close()
	if problems, err := db.Check(ctx); err != nil || len(problems) > 0 {
		return false
	}
	there := map[string]bool{}
	if err := db.View(ctx, acme, func(tx *ReadTx) error {
		return tx.Rows(0, func(r *Row) error {
			there[string(r.Body)] = true
			return nil
		})
	}); err != nil {
		return false
	}
	for _, body := range img.acked {
		if !there[body] {
			return false
		}
	}
	return true
}

// TestEveryFailure fails the n-th operation of the disk and all after it, for
// n = 1, 2, … until a run gets through: each failure is an error of the right
// kind, and what was acknowledged before is there afterwards.
func TestEveryFailure(t *testing.T) {
	for kind, want := range map[error]error{sqlite3.IOERR: nil, sqlite3.FULL: ErrStorageFull} {
		step := 1
		if testing.Short() {
			step = 7
		}
		for n := 1; ; n += step {
			d, name := newDisk(t, uint64(n))
			path := filepath.Join(t.TempDir(), "store.db")
			var acknowledged []string
			failed := func() error {
				db, err := Open(ctx, path, Options{Rand: rand.Reader, VFS: name, Readers: 1})
				if err != nil {
					return err
				}
				defer db.Close()
				d.mu.Lock()
				d.ops, d.failAt, d.fail = 0, n, kind
				d.mu.Unlock()
				for i := range 6 {
					body := fmt.Sprintf("body-%d", i)
					if _, err := insert(db, acme, body); err != nil {
						return err
					}
					acknowledged = append(acknowledged, body)
				}
				// An erasure that fails may have happened: the log can be whole although
				// its last sync failed.
				acknowledged = acknowledged[1:]
				if err := db.Update(ctx, acme, func(tx *WriteTx) error { return tx.Erase(1, 1) }); err != nil {
					return err
				}
				return db.Scrub(ctx)
			}()
			d.failAt = 0
			if failed != nil && want != nil && !errors.Is(failed, want) {
				t.Fatalf("failure %d: %v; want %v", n, failed, want)
			}
			db := open(t, path)
			got := bodies(t, db, acme)
			for _, body := range acknowledged {
				if !slices.Contains(got, body) {
					t.Fatalf("failure %d (%v): %s was acknowledged and is lost", n, failed, body)
				}
			}
			if failed == nil {
				if n < 20 {
					t.Fatalf("a run has only %d operations", n)
				}
				break
			}
		}
	}
}

// TestFlippedBits flips single bits of a store: what is read is what was
// written, or it is an error. Without checksums some changes go unseen.
func TestFlippedBits(t *testing.T) {
	trials := 400
	if testing.Short() {
		trials = 60
	}
	if silent := flips(t, trials); silent != 0 {
		t.Errorf("%d flipped bits silently changed an answer", silent)
	}
	if silent := flips(t, 400, func(o *Options) { o.noChecksums = true }); silent == 0 {
		t.Error("without checksums no flipped bit went unseen: the test sees nothing")
	}
}

func flips(t *testing.T, trials int, change ...func(*Options)) (silent int) {
	t.Helper()
	path := temp(t)
	db := open(t, path, change...)
	for i := range 200 {
		if _, err := insert(db, acme, strings.Repeat(fmt.Sprintf("body %d ", i), 1+i%20)); err != nil {
			t.Fatal(err)
		}
	}
	want := bodies(t, db, acme)
	if err := db.Scrub(ctx); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	random := mathrand.New(mathrand.NewPCG(1, 2))
	bad := filepath.Join(t.TempDir(), "bad.db")
	for range trials {
		data := bytes.Clone(good)
		data[random.IntN(len(data))] ^= 1 << random.IntN(8)
		if err := os.WriteFile(bad, data, 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := readAll(bad, change...)
		if err == nil && !slices.Equal(got, want) {
			silent++
		}
	}
	return silent
}

func readAll(path string, change ...func(*Options)) (out []string, err error) {
	o := Options{Rand: rand.Reader}
	for _, c := range change {
		c(&o)
	}
	db, err := Open(ctx, path, o)
	if err != nil {
		return nil, err
	}
	defer db.Close()
	err = db.View(ctx, acme, func(tx *ReadTx) error {
		return tx.Rows(0, func(r *Row) error {
			out = append(out, string(r.Body))
			return nil
		})
	})
	return out, err
}
