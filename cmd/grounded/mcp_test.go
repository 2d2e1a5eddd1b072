package main

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/grounded-memory/grounded/httpapi"
	"github.com/grounded-memory/grounded/internal/conformance"
	"github.com/grounded-memory/grounded/internal/operation"
	"github.com/grounded-memory/grounded/mcpserver"
)

// independent runs the TypeScript client; it is skipped by name where node or the
// client's packages are missing.
func independent(t *testing.T, args ...string) map[string]any {
	t.Helper()
	dir := filepath.Join("testdata", "mcpclient")
	_, err := exec.LookPath("node")
	if _, missing := os.Stat(filepath.Join(dir, "node_modules")); err != nil || missing != nil {
		if os.Getenv("GROUNDED_REQUIRE_ALL") != "" {
			t.Fatalf("needs node, and: npm ci in cmd/grounded/%s", dir)
		}
		t.Skipf("needs node, and: npm ci in cmd/grounded/%s", dir)
	}
	cmd := exec.Command("node", append([]string{filepath.Join(dir, "client.mjs")}, args...)...)
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\n%s%s", err, out.String(), errOut.String())
	}
	seen := map[string]any{}
	if err := json.Unmarshal(out.Bytes(), &seen); err != nil {
		t.Fatalf("%v: %s", err, out.String())
	}
	return seen
}

func checkSeen(t *testing.T, seen map[string]any, tools int) {
	t.Helper()
	for key, want := range map[string]any{"server": "grounded", "id": "r1", "status": "answered", "who": "Ada", "record": "the TypeScript client", "prompt": 1.0, "tools": float64(tools)} {
		if seen[key] != want {
			t.Errorf("the client saw %s = %v; want %v", key, seen[key], want)
		}
	}
	if text, _ := seen["refused"].(string); !strings.Contains(text, "predicate cannot be a variable") {
		t.Errorf("a refusal reads %v", seen["refused"])
	}
	if tools <= 9 && seen["bytes"].(float64) > 10_000 {
		t.Errorf("the tools take %v bytes", seen["bytes"])
	}
}

// TestIndependentClientOverStdio starts the real binary as a client does.
func TestIndependentClientOverStdio(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the binary")
	}
	dir := t.TempDir()
	bin := filepath.Join(dir, "grounded")
	if out, err := exec.Command("go", "build", "-o", bin, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	checkSeen(t, independent(t, "stdio", bin, "mcp", "--db", filepath.Join(dir, "memory.db")), 9)
}

// TestIndependentClientOverHTTP goes through tokens and all.
func TestIndependentClientOverHTTP(t *testing.T) {
	memory, _ := conformance.Open(t)
	handler, err := mcpserver.Handler(memory, mcpserver.Options{AllTools: true})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "tokens")
	secret, _, err := httpapi.AddToken(path, "write", time.Now(), time.Time{}, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	tokens, err := httpapi.OpenTokens(path)
	if err != nil {
		t.Fatal(err)
	}
	service, err := httpapi.New(memory, httpapi.Options{Tokens: tokens, MCP: handler})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(service)
	t.Cleanup(server.Close)
	checkSeen(t, independent(t, "http", server.URL+"/mcp", secret), len(operation.All()))
}
