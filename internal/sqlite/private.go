package sqlite

import (
	"errors"
	"io/fs"
	"os"
	"sync"

	"github.com/ncruces/go-sqlite3/vfs"
)

// private is the operating system's files, each created with mode 0600 whatever
// the umask: a file is made with its mode before the driver, which would make it
// readable to others, opens it.
type private struct{ vfs.VFSFilename }

// privateVFS registers the file system, once, and returns its name. SQLite's
// registry of file systems belongs to the process.
var privateVFS = sync.OnceValue(func() string {
	const name = "grounded"
	system, ok := vfs.Find("os").(vfs.VFSFilename)
	if !ok {
		return "os"
	}
	vfs.Register(name, private{system})
	return name
})

const filesOfOwner = 0o600

// OpenFilename creates the file, if it is to be created, and opens it.
func (p private) OpenFilename(name *vfs.Filename, flags vfs.OpenFlag) (vfs.File, vfs.OpenFlag, error) {
	if path := name.String(); path != "" && flags&vfs.OPEN_CREATE != 0 {
		makePrivate(path)
		if flags&vfs.OPEN_MAIN_DB != 0 {
			makePrivate(path + "-shm")
		}
	}
	file, got, err := p.VFSFilename.OpenFilename(name, flags)
	if err == nil && flags&vfs.OPEN_MAIN_DB != 0 {
		file = &mainFile{File: file}
	}
	return file, got, err
}

// makePrivate makes an empty file of the owner's, or leaves what is there. If it
// cannot, opening the file will say why.
func makePrivate(path string) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, filesOfOwner)
	if err != nil {
		if errors.Is(err, fs.ErrExist) {
			tighten(path)
		}
		return
	}
	_ = file.Chmod(filesOfOwner) // a umask can only have taken from it
	_ = file.Close()
}

// tighten takes others' rights from a file that is there, as far as it is ours.
func tighten(path string) {
	if info, err := os.Lstat(path); err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o077 != 0 {
		_ = os.Chmod(path, info.Mode().Perm()&^0o077)
	}
}
