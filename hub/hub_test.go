package hub

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const commit = "0123456789abcdef0123456789abcdef01234567"

var bank = bytes.Repeat([]byte("BANK"), 1516) // 6,064 bytes

func ExampleParseReference() {
	ref, err := ParseReference("acme/banks@" + commit + "/v2/dialogue.bank")
	fmt.Println(ref.Repository, ref.File, err)
	// Output: acme/banks v2/dialogue.bank <nil>
}

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

func check(data []byte) error {
	if !bytes.HasPrefix(data, []byte("BANK")) || len(data) != len(bank) {
		return errors.New("wrong magic")
	}
	return nil
}

func fetch(t *testing.T, hub string, content []byte, dir string, change func(*Options)) (string, error) {
	t.Helper()
	ref, err := ParseReference("acme/banks@" + commit + "/dialogue.bank")
	if err != nil {
		t.Fatal(err)
	}
	o := Options{Hub: hub, SHA256: digest(content), MaxBytes: 6064, Check: check, Token: "secret", Timeout: 5 * time.Second}
	if change != nil {
		change(&o)
	}
	return Fetch(context.Background(), ref, dir, o)
}

func serve(t *testing.T, handler http.HandlerFunc) string {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return server.URL
}

func TestFetch(t *testing.T) {
	hub := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/acme/banks/resolve/"+commit+"/dialogue.bank" || r.Header.Get("Authorization") != "Bearer secret" {
			t.Errorf("asked for %s with %q", r.URL, r.Header.Get("Authorization"))
		}
		_, _ = w.Write(bank)
	})
	dir := filepath.Join(t.TempDir(), "banks")
	path, err := fetch(t, hub, bank, dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	if data, err := os.ReadFile(path); err != nil || !bytes.Equal(data, bank) {
		t.Errorf("stored %d bytes, %v", len(data), err)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	entries, _ := os.ReadDir(dir)
	if len(entries) != 1 {
		t.Errorf("%d files are left", len(entries))
	}
	if again, err := fetch(t, "https://127.0.0.1:1", bank, dir, nil); err != nil || again != path {
		t.Errorf("a file that is there was fetched again: %v", err)
	}
}

// TestReferences: what could move, leave the folder or name another host is refused.
func TestReferences(t *testing.T) {
	for _, text := range []string{
		"", "a", "a/b", "a/b@main/f", "a/b@" + commit, "a/b@" + commit + "/", "a/b@" + commit + "/../f", "a/b@" + commit + "/x/../../f",
		"a/b@" + commit + "//f", "a/b@" + commit + "/.hidden", "a/b@" + strings.ToUpper(commit) + "/f", "a/b@" + commit[:39] + "/f",
		"../b@" + commit + "/f", "a/b/c@" + commit + "/f", "a/b@" + commit + "/f%2f..", "a/b@" + commit + "/f?x", "a/b@" + commit + "/f#x",
		"a/b@" + commit + `/f\g`, "a/b@" + commit + "/f\x00", "evil.example:80/b@" + commit + "/f", "a/b@" + commit + "/a..b",
	} {
		if ref, err := ParseReference(text); !errors.Is(err, ErrReference) {
			t.Errorf("%q was read as %+v", text, ref)
		}
	}
}

// TestRefused: whatever is not the bank that was asked for leaves no file of its name.
func TestRefused(t *testing.T) {
	page := []byte("<html>error</html>")
	elf := append([]byte("\x7fELF"), bank[4:]...)
	for name, c := range map[string]struct {
		handler http.HandlerFunc
		content []byte // whose digest is asked for
		want    error
	}{
		"error page":     {func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(page) }, bank, ErrDigest},
		"page as bank":   {func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(page) }, page, ErrNotABank},
		"ELF as bank":    {func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(elf) }, elf, ErrNotABank},
		"announced long": {func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(append(bank, 0)) }, bank, ErrTooLarge},
		"endless": {func(w http.ResponseWriter, _ *http.Request) {
			for range 100 {
				_, _ = w.Write(bank)
				w.(http.Flusher).Flush()
			}
		}, bank, ErrTooLarge},
		"changed byte": {func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(append([]byte("BANk"), bank[4:]...)) }, bank, ErrDigest},
		"cut": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "6064")
			_, _ = w.Write(bank[:100])
		}, bank, nil},
		"not found": {http.NotFound, bank, nil},
		"loop":      {func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, r.URL.Path, http.StatusFound) }, bank, ErrRedirects},
		"to cleartext": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://hub.example/", http.StatusFound)
		}, bank, ErrInsecure},
		"to a file": {func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Location", "file:///etc/passwd")
			w.WriteHeader(302)
		}, bank, ErrInsecure},
		"to user info": {func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Location", "http://a:b@127.0.0.1/")
			w.WriteHeader(307)
		}, bank, ErrInsecure},
	} {
		dir := t.TempDir()
		_, err := fetch(t, serve(t, c.handler), c.content, dir, nil)
		if err == nil || c.want != nil && !errors.Is(err, c.want) {
			t.Errorf("%s: %v; want %v", name, err, c.want)
		}
		if err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: the token is in the error: %v", name, err)
		}
		if _, err := os.Stat(filepath.Join(dir, "dialogue.bank")); err == nil {
			t.Errorf("%s: a file was stored", name)
		}
	}
}

