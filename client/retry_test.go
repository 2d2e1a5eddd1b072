package client_test

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/grounded-memory/grounded"
	"github.com/grounded-memory/grounded/client"
	"github.com/grounded-memory/grounded/httpapi"
	"github.com/grounded-memory/grounded/internal/conformance"
)

// flaky answers the first requests with failures, then as the real service.
type flaky struct {
	mu       sync.Mutex
	failures int
	fail     http.HandlerFunc
	real     http.Handler
	requests int
}

func (f *flaky) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	f.requests++
	failing, fail := f.requests <= f.failures, f.fail
	f.mu.Unlock()
	if failing {
		fail(w, r)
		return
	}
	f.real.ServeHTTP(w, r)
}

// start makes the next so many requests fail.
func (f *flaky) start(failures int, fail http.HandlerFunc) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.failures, f.fail, f.requests = failures, fail, 0
}

func (f *flaky) count() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.requests
}

// failures are the ways to fail after which another try may go better.
func failures() map[string]http.HandlerFunc {
	status := func(code int, header ...string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			for i := 0; i < len(header); i += 2 {
				w.Header().Set(header[i], header[i+1])
			}
			w.WriteHeader(code)
		}
	}
	return map[string]http.HandlerFunc{
		"429": status(429), "502": status(502), "503": status(503, "Retry-After", "1"), "504": status(504),
		"breaks off": func(w http.ResponseWriter, _ *http.Request) {
			c, _, err := http.NewResponseController(w).Hijack()
			if err == nil {
				_ = c.Close()
			}
		},
		"breaks off in the body": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100")
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte("{"))
			panic(http.ErrAbortHandler)
		},
	}
}

// TestRetries: reads and writes with a key are tried again, everything else once.
func TestRetries(t *testing.T) {
	memory, _ := conformance.Open(t)
	h, secret := newHandler(t, memory)
	f := &flaky{real: h}
	server := httptest.NewServer(f)
	defer server.Close()
	c := newClient(t, server.URL, client.Options{Token: secret})
	note := func(key string) *grounded.NoteRequest {
		return &grounded.NoteRequest{Text: "a", Source: "s", IdempotencyKey: key}
	}
	ctx := t.Context()
	calls := map[string]struct {
		again bool
		call  func() error
	}{
		"read":          {true, func() error { _, err := c.Stats(ctx, &grounded.StatsRequest{}); return err }},
		"keyed write":   {true, func() error { _, err := c.Note(ctx, note("k")); return err }},
		"unkeyed write": {false, func() error { _, err := c.Note(ctx, note("")); return err }},
		"remember": {false, func() error {
			_, err := c.Remember(ctx, &grounded.RememberRequest{Entity: "a", Predicate: "b", Value: "c", Source: "s"})
			return err
		}},
		"forget": {false, func() error { _, err := c.Forget(ctx, &grounded.ForgetRequest{ID: 1}); return err }},
		"keyed list": {true, func() error {
			_, err := c.Write(ctx, &grounded.WriteRequest{Writes: []grounded.WriteItem{{Note: note("m")}, {Note: note("n")}}})
			return err
		}},
		"half-keyed": {false, func() error {
			_, err := c.Write(ctx, &grounded.WriteRequest{Writes: []grounded.WriteItem{{Note: note("o")}, {Note: note("")}}})
			return err
		}},
		"list, deletion": {false, func() error {
			_, err := c.Write(ctx, &grounded.WriteRequest{Writes: []grounded.WriteItem{{Note: note("p")}, {Forget: &grounded.ForgetRequest{ID: 1}}}})
			return err
		}},
	}
	for failure, fail := range failures() {
		for name, call := range calls {
			f.start(client.DefaultRetries, fail)
			err := call.call()
			switch n := f.count(); {
			case call.again && (err != nil || n != client.DefaultRetries+1):
				t.Errorf("%s, %s: %v after %d requests", failure, name, err, n)
			case !call.again && (n != 1 || !errors.Is(err, grounded.Unavailable) && !errors.Is(err, grounded.RateLimited)):
				t.Errorf("%s, %s: %v after %d requests", failure, name, err, n)
			}
			f.start(100, fail)
			if err := call.call(); err == nil || f.count() > client.DefaultRetries+1 {
				t.Errorf("%s, %s: %v after %d requests that all fail", failure, name, err, f.count())
			}
		}
	}
	for _, code := range []int{400, 401, 403, 404, 409, 413, 500, 507} {
		f.start(100, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) })
		if _, err := c.Stats(ctx, &grounded.StatsRequest{}); err == nil || f.count() != 1 {
			t.Errorf("status %d: %v after %d requests", code, err, f.count())
		}
	}
}

