package httpapi_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/grounded-memory/grounded"
	"github.com/grounded-memory/grounded/httpapi"
)

// endless gives bytes without end, and counts them.
type endless struct{ read int }

func (e *endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	e.read += len(p)
	return len(p), nil
}

func TestBodySize(t *testing.T) {
	s := newService(t, func(o *httpapi.Options) { o.MaxBodyBytes = 1000 })
	fit := func(n int) string { return "{}" + strings.Repeat(" ", n-2) }
	for n, want := range map[int]int{2: 200, 999: 200, 1000: 200, 1001: 413, 5000: 413} {
		w := s.post("stats", fit(n))
		if w.Code != want {
			t.Errorf("%d bytes: status %d, want %d", n, w.Code, want)
		}
		// The same without a length.
		r := s.request(http.MethodPost, "/v1/stats", fit(n))
		r.ContentLength = -1
		if w := s.do(r); w.Code != want {
			t.Errorf("%d bytes in chunks: status %d, want %d", n, w.Code, want)
		}
	}
	// One that never ends is read no further than the limit.
	body := new(endless)
	r := s.request(http.MethodPost, "/v1/stats", "x")
	r.Body, r.ContentLength = io.NopCloser(body), -1
	wantError(t, s.do(r), http.StatusRequestEntityTooLarge, grounded.TooLarge)
	if body.read > 1001 {
		t.Errorf("%d bytes were read", body.read)
	}
	// One that says it is too long is not read at all.
	body.read = 0
	r.Body, r.ContentLength = io.NopCloser(body), 1<<40
	wantError(t, s.do(r), http.StatusRequestEntityTooLarge, grounded.TooLarge)
	if body.read != 0 {
		t.Errorf("%d bytes were read", body.read)
	}
}

func TestNoBodyIsNoArguments(t *testing.T) {
	s := newService(t)
	if w := s.post("stats", ""); w.Code != http.StatusOK {
		t.Errorf("status %d: %s", w.Code, w.Body)
	}
}

// stuck is a body that blocks until it is let go.
type stuck struct{ release chan struct{} }

func (b stuck) Read([]byte) (int, error) {
	<-b.release
	return 0, io.ErrUnexpectedEOF
}

// TestSlowBodiesHoldNoPlace: with one place to run in and many slow senders,
// other calls are answered.
func TestSlowBodiesHoldNoPlace(t *testing.T) {
	s := newService(t, func(o *httpapi.Options) { o.MaxConcurrent = 1; o.MCP = http.NotFoundHandler() })
	body := stuck{make(chan struct{})}
	const slow = 20
	done := make(chan int, slow)
	for i := range slow {
		go func() {
			r := s.request(http.MethodPost, []string{"/v1/stats", "/mcp"}[i%2], "x")
			r.Body = io.NopCloser(body)
			done <- s.do(r).Code
		}()
	}
	if w := s.post("stats", "{}"); w.Code != http.StatusOK {
		t.Errorf("status %d: %s", w.Code, w.Body)
	}
	close(body.release)
	for range slow {
		if code := <-done; code != http.StatusBadRequest {
			t.Errorf("a body that broke off: status %d", code)
		}
	}
}

// TestBodiesTogetherAreBounded: many bodies of the allowed size each.
func TestBodiesTogetherAreBounded(t *testing.T) {
	release := make(chan struct{})
	entered := make(chan struct{})
	fake := &fakeService{remember: func(context.Context, *grounded.RememberRequest) (*grounded.WriteResult, error) {
		entered <- struct{}{}
		<-release
		return &grounded.WriteResult{ID: 1}, nil
	}}
	s := newServiceOf(t, fake, func(o *httpapi.Options) { o.MaxBodyBytes, o.MaxBufferedBytes = 100_000, 150_000 })
	large := rememberBody + strings.Repeat(" ", 90_000)
	first := make(chan int)
	go func() { first <- s.post("remember", large).Code }()
	<-entered
	w := s.post("remember", large)
	wantError(t, w, http.StatusServiceUnavailable, grounded.Unavailable)
	if w.Header().Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
	if w := s.post("stats", "{}"); w.Code != http.StatusOK {
		t.Errorf("a small call: status %d", w.Code)
	}
	close(release)
	if code := <-first; code != http.StatusOK {
		t.Errorf("the first: status %d", code)
	}
	go func() { first <- s.post("remember", large).Code }()
	<-entered // there is room again
	if code := <-first; code != http.StatusOK {
		t.Errorf("after it: status %d", code)
	}
}

