// Package hub fetches policy banks from a model hub: data, never code.
//
// A bank is named by repository, full commit and file, and by its SHA-256:
//
//	owner/name@0123456789abcdef0123456789abcdef01234567/dialogue.bank
//
// and is read from {hub}/owner/name/resolve/{commit}/{file}, the layout that
// model hubs share. Only https is spoken (cleartext on loopback, for tests).
// Redirects are followed by hand, at most five; the token goes to the hub's own
// origin only. The size is limited before and while reading, the digest is
// checked before the file gets its name, and the caller's strict reader before
// that: an archive, a script, a pickle or an error page is never stored under
// the bank's name. An interrupted download goes on where it stopped.
package hub

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"path"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Reference names a file of a repository at one commit.
type Reference struct {
	Repository string // owner/name
	Revision   string // 40 hexadecimal digits; a branch or a tag can move and is refused
	File       string // path in the repository
}

// What may be wrong.
var (
	ErrReference = errors.New("a bank is named owner/name@COMMIT/FILE, with a full commit of 40 hexadecimal digits")
	ErrInsecure  = errors.New("only https is spoken")
	ErrTooLarge  = errors.New("larger than a bank can be")
	ErrDigest    = errors.New("the SHA-256 is not the one that was asked for")
	ErrNotABank  = errors.New("not a policy bank")
	ErrRedirects = errors.New("too many redirects")
	ErrTarget    = errors.New("the target folder holds something else of that name")
)

var (
	repositoryForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,95}/[A-Za-z0-9][A-Za-z0-9._-]{0,95}$`)
	revisionForm   = regexp.MustCompile(`^[0-9a-f]{40}$`)
	fileForm       = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,95}(/[A-Za-z0-9][A-Za-z0-9._-]{0,95}){0,7}$`)
	digestForm     = regexp.MustCompile(`^[0-9a-f]{64}$`)
)

// ParseReference reads owner/name@COMMIT/FILE.
func ParseReference(text string) (Reference, error) {
	repository, rest, ok := strings.Cut(text, "@")
	revision, file, ok2 := strings.Cut(rest, "/")
	if !ok || !ok2 || !repositoryForm.MatchString(repository) || !revisionForm.MatchString(revision) || !fileForm.MatchString(file) || strings.Contains(text, "..") {
		return Reference{}, ErrReference
	}
	return Reference{repository, revision, file}, nil
}

// Options say how to fetch.
type Options struct {
	Hub       string             // the hub's base URL
	Token     string             // optional bearer token, for the hub's own origin
	SHA256    string             // of the file: 64 hexadecimal digits
	MaxBytes  int64              // at most this long
	Check     func([]byte) error // the strict reader of what is fetched
	Transport http.RoundTripper  // default: as http.DefaultTransport, without proxies
	Timeout   time.Duration      // of the whole download; default one minute
}

const maxRedirects = 5

// Fetch stores the file in the folder dir under its own last name and returns
// its path. A file that is there already with the right digest is not fetched.
func Fetch(ctx context.Context, ref Reference, dir string, o Options) (string, error) {
	base, err := checkOptions(o)
	if err != nil {
		return "", err
	}
	if o.Timeout == 0 {
		o.Timeout = time.Minute
	}
	ctx, cancel := context.WithTimeout(ctx, o.Timeout)
	defer cancel()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	// Nothing below goes through a symlink that leads out of the folder.
	root, err := os.OpenRoot(dir)
	if err != nil {
		return "", err
	}
	f := fetcher{options: o, origin: base, root: root, name: path.Base(ref.File), part: "." + o.SHA256 + ".part"}
	err = f.run(ctx, base.JoinPath(ref.Repository, "resolve", ref.Revision, ref.File))
	if err = errors.Join(err, root.Close()); err != nil {
		return "", fmt.Errorf("fetch %s: %w", ref.File, err)
	}
	return dir + string(os.PathSeparator) + f.name, nil
}

func checkOptions(o Options) (*url.URL, error) {
	if !digestForm.MatchString(o.SHA256) {
		return nil, fmt.Errorf("the SHA-256 must be given as 64 hexadecimal digits: %w", ErrDigest)
	}
	if o.MaxBytes <= 0 || o.Check == nil {
		return nil, errors.New("a size limit and a reader are needed")
	}
	base, err := url.Parse(o.Hub)
	if err != nil || base.Host == "" || base.User != nil {
		return nil, errors.New("the hub's address is no URL such as https://hub.example")
	}
	return base, checkScheme(base)
}

// checkScheme lets https pass, and cleartext to this machine's own addresses.
func checkScheme(u *url.URL) error {
	if u.Scheme == "https" {
		return nil
	}
	if address, err := netip.ParseAddr(u.Hostname()); u.Scheme == "http" && err == nil && address.IsLoopback() {
		return nil
	}
	return fmt.Errorf("%s://%s: %w", u.Scheme, u.Host, ErrInsecure)
}

