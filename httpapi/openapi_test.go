package httpapi_test

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/grounded-memory/grounded"
	"github.com/grounded-memory/grounded/internal/conformance"
	"github.com/grounded-memory/grounded/internal/operation"
)

// story is the operations of examples.json with their arguments; $certificate
// is that of the query.
func story() []struct{ op, args string } {
	return []struct{ op, args string }{
		{"remember", `{"entity":"Ada","predicate":"manages","value":"Bob","source":"HR export 2026-03","idempotency_key":"hr-2026-03/ada/bob"}`},
		{"note", `{"text":"The billing export fails on leap days.","source":"incident 214","speaker":"Ines","session":"standup","said_at":"2025-12-31T09:00:00Z"}`},
		{"declare_relation", `{"name":"works on","aliases":["is responsible for"],"cardinality":"multi","source":"team handbook"}`},
		{"remember_bridge", `{"phrase":"invoicing","target":"billing","source":"glossary"}`},
		{"correct", `{"id":"r2","text":"The billing export fails on leap days only.","source":"incident 214, closed"}`},
		{"write", `{"writes":[{"op":"remember","args":{"entity":"Bob","predicate":"works on","value":"billing","source":"team page"}},{"op":"note","args":{"text":"A draft.","source":"chat","ttl":"720h"}}]}`},
		{"get", `{"id":"r5"}`},
		{"list", `{"kind":"claim","limit":10}`},
		{"history", `{"id":"r5"}`},
		{"recall", `{"text":"what is Bob's works on"}`},
		{"recall_grounded", `{"query":"invoicing export","k":1,"policy":"bm25"}`},
		{"query", `{"where":[["?who","manages","?p"],["?p","works on","billing"]],"select":["?who"]}`},
		{"pack", `{"certificate":$certificate,"budget":800}`},
		{"verify", `{"certificate":$certificate}`},
		{"stats", `{}`},
		{"forget", `{"id":"r7"}`},
	}
}

type exampleEntry struct {
	Op      string         `json:"op"`
	Request jsontext.Value `json:"request"`
	Result  jsontext.Value `json:"result"`
}

// TestExamplesAreReal runs the story over HTTP: examples.json is what comes
// out. GROUNDED_UPDATE=1 writes it anew.
func TestExamplesAreReal(t *testing.T) {
	s := newService(t)
	var entries []exampleEntry
	certificate := ""
	for _, step := range story() {
		args := strings.ReplaceAll(step.args, "$certificate", certificate)
		w := s.post(step.op, args)
		if w.Code != http.StatusOK {
			t.Fatalf("%s: status %d: %s", step.op, w.Code, w.Body)
		}
		if step.op == "query" {
			var result struct {
				Certificate jsontext.Value `json:"certificate"`
			}
			if err := json.Unmarshal(w.Body.Bytes(), &result); err != nil {
				t.Fatal(err)
			}
			certificate = string(result.Certificate)
		}
		entries = append(entries, exampleEntry{step.op, jsontext.Value(args), jsontext.Value(w.Body.Bytes())})
	}
	var want bytes.Buffer
	want.WriteString("[\n")
	for i, e := range entries {
		line, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		end := ",\n"
		if i == len(entries)-1 {
			end = "\n]\n"
		}
		want.WriteString(string(line) + end)
	}
	if os.Getenv("GROUNDED_UPDATE") != "" {
		if err := os.WriteFile("examples.json", want.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile("examples.json")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want.Bytes()) {
		t.Error("examples.json is not what the service answers; write it anew with GROUNDED_UPDATE=1 and look at the difference")
	}
}

// document reads the served description.
func document(t *testing.T, s *service) (map[string]any, *jsonschema.Compiler) {
	t.Helper()
	w := s.do(s.request(http.MethodGet, "/openapi.json", ""))
	if w.Code != http.StatusOK || w.Header().Get("Content-Type") != "application/json" {
		t.Fatalf("status %d, %s", w.Code, w.Header())
	}
	parsed, err := jsonschema.UnmarshalJSON(w.Body)
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	compiler.DefaultDraft(jsonschema.Draft2020)
	compiler.AssertFormat()
	if err := compiler.AddResource("openapi.json", parsed); err != nil {
		t.Fatal(err)
	}
	return parsed.(map[string]any), compiler
}

// schema compiles one schema of the document.
func schema(t *testing.T, c *jsonschema.Compiler, pointer ...string) *jsonschema.Schema {
	t.Helper()
	for i := range pointer {
		pointer[i] = strings.NewReplacer("~", "~0", "/", "~1").Replace(pointer[i])
	}
	compiled, err := c.Compile("openapi.json#/" + strings.Join(pointer, "/"))
	if err != nil {
		t.Fatal(err)
	}
	return compiled
}

func requestSchema(t *testing.T, c *jsonschema.Compiler, op string) *jsonschema.Schema {
	return schema(t, c, "paths", "/v1/"+op, "post", "requestBody", "content", "application/json", "schema")
}

func resultSchema(t *testing.T, c *jsonschema.Compiler, op string) *jsonschema.Schema {
	return schema(t, c, "paths", "/v1/"+op, "post", "responses", "200", "content", "application/json", "schema")
}

func validate(s *jsonschema.Schema, data []byte) error {
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		return err
	}
	return s.Validate(value)
}

