package mcpserver_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/grounded-memory/grounded"
	"github.com/grounded-memory/grounded/internal/conformance"
	"github.com/grounded-memory/grounded/internal/operation"
	"github.com/grounded-memory/grounded/mcpserver"
	"github.com/grounded-memory/grounded/tokenizer"
)

// connect gives a client session to a server over a service.
func connect(t *testing.T, service grounded.Service, options mcpserver.Options) *mcp.ClientSession {
	t.Helper()
	server, err := mcpserver.New(service, options)
	if err != nil {
		t.Fatal(err)
	}
	here, there := mcp.NewInMemoryTransports()
	ctx := context.Background()
	if _, err := server.Connect(ctx, there, nil); err != nil {
		t.Fatal(err)
	}
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(ctx, here, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = session.Close() })
	return session
}

func call(t *testing.T, session *mcp.ClientSession, name string, args any) (*mcp.CallToolResult, map[string]any) {
	t.Helper()
	result, err := session.CallTool(context.Background(), &mcp.CallToolParams{Name: name, Arguments: args})
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	structured, _ := result.StructuredContent.(map[string]any)
	return result, structured
}

// TestTools holds the size of what every conversation pays for, and that each
// tool says what it does.
func TestTools(t *testing.T) {
	memory, _ := conformance.Open(t)
	for _, all := range []bool{false, true} {
		session := connect(t, memory, mcpserver.Options{AllTools: all})
		list, err := session.ListTools(context.Background(), nil)
		if err != nil {
			t.Fatal(err)
		}
		data, err := json.Marshal(list)
		if err != nil {
			t.Fatal(err)
		}
		if !all && (len(list.Tools) > 9 || len(data) > 10_000) {
			t.Errorf("%d tools in %d bytes", len(list.Tools), len(data))
		}
		if all && len(list.Tools) != len(operation.All()) {
			t.Errorf("%d tools of %d operations", len(list.Tools), len(operation.All()))
		}
		for _, tool := range list.Tools {
			op, ok := operation.Find(tool.Name)
			if !ok || tool.Title == "" || tool.Description == "" || tool.InputSchema == nil || tool.OutputSchema == nil || tool.Annotations == nil {
				t.Errorf("tool %s is not whole: %+v", tool.Name, tool)
				continue
			}
			if tool.Annotations.ReadOnlyHint != (op.Role == operation.Read) || *tool.Annotations.DestructiveHint != op.Destructive {
				t.Errorf("tool %s has the annotations %+v", tool.Name, tool.Annotations)
			}
		}
	}
}

func TestErrorsSayWhatToDo(t *testing.T) {
	memory, _ := conformance.Open(t)
	session := connect(t, memory, mcpserver.Options{AllTools: true})
	call(t, session, "remember", map[string]any{"entity": "a", "predicate": "p", "value": "v", "source": "s"})
	call(t, session, "correct", map[string]any{"id": "r1", "value": "w", "source": "s"})
	for name, c := range map[string]struct {
		tool string
		args any
		code string
		text string
	}{
		"not found": {"get", map[string]any{"id": "r9"}, "not_found", "Ids look like r17"},
		"corrected": {"correct", map[string]any{"id": "r1", "value": "x", "source": "s"}, "already_corrected", "r2"},
		"argument":  {"remember", map[string]any{"entity": "a"}, "invalid_argument", "Change that argument"},
		"unknown":   {"query", map[string]any{"where": []any{}, "bogus": 1}, "invalid_argument", "bogus"},
	} {
		result, structured := call(t, session, c.tool, c.args)
		text := result.Content[0].(*mcp.TextContent).Text
		if !result.IsError || structured["code"] != c.code || !strings.Contains(text, c.text) {
			t.Errorf("%s: %q, %v", name, text, structured)
		}
	}
}

// TestRepliesAreBounded: whatever is stored, a reply stays within the bound, in
// real tokens too, and a shortened one says so.
func TestRepliesAreBounded(t *testing.T) {
	memory, _ := conformance.Open(t)
	session := connect(t, memory, mcpserver.Options{})
	for i := range 60 {
		for _, text := range []string{strings.Repeat(fmt.Sprintf("A long note number %d about the export of invoices. ", i), 20), strings.Repeat("請求書の輸出", 60), strings.Repeat("0f", 300)} {
			call(t, session, "note", map[string]any{"text": fmt.Sprintf("export %d ", i) + text, "source": "test"})
		}
		call(t, session, "remember", map[string]any{"entity": fmt.Sprintf("entity %d", i), "predicate": "exports", "value": "invoices", "source": strings.Repeat("long source ", 30)})
	}
	for name, args := range map[string]any{
		"recall_grounded": map[string]any{"query": "export of invoices", "k": 50},
		"recall":          map[string]any{"text": "export of invoices"},
		"query":           map[string]any{"where": [][]string{{"?e", "exports", "invoices"}}},
		"list":            map[string]any{},
	} {
		result, structured := call(t, session, name, args)
		data, err := json.Marshal(result)
		if err != nil {
			t.Fatal(err)
		}
		if n := tokenizer.O200K().Count(string(data)); n > mcpserver.ReplyTokens {
			t.Errorf("%s: a reply of %d tokens", name, n)
		}
		if result.IsError || structured == nil {
			t.Errorf("%s: %s", name, data)
		}
		if name != "list" && structured["shortened"] == nil {
			t.Errorf("%s: does not say that it was shortened", name)
		}
		if name == "list" && structured["next"] == nil {
			t.Error("a shortened page does not say where the next begins")
		}
	}
}