// fetcher is one download.
type fetcher struct {
	options    Options
	origin     *url.URL
	root       *os.Root
	name, part string
}

func (f *fetcher) run(ctx context.Context, from *url.URL) error {
	if there, err := f.present(); there || err != nil {
		return err
	}
	have, err := f.resumable()
	if err != nil {
		return err
	}
	if err := f.download(ctx, from, have); err != nil {
		return err
	}
	return f.finish()
}

// present says whether the file is there already.
func (f *fetcher) present() (bool, error) {
	info, err := f.root.Lstat(f.name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if !info.Mode().IsRegular() || info.Size() > f.options.MaxBytes {
		return false, ErrTarget
	}
	data, err := f.root.ReadFile(f.name)
	if err != nil {
		return false, err
	}
	if !f.matches(data) {
		return false, ErrTarget
	}
	return true, nil
}

func (f *fetcher) matches(data []byte) bool {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:]) == f.options.SHA256
}

// resumable returns how much an interrupted download left.
func (f *fetcher) resumable() (int64, error) {
	info, err := f.root.Lstat(f.part)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	if !info.Mode().IsRegular() {
		return 0, ErrTarget
	}
	if info.Size() > f.options.MaxBytes {
		return 0, f.root.Remove(f.part)
	}
	return info.Size(), nil
}

// download appends what is missing to the partial file.
func (f *fetcher) download(ctx context.Context, from *url.URL, have int64) error {
	response, err := f.get(ctx, from, have)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	flags := os.O_WRONLY | os.O_CREATE | os.O_APPEND
	switch {
	case response.StatusCode == http.StatusRequestedRangeNotSatisfiable && have > 0:
		return nil // it was complete; the digest decides
	case response.StatusCode == http.StatusPartialContent && have > 0 && continues(response, have):
	case response.StatusCode == http.StatusOK:
		have, flags = 0, flags|os.O_TRUNC
	default:
		return fmt.Errorf("the hub answered %s", response.Status)
	}
	left := f.options.MaxBytes - have
	if response.ContentLength > left {
		return ErrTooLarge
	}
	file, err := f.root.OpenFile(f.part, flags, 0o600)
	if err != nil {
		return err
	}
	n, err := io.Copy(file, io.LimitReader(response.Body, left+1))
	if err == nil {
		err = file.Sync()
	}
	err = errors.Join(err, file.Close())
	if n > left {
		return errors.Join(ErrTooLarge, f.root.Remove(f.part))
	}
	return err
}

func continues(response *http.Response, have int64) bool {
	return strings.HasPrefix(response.Header.Get("Content-Range"), "bytes "+strconv.FormatInt(have, 10)+"-")
}

// get follows redirects by hand, so that nothing but this loop decides where
// the token goes.
func (f *fetcher) get(ctx context.Context, at *url.URL, have int64) (*http.Response, error) {
	transport := f.options.Transport
	if transport == nil {
		transport = &http.Transport{TLSHandshakeTimeout: 10 * time.Second, ResponseHeaderTimeout: 30 * time.Second, MaxResponseHeaderBytes: 64 << 10}
	}
	for range maxRedirects + 1 {
		if err := checkScheme(at); err != nil {
			return nil, err
		}
		if at.User != nil {
			return nil, fmt.Errorf("a redirect holds a user name: %w", ErrInsecure)
		}
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, at.String(), nil)
		if err != nil {
			return nil, err
		}
		request.Header.Set("User-Agent", "grounded-memory")
		request.Header.Set("Accept-Encoding", "identity")
		if have > 0 {
			request.Header.Set("Range", "bytes="+strconv.FormatInt(have, 10)+"-")
		}
		if f.options.Token != "" && at.Scheme == f.origin.Scheme && at.Host == f.origin.Host {
			request.Header.Set("Authorization", "Bearer "+f.options.Token)
		}
		response, err := transport.RoundTrip(request)
		if err != nil {
			return nil, err
		}
		location := response.Header.Get("Location")
		if response.StatusCode < 300 || response.StatusCode > 399 || location == "" {
			return response, nil
		}
		response.Body.Close()
		if at, err = at.Parse(location); err != nil {
			return nil, err
		}
	}
	return nil, ErrRedirects
}

// finish checks the whole file and gives it its name.
func (f *fetcher) finish() error {
	data, err := f.root.ReadFile(f.part)
	if err != nil {
		return err
	}
	if !f.matches(data) {
		return errors.Join(ErrDigest, f.root.Remove(f.part))
	}
	if err := f.options.Check(data); err != nil {
		return errors.Join(fmt.Errorf("%w: %w", ErrNotABank, err), f.root.Remove(f.part))
	}
	return f.root.Rename(f.part, f.name)
}
