package client_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/grounded-memory/grounded"
	"github.com/grounded-memory/grounded/client"
	"github.com/grounded-memory/grounded/httpapi"
	"github.com/grounded-memory/grounded/internal/conformance"
	"github.com/grounded-memory/grounded/internal/operation"
)

const token = "grounded_a-token-that-must-not-be-seen-anywhere"

// noWait is a Sleep that does not.
func noWait(ctx context.Context, _ time.Duration) error { return ctx.Err() }

// newHandler is the real service with one token of the admin role.
func newHandler(t testing.TB, memory grounded.Service, change ...func(*httpapi.Options)) (h *httpapi.Handler, secret string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "tokens")
	secret, _, err := httpapi.AddToken(path, "admin", time.Now(), time.Time{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	tokens, err := httpapi.OpenTokens(path)
	if err != nil {
		t.Fatal(err)
	}
	options := httpapi.Options{Tokens: tokens}
	for _, c := range change {
		c(&options)
	}
	h, err = httpapi.New(memory, options)
	if err != nil {
		t.Fatal(err)
	}
	return h, secret
}

func newClient(t testing.TB, url string, options client.Options) *client.Client {
	t.Helper()
	if options.Sleep == nil {
		options.Sleep = noWait
	}
	c, err := client.New(url, options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

func newDoor(t *testing.T, s grounded.Service) conformance.Door {
	h, secret := newHandler(t, s)
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	return conformance.Direct(newClient(t, server.URL, client.Options{Token: secret}))
}

func TestConformance(t *testing.T) { conformance.Run(t, newDoor) }

func TestRefusesMalformed(t *testing.T) { conformance.Refused(t, newDoor) }

// TestMethodsReachTheirOperations: each method calls its own operation, and a
// nil request none.
func TestMethodsReachTheirOperations(t *testing.T) {
	var paths []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		paths = append(paths, r.Method+" "+r.URL.Path)
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte("{}"))
	}))
	defer server.Close()
	c := newClient(t, server.URL+"/below/", client.Options{Token: token})
	for _, op := range operation.All() {
		paths = nil
		if _, err := op.Call(t.Context(), c, nil); err != nil {
			t.Errorf("%s: %v", op.Name, err)
		}
		if want := "POST /below/v1/" + op.Name; len(paths) != 1 || paths[0] != want {
			t.Errorf("%s: %q, want %s", op.Name, paths, want)
		}
	}
	paths = nil
	service := reflect.TypeFor[grounded.Service]()
	for i := range service.NumMethod() {
		m := service.Method(i)
		args := []reflect.Value{reflect.ValueOf(t.Context()), reflect.Zero(m.Type.In(1))}
		err, _ := reflect.ValueOf(c).MethodByName(m.Name).Call(args)[1].Interface().(error)
		if !errors.Is(err, grounded.InvalidArgument) {
			t.Errorf("%s(nil): %v", m.Name, err)
		}
	}
	if len(paths) != 0 {
		t.Errorf("nil requests reached %q", paths)
	}
}

// startService starts a real service for an example.
func startService() (url, secret string, stop func()) {
	must := func(err error) {
		if err != nil {
			panic(err)
		}
	}
	dir, err := os.MkdirTemp("", "grounded-example-")
	must(err)
	store, err := grounded.Open(context.Background(), filepath.Join(dir, "memory.db"), nil)
	must(err)
	memory, err := store.Scope("acme", "support")
	must(err)
	path := filepath.Join(dir, "tokens")
	secret, _, err = httpapi.AddToken(path, "write", time.Now(), time.Time{}, nil)
	must(err)
	tokens, err := httpapi.OpenTokens(path)
	must(err)
	handler, err := httpapi.New(memory, httpapi.Options{Tokens: tokens})
	must(err)
	server := httptest.NewServer(handler)
	return server.URL, secret, func() {
		server.Close()
		must(errors.Join(store.Close(), os.RemoveAll(dir)))
	}
}
