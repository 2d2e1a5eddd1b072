package demo

import (
	"context"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/grounded-memory/grounded"
)

// TestSpaceOnlyShows: every route by every method; nothing but GET and HEAD of
// the fixed files is answered, and no answer depends on what a visitor sends.
func TestSpaceOnlyShows(t *testing.T) {
	handler, err := Space()
	if err != nil {
		t.Fatal(err)
	}
	site, err := Site()
	if err != nil {
		t.Fatal(err)
	}
	if len(site) != 11 {
		t.Errorf("%d files; nine cases, an index and a style sheet are expected", len(site))
	}
	total := 0
	paths := []string{"/", "/v1/remember", "/v1/query", "/mcp", "/api/list", "/../cases.json", "/cases.json", "/assets/pages.html", "/%2e%2e/x"}
	for name, data := range site {
		total += len(data)
		paths = append(paths, "/"+name)
	}
	if total > 300_000 {
		t.Errorf("the site has %d bytes", total)
	}
	for _, path := range paths {
		for _, method := range []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT", "PROPFIND"} {
			w := httptest.NewRecorder()
			handler.ServeHTTP(w, httptest.NewRequest(method, path+"?x=<script>", strings.NewReader("body")))
			_, known := site[strings.TrimPrefix(path, "/")]
			want := http.StatusMethodNotAllowed
			if method == "GET" || method == "HEAD" {
				want = http.StatusNotFound
				if known || path == "/" {
					want = http.StatusOK
				}
			}
			if w.Code != want {
				t.Errorf("%s %s: %d, want %d", method, path, w.Code, want)
			}
			if csp := w.Header().Get("Content-Security-Policy"); !strings.Contains(csp, "default-src 'none'") || strings.Contains(csp, "unsafe") || w.Header().Get("Set-Cookie") != "" {
				t.Errorf("%s %s: policy %q", method, path, csp)
			}
			if strings.Contains(w.Body.String(), "<script") {
				t.Errorf("%s %s: a script", method, path)
			}
		}
	}
}

func TestExport(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "site")
	if err := Export(dir); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"index.html", "style.css", "join.html"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	}
}

const hostile = `"><script>alert(1)</script><img src=x onerror=alert(1)> ]]> {{.}} </svg></textarea>` + " \u202e x"

