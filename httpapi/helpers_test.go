package httpapi_test

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/grounded-memory/grounded"
	"github.com/grounded-memory/grounded/httpapi"
	"github.com/grounded-memory/grounded/internal/conformance"
)

// service is a handler over a fresh store, with a token of each role.
type service struct {
	*httpapi.Handler
	memory  *grounded.Memory
	tokens  string            // path of the token file
	secrets map[string]string // by role
	ids     map[string]string // token ids by role
	log     *lockedBuffer
}

// lockedBuffer is a buffer that several goroutines may use.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

func newService(t testing.TB, change ...func(*httpapi.Options)) *service {
	t.Helper()
	memory, _ := conformance.Open(t)
	s := newServiceOf(t, memory, change...)
	s.memory = memory
	return s
}

func newServiceOf(t testing.TB, memory grounded.Service, change ...func(*httpapi.Options)) *service {
	t.Helper()
	s := &service{tokens: filepath.Join(t.TempDir(), "tokens.jsonl"), secrets: map[string]string{}, ids: map[string]string{}, log: new(lockedBuffer)}
	for _, role := range []string{"read", "write", "admin"} {
		secret, token, err := httpapi.AddToken(s.tokens, role, time.Now(), time.Time{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		s.secrets[role], s.ids[role] = secret, token.ID
	}
	tokens, err := httpapi.OpenTokens(s.tokens)
	if err != nil {
		t.Fatal(err)
	}
	options := httpapi.Options{
		Tokens: tokens,
		Logger: slog.New(slog.NewJSONHandler(s.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	}
	for _, c := range change {
		c(&options)
	}
	s.Handler, err = httpapi.New(memory, options)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// request makes a request with the write token, as a program sends it.
func (s *service) request(method, path, body string) *http.Request {
	r := httptest.NewRequest(method, "http://127.0.0.1:8750"+path, strings.NewReader(body))
	r.Host = "127.0.0.1:8750"
	r.Header.Set("Authorization", "Bearer "+s.secrets["write"])
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	return r
}

func (s *service) do(r *http.Request) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w
}

func (s *service) post(operation, body string) *httptest.ResponseRecorder {
	return s.do(s.request(http.MethodPost, "/v1/"+operation, body))
}

// errorOf reads the error of an answer.
func errorOf(t testing.TB, w *httptest.ResponseRecorder) *grounded.Error {
	t.Helper()
	var e grounded.Error
	if err := json.Unmarshal(w.Body.Bytes(), &e); err != nil || e.Code == "" {
		t.Fatalf("status %d without an error: %q", w.Code, w.Body)
	}
	return &e
}

func wantError(t testing.TB, w *httptest.ResponseRecorder, status int, code grounded.Code) {
	t.Helper()
	if w.Code != status {
		t.Errorf("status %d, want %d: %s", w.Code, status, w.Body)
		return
	}
	if e := errorOf(t, w); e.Code != code {
		t.Errorf("code %s, want %s", e.Code, code)
	}
}

// door is the handler as a door.
func (s *service) door(ctx context.Context, op string, args []byte) ([]byte, error) {
	r := s.request(http.MethodPost, "/v1/"+op, string(args)).WithContext(ctx)
	w := s.do(r)
	data, err := io.ReadAll(w.Body)
	if err != nil {
		return nil, err
	}
	if w.Code == http.StatusOK {
		return data, nil
	}
	var e grounded.Error
	if err := json.Unmarshal(data, &e); err != nil {
		return nil, err
	}
	if httpapi.Status(e.Code) != w.Code {
		return nil, &grounded.Error{Code: grounded.Internal, Message: "the status does not belong to the code"}
	}
	return nil, &e
}

// fakeService counts calls and lets a test decide what remember and note do.
type fakeService struct {
	grounded.Service // nil: only these operations are called
	mu               sync.Mutex
	calls            int
	remember         func(context.Context, *grounded.RememberRequest) (*grounded.WriteResult, error)
}

func (f *fakeService) count() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.calls
}

func (f *fakeService) called() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls++
}

func (f *fakeService) Remember(ctx context.Context, r *grounded.RememberRequest) (*grounded.WriteResult, error) {
	f.called()
	if f.remember != nil {
		return f.remember(ctx, r)
	}
	return &grounded.WriteResult{ID: 1, Contradicts: []grounded.RecordID{}}, nil
}

func (f *fakeService) Stats(context.Context, *grounded.StatsRequest) (*grounded.StatsResult, error) {
	f.called()
	return &grounded.StatsResult{Tenant: "acme"}, nil
}

const rememberBody = `{"entity":"a","predicate":"b","value":"c","source":"s"}`
