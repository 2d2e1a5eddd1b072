package httpapi_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/grounded-memory/grounded"
	"github.com/grounded-memory/grounded/httpapi"
	"github.com/grounded-memory/grounded/internal/operation"
)

func allMethods() []string {
	return []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT", "PROPFIND", "x"}
}

func allPaths() []string {
	paths := []string{
		"/", "/v1", "/v1/", "/v1/no_such", "/v1/stats/", "/v1//stats", "//v1/stats", "/v1/../v1/stats", "/V1/stats", "/v1/Stats", "/v1/%73tats/..",
		"/mcp", "/mcp/", "/mcp/x", "/metrics", "/metrics/", "/openapi.json", "/favicon.ico", "/healthz/", "/healthz/x", "/debug/pprof/", "/.well-known/oauth-protected-resource",
	}
	for _, op := range operation.All() {
		paths = append(paths, "/v1/"+op.Name)
	}
	return paths
}

// TestS30_NoTokenIs401 covers every method and path, known or not, and every
// way not to have a token. All answers are the same.
func TestS30_NoTokenIs401(t *testing.T) {
	fake := new(fakeService)
	s := newServiceOf(t, fake, func(o *httpapi.Options) { o.MCP = http.NotFoundHandler() })
	for _, method := range allMethods() {
		for _, path := range allPaths() {
			r := s.request(method, path, "")
			r.Header.Del("Authorization")
			w := s.do(r)
			if w.Code != http.StatusUnauthorized || w.Header().Get("WWW-Authenticate") != `Bearer realm="grounded"` {
				t.Errorf("%s %s: status %d, WWW-Authenticate %q", method, path, w.Code, w.Header().Get("WWW-Authenticate"))
			}
		}
	}
	if fake.count() != 0 {
		t.Errorf("%d operations were called", fake.count())
	}
}

// malformedAuthorizations are headers that must not be taken for a secret.
func malformedAuthorizations(secret string) map[string][]string {
	return map[string][]string{
		"none":                  nil,
		"empty":                 {""},
		"scheme only":           {"Bearer"},
		"scheme and space":      {"Bearer "},
		"null":                  {"Bearer null"},
		"undefined":             {"Bearer undefined"},
		"lower-case scheme":     {"bearer " + secret},
		"upper-case scheme":     {"BEARER " + secret},
		"no scheme":             {secret},
		"other scheme":          {"Basic " + secret},
		"two spaces":            {"Bearer  " + secret},
		"tab":                   {"Bearer\t" + secret},
		"space after":           {"Bearer " + secret + " "},
		"space before":          {" Bearer " + secret},
		"comma list":            {"Bearer x, Bearer " + secret},
		"comma after":           {"Bearer " + secret + ","},
		"quoted":                {`Bearer "` + secret + `"`},
		"parameter":             {"Bearer token=" + secret},
		"prefix of it":          {"Bearer " + secret[:len(secret)-1]},
		"suffix of it":          {"Bearer " + secret[1:]},
		"longer than it":        {"Bearer " + secret + "A"},
		"other case":            {"Bearer " + strings.ToUpper(secret)},
		"NUL":                   {"Bearer " + secret + "\x00"},
		"one wrong letter":      {"Bearer " + secret[:len(secret)-1] + "!"},
		"a mebibyte":            {"Bearer " + strings.Repeat("a", 1<<20)},
		"two headers":           {"Bearer " + secret, "Bearer " + secret},
		"two headers, one good": {"Bearer x", "Bearer " + secret},
		"its hash":              {"Bearer 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"},
	}
}