// inspect serves an inspector over a store full of hostile text, and a browser
// that has used its address.
func inspect(t *testing.T) (*http.Client, *Inspector, string) {
	t.Helper()
	ctx := context.Background()
	store, err := grounded.Open(ctx, filepath.Join(t.TempDir(), "s.db"), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	m, err := store.Scope("acme", "team")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Write(ctx, &grounded.WriteRequest{Writes: []grounded.WriteItem{
		{Remember: &grounded.RememberRequest{Entity: "x" + hostile, Predicate: "is", Value: "1" + hostile, Source: "a" + hostile}},
		{Remember: &grounded.RememberRequest{Entity: "x" + hostile, Predicate: "is", Value: "2", Source: "b"}},
		{Note: &grounded.NoteRequest{Text: "note " + hostile, Source: "c", Title: hostile, Speaker: hostile, Session: hostile, TTL: grounded.TTL(1 << 60)}},
		{RememberBridge: &grounded.RememberBridgeRequest{Phrase: "k8s", Target: "note " + hostile, Source: "d"}},
	}}); err != nil {
		t.Fatal(err)
	}
	i, err := NewInspector(m, hostile)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(i)
	t.Cleanup(server.Close)
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &http.Client{Jar: jar}, i, strings.TrimPrefix(server.URL, "http://")
}

func get(t *testing.T, c *http.Client, address string) (int, string) {
	t.Helper()
	response, err := c.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(body)
}

// TestInspector walks every page: each is there, shows its records, and lets no
// text of theirs out of its place.
func TestInspector(t *testing.T) {
	c, i, host := inspect(t)
	if code, _ := get(t, c, "http://"+host+"/records"); code != http.StatusUnauthorized {
		t.Errorf("without a token: %d", code)
	}
	address := i.Address(host)
	if code, body := get(t, c, address); code != http.StatusOK || !strings.Contains(body, "r1") {
		t.Fatalf("the first address: %d", code)
	}
	if code, _ := get(t, &http.Client{}, address); code != http.StatusUnauthorized {
		t.Errorf("the address works twice: %d", code)
	}
	for path, want := range map[string]string{
		"/records": "r3", "/records?kind=bridge": "r4", "/record/r1": "eligible", "/contradictions": "r2", "/expiring": "r3",
		"/query?q=%5B%22%3Fx%22%2C%22is%22%2C%22%3Fy%22%5D": "conflict", "/recall?q=k8s": "related", "/verify": "certificate", "/query?q=nonsense": "invalid_argument",
	} {
		code, body := get(t, c, "http://"+host+path)
		if code != http.StatusOK || !strings.Contains(body, want) {
			t.Errorf("%s: %d, and no %q", path, code, want)
		}
		if strings.Contains(body, "<script") || strings.Contains(body, "<img") || strings.Contains(body, "onerror=alert(1)>") && !strings.Contains(body, "onerror=alert(1)&gt;") {
			t.Errorf("%s: record text is markup", path)
		}
	}
	if code, _ := get(t, c, "http://"+host+"/record/r99"); code != http.StatusNotFound {
		t.Errorf("a record that is not there: %d", code)
	}
}

// TestInspectorIsForThisMachine: other hosts, other sites and writes are refused.
func TestInspectorIsForThisMachine(t *testing.T) {
	_, i, host := inspect(t)
	for name, change := range map[string]func(*http.Request){
		"another host":   func(r *http.Request) { r.Host = "evil.example:80" },
		"rebound host":   func(r *http.Request) { r.Host = "127.0.0.1.evil.example:80" },
		"no port":        func(r *http.Request) { r.Host = "localhost" },
		"another origin": func(r *http.Request) { r.Header.Set("Origin", "http://evil.example") },
		"another site":   func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") },
		"same site":      func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "same-site") },
	} {
		r := httptest.NewRequest("GET", i.Address(host), nil)
		r.Host = host
		change(r)
		w := httptest.NewRecorder()
		i.ServeHTTP(w, r)
		if w.Code != http.StatusForbidden {
			t.Errorf("%s: %d", name, w.Code)
		}
	}
	for _, method := range []string{"PUT", "DELETE", "PATCH", "OPTIONS"} {
		w := httptest.NewRecorder()
		i.ServeHTTP(w, httptest.NewRequest(method, "/records", nil))
		if w.Code != http.StatusMethodNotAllowed {
			t.Errorf("%s: %d", method, w.Code)
		}
	}
}

// TestInBrowser opens every case in a real browser: the page is shown whole, and
// nothing violates its own policy. Screenshots are kept where GROUNDED_ARTIFACTS says.
func TestInBrowser(t *testing.T) {
	browser, err := exec.LookPath("chromium")
	if err != nil || testing.Short() {
		if os.Getenv("GROUNDED_REQUIRE_ALL") != "" && !testing.Short() {
			t.Fatal("chromium is not installed: apt-get install chromium")
		}
		t.Skip("needs chromium: apt-get install chromium")
	}
	handler, err := Space()
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(handler)
	defer server.Close()
	shots := os.Getenv("GROUNDED_ARTIFACTS")
	if shots == "" {
		shots = t.TempDir()
	}
	cases, err := Cases()
	if err != nil {
		t.Fatal(err)
	}
	pages := []string{"index"}
	for _, c := range cases {
		pages = append(pages, c.ID)
	}
	for _, page := range pages {
		shot := filepath.Join(shots, page+".png")
		cmd := exec.Command(browser, "--headless=new", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", "--v=0", "--hide-scrollbars",
			"--user-data-dir="+t.TempDir(), "--window-size=1200,1600", "--virtual-time-budget=3000", "--screenshot="+shot, server.URL+"/"+page+".html")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", page, err, out)
		}
		if strings.Contains(string(out), "Content Security Policy") || strings.Contains(string(out), "CONSOLE") {
			t.Errorf("%s: the browser complains:\n%s", page, out)
		}
		if info, err := os.Stat(shot); err != nil || info.Size() < 10_000 {
			t.Errorf("%s: no picture of a page: %v", page, err)
		}
	}
}
