package client_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/grounded-memory/grounded"
	"github.com/grounded-memory/grounded/client"
)

// rawServer answers every connection by a script, as no honest server does.
func rawServer(t *testing.T, answer func(c net.Conn)) (url string, connections *atomic.Int64) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	connections = new(atomic.Int64)
	go func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			connections.Add(1)
			go func() {
				defer c.Close()
				request := make([]byte, 64<<10)
				if _, err := c.Read(request); err == nil {
					answer(c)
				}
			}()
		}
	}()
	t.Cleanup(func() { _ = listener.Close() })
	return "http://" + listener.Addr().String(), connections
}

func send(text string) func(net.Conn) {
	return func(c net.Conn) { _, _ = io.WriteString(c, text) }
}

// forever sends a start, and then the same again and again.
func forever(start, again string, every time.Duration) func(net.Conn) {
	return func(c net.Conn) {
		if _, err := io.WriteString(c, start); err != nil {
			return
		}
		for {
			if _, err := io.WriteString(c, again); err != nil {
				return
			}
			time.Sleep(every)
		}
	}
}

const jsonHead = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"

// hostileServers are servers that break the protocol, the contract or the bounds.
func hostileServers() map[string]func(net.Conn) {
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	_, _ = z.Write(make([]byte, 8<<20))
	_ = z.Close()
	return map[string]func(net.Conn){
		"says nothing":           func(c net.Conn) { time.Sleep(time.Second) },
		"closes":                 func(net.Conn) {},
		"speaks something else":  send("SSH-2.0-OpenSSH_9.6\r\n"),
		"slow headers":           forever("HTTP/1.1 200 OK\r\n", "X-A: b\r\n", 5*time.Millisecond),
		"endless headers":        forever("HTTP/1.1 200 OK\r\n", "X-A: "+strings.Repeat("b", 1000)+"\r\n", 0),
		"one huge header":        send("HTTP/1.1 200 OK\r\nX-A: " + strings.Repeat("b", 1<<20) + "\r\n\r\n"),
		"endless informational":  forever("", "HTTP/1.1 103 Early Hints\r\nLink: <x>\r\n\r\n", 0),
		"slow body":              forever(jsonHead+"Content-Length: 100000\r\n\r\n{", " ", 5*time.Millisecond),
		"endless body":           forever(jsonHead+"\r\n{", strings.Repeat(" ", 4096), 0),
		"endless chunks":         forever(jsonHead+"Transfer-Encoding: chunked\r\n\r\n", "1000\r\n"+strings.Repeat(" ", 4096)+"\r\n", 0),
		"body too short":         send(jsonHead + "Content-Length: 100\r\n\r\n{}"),
		"body cut in a chunk":    send(jsonHead + "Transfer-Encoding: chunked\r\n\r\n1000\r\n{}"),
		"body longer than it is": send(jsonHead + "Content-Length: 1\r\n\r\n{}"),
		"negative length":        send(jsonHead + "Content-Length: -1\r\n\r\n{}"),
		"two lengths":            send(jsonHead + "Content-Length: 2\r\nContent-Length: 3\r\n\r\n{} "),
		"length and chunks":      send(jsonHead + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
		"no body":                send(jsonHead + "Content-Length: 0\r\n\r\n"),
		"status 204":             send("HTTP/1.1 204 No Content\r\n\r\n"),
		"status 000":             send("HTTP/1.1 000 None\r\n\r\n"),
		"status 999":             send("HTTP/1.1 999 Odd\r\nContent-Length: 0\r\n\r\n"),
		"upgrade":                send("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n"),
		"a page":                 send("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 15\r\n\r\n<p>sign in</p> "),
		"a page, said JSON":      send(jsonHead + "Content-Length: 15\r\n\r\n<p>sign in</p> "),
		"not an object":          send(jsonHead + "Content-Length: 4\r\n\r\nnull"),
		"wrong types":            send(jsonHead + "Content-Length: 15\r\n\r\n{\"record\":\"no\"}"),
		"two values":             send(jsonHead + "Content-Length: 5\r\n\r\n{} {}"),
		"duplicate members":      send(jsonHead + "Content-Length: 39\r\n\r\n{\"state\":\"eligible\",\"state\":\"expired\" } "),
		"invalid UTF-8":          send(jsonHead + "Content-Length: 16\r\n\r\n{\"state\":\"\xff\xfe12\"}"),
		"compressed":             send(jsonHead + "Content-Encoding: gzip\r\n" + fmt.Sprintf("Content-Length: %d\r\n\r\n", zipped.Len()) + zipped.String()),
		"error without a code":   send("HTTP/1.1 404 Not Found\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"),
		"error of another code":  send("HTTP/1.1 404 Not Found\r\nContent-Type: application/json\r\nContent-Length: 23\r\n\r\n{\"code\":\"no_such_code\"}"),
		"a proxy's page":         send("HTTP/1.1 404 Not Found\r\nContent-Type: text/html\r\nContent-Length: 9\r\n\r\nnot here\n"),
	}
}

// TestHostileServers: whatever a server does, a call ends in time, in bounded
// memory, with an error that says nothing of a record.
func TestHostileServers(t *testing.T) {
	for name, answer := range hostileServers() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url, connections := rawServer(t, answer)
			c := newClient(t, url, client.Options{Token: token, Timeout: 250 * time.Millisecond, MaxReplyBytes: 1 << 20})
			result, err := c.Get(t.Context(), &grounded.GetRequest{ID: 1})
			if err == nil {
				t.Fatalf("a result: %+v", result)
			}
			if !errors.Is(err, grounded.Unavailable) && !errors.Is(err, grounded.TooLarge) || strings.Contains(err.Error(), token) {
				t.Errorf("%v", err)
			}
			if n := connections.Load(); n < 1 || n > client.DefaultRetries+1 {
				t.Errorf("%d connections", n)
			}
		})
	}
}