func TestDescriptionCoversEveryOperation(t *testing.T) {
	s := newService(t)
	doc, c := document(t, s)
	paths := doc["paths"].(map[string]any)
	if len(paths) != len(operation.All())+4 {
		t.Errorf("%d paths for %d operations", len(paths), len(operation.All()))
	}
	if doc["openapi"] != "3.1.0" {
		t.Error(doc["openapi"])
	}
	for _, op := range operation.All() {
		post := paths["/v1/"+op.Name].(map[string]any)["post"].(map[string]any)
		for _, part := range []any{
			post["requestBody"].(map[string]any)["content"].(map[string]any)["application/json"],
			post["responses"].(map[string]any)["200"].(map[string]any)["content"].(map[string]any)["application/json"],
		} {
			if part.(map[string]any)["example"] == nil {
				t.Errorf("%s has no example", op.Name)
			}
		}
		requestSchema(t, c, op.Name)
		resultSchema(t, c, op.Name)
		for _, code := range grounded.Codes() {
			if status := fmt.Sprint(statusOf(code)); post["responses"].(map[string]any)[status] == nil {
				t.Errorf("%s: no response %s", op.Name, status)
			}
		}
	}
}

func statusOf(code grounded.Code) int {
	return map[grounded.Code]int{
		"invalid_argument": 400, "not_found": 404, "already_corrected": 409, "already_forgotten": 409, "expired": 409, "unauthenticated": 401,
		"permission_denied": 403, "too_large": 413, "rate_limited": 429, "unavailable": 503, "storage_full": 507, "damaged": 500, "internal": 500,
	}[code]
}

// TestExamplesMatchTheirSchemas: every example of the description.
func TestExamplesMatchTheirSchemas(t *testing.T) {
	_, c := document(t, newService(t))
	data, err := os.ReadFile("examples.json")
	if err != nil {
		t.Fatal(err)
	}
	var entries []exampleEntry
	if err := json.Unmarshal(data, &entries); err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if err := validate(requestSchema(t, c, e.Op), e.Request); err != nil {
			t.Errorf("%s: request: %v", e.Op, err)
		}
		if err := validate(resultSchema(t, c, e.Op), e.Result); err != nil {
			t.Errorf("%s: result: %v", e.Op, err)
		}
	}
}

// TestAnswersMatchTheirSchemas checks every answer of the conformance suite,
// errors too. The controls: an answer of another operation does not match.
func TestAnswersMatchTheirSchemas(t *testing.T) {
	s := newService(t)
	_, c := document(t, s)
	failure := schema(t, c, "components", "schemas", "Error")
	results := map[string]*jsonschema.Schema{}
	requests := map[string]*jsonschema.Schema{}
	for _, op := range operation.All() {
		results[op.Name], requests[op.Name] = resultSchema(t, c, op.Name), requestSchema(t, c, op.Name)
	}
	answered := map[string]int{}
	conformance.Run(t, func(t *testing.T, memory grounded.Service) conformance.Door {
		door := newServiceOf(t, memory).door
		return func(ctx context.Context, op string, args []byte) ([]byte, error) {
			result, err := door(ctx, op, args)
			if err != nil {
				data, encodeErr := grounded.EncodeResult(grounded.AsError(err))
				if encodeErr != nil {
					t.Fatal(encodeErr)
				}
				if problem := validate(failure, data); problem != nil {
					t.Errorf("%s: %v", op, problem)
				}
				answered["error"]++
				return result, err
			}
			answered[op]++
			if problem := validate(results[op], result); problem != nil {
				t.Errorf("%s: %v\n%s", op, problem, result)
			}
			if strings.Contains(string(args), `"not an object"`) {
				return result, err // verify takes anything, and calls it malformed
			}
			if problem := validate(requests[op], args); problem != nil {
				t.Errorf("%s: what was accepted does not match the schema: %v\n%s", op, problem, args)
			}
			return result, err
		}
	})
	for _, op := range operation.All() {
		if answered[op.Name] == 0 {
			t.Errorf("%s was never answered", op.Name)
		}
	}
	if answered["error"] == 0 {
		t.Error("no error")
	}
	if validate(results["get"], []byte(`{"results":[]}`)) == nil || validate(requests["get"], []byte(`{"id":"17"}`)) == nil ||
		validate(requests["stats"], []byte(`{"a":1}`)) == nil || validate(failure, []byte(`{"code":"oops","message":"m"}`)) == nil {
		t.Error("the schemas let anything pass")
	}
}