func TestHubsThatAreNotSecure(t *testing.T) {
	for _, hub := range []string{"http://hub.example", "http://localhost.evil.example", "ftp://127.0.0.1", "https://u:p@hub.example", "", "hub.example", "http://127.0.0.1.evil.example", "http://2130706433"} {
		if _, err := fetch(t, hub, bank, t.TempDir(), nil); err == nil {
			t.Errorf("%q was spoken to", hub)
		}
	}
}

// TestTokenStaysAtItsOrigin across redirects to another port, which is another origin.
func TestTokenStaysAtItsOrigin(t *testing.T) {
	other := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "" {
			t.Error("another origin saw the token")
		}
		_, _ = w.Write(bank)
	})
	for _, code := range []int{301, 302, 303, 307, 308} {
		hub := serve(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, other+"/blob", code) })
		if _, err := fetch(t, hub, bank, t.TempDir(), nil); err != nil {
			t.Errorf("%d: %v", code, err)
		}
	}
}

func TestResume(t *testing.T) {
	for _, ranges := range []bool{true, false} {
		calls := 0
		hub := serve(t, func(w http.ResponseWriter, r *http.Request) {
			calls++
			if calls == 1 {
				w.Header().Set("Content-Length", "6064")
				_, _ = w.Write(bank[:1000])
				return
			}
			if r.Header.Get("Range") == "" {
				t.Error("the second request does not go on")
			}
			if !ranges {
				r.Header.Del("Range")
			}
			http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(bank))
		})
		dir := t.TempDir()
		if _, err := fetch(t, hub, bank, dir, nil); err == nil {
			t.Fatal("a cut download succeeded")
		}
		path, err := fetch(t, hub, bank, dir, nil)
		if err != nil {
			t.Fatal(err)
		}
		if data, _ := os.ReadFile(path); !bytes.Equal(data, bank) {
			t.Error("the parts do not make the whole")
		}
	}
}

// TestSymlinks: neither the file nor its part is written through one.
func TestSymlinks(t *testing.T) {
	hub := serve(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(bank) })
	for _, name := range []string{"dialogue.bank", "." + digest(bank) + ".part"} {
		dir, outside := t.TempDir(), filepath.Join(t.TempDir(), "victim")
		if err := os.WriteFile(outside, []byte("precious"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(outside, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
		if _, err := fetch(t, hub, bank, dir, nil); !errors.Is(err, ErrTarget) {
			t.Errorf("%s: %v", name, err)
		}
		if data, _ := os.ReadFile(outside); string(data) != "precious" {
			t.Errorf("%s: the target of the link was written", name)
		}
	}
}
