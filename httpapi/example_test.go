package httpapi_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/grounded-memory/grounded"
	"github.com/grounded-memory/grounded/httpapi"
)

func Example() {
	dir, err := os.MkdirTemp("", "grounded-example-")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	store, err := grounded.Open(context.Background(), filepath.Join(dir, "memory.db"), nil)
	if err != nil {
		panic(err)
	}
	defer store.Close()
	memory, err := store.Scope("acme", "support")
	if err != nil {
		panic(err)
	}

	// What "grounded token new --role write" does. The secret is seen only here.
	path := filepath.Join(dir, "tokens.jsonl")
	secret, _, err := httpapi.AddToken(path, "write", time.Now(), time.Time{}, nil)
	if err != nil {
		panic(err)
	}
	tokens, err := httpapi.OpenTokens(path)
	if err != nil {
		panic(err)
	}
	handler, err := httpapi.New(memory, httpapi.Options{Tokens: tokens})
	if err != nil {
		panic(err)
	}
	server := httptest.NewServer(handler) // handler.Serve has the time limits too
	defer server.Close()

	call := func(token, operation, arguments string) {
		request, err := http.NewRequest(http.MethodPost, server.URL+"/v1/"+operation, strings.NewReader(arguments))
		if err != nil {
			panic(err)
		}
		request.Header.Set("Authorization", "Bearer "+token)
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			panic(err)
		}
		defer response.Body.Close()
		body, err := io.ReadAll(response.Body)
		fmt.Println(response.StatusCode, string(body), err)
	}
	call(secret, "remember", `{"entity":"Ada","predicate":"manages","value":"Bob","source":"HR"}`)
	call(secret, "get", `{"id":"r9"}`)
	call("guess", "stats", `{}`)
	// Output:
	// 200 {"id":"r1","contradicts":[]} <nil>
	// 404 {"code":"not_found","message":"no record r9 in this scope","field":"id"} <nil>
	// 401 {"code":"unauthenticated","message":"this takes the header \"Authorization: Bearer <token>\" with a token in force"} <nil>
}
