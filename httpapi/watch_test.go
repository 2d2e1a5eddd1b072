package httpapi_test

import (
	"context"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/go-json-experiment/json"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/embedded"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/grounded-memory/grounded"
	"github.com/grounded-memory/grounded/httpapi"
)

// spans is a tracer that remembers, provider makes it known.
type spans struct {
	embedded.Tracer
	mu    sync.Mutex
	ended []*span
}

type provider struct {
	embedded.TracerProvider
	spans *spans
}

type span struct {
	noop.Span
	owner  *spans
	name   string
	parent trace.SpanContext
	attrs  []attribute.KeyValue
	status codes.Code
}

func (p *provider) Tracer(string, ...trace.TracerOption) trace.Tracer { return p.spans }

func (s *spans) Start(ctx context.Context, name string, options ...trace.SpanStartOption) (context.Context, trace.Span) {
	config := trace.NewSpanStartConfig(options...)
	made := &span{owner: s, name: name, parent: trace.SpanContextFromContext(ctx), attrs: config.Attributes()}
	return trace.ContextWithSpan(ctx, made), made
}

func (s *span) SetAttributes(attrs ...attribute.KeyValue) { s.attrs = append(s.attrs, attrs...) }
func (s *span) SetStatus(code codes.Code, _ string)       { s.status = code }
func (s *span) End(...trace.SpanEndOption) {
	s.owner.mu.Lock()
	defer s.owner.mu.Unlock()
	s.owner.ended = append(s.owner.ended, s)
}

// hostileTexts are what must never get into a log, a metric or a span.
func hostileTexts() []string {
	return []string{"text-of-a-record", "path-of-an-attacker", "level=ERROR forged", "header-of-an-attacker", "method-of-an-attacker"}
}

// TestNothingOfTheRequestIsRecorded (S43 too): logs, metrics and spans name the
// route and the token's id, and hold no text of anybody.
func TestS43_NothingOfTheRequestIsRecorded(t *testing.T) {
	recorded := new(spans)
	s := newService(t, func(o *httpapi.Options) { o.TracerProvider = &provider{spans: recorded} })
	forged := "a\r\nlevel=ERROR forged"
	requests := []*http.Request{
		s.request("POST", "/v1/note", `{"text":"text-of-a-record","source":"text-of-a-record"}`),
		s.request("POST", "/v1/note", `{"text-of-a-record":1}`),
		s.request("POST", "/v1/query", `{"where":[["text-of-a-record","?","x"]]}`),
		s.request("POST", "/v1/path-of-an-attacker", ""),
		s.request("POST", "/path-of-an-attacker?"+s.secrets["admin"], ""),
		s.request("method-of-an-attacker", "/v1/stats", ""),
		s.request("POST", "/v1/stats", "{}"),
	}
	for _, name := range []string{"X-Request-Id", "User-Agent", "Origin", "Referer", "X-Forwarded-For", "Content-Type", "Traceparent"} {
		r := s.request("POST", "/v1/stats", "{}")
		r.Header.Set(name, forged+" header-of-an-attacker")
		requests = append(requests, r)
	}
	badHost := s.request("POST", "/v1/stats", "{}")
	badHost.Host = "path-of-an-attacker.test"
	badToken := s.request("POST", "/v1/stats", "{}")
	badToken.Header.Set("Authorization", "Bearer "+s.secrets["admin"]+"x")
	for _, r := range append(requests, badHost, badToken) {
		s.do(r)
	}
	all := s.log.String()
	all += s.do(s.request("GET", "/metrics", "")).Body.String()
	for _, each := range recorded.ended {
		all += fmt.Sprintln(each.name, each.attrs)
	}
	for _, text := range hostileTexts() {
		if strings.Contains(all, text) {
			t.Errorf("%q was recorded", text)
		}
	}
	for role, secret := range s.secrets {
		if strings.Contains(all, secret) || strings.Contains(all, secret[9:30]) {
			t.Errorf("the secret of %s was recorded", role)
		}
	}
	// The control: what is to be recorded is.
	if !strings.Contains(all, s.ids["write"]) || !strings.Contains(all, "/v1/note") || len(recorded.ended) < len(requests) {
		t.Error("the token's id, the route or spans are missing")
	}
	for _, line := range strings.Split(strings.TrimSpace(s.log.String()), "\n") {
		var entry map[string]any
		if err := json.Unmarshal([]byte(line), &entry); err != nil || entry["request_id"] == nil || entry["status"] == nil {
			t.Errorf("%v: %s", err, line)
		}
	}
}

