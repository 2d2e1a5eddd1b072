package mcpserver

import (
	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/grounded-memory/grounded/internal/operation"
)

// isDefault names the operations that an agent needs every day: at most nine,
// because each tool costs its reader tokens in every conversation.
func isDefault(name string) bool {
	switch name {
	case "remember", "note", "remember_bridge", "correct", "forget", "list", "recall", "recall_grounded", "query":
		return true
	}
	return false
}

// titles are what people see.
func titleOf(name string) string {
	switch name {
	case "remember":
		return "Store a fact"
	case "note":
		return "Store a note"
	case "declare_relation":
		return "Declare a predicate"
	case "remember_bridge":
		return "Store a glossary entry"
	case "correct":
		return "Correct a record"
	case "forget":
		return "Delete a record for good"
	case "write":
		return "Several writes at once"
	case "get":
		return "Show a record"
	case "list":
		return "List records"
	case "history":
		return "Show a record's history"
	case "recall":
		return "Ask a short question"
	case "recall_grounded":
		return "Find related records"
	case "query":
		return "Join facts"
	case "pack":
		return "Make a packet"
	case "verify":
		return "Verify a certificate"
	}
	return "Figures of the memory"
}

// fieldHelp is what a model must know about an argument beyond its name.
func fieldHelp(field string) string {
	switch field {
	case "source":
		return "who or what says so, e.g. a person, a file, a URL"
	case "entity":
		return "what it is about, e.g. Ada; case matters"
	case "predicate":
		return "e.g. manages"
	case "cardinality":
		return "multi if several values can be true at once"
	case "modality":
		return "only asserted facts are used in answers"
	case "ttl":
		return "time to live, e.g. 720h"
	case "session":
		return "shared by the notes of one conversation or document"
	case "where":
		return `1 to 6 patterns [entity, predicate, value]; "?x" is a variable, e.g. [["?who","manages","Bob"]]`
	case "select":
		return "variables to return; default all; [] asks whether a match exists"
	case "text":
		return "the text, kept byte for byte; or the question"
	case "query":
		return "a few words"
	case "k":
		return "how many at most, default 5"
	case "id":
		return "e.g. r17"
	case "phrase":
		return "words as people ask, e.g. k8s"
	case "target":
		return "words as records say it, e.g. kubernetes"
	case "pack":
		return "adds a packet for a reader within budget tokens"
	case "after":
		return "the next of the page before"
	}
	return ""
}

// toolOf describes an operation as a tool.
func toolOf(op operation.Operation) (*mcp.Tool, error) {
	in, err := op.RequestSchema()
	if err != nil {
		return nil, err
	}
	for name, field := range in.Properties {
		field.Description = fieldHelp(name)
		if field.Items != nil && name == "where" {
			// Its full schema stands in the OpenAPI document; the help says the same in fewer bytes.
			field.Items = &jsonschema.Schema{Type: "array"}
		}
	}
	no := false
	destructive := op.Destructive
	return &mcp.Tool{
		Name: op.Name, Title: titleOf(op.Name), Description: op.Summary,
		InputSchema: in, OutputSchema: outputSchema(op),
		Annotations: &mcp.ToolAnnotations{
			ReadOnlyHint: op.Role == operation.Read, DestructiveHint: &destructive,
			IdempotentHint: op.Idempotent, OpenWorldHint: &no,
		},
	}, nil
}

// outputSchema names the fields that a model should look for first. The whole
// schema is in the OpenAPI document.
func outputSchema(op operation.Operation) *jsonschema.Schema {
	s := &jsonschema.Schema{Type: "object", Properties: map[string]*jsonschema.Schema{}}
	add := func(name, typ string) { s.Properties[name] = &jsonschema.Schema{Type: typ} }
	switch {
	case op.Name == "list":
		add("records", "array")
		add("next", "string")
	case op.Role == operation.Read:
		add("status", "string")
	default:
		add("id", "string")
	}
	switch op.Name {
	case "query", "recall":
		add("answers", "array")
		add("conflicts", "array")
	case "recall_grounded":
		add("results", "array")
		add("conflicts", "array")
	case "remember", "remember_bridge", "correct":
		add("contradicts", "array")
	}
	return s
}