func TestConcurrencyIsBounded(t *testing.T) {
	release, entered := make(chan struct{}), make(chan struct{}, 10)
	fake := &fakeService{remember: func(context.Context, *grounded.RememberRequest) (*grounded.WriteResult, error) {
		entered <- struct{}{}
		<-release
		return &grounded.WriteResult{ID: 1}, nil
	}}
	s := newServiceOf(t, fake, func(o *httpapi.Options) { o.MaxConcurrent, o.QueueTimeout = 2, 20*time.Millisecond })
	done := make(chan int, 2)
	for range 2 {
		go func() { done <- s.post("remember", rememberBody).Code }()
		<-entered
	}
	w := s.post("remember", rememberBody)
	wantError(t, w, http.StatusServiceUnavailable, grounded.Unavailable)
	if w.Header().Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
	close(release)
	for range 2 {
		if code := <-done; code != http.StatusOK {
			t.Errorf("status %d", code)
		}
	}
	if w := s.post("remember", rememberBody); w.Code != http.StatusOK {
		t.Errorf("when the places are free again: status %d", w.Code)
	}
}

// TestCallsEndInTime: an operation that does not end is told to, and what
// waits for a place leaves with its client.
func TestCallsEndInTime(t *testing.T) {
	fake := &fakeService{remember: func(ctx context.Context, _ *grounded.RememberRequest) (*grounded.WriteResult, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}}
	s := newServiceOf(t, fake, func(o *httpapi.Options) {
		o.RequestTimeout, o.MaxConcurrent, o.QueueTimeout = 20*time.Millisecond, 1, time.Hour
	})
	wantError(t, s.post("remember", rememberBody), http.StatusServiceUnavailable, grounded.Unavailable)
	done := make(chan struct{})
	go func() { s.post("remember", rememberBody); close(done) }()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	w := s.do(s.request(http.MethodPost, "/v1/remember", rememberBody).WithContext(ctx))
	wantError(t, w, http.StatusServiceUnavailable, grounded.Unavailable)
	<-done
}

func TestRateIsPerToken(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	s := newServiceOf(t, new(fakeService), func(o *httpapi.Options) {
		o.RatePerSecond, o.Burst = 10, 3
		o.Clock = func() time.Time { return now }
	})
	codes := func(role string, n int) (ok int) {
		for range n {
			r := s.request(http.MethodPost, "/v1/stats", "{}")
			r.Header.Set("Authorization", "Bearer "+s.secrets[role])
			w := s.do(r)
			if w.Code == http.StatusOK {
				ok++
				continue
			}
			wantError(t, w, http.StatusTooManyRequests, grounded.RateLimited)
			if w.Header().Get("Retry-After") == "" {
				t.Error("no Retry-After")
			}
		}
		return ok
	}
	if got := codes("read", 5); got != 3 {
		t.Errorf("%d of a burst of 3", got)
	}
	if got := codes("write", 5); got != 3 {
		t.Errorf("another token: %d of a burst of 3", got)
	}
	now = now.Add(200 * time.Millisecond)
	if got := codes("read", 5); got != 2 {
		t.Errorf("%d in 200 ms at 10 a second", got)
	}
	now = now.Add(time.Hour)
	if got := codes("read", 5); got != 3 {
		t.Errorf("%d after an hour", got)
	}
}

