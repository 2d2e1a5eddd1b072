// Package conformance holds one list of cases that every door of the product
// must pass: the Go API, batch, HTTP, the client, MCP.
//
// A case (cases.json) is a list of steps on a fresh store whose clock stands at
// [Start] and moves only when a step says so, and whose random bytes are always
// the same. A step is
//
//	{"op":"query","args":{…},"as":"asked","result":{…}}   a call and what its result holds
//	{"op":"get","args":{"id":"r9"},"error":{"code":"not_found"}}
//	{"op":"query","raw":["{\"where\":",["[",65],"}"],"error":{…}} text that is not valid; ["[",65] repeats
//	{"advance":"90s"}                                      the clock moves
//
// A result or error is a pattern: each of its members must be there and match,
// lists match element by element, "<any>" matches whatever is there, and
// "<absent>" what is not. A string in args such as "$asked.certificate" stands
// for that part of an earlier result.
//
// [Run] compares every result with the pattern and, byte for byte in canonical
// form, with that of the Go API on another store: all doors say the same.
// [Refused] adds malformed arguments for every operation.
package conformance

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/grounded-memory/grounded"
	"github.com/grounded-memory/grounded/internal/canonical"
	"github.com/grounded-memory/grounded/internal/operation"
)

// Start is the time at which every case begins.
const Start = "2026-01-01T00:00:00Z"

// Door is one way to the operations: a name and JSON arguments in, the JSON
// result or an error out. The error must be, or wrap, a *grounded.Error.
type Door func(ctx context.Context, op string, args []byte) ([]byte, error)

// Clock is a time that only a case moves. It is safe for concurrent use.
type Clock struct {
	mu  sync.Mutex
	now time.Time
}

// Now returns the time.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Advance moves the time.
func (c *Clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// sameBytes gives the same random bytes in every run.
type sameBytes struct {
	mu     sync.Mutex
	source *rand.ChaCha8
}

// Read fills p.
func (s *sameBytes) Read(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.source.Read(p)
}

// NewRand returns a source of random bytes that are the same in every run.
func NewRand() io.Reader { return &sameBytes{source: rand.NewChaCha8([32]byte{1})} }

// Open opens a fresh store with a clock at Start and the same random bytes as
// every other, and returns its scope acme/support.
func Open(t testing.TB) (*grounded.Memory, *Clock) {
	t.Helper()
	start, err := time.Parse(time.RFC3339, Start)
	if err != nil {
		t.Fatal(err)
	}
	clock := &Clock{now: start}
	store, err := grounded.Open(context.Background(), filepath.Join(t.TempDir(), "memory.db"), &grounded.Options{Clock: clock.Now, Rand: NewRand()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	memory, err := store.Scope("acme", "support")
	if err != nil {
		t.Fatal(err)
	}
	return memory, clock
}

// Direct is the Go API as a door: the table's decoding and the method.
func Direct(s grounded.Service) Door {
	return func(ctx context.Context, op string, args []byte) ([]byte, error) {
		o, ok := operation.Find(op)
		if !ok {
			return nil, &grounded.Error{Code: grounded.NotFound, Message: op + " is no operation"}
		}
		result, err := o.Call(ctx, s, args)
		if err != nil {
			return nil, err
		}
		return grounded.EncodeResult(result)
	}
}

//go:embed cases.json
var casesJSON []byte

// testCase is one entry of cases.json.
type testCase struct {
	Name  string `json:"name"`
	Steps []step `json:"steps"`
}

type step struct {
	Op      string         `json:"op,omitzero"`
	Args    jsontext.Value `json:"args,omitzero"`
	Raw     jsontext.Value `json:"raw,omitzero"`
	As      string         `json:"as,omitzero"`
	Result  any            `json:"result,omitzero"`
	Error   any            `json:"error,omitzero"`
	Advance string         `json:"advance,omitzero"`
}

// Run runs every case through a door that newDoor makes over a service.
func Run(t *testing.T, newDoor func(t *testing.T, s grounded.Service) Door) {
	var cases []testCase
	if err := json.Unmarshal(casesJSON, &cases, json.RejectUnknownMembers(true)); err != nil {
		t.Fatal(err)
	}
	if len(cases) == 0 {
		t.Fatal("no cases")
	}
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			tested, referenced := newRun(t, newDoor), newRun(t, func(_ *testing.T, s grounded.Service) Door { return Direct(s) })
			for i := range c.Steps {
				runStep(t, i, &c.Steps[i], tested, referenced)
			}
		})
	}
}

// run is one door with its store and the results so far.
type run struct {
	door    Door
	clock   *Clock
	results map[string]any
}

func newRun(t *testing.T, newDoor func(*testing.T, grounded.Service) Door) *run {
	memory, clock := Open(t)
	return &run{door: newDoor(t, memory), clock: clock, results: map[string]any{}}
}