// TestHonestServer is the control: the raw server's dialect is understood.
func TestHonestServer(t *testing.T) {
	url, _ := rawServer(t, send(jsonHead+"Content-Length: 55\r\n\r\n"+`{"record":{"id":"r1","kind":"note"},"state":"eligible"}`))
	c := newClient(t, url, client.Options{Token: token})
	if got, err := c.Get(t.Context(), &grounded.GetRequest{ID: 1}); err != nil || got.State != grounded.StateEligible {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestTokenIsInNoError: a server sends back what it was sent, in every place.
func TestTokenIsInNoError(t *testing.T) {
	echo := "Bearer " + token
	for name, answer := range map[string]string{
		"message":      "HTTP/1.1 404 Not Found\r\nContent-Type: application/json\r\n\r\n" + `{"code":"not_found","message":"` + echo + `","field":"` + echo + `"}`,
		"status line":  "HTTP/1.1 500 " + echo + "\r\n\r\n",
		"status":       "HTTP/1.1 " + echo + "\r\n\r\n",
		"header line":  "HTTP/1.1 200 OK\r\n" + echo + "\r\n\r\n",
		"length":       "HTTP/1.1 200 OK\r\nContent-Length: " + echo + "\r\n\r\n",
		"encoding":     "HTTP/1.1 200 OK\r\nTransfer-Encoding: " + echo + "\r\n\r\n",
		"location":     "HTTP/1.1 307 Moved\r\nLocation: " + token + "\r\n\r\n",
		"bad location": "HTTP/1.1 307 Moved\r\nLocation: http://%zz" + token + "\r\n\r\n",
		"content type": "HTTP/1.1 200 OK\r\nContent-Type: " + echo + "\r\n\r\n{}",
		"protocol":     echo + "\r\n\r\n",
		"version":      "HTTP/" + token + " 200 OK\r\n\r\n",
		"realm":        "HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Bearer realm=\"" + token + "\"\r\n\r\n",
		"body":         jsonHead + "\r\n" + `{"state":` + token + `}`,
		"chunk":        jsonHead + "Transfer-Encoding: chunked\r\n\r\n" + token + "\r\n",
	} {
		url, _ := rawServer(t, send(answer))
		c := newClient(t, url, client.Options{Token: token, Retries: -1, Timeout: 5 * time.Second})
		_, err := c.Get(t.Context(), &grounded.GetRequest{ID: 1})
		if err == nil {
			t.Errorf("%s: no error", name)
			continue
		}
		for each := err; each != nil; each = errors.Unwrap(each) {
			if text := fmt.Sprintf("%v %+v %#v %q", each, each, each, each); strings.Contains(text, token) {
				t.Errorf("%s: %s", name, text)
			}
		}
	}
}

// TestS33_RealmIsNeverFollowed: what a 401 says about where to get a token is
// nobody's business.
func TestS33_RealmIsNeverFollowed(t *testing.T) {
	var visited atomic.Int64
	evil, _ := rawServer(t, func(net.Conn) { visited.Add(1) })
	url, connections := rawServer(t, send("HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Bearer realm=\""+evil+"/token\", resource_metadata=\""+evil+"\"\r\nContent-Length: 0\r\n\r\n"))
	c := newClient(t, url, client.Options{Token: token})
	if _, err := c.Get(t.Context(), &grounded.GetRequest{ID: 1}); !errors.Is(err, grounded.Unauthenticated) {
		t.Error(err)
	}
	if visited.Load() != 0 || connections.Load() != 1 {
		t.Errorf("the realm was visited %d times, the server %d", visited.Load(), connections.Load())
	}
}

// TestEndlessReplyIsNotKept: the reply limit bounds memory, not only the result.
func TestEndlessReplyIsNotKept(t *testing.T) {
	url, _ := rawServer(t, forever(jsonHead+"\r\n{", strings.Repeat(" ", 64<<10), 0))
	c := newClient(t, url, client.Options{Token: token, MaxReplyBytes: 1 << 20, Retries: -1})
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, err := c.Get(t.Context(), &grounded.GetRequest{ID: 1}); !errors.Is(err, grounded.TooLarge) {
		t.Error(err)
	}
	runtime.ReadMemStats(&after)
	if grown := after.TotalAlloc - before.TotalAlloc; grown > 64<<20 {
		t.Errorf("%d bytes were allocated for a reply of at most 1 MiB", grown)
	}
}

// TestContexts: a call ends with its context, and says so.
func TestContexts(t *testing.T) {
	url, _ := rawServer(t, func(net.Conn) { time.Sleep(10 * time.Second) })
	c := newClient(t, url, client.Options{Token: token})
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(20*time.Millisecond, cancel)
	if _, err := c.Stats(ctx, &grounded.StatsRequest{}); !errors.Is(err, grounded.Unavailable) || !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	short := newClient(t, url, client.Options{Token: token, Timeout: 20 * time.Millisecond})
	if _, err := short.Stats(t.Context(), &grounded.StatsRequest{}); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}

// TestRequestsThatCannotBeWritten are the caller's mistakes; nothing is sent.
func TestRequestsThatCannotBeWritten(t *testing.T) {
	url, connections := rawServer(t, send(jsonHead+"\r\n{}"))
	c := newClient(t, url, client.Options{Token: token})
	for name, call := range map[string]func() error{
		"invalid UTF-8": func() error {
			_, err := c.Note(t.Context(), &grounded.NoteRequest{Text: "\xff", Source: "s"})
			return err
		},
		"empty write": func() error {
			_, err := c.Write(t.Context(), &grounded.WriteRequest{Writes: []grounded.WriteItem{{}}})
			return err
		},
		"a year of five digits": func() error {
			_, err := c.Note(t.Context(), &grounded.NoteRequest{Text: "a", Source: "s", ExpiresAt: time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)})
			return err
		},
	} {
		if err := call(); !errors.Is(err, grounded.InvalidArgument) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := c.Note(t.Context(), &grounded.NoteRequest{Text: strings.Repeat("a", grounded.MaxRequestBytes), Source: "s"}); !errors.Is(err, grounded.TooLarge) {
		t.Error(err)
	}
	if connections.Load() != 0 {
		t.Errorf("%d connections", connections.Load())
	}
}

// TestErrorsKeepTheirParts: code, field and the id in force come over the wire.
func TestErrorsKeepTheirParts(t *testing.T) {
	for _, code := range grounded.Codes() {
		url, _ := rawServer(t, send("HTTP/1.1 409 Conflict\r\nContent-Type: application/json; charset=utf-8\r\n\r\n"+`{"code":"`+string(code)+`","message":"m","field":"f","current":"r7","later":1}`))
		c := newClient(t, url, client.Options{Token: token})
		_, err := c.Forget(t.Context(), &grounded.ForgetRequest{ID: 1})
		e := grounded.AsError(err)
		if !errors.Is(err, code) || e.Message != "m" || e.Field != "f" || e.Current != 7 {
			t.Errorf("%s: %#v", code, e)
		}
	}
}