func TestMethodsPathsAndQueries(t *testing.T) {
	fake := new(fakeService)
	s := newServiceOf(t, fake)
	for _, path := range []string{"/", "/v1/", "/v1/no_such", "/v1/stats/", "/v1//stats", "/V1/stats", "/mcp", "/debug/pprof/", "/v1/%2e%2e/v1/stats"} {
		wantError(t, s.do(s.request(http.MethodPost, path, "{}")), http.StatusNotFound, grounded.NotFound)
	}
	for _, c := range []struct{ method, path, allow string }{
		{"GET", "/v1/stats", "POST"},
		{"HEAD", "/v1/stats", "POST"},
		{"PUT", "/v1/stats", "POST"},
		{"OPTIONS", "/v1/stats", "POST"},
		{"post", "/v1/stats", "POST"},
		{"POST", "/metrics", "GET"},
		{"POST", "/openapi.json", "GET"},
		{"POST", "/healthz", "GET, HEAD"},
		{"DELETE", "/readyz", "GET, HEAD"},
	} {
		w := s.do(s.request(c.method, c.path, ""))
		wantError(t, w, http.StatusMethodNotAllowed, grounded.InvalidArgument)
		if w.Header().Get("Allow") != c.allow {
			t.Errorf("%s %s: Allow %q, want %q", c.method, c.path, w.Header().Get("Allow"), c.allow)
		}
	}
	for _, path := range []string{"/v1/stats?a=b", "/v1/stats?", "/metrics?name[]=x"} {
		method := http.MethodPost
		if path[1] == 'm' {
			method = http.MethodGet
		}
		wantError(t, s.do(s.request(method, path, "")), http.StatusBadRequest, grounded.InvalidArgument)
	}
	if fake.count() != 0 {
		t.Errorf("%d calls", fake.count())
	}
	for _, path := range []string{"/healthz", "/readyz"} {
		r := httptest.NewRequest(http.MethodGet, path, nil)
		r.Host = "10.1.2.3:8750" // as a probe asks
		if w := s.do(r); w.Code != http.StatusOK || w.Body.String() != "ok\n" {
			t.Errorf("%s: %d %q", path, w.Code, w.Body)
		}
	}
}

// TestEveryAnswerHasItsHeaders: also refusals and health.
func TestEveryAnswerHasItsHeaders(t *testing.T) {
	s := newService(t)
	for _, r := range []*http.Request{
		s.request("POST", "/v1/stats", "{}"), s.request("POST", "/v1/stats", "{"), s.request("GET", "/v1/stats", ""), s.request("GET", "/nowhere", ""),
		s.request("GET", "/metrics", ""), s.request("GET", "/openapi.json", ""), s.request("GET", "/healthz", ""), s.request("GET", "/readyz", ""),
		httptest.NewRequest("POST", "/v1/stats", nil),
	} {
		header := s.do(r).Header()
		for name, want := range map[string]string{"X-Content-Type-Options": "nosniff", "Cache-Control": "no-store"} {
			if header.Get(name) != want {
				t.Errorf("%s %s: %s is %q", r.Method, r.URL.Path, name, header.Get(name))
			}
		}
		if header.Get("Content-Type") == "" {
			t.Errorf("%s %s: no Content-Type", r.Method, r.URL.Path)
		}
	}
}

// TestStatusOfEveryCode: what a service answers as an error keeps its code.
func TestStatusOfEveryCode(t *testing.T) {
	for _, code := range grounded.Codes() {
		fake := &fakeService{remember: func(context.Context, *grounded.RememberRequest) (*grounded.WriteResult, error) {
			return nil, &grounded.Error{Code: code, Message: "m", Field: "f", Current: 7}
		}}
		w := newServiceOf(t, fake).post("remember", rememberBody)
		wantError(t, w, statusOf(code), code)
		if got := w.Body.String(); got != `{"code":"`+string(code)+`","message":"m","field":"f","current":"r7"}` {
			t.Error(got)
		}
	}
	fake := &fakeService{remember: func(context.Context, *grounded.RememberRequest) (*grounded.WriteResult, error) {
		return nil, errors.New("a secret of the inside")
	}}
	s := newServiceOf(t, fake)
	w := s.post("remember", rememberBody)
	wantError(t, w, http.StatusInternalServerError, grounded.Internal)
	if strings.Contains(w.Body.String(), "secret of the inside") || !strings.Contains(s.log.String(), "secret of the inside") {
		t.Errorf("answered %s, logged %s", w.Body, s.log)
	}
}