func TestMetricsCount(t *testing.T) {
	s := newService(t)
	for range 3 {
		s.post("stats", "{}")
	}
	s.post("get", `{"id":"r1"}`)
	s.do(s.request("GET", "/one/of/many", ""))
	s.do(s.request("GET", "/another", ""))
	text := s.do(s.request("GET", "/metrics", "")).Body.String()
	for _, want := range []string{
		`grounded_http_requests_total{code="none",route="/v1/stats",status="200"} 3`,
		`grounded_http_requests_total{code="not_found",route="/v1/get",status="404"} 1`,
		`grounded_http_requests_total{code="not_found",route="unknown",status="404"} 2`,
		`grounded_http_request_seconds_count{route="/v1/stats"} 3`,
		`grounded_http_requests_running 1`,
		`go_goroutines `,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
	// Every handler has a registry of its own.
	if other := newService(t).do(s.request("GET", "/metrics", "")); strings.Contains(other.Body.String(), "/v1/get") {
		t.Error("two handlers share their metrics")
	}
}

func TestSpans(t *testing.T) {
	recorded := new(spans)
	fake := &fakeService{remember: func(ctx context.Context, _ *grounded.RememberRequest) (*grounded.WriteResult, error) {
		if _, ok := trace.SpanFromContext(ctx).(*span); !ok {
			return nil, &grounded.Error{Code: grounded.Internal, Message: "no span"}
		}
		return &grounded.WriteResult{ID: 1}, nil
	}}
	s := newServiceOf(t, fake, func(o *httpapi.Options) { o.TracerProvider = &provider{spans: recorded} })
	r := s.request("POST", "/v1/remember", rememberBody)
	r.Header.Set("Traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
	if w := s.do(r); w.Code != http.StatusOK {
		t.Fatal(w.Body)
	}
	fake.remember = func(context.Context, *grounded.RememberRequest) (*grounded.WriteResult, error) {
		return nil, &grounded.Error{Code: grounded.Damaged, Message: "m"}
	}
	s.post("remember", rememberBody)
	if len(recorded.ended) != 2 {
		t.Fatalf("%d spans", len(recorded.ended))
	}
	first, second := recorded.ended[0], recorded.ended[1]
	if first.name != "/v1/remember" || first.parent.TraceID().String() != "0af7651916cd43dd8448eb211c80319c" || first.status == codes.Error {
		t.Errorf("%+v", first)
	}
	if second.status != codes.Error || !strings.Contains(fmt.Sprint(second.attrs), "damaged") {
		t.Errorf("%+v", second)
	}
}

func TestRequestIDs(t *testing.T) {
	s := newService(t, func(o *httpapi.Options) { o.Rand = strings.NewReader(strings.Repeat("0123456789ab", 20)) })
	made := regexp.MustCompile(`^[0-9a-f]{24}$`)
	for given, kept := range map[string]bool{
		"abc-123_X.z": true, strings.Repeat("a", 64): true,
		"": false, strings.Repeat("a", 65): false, "a b": false, "a\nb": false, "a\"b": false, "ä": false, "{}": false,
	} {
		r := s.request("POST", "/v1/stats", "{}")
		if given != "" {
			r.Header.Set("X-Request-Id", given)
		}
		got := s.do(r).Header().Get("X-Request-Id")
		if kept && got != given || !kept && !made.MatchString(got) {
			t.Errorf("%q: %q", given, got)
		}
	}
	two := s.request("POST", "/v1/stats", "{}")
	two.Header["X-Request-Id"] = []string{"a", "b"}
	if got := s.do(two).Header().Get("X-Request-Id"); !made.MatchString(got) {
		t.Errorf("two ids: %q", got)
	}
}

// TestPanicsAreAnswered: a fault in an operation is one internal error, its
// value is not logged, and the service goes on.
func TestPanicsAreAnswered(t *testing.T) {
	fake := &fakeService{remember: func(context.Context, *grounded.RememberRequest) (*grounded.WriteResult, error) {
		panic("text-of-a-record")
	}}
	s := newServiceOf(t, fake, func(o *httpapi.Options) { o.MaxConcurrent = 1 })
	for range 3 {
		wantError(t, s.post("remember", rememberBody), http.StatusInternalServerError, grounded.Internal)
	}
	if strings.Contains(s.log.String(), "text-of-a-record") || !strings.Contains(s.log.String(), `"panic"`) {
		t.Errorf("%s", s.log)
	}
	if w := s.post("stats", "{}"); w.Code != http.StatusOK {
		t.Errorf("after the panics: status %d", w.Code)
	}
}