func runStep(t *testing.T, number int, s *step, tested, referenced *run) {
	t.Helper()
	if s.Advance != "" {
		d, err := time.ParseDuration(s.Advance)
		if err != nil {
			t.Fatal(err)
		}
		tested.clock.Advance(d)
		referenced.clock.Advance(d)
		return
	}
	got, err := tested.do(t.Context(), s)
	want, wantErr := referenced.do(t.Context(), s)
	where := fmt.Sprintf("step %d, %s", number, s.Op)
	switch {
	case s.Error != nil && err == nil:
		t.Fatalf("%s: got a result, want an error: %s", where, got)
	case s.Error == nil && err != nil:
		t.Fatalf("%s: %v", where, err)
	}
	pattern := s.Result
	if err != nil {
		pattern, got, want = s.Error, errorJSON(err), errorJSON(wantErr)
	}
	if problem := match("", pattern, parse(t, got)); problem != "" {
		t.Errorf("%s: %s\nin %s", where, problem, got)
	}
	// Text that is not valid may be refused at different places by a door
	// that wraps it; the code is the same (above).
	if s.Raw == nil && string(canonicalForm(t, got)) != string(canonicalForm(t, want)) {
		t.Errorf("%s: the door says\n%s\nthe Go API\n%s", where, canonicalForm(t, got), canonicalForm(t, want))
	}
}

func (r *run) do(ctx context.Context, s *step) ([]byte, error) {
	args, err := r.arguments(s)
	if err != nil {
		return nil, err
	}
	result, err := r.door(ctx, s.Op, args)
	if err == nil && s.As != "" {
		var value any
		if err := json.Unmarshal(result, &value); err != nil {
			return nil, err
		}
		r.results[s.As] = value
	}
	return result, err
}

func (r *run) arguments(s *step) ([]byte, error) {
	if s.Raw != nil {
		return rawText(s.Raw)
	}
	if len(s.Args) == 0 {
		return []byte("{}"), nil
	}
	if !strings.Contains(string(s.Args), `"$`) {
		return s.Args, nil
	}
	var value any
	if err := json.Unmarshal(s.Args, &value); err != nil {
		return nil, err
	}
	filled, err := r.fill(value)
	if err != nil {
		return nil, err
	}
	return json.Marshal(filled, json.Deterministic(true))
}

// fill replaces strings such as "$asked.certificate".
func (r *run) fill(value any) (any, error) {
	var err error
	switch v := value.(type) {
	case map[string]any:
		for name := range v {
			if v[name], err = r.fill(v[name]); err != nil {
				return nil, err
			}
		}
	case []any:
		for i := range v {
			if v[i], err = r.fill(v[i]); err != nil {
				return nil, err
			}
		}
	case string:
		if path, ok := strings.CutPrefix(v, "$"); ok {
			return r.lookUp(path)
		}
	}
	return value, nil
}

func (r *run) lookUp(path string) (any, error) {
	parts := strings.Split(path, ".")
	value, ok := r.results[parts[0]]
	if !ok {
		return nil, fmt.Errorf("no earlier result is called %q", parts[0])
	}
	for _, part := range parts[1:] {
		switch v := value.(type) {
		case map[string]any:
			value = v[part]
		case []any:
			i, err := strconv.Atoi(part)
			if err != nil || i >= len(v) {
				return nil, fmt.Errorf("$%s: no %q", path, part)
			}
			value = v[i]
		default:
			return nil, fmt.Errorf("$%s: no %q", path, part)
		}
	}
	return value, nil
}

// rawText puts the parts of a raw text together: strings, and [string, times].
func rawText(parts jsontext.Value) ([]byte, error) {
	var list []any
	if err := json.Unmarshal(parts, &list); err != nil {
		return nil, err
	}
	var b strings.Builder
	for _, part := range list {
		switch p := part.(type) {
		case string:
			b.WriteString(p)
		case []any:
			b.WriteString(strings.Repeat(p[0].(string), int(p[1].(float64))))
		}
	}
	return []byte(b.String()), nil
}

// errorJSON is an error as every door writes it.
func errorJSON(err error) []byte {
	var e *grounded.Error
	if !errors.As(err, &e) {
		return []byte(`{"code":"no error of this product","message":` + strconv.Quote(err.Error()) + `}`)
	}
	data, err := grounded.EncodeResult(e)
	if err != nil {
		return []byte(`{"code":"cannot be written"}`)
	}
	return data
}

func parse(t *testing.T, data []byte) any {
	t.Helper()
	var value any
	if err := json.Unmarshal(data, &value); err != nil {
		t.Fatalf("not JSON: %v: %s", err, data)
	}
	return value
}

func canonicalForm(t *testing.T, data []byte) []byte {
	t.Helper()
	out, err := canonical.Marshal(jsontext.Value(data))
	if err != nil {
		t.Fatalf("no canonical form: %v: %s", err, data)
	}
	return out
}

// match says where a value does not match a pattern, or nothing.
func match(where string, pattern, value any) string {
	switch p := pattern.(type) {
	case map[string]any:
		v, ok := value.(map[string]any)
		if !ok {
			return fmt.Sprintf("%s: want an object, got %v", where, value)
		}
		for name, inner := range p {
			got, there := v[name]
			if inner == "<absent>" {
				if there {
					return fmt.Sprintf("%s.%s: is there", where, name)
				}
				continue
			}
			if !there {
				return fmt.Sprintf("%s.%s: is missing", where, name)
			}
			if problem := match(where+"."+name, inner, got); problem != "" {
				return problem
			}
		}
	case []any:
		v, ok := value.([]any)
		if !ok || len(v) != len(p) {
			return fmt.Sprintf("%s: want %d elements, got %v", where, len(p), value)
		}
		for i := range p {
			if problem := match(fmt.Sprintf("%s[%d]", where, i), p[i], v[i]); problem != "" {
				return problem
			}
		}
	default:
		if pattern != "<any>" && pattern != value {
			return fmt.Sprintf("%s: want %v, got %v", where, pattern, value)
		}
	}
	return ""
}
