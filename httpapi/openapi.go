package httpapi

import (
	_ "embed"
	"fmt"
	"net/http"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/grounded-memory/grounded"
	"github.com/grounded-memory/grounded/internal/operation"
)

// examplesJSON holds, for each operation, a request and its result, in the
// order of one story that the tests run on a real store.
//
//go:embed examples.json
var examplesJSON []byte

// example is one operation's entry there.
type example struct {
	Operation string         `json:"op"`
	Request   jsontext.Value `json:"request"`
	Result    jsontext.Value `json:"result"`
}

func readExamples() ([]example, error) {
	var examples []example
	if err := json.Unmarshal(examplesJSON, &examples); err != nil {
		return nil, fmt.Errorf("examples.json: %w", err)
	}
	return examples, nil
}

// object is a JSON object under construction.
type object = map[string]any

// describe writes the OpenAPI 3.1 document. The schemas come from the Go types
// by way of the operation table.
func describe(version string) ([]byte, error) {
	examples, err := readExamples()
	if err != nil {
		return nil, err
	}
	paths := object{
		"/healthz":      object{"get": plainPath("health", "The process lives.", "text/plain", false)},
		"/readyz":       object{"get": plainPath("readiness", "The memory answers.", "text/plain", false)},
		"/metrics":      object{"get": plainPath("metrics", "Prometheus metrics.", "text/plain", true)},
		"/openapi.json": object{"get": plainPath("description", "This document.", "application/json", true)},
	}
	for _, op := range operation.All() {
		path, err := operationPath(&op, examples)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", op.Name, err)
		}
		paths["/v1/"+op.Name] = object{"post": path}
	}
	if version == "" {
		version = "unknown"
	}
	document := object{
		"openapi":           "3.1.0",
		"jsonSchemaDialect": "https://json-schema.org/draft/2020-12/schema",
		"info": object{
			"title": "Grounded Memory", "version": version,
			"summary":     "Memory for AI agents that can be checked: one scope of it.",
			"description": "Statuses such as conflict and no_matches are results, not errors. Results may gain members in later versions.",
			"license":     object{"name": "Apache-2.0", "identifier": "Apache-2.0"},
		},
		"security": []any{object{"bearer": []any{}}},
		"paths":    paths,
		"components": object{
			"securitySchemes": object{"bearer": object{"type": "http", "scheme": "bearer", "description": `A token of "grounded token new".`}},
			"schemas":         object{"Error": errorSchema()},
			"responses":       errorResponses(),
		},
	}
	return json.Marshal(document, json.Deterministic(true))
}

func plainPath(id, summary, kind string, secured bool) object {
	path := object{
		"operationId": id, "summary": summary,
		"responses": object{
			"200": object{"description": summary, "content": object{kind: object{}}},
			"503": reference("responses", "503"),
		},
	}
	if !secured {
		path["security"] = []any{}
		path["responses"].(object)["503"] = object{"description": "Not now.", "content": object{"text/plain": object{}}}
	}
	return path
}

func operationPath(op *operation.Operation, examples []example) (object, error) {
	request, err := op.RequestSchema()
	if err != nil {
		return nil, err
	}
	result, err := op.ResultSchema()
	if err != nil {
		return nil, err
	}
	requestBody := object{"schema": request}
	resultBody := object{"schema": result}
	for _, e := range examples {
		if e.Operation == op.Name {
			requestBody["example"], resultBody["example"] = e.Request, e.Result
		}
	}
	responses := object{"200": object{"description": "The result.", "content": object{"application/json": resultBody}}}
	for status := range errorResponses() {
		responses[status] = reference("responses", status)
	}
	return object{
		"operationId": op.Name, "summary": op.Summary,
		"description": "Takes the role " + op.Role.String() + ".",
		"requestBody": object{"required": true, "content": object{"application/json": requestBody}},
		"responses":   responses,
	}, nil
}

func reference(kind, name string) object { return object{"$ref": "#/components/" + kind + "/" + name} }

func errorSchema() object {
	return object{
		"type": "object", "required": []any{"code", "message"},
		"properties": object{
			"code":    object{"type": "string", "enum": grounded.Codes()},
			"message": object{"type": "string"},
			"field":   object{"type": "string", "description": "The place in the request, e.g. where[0][1]."},
			"current": object{"type": "string", "pattern": "^r[1-9][0-9]*$", "description": "already_corrected: the record in force."},
		},
	}
}

// errorResponses are the answers with an error, by status.
func errorResponses() object {
	responses := object{}
	for _, code := range grounded.Codes() {
		status := fmt.Sprint(Status(code))
		description := string(code)
		if before, ok := responses[status].(object); ok {
			description = before["description"].(string) + ", " + description
		}
		response := object{
			"description": description,
			"content":     object{"application/json": object{"schema": reference("schemas", "Error")}},
		}
		switch code {
		case grounded.Unauthenticated:
			response["headers"] = object{"WWW-Authenticate": object{"schema": object{"type": "string"}}}
		case grounded.RateLimited, grounded.Unavailable:
			response["headers"] = object{"Retry-After": object{"schema": object{"type": "integer"}}}
		}
		responses[status] = response
	}
	return responses
}

func (h *Handler) serveOpenAPI(x *exchange) error {
	x.reply(http.StatusOK, "application/json", h.openAPI)
	return nil
}