func TestResourcesAndPrompts(t *testing.T) {
	memory, _ := conformance.Open(t)
	session := connect(t, memory, mcpserver.Options{})
	call(t, session, "note", map[string]any{"text": "hello", "source": "s"})
	for uri, want := range map[string]string{"grounded://stats": `"note":1`, "grounded://record/r1": `"hello"`} {
		result, err := session.ReadResource(context.Background(), &mcp.ReadResourceParams{URI: uri})
		if err != nil || !strings.Contains(result.Contents[0].Text, want) {
			t.Errorf("%s: %v", uri, err)
		}
	}
	for _, uri := range []string{"grounded://record/r2", "grounded://record/x"} {
		if _, err := session.ReadResource(context.Background(), &mcp.ReadResourceParams{URI: uri}); err == nil {
			t.Errorf("%s is there", uri)
		}
	}
	prompts, err := session.ListPrompts(context.Background(), nil)
	if err != nil || len(prompts.Prompts) != 2 {
		t.Fatalf("prompts: %v", err)
	}
	got, err := session.GetPrompt(context.Background(), &mcp.GetPromptParams{Name: "answer_from_memory", Arguments: map[string]string{"question": "Who manages Bob?"}})
	if err != nil || !strings.Contains(got.Messages[0].Content.(*mcp.TextContent).Text, "Who manages Bob?") {
		t.Errorf("prompt: %v", err)
	}
}

// door calls tools over streamable HTTP with bodies written by hand, so that
// malformed arguments reach the server as they are.
func door(t *testing.T, service grounded.Service) conformance.Door {
	handler, err := mcpserver.Handler(service, mcpserver.Options{AllTools: true, MaxTokens: 1 << 30})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return func(ctx context.Context, op string, args []byte) ([]byte, error) {
		name, _ := json.Marshal(op)
		if len(args) == 0 {
			args = []byte("{}")
		}
		body := fmt.Appendf(nil, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%s,"arguments":%s}}`, name, args)
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, server.URL, bytes.NewReader(body))
		if err != nil {
			return nil, err
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", "application/json, text/event-stream")
		req.Header.Set("Mcp-Protocol-Version", "2025-06-18")
		response, err := http.DefaultClient.Do(req)
		if err != nil {
			return nil, err
		}
		defer response.Body.Close()
		data, err := io.ReadAll(response.Body)
		if err != nil {
			return nil, err
		}
		if response.StatusCode == http.StatusRequestEntityTooLarge {
			return nil, &grounded.Error{Code: grounded.TooLarge, Message: string(data)}
		}
		var reply struct {
			Result struct {
				IsError           bool            `json:"isError"`
				StructuredContent json.RawMessage `json:"structuredContent"`
			} `json:"result"`
			Error json.RawMessage `json:"error"`
		}
		if err := json.Unmarshal(data, &reply); err != nil || reply.Error != nil {
			// What is no JSON-RPC at all is refused before any tool sees it.
			return nil, &grounded.Error{Code: grounded.InvalidArgument, Message: string(data)}
		}
		if reply.Result.IsError {
			e := new(grounded.Error)
			if err := json.Unmarshal(reply.Result.StructuredContent, e); err != nil {
				return nil, err
			}
			return nil, e
		}
		return reply.Result.StructuredContent, nil
	}
}

func TestConformance(t *testing.T) { conformance.Run(t, door) }

func TestRefusesMalformed(t *testing.T) { conformance.Refused(t, door) }

// TestRoles: a caller sees the tools of its role, and no others can be called.
func TestRoles(t *testing.T) {
	memory, _ := conformance.Open(t)
	handler, err := mcpserver.Handler(memory, mcpserver.Options{AllTools: true})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		handler.ServeHTTP(w, r.WithContext(operation.WithRole(r.Context(), operation.Read)))
	}))
	t.Cleanup(server.Close)
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(context.Background(), &mcp.StreamableClientTransport{Endpoint: server.URL}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = session.Close() })
	if _, err := session.CallTool(context.Background(), &mcp.CallToolParams{Name: "note", Arguments: map[string]any{"text": "x", "source": "s"}}); err == nil {
		t.Error("a reader wrote")
	}
	if _, structured := call(t, session, "stats", map[string]any{}); structured["eligible"] == nil {
		t.Error("a reader cannot read")
	}
}
