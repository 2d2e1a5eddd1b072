//go:build unix

package sqlite

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// TestFilesArePrivate whatever the umask.
func TestFilesArePrivate(t *testing.T) {
	old := unix.Umask(0)
	defer unix.Umask(old)
	path := temp(t)
	db := open(t, path)
	if _, err := insert(db, acme, "x"); err != nil {
		t.Fatal(err)
	}
	if err := db.Backup(ctx, path+".backup"); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(entries) < 4 {
		t.Fatalf("%d files: %v", len(entries), err)
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v (%v)", e.Name(), info.Mode(), err)
		}
	}
	copied := open(t, path+".backup")
	if got := bodies(t, copied, acme); fmt.Sprint(got) != "[x]" {
		t.Errorf("the backup holds %q", got)
	}
	if err := db.Backup(ctx, path+".backup"); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a backup over another file: %v", err)
	}
}

// unprivileged runs TestUnprivileged, of a copy of this program, as another user
// on a store.
func unprivileged(t *testing.T, program, path, want string) {
	t.Helper()
	cmd := exec.Command(program, "-test.run=^TestUnprivileged$", "-test.v")
	cmd.Env = append(os.Environ(), "SQLITE_UNPRIVILEGED="+path, "SQLITE_WANT="+want)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	cmd.Dir = "/"
	out, err := cmd.CombinedOutput()
	if err != nil || !bytes.Contains(out, []byte("PASS: TestUnprivileged")) {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestUnprivileged is what the other user does: it reads, or is refused clearly.
func TestUnprivileged(t *testing.T) {
	path, want := os.Getenv("SQLITE_UNPRIVILEGED"), os.Getenv("SQLITE_WANT")
	if path == "" {
		t.Skip("only as a child process of other tests")
	}
	if db, err := Open(ctx, path, Options{Rand: rand.Reader}); !errors.Is(err, ErrPermission) && !errors.Is(err, ErrReadOnly) {
		t.Errorf("opened for writing: %v, %v", db, err)
	}
	db, err := Open(ctx, path, Options{ReadOnly: true})
	if want == "refused" {
		if !errors.Is(err, ErrPermission) {
			t.Errorf("opened: %v", err)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	if got := bodies(t, db, acme); fmt.Sprint(got) != want {
		t.Errorf("read %q", got)
	}
	if err := db.Close(); err != nil {
		t.Error(err)
	}
}

// TestReadOnlyMedium: where nothing can be written a settled store is read; one
// whose log is not copied yet is refused, for without it the answer would be old.
func TestReadOnlyMedium(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only the superuser can be somebody else")
	}
	shared, err := os.MkdirTemp("", "sqlite-medium-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(shared) })
	program := filepath.Join(shared, "program")
	copyFiles(t, os.Args[0], program)
	settled, logged, hidden := filepath.Join(shared, "settled"), filepath.Join(shared, "logged"), filepath.Join(shared, "hidden")
	db := open(t, filepath.Join(t.TempDir(), "live"))
	if _, err := insert(db, acme, "x"); err != nil {
		t.Fatal(err)
	}
	copyFiles(t, db.path, logged)
	if err := db.Scrub(ctx); err != nil {
		t.Fatal(err)
	}
	copyFiles(t, db.path, settled)
	copyFiles(t, db.path, hidden)
	if err := os.Remove(settled + "-wal"); err != nil {
		t.Fatal(err)
	}
	for path, mode := range map[string]fs.FileMode{settled: 0o444, logged: 0o444, logged + "-wal": 0o444, hidden: 0o400, program: 0o555, shared: 0o555} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
	unprivileged(t, program, settled, "[x]")
	unprivileged(t, program, logged, "refused")
	unprivileged(t, program, hidden, "refused")
}