func TestMalformedAuthorizationsAllLookTheSame(t *testing.T) {
	s := newService(t, func(o *httpapi.Options) {
		o.Rand = strings.NewReader("") // no request ids: all headers are comparable
	})
	want := ""
	for name, headers := range malformedAuthorizations(s.secrets["admin"]) {
		r := s.request(http.MethodPost, "/v1/stats", "{}")
		r.Header["Authorization"] = headers
		w := s.do(r)
		got := fmt.Sprint(w.Code, w.Header(), w.Body)
		if w.Code != http.StatusUnauthorized {
			t.Errorf("%s: status %d", name, w.Code)
		}
		if want == "" {
			want = got
		}
		if got != want {
			t.Errorf("%s: %s\nwant %s", name, got, want)
		}
	}
	// The control: the same header, well formed.
	if w := s.post("stats", "{}"); w.Code != http.StatusOK {
		t.Errorf("a good token: status %d", w.Code)
	}
	// Nowhere else is a token looked for.
	r := s.request(http.MethodPost, "/v1/stats?access_token="+s.secrets["admin"], "{}")
	r.Header.Del("Authorization")
	r.Header.Set("X-Api-Key", s.secrets["admin"])
	r.Header.Set("Cookie", "token="+s.secrets["admin"])
	r.Header.Set("X-Forwarded-Authorization", "Bearer "+s.secrets["admin"])
	r.SetBasicAuth("token", s.secrets["admin"])
	wantError(t, s.do(r), http.StatusUnauthorized, grounded.Unauthenticated)
}

func TestRoles(t *testing.T) {
	s := newService(t)
	for _, op := range operation.All() {
		for _, role := range []string{"read", "write", "admin"} {
			r := s.request(http.MethodPost, "/v1/"+op.Name, "{")
			r.Header.Set("Authorization", "Bearer "+s.secrets[role])
			w := s.do(r)
			has, _ := operation.ParseRole(role)
			if has >= op.Role {
				wantError(t, w, http.StatusBadRequest, grounded.InvalidArgument)
			} else {
				wantError(t, w, http.StatusForbidden, grounded.PermissionDenied)
			}
		}
	}
	for _, path := range []string{"/metrics", "/openapi.json"} {
		r := s.request(http.MethodGet, path, "")
		r.Header.Set("Authorization", "Bearer "+s.secrets["read"])
		if w := s.do(r); w.Code != http.StatusOK {
			t.Errorf("%s with a read token: status %d", path, w.Code)
		}
	}
}

// TestS46_RevokedTokenIsRefusedAtOnce also checks that nothing secret is in the file.
func TestS46_RevokedTokenIsRefusedAtOnce(t *testing.T) {
	s := newService(t)
	for range 20 { // within the coarsest clock of a file system, over and over
		secret, token, err := httpapi.AddToken(s.tokens, "write", time.Now(), time.Time{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		s.secrets["write"] = secret
		if w := s.post("stats", "{}"); w.Code != http.StatusOK {
			t.Fatalf("a new token: status %d", w.Code)
		}
		data, err := os.ReadFile(s.tokens)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(data), secret[:20]) || strings.Contains(string(data), secret[len(secret)-20:]) {
			t.Fatal("the file holds a secret")
		}
		if err := httpapi.RevokeToken(s.tokens, token.ID); err != nil {
			t.Fatal(err)
		}
		wantError(t, s.post("stats", "{}"), http.StatusUnauthorized, grounded.Unauthenticated)
	}
}

// TestSameSizeChangeIsSeen swaps the file in place for one of the same size.
func TestSameSizeChangeIsSeen(t *testing.T) {
	s := newService(t)
	if w := s.post("stats", "{}"); w.Code != http.StatusOK {
		t.Fatal(w.Code)
	}
	data, err := os.ReadFile(s.tokens)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(data), "\n")
	swapped := strings.NewReplacer(`"sha256":"0`, `"sha256":"1`, `"sha256":"`+hashOf(lines[1])[:1], `"sha256":"`+other(hashOf(lines[1])[:1])).Replace(lines[1])
	lines[1] = swapped
	if err := os.WriteFile(s.tokens, []byte(strings.Join(lines, "")), 0o600); err != nil {
		t.Fatal(err)
	}
	wantError(t, s.post("stats", "{}"), http.StatusUnauthorized, grounded.Unauthenticated)
}

func hashOf(line string) string {
	_, rest, _ := strings.Cut(line, `"sha256":"`)
	return rest[:64]
}

func other(digit string) string {
	if digit == "f" {
		return "e"
	}
	return "f"
}

