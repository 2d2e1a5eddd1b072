package httpapi_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/grounded-memory/grounded"
	"github.com/grounded-memory/grounded/httpapi"
)

// TestS24_S25_S31_OriginGrid: Host × Origin × Sec-Fetch-Site on every door of
// the service. No call of another site gets through, and none reaches the
// memory; no answer permits another origin to read it.
func TestS24_S25_S31_OriginGrid(t *testing.T) {
	hosts := map[string]bool{
		"127.0.0.1:8750": true, "localhost:8750": true, "[::1]:8750": true, "memory.example.com": true,
		"evil.test:8750": false, "127.0.0.1.evil.test": false, "localhost.evil.test:8750": false, "10.0.0.1:8750": false,
		"memory.example.com.evil.test": false, "": false, "localhost.": false, "2130706433": false, "[::1%25lo]": false,
	}
	origins := []string{"", "same", "http://evil.test", "https://127.0.0.1:8750", "http://127.0.0.1:1", "null", "http://localhost.evil.test:8750", "file://"}
	sites := []string{"", "none", "same-origin", "same-site", "cross-site", "made-up"}
	calls := 0
	mcp := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { calls++; w.WriteHeader(http.StatusOK) })
	fake := new(fakeService)
	s := newServiceOf(t, fake, func(o *httpapi.Options) {
		o.Hosts = []string{"memory.example.com"}
		o.MCP = mcp
	})
	doors := []struct{ method, path, body string }{
		{"POST", "/v1/remember", rememberBody}, {"POST", "/mcp", "{}"}, {"GET", "/metrics", ""}, {"GET", "/openapi.json", ""}, {"OPTIONS", "/v1/remember", ""},
	}
	admitted, refused := 0, 0
	for host, known := range hosts {
		for _, origin := range origins {
			for _, site := range sites {
				for _, door := range doors {
					r := s.request(door.method, door.path, door.body)
					r.Host = host
					same := origin == "same" || origin == ""
					switch origin {
					case "":
					case "same":
						r.Header.Set("Origin", "http://"+host)
					default:
						r.Header.Set("Origin", origin)
					}
					if site != "" {
						r.Header.Set("Sec-Fetch-Site", site)
					}
					want := known && same && (site == "" || site == "none" || site == "same-origin")
					before := fake.count() + calls
					w := s.do(r)
					name := fmt.Sprintf("%s %s, Host %q, Origin %q, Sec-Fetch-Site %q", door.method, door.path, host, r.Header.Get("Origin"), site)
					if want {
						admitted++
						if w.Code != http.StatusOK && door.method != "OPTIONS" {
							t.Errorf("%s: status %d: %s", name, w.Code, w.Body)
						}
					} else {
						refused++
						wantError(t, w, http.StatusForbidden, grounded.PermissionDenied)
						if fake.count()+calls != before {
							t.Errorf("%s: it reached the memory", name)
						}
					}
					for header := range w.Header() {
						if strings.HasPrefix(header, "Access-Control-") {
							t.Errorf("%s: %s", name, header)
						}
					}
				}
			}
		}
	}
	if admitted == 0 || refused == 0 {
		t.Errorf("%d admitted, %d refused", admitted, refused)
	}
}

func TestOriginBehindAProxyIsHTTPS(t *testing.T) {
	s := newService(t, func(o *httpapi.Options) { o.Hosts, o.BehindProxy = []string{"Memory.example.com:8443"}, true })
	for _, c := range []struct {
		host, origin string
		status       int
	}{
		{"memory.example.com:8443", "https://memory.example.com:8443", 200},
		{"memory.example.com:8443", "https://MEMORY.example.com:8443", 200},
		{"memory.example.com:8443", "http://memory.example.com:8443", 403},
		{"memory.example.com:8443", "https://memory.example.com", 403},
		{"memory.example.com", "https://memory.example.com", 403}, // not the port that was allowed
		{"memory.example.com:8443", "https://memory.example.com:8443/", 403},
		{"memory.example.com:8443", "https://user@memory.example.com:8443", 403},
		{"memory.example.com:8443", "", 200},
	} {
		r := s.request(http.MethodPost, "/v1/stats", "{}")
		r.Host = c.host
		if c.origin != "" {
			r.Header.Set("Origin", c.origin)
		}
		if w := s.do(r); w.Code != c.status {
			t.Errorf("Host %s, Origin %s: status %d, want %d", c.host, c.origin, w.Code, c.status)
		}
	}
	r := s.request(http.MethodPost, "/v1/stats", "{}")
	r.Header["Origin"] = []string{"http://127.0.0.1:8750", "http://127.0.0.1:8750"}
	wantError(t, s.do(r), http.StatusForbidden, grounded.PermissionDenied)
}

func TestHostsMustBeHosts(t *testing.T) {
	s := newService(t)
	tokens, err := httpapi.OpenTokens(s.tokens)
	if err != nil {
		t.Fatal(err)
	}
	for _, host := range []string{"", "*", "https://a.example", "a.example/", "a b", "u@a.example", "a.example:", "a.example:http", "a.example:70000"} {
		if _, err := httpapi.New(s.memory, httpapi.Options{Tokens: tokens, Hosts: []string{host}}); err == nil {
			t.Errorf("host %q was taken", host)
		}
	}
}

// TestS25_OnlyJSON: what pages of other sites can send without being asked is
// refused, with or without their headers.
func TestS25_OnlyJSON(t *testing.T) {
	fake := new(fakeService)
	s := newServiceOf(t, fake, func(o *httpapi.Options) {
		o.MCP = http.HandlerFunc(func(http.ResponseWriter, *http.Request) { fake.called() })
	})
	for _, kind := range []string{
		"text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "application/json; charset=utf-16",
		"text/json", "application/jsonp", "application/json, text/plain", " ", "application/json; charset=utf-8; charset=utf-16",
	} {
		for _, path := range []string{"/v1/remember", "/mcp"} {
			r := s.request(http.MethodPost, path, rememberBody)
			r.Header.Set("Content-Type", kind)
			wantError(t, s.do(r), http.StatusBadRequest, grounded.InvalidArgument)
		}
	}
	for _, encoding := range []string{"gzip", "identity", "br"} {
		r := s.request(http.MethodPost, "/v1/remember", rememberBody)
		r.Header.Set("Content-Encoding", encoding)
		wantError(t, s.do(r), http.StatusBadRequest, grounded.InvalidArgument)
	}
	if fake.count() != 0 {
		t.Errorf("%d of them reached the memory", fake.count())
	}
	for _, kind := range []string{"application/json", "application/json; charset=utf-8", "Application/JSON"} {
		r := s.request(http.MethodPost, "/v1/remember", rememberBody)
		r.Header.Set("Content-Type", kind)
		if w := s.do(r); w.Code != http.StatusOK {
			t.Errorf("%s: status %d", kind, w.Code)
		}
	}
	r := s.request(http.MethodPost, "/v1/remember", rememberBody)
	r.Header.Del("Content-Type")
	if w := s.do(r); w.Code != http.StatusOK {
		t.Errorf("no Content-Type: status %d", w.Code)
	}
	if fake.count() != 4 {
		t.Errorf("%d calls reached the memory, want 4", fake.count())
	}
}
