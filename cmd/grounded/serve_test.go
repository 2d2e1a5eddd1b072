package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/grounded-memory/grounded"
	"github.com/grounded-memory/grounded/client"
)

// try runs the program to its end.
func try(t *testing.T, args ...string) (code int, out, errOut string) {
	t.Helper()
	var outBuffer, errBuffer bytes.Buffer
	code = run(t.Context(), args, strings.NewReader(""), &outBuffer, &errBuffer)
	return code, outBuffer.String(), errBuffer.String()
}

// serving starts the service and returns its URL and a function that ends it.
func serving(t *testing.T, args ...string) (url string, stop func() int) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	reader, writer := io.Pipe()
	ended := make(chan int, 1)
	go func() {
		ended <- run(ctx, append([]string{"serve", "--listen", "127.0.0.1:0"}, args...), strings.NewReader(""), io.Discard, writer)
		_ = writer.Close()
	}()
	lines := bufio.NewScanner(reader)
	address := regexp.MustCompile(`on (https?://\S+)$`)
	for lines.Scan() {
		if found := address.FindStringSubmatch(lines.Text()); found != nil {
			url = found[1]
			break
		}
	}
	if url == "" {
		cancel()
		t.Fatalf("it does not serve; status %d", <-ended)
	}
	go func() { _, _ = io.Copy(io.Discard, reader) }()
	return url, func() int {
		cancel()
		return <-ended
	}
}

// TestServe is the life of a service: a token, a write, a revocation, an end
// after which the store holds what was written.
func TestServe(t *testing.T) {
	dir := t.TempDir()
	db, tokens := filepath.Join(dir, "m.db"), filepath.Join(dir, "tokens")
	if code, _, errOut := try(t, "serve", "--db", db, "--tokens", tokens); code != 1 || !strings.Contains(errOut, "grounded token new") {
		t.Errorf("without a token: status %d, %s", code, errOut)
	}
	code, out, errOut := try(t, "token", "new", "--role", "write", "--tokens", tokens)
	if code != 0 {
		t.Fatal(errOut)
	}
	secret := strings.TrimSpace(out)
	url, stop := serving(t, "--db", db, "--tokens", tokens, "--tenant", "acme", "--namespace", "support")
	c, err := client.New(url, client.Options{Token: secret})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Note(t.Context(), &grounded.NoteRequest{Text: "kept", Source: "s"}); err != nil {
		t.Fatal(err)
	}
	stats, err := c.Stats(t.Context(), &grounded.StatsRequest{})
	if err != nil || stats.Tenant != "acme" || stats.Namespace != "support" || stats.Eligible.Note != 1 {
		t.Errorf("%+v, %v", stats, err)
	}
	initialize(t, url, secret)

	_, list, _ := try(t, "token", "list", "--tokens", tokens)
	id := strings.Fields(strings.Split(list, "\n")[1])[0]
	if strings.Contains(list, secret) {
		t.Error("the list holds a secret")
	}
	if code, _, errOut := try(t, "token", "revoke", id, "--tokens", tokens); code != 0 {
		t.Fatal(errOut)
	}
	if _, err := c.Stats(t.Context(), &grounded.StatsRequest{}); !errors.Is(err, grounded.Unauthenticated) {
		t.Errorf("after it was revoked: %v", err)
	}
	if code := stop(); code != 0 {
		t.Errorf("it ended with status %d", code)
	}
	if code, out, errOut := try(t, "stats", "--db", db, "--tenant", "acme", "--namespace", "support"); code != 0 || !strings.Contains(strings.ReplaceAll(out, " ", ""), `"note":1`) {
		t.Errorf("status %d: %s%s", code, out, errOut)
	}
}

// initialize begins an MCP session at /mcp.
func initialize(t *testing.T, url, secret string) {
	t.Helper()
	body := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`
	for token, want := range map[string]int{secret: http.StatusOK, "guess": http.StatusUnauthorized} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+"/mcp", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Authorization", "Bearer "+token)
		request.Header.Set("Content-Type", "application/json")
		request.Header.Set("Accept", "application/json, text/event-stream")
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(response.Body)
		_ = response.Body.Close()
		if err != nil || response.StatusCode != want || want == http.StatusOK && !strings.Contains(string(data), `"serverInfo"`) {
			t.Errorf("status %d, want %d: %s %v", response.StatusCode, want, data, err)
		}
	}
}

// TestServeRefusesClearTextBeyondThisMachine unless told that a proxy ends TLS.
func TestServeRefusesClearTextBeyondThisMachine(t *testing.T) {
	dir := t.TempDir()
	tokens := filepath.Join(dir, "tokens")
	if code, _, errOut := try(t, "token", "new", "--role", "read", "--tokens", tokens); code != 0 {
		t.Fatal(errOut)
	}
	for _, address := range []string{"0.0.0.0:0", ":0", "[::]:0"} {
		code, _, errOut := try(t, "serve", "--db", filepath.Join(dir, "m.db"), "--tokens", tokens, "--listen", address)
		if code != 1 || !strings.Contains(errOut, "--behind-proxy") {
			t.Errorf("%s: status %d, %s", address, code, errOut)
		}
	}
	_, stop := serving(t, "--db", filepath.Join(dir, "m.db"), "--tokens", tokens, "--listen", "0.0.0.0:0", "--behind-proxy")
	if code := stop(); code != 0 {
		t.Errorf("behind a proxy: status %d", code)
	}
	for _, args := range [][]string{
		{"token", "new", "--tokens", tokens},
		{"token", "new", "--role", "root", "--tokens", tokens},
		{"token", "revoke", "nobody", "--tokens", tokens},
		{"serve", "--tokens", tokens, "--tls-cert", tokens},
		{"serve", "--tokens", tokens, "--log-level", "loud"},
		{"serve", "--tokens", tokens, "--tools", "some"},
	} {
		if code, _, _ := try(t, append(args, "--db", filepath.Join(dir, "m.db"))...); code != 1 {
			t.Errorf("%v: status %d", args, code)
		}
	}
}