func TestExpiredTokenIsRefused(t *testing.T) {
	now := time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)
	s := newService(t, func(o *httpapi.Options) { o.Clock = func() time.Time { return now } })
	secret, _, err := httpapi.AddToken(s.tokens, "write", now, now.Add(time.Hour), nil)
	if err != nil {
		t.Fatal(err)
	}
	s.secrets["write"] = secret
	now = now.Add(time.Hour - time.Second)
	if w := s.post("stats", "{}"); w.Code != http.StatusOK {
		t.Errorf("a second before: status %d", w.Code)
	}
	now = now.Add(time.Second)
	wantError(t, s.post("stats", "{}"), http.StatusUnauthorized, grounded.Unauthenticated)
	if _, _, err := httpapi.AddToken(s.tokens, "read", now, now, nil); err == nil {
		t.Error("a token that has expired already was made")
	}
}

// TestUnusableTokenFileAdmitsNobody: a file that cannot be trusted must not
// leave the tokens of before in force.
func TestUnusableTokenFileAdmitsNobody(t *testing.T) {
	spoil := map[string]func(path string) error{
		"gone":           os.Remove,
		"others read it": func(path string) error { return os.Chmod(path, 0o640) },
		"others write":   func(path string) error { return os.Chmod(path, 0o602) },
		"half written":   func(path string) error { return os.WriteFile(path, []byte(`{"id":"a","role":"admin"`), 0o600) },
		"unknown role": func(path string) error {
			return os.WriteFile(path, []byte(`{"id":"a","role":"root","sha256":"`+strings.Repeat("a", 64)+`","created":"2026-01-01T00:00:00Z"}`), 0o600)
		},
		"a folder": func(path string) error { return replaceByFolder(path) },
	}
	for name, spoil := range spoil {
		t.Run(name, func(t *testing.T) {
			s := newService(t)
			if w := s.post("stats", "{}"); w.Code != http.StatusOK {
				t.Fatal(w.Code)
			}
			if err := spoil(s.tokens); err != nil {
				t.Fatal(err)
			}
			w := s.post("stats", "{}")
			wantError(t, w, http.StatusServiceUnavailable, grounded.Unavailable)
			if w := s.do(s.request("GET", "/readyz", "")); w.Code != http.StatusServiceUnavailable {
				t.Errorf("readyz: status %d", w.Code)
			}
			tokens, err := httpapi.OpenTokens(s.tokens)
			if err == nil {
				_, err = httpapi.New(new(fakeService), httpapi.Options{Tokens: tokens})
			}
			if err == nil {
				t.Error("a service starts with it")
			}
		})
	}
}

func replaceByFolder(path string) error {
	if err := os.Remove(path); err != nil {
		return err
	}
	return os.Mkdir(path, 0o700)
}

func TestNoTokenNoService(t *testing.T) {
	if _, err := httpapi.New(new(fakeService), httpapi.Options{}); err == nil {
		t.Error("a service without tokens")
	}
	path := filepath.Join(t.TempDir(), "tokens")
	if _, err := httpapi.OpenTokens(path); err == nil {
		t.Error("no file")
	}
	if err := os.WriteFile(path, []byte("\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := httpapi.OpenTokens(path); err == nil {
		t.Error("an empty file")
	}
	long := time.Now().Add(-time.Hour)
	if _, _, err := httpapi.AddToken(path, "read", long, long.Add(time.Minute), nil); err != nil {
		t.Fatal(err)
	}
	tokens, err := httpapi.OpenTokens(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := httpapi.New(new(fakeService), httpapi.Options{Tokens: tokens}); err == nil {
		t.Error("only expired tokens")
	}
	if _, _, err := httpapi.AddToken(path, "root", time.Now(), time.Time{}, nil); err == nil {
		t.Error("an unknown role")
	}
	if err := httpapi.RevokeToken(path, "nobody"); err == nil {
		t.Error("revoked what is not there")
	}
	if _, err := os.Stat(path + ".new"); !os.IsNotExist(err) {
		t.Errorf("a file stayed behind: %v", err)
	}
}

// TestChangesDoNotMeet: of programs that change the file at once, each change
// stands or is refused; none is lost.
func TestChangesDoNotMeet(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tokens")
	made := make(chan bool, 40)
	for range cap(made) {
		go func() {
			_, _, err := httpapi.AddToken(path, "read", time.Now(), time.Time{}, nil)
			made <- err == nil
		}()
	}
	want := 0
	for range cap(made) {
		if <-made {
			want++
		}
	}
	tokens, err := httpapi.ListTokens(path)
	if err != nil || len(tokens) != want || want == 0 {
		t.Errorf("%d tokens (%v), want %d", len(tokens), err, want)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
}