// TestKeyedWriteWhoseReplyIsLostIsDoneOnce: the server did the write, the
// client heard nothing, and tries again.
func TestKeyedWriteWhoseReplyIsLostIsDoneOnce(t *testing.T) {
	memory, _ := conformance.Open(t)
	h, secret := newHandler(t, memory)
	f := &flaky{real: h}
	lose := func(_ http.ResponseWriter, r *http.Request) {
		h.ServeHTTP(httptest.NewRecorder(), r)
		panic(http.ErrAbortHandler)
	}
	server := httptest.NewServer(f)
	defer server.Close()
	c := newClient(t, server.URL, client.Options{Token: secret})
	f.start(2, lose)
	got, err := c.Note(t.Context(), &grounded.NoteRequest{Text: "once", Source: "s", IdempotencyKey: "k"})
	if err != nil || got.ID != 1 || f.count() != 3 {
		t.Errorf("%+v, %v after %d requests", got, err, f.count())
	}
	if stats, err := memory.Stats(t.Context(), &grounded.StatsRequest{}); err != nil || stats.Eligible.Note != 1 {
		t.Errorf("%+v, %v", stats, err)
	}
}

// TestWaits: they double with jitter, heed Retry-After up to a bound, and end
// with the context.
func TestWaits(t *testing.T) {
	for _, c := range []struct {
		name, retryAfter string
		random           string
		want             []time.Duration
	}{
		{"no jitter", "", "\x00\x00\x00\x00\x00\x00", []time.Duration{100, 200, 400, 800, 1600, 2000}},
		{"most jitter", "", "\x80\x80\x80\x80\x80\x80", []time.Duration{75, 150, 300, 600, 1200, 1500}},
		{"no randomness", "", "", []time.Duration{100, 200, 400, 800, 1600, 2000}},
		{"asked", "3", "", []time.Duration{3000, 3000, 3000, 3000, 3000, 3000}},
		{"asked for years", "99999999", "", []time.Duration{10000, 10000, 10000, 10000, 10000, 10000}},
		{"asked nonsense", "-1", "", []time.Duration{100, 200, 400, 800, 1600, 2000}},
		{"asked by date", "Fri, 31 Dec 1999 23:59:59 GMT", "", []time.Duration{100, 200, 400, 800, 1600, 2000}},
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			if c.retryAfter != "" {
				w.Header().Set("Retry-After", c.retryAfter)
			}
			w.WriteHeader(http.StatusServiceUnavailable)
		}))
		var waits []time.Duration
		m := newClient(t, server.URL, client.Options{
			Token: token, Retries: 6, Rand: strings.NewReader(c.random),
			Sleep: func(_ context.Context, d time.Duration) error {
				waits = append(waits, d/time.Millisecond)
				return nil
			},
		})
		if _, err := m.Stats(t.Context(), &grounded.StatsRequest{}); !errors.Is(err, grounded.Unavailable) {
			t.Error(err)
		}
		server.Close()
		if !slices.Equal(waits, c.want) {
			t.Errorf("%s: %v, want %v", c.name, waits, c.want)
		}
	}
	// The default wait ends with the context.
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(503) }))
	defer server.Close()
	m, err := client.New(server.URL, client.Options{Token: token, Retries: 1000, Timeout: 50 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Stats(t.Context(), &grounded.StatsRequest{}); !errors.Is(err, grounded.Unavailable) {
		t.Error(err)
	}
}

// TestLocalhostIsDialledWithoutAResolver: first over IPv4, then IPv6.
func TestLocalhostIsDialledWithoutAResolver(t *testing.T) {
	var dialled []string
	c := newClient(t, "http://localhost:8750", client.Options{Token: token, Retries: -1, Dial: func(_ context.Context, network, address string) (net.Conn, error) {
		dialled = append(dialled, network+" "+address)
		return nil, errors.New("nobody there")
	}})
	if _, err := c.Stats(t.Context(), &grounded.StatsRequest{}); !errors.Is(err, grounded.Unavailable) {
		t.Error(err)
	}
	if want := []string{"tcp 127.0.0.1:8750", "tcp [::1]:8750"}; !slices.Equal(dialled, want) {
		t.Errorf("%q, want %q", dialled, want)
	}
}

// TestHTTP2 speaks to the real service over TLS: HTTP/2, and HTTP/1.1 where a
// server knows no other; an unknown certificate gets nothing.
func TestHTTP2(t *testing.T) {
	memory, _ := conformance.Open(t)
	for _, major := range []int{1, 2} {
		var got int
		h, secret := newHandler(t, memory, func(o *httpapi.Options) { o.Hosts = []string{"example.com"} })
		server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			got = r.ProtoMajor
			h.ServeHTTP(w, r)
		}))
		server.EnableHTTP2 = major == 2
		server.StartTLS()
		roots := server.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs
		dial := func(ctx context.Context, network, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, server.Listener.Addr().String())
		}
		c := newClient(t, "https://example.com", client.Options{Token: secret, Dial: dial, TLS: &tls.Config{RootCAs: roots}})
		if _, err := c.Stats(t.Context(), &grounded.StatsRequest{}); err != nil || got != major {
			t.Errorf("HTTP/%d, want HTTP/%s: %v", got, strconv.Itoa(major), err)
		}
		got = 0
		unknown := newClient(t, "https://example.com", client.Options{Token: secret, Dial: dial, Retries: -1})
		if _, err := unknown.Stats(t.Context(), &grounded.StatsRequest{}); !errors.Is(err, grounded.Unavailable) || got != 0 {
			t.Errorf("an unknown certificate: %v, %d", err, got)
		}
		server.Close()
	}
}
