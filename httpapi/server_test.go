package httpapi_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/grounded-memory/grounded"
	"github.com/grounded-memory/grounded/httpapi"
)

// running is a service on a listener of its own.
type running struct {
	*service
	address string
	stop    context.CancelFunc
	ended   chan error
}

func start(t *testing.T, memory grounded.Service, config *tls.Config, change ...func(*httpapi.Options)) *running {
	t.Helper()
	r := &running{service: newServiceOf(t, memory, change...), ended: make(chan error, 1)}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r.address = listener.Addr().String()
	ctx, stop := context.WithCancel(t.Context())
	r.stop = stop
	go func() { r.ended <- r.Serve(ctx, listener, config) }()
	t.Cleanup(stop)
	return r
}

func (r *running) call(client *http.Client, scheme, operation, body string) (int, string, error) {
	request, err := http.NewRequest(http.MethodPost, scheme+"://"+r.address+"/v1/"+operation, strings.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	request.Header.Set("Authorization", "Bearer "+r.secrets["write"])
	response, err := client.Do(request)
	if err != nil {
		return 0, "", err
	}
	defer response.Body.Close()
	data, err := io.ReadAll(response.Body)
	return response.StatusCode, string(data), err
}

// TestGracefulStop: a write that has begun is finished and answered; then
// nothing listens any more.
func TestGracefulStop(t *testing.T) {
	entered, release := make(chan struct{}), make(chan struct{})
	fake := &fakeService{remember: func(ctx context.Context, _ *grounded.RememberRequest) (*grounded.WriteResult, error) {
		close(entered)
		<-release
		return &grounded.WriteResult{ID: 1}, ctx.Err()
	}}
	r := start(t, fake, nil)
	client := &http.Client{Transport: &http.Transport{}}
	type answer struct {
		status int
		body   string
		err    error
	}
	answered := make(chan answer, 1)
	go func() {
		status, body, err := r.call(client, "http", "remember", rememberBody)
		answered <- answer{status, body, err}
	}()
	<-entered
	r.stop()
	select {
	case err := <-r.ended:
		t.Fatalf("it ended before the write: %v", err)
	case <-time.After(50 * time.Millisecond):
	}
	if w := r.do(r.request("GET", "/readyz", "")); w.Code != http.StatusServiceUnavailable {
		t.Errorf("readyz while stopping: status %d", w.Code)
	}
	if w := r.do(r.request("GET", "/healthz", "")); w.Code != http.StatusOK {
		t.Errorf("healthz while stopping: status %d", w.Code)
	}
	close(release)
	if got := <-answered; got.status != http.StatusOK || got.err != nil {
		t.Errorf("the write: %+v", got)
	}
	if err := <-r.ended; err != nil {
		t.Error(err)
	}
	if _, err := net.Dial("tcp", r.address); err == nil {
		t.Error("something still listens")
	}
}

// TestStopTimeout: what does not end is cut off, and that is said.
func TestStopTimeout(t *testing.T) {
	entered := make(chan struct{})
	fake := &fakeService{remember: func(ctx context.Context, _ *grounded.RememberRequest) (*grounded.WriteResult, error) {
		close(entered)
		<-ctx.Done()
		return nil, ctx.Err()
	}}
	r := start(t, fake, nil, func(o *httpapi.Options) { o.StopTimeout = 20 * time.Millisecond })
	go func() { _, _, _ = r.call(http.DefaultClient, "http", "remember", rememberBody) }()
	<-entered
	r.stop()
	if err := <-r.ended; !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v", err)
	}
}

// TestTLS serves HTTP/2 and HTTP/1.1 over TLS, and nothing in clear text.
func TestTLS(t *testing.T) {
	lender := httptest.NewTLSServer(http.NotFoundHandler()) // for its certificate
	defer lender.Close()
	roots := x509.NewCertPool()
	roots.AddCert(lender.Certificate())
	r := start(t, new(fakeService), &tls.Config{Certificates: lender.TLS.Certificates, MinVersion: tls.VersionTLS12})
	for _, h2 := range []bool{true, false} {
		client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}, ForceAttemptHTTP2: h2}}
		if status, body, err := r.call(client, "https", "stats", "{}"); err != nil || status != http.StatusOK {
			t.Errorf("HTTP/2 %v: %d %s %v", h2, status, body, err)
		}
	}
	if status, _, err := r.call(http.DefaultClient, "http", "stats", "{}"); err == nil && status == http.StatusOK {
		t.Error("clear text was answered")
	}
	old := &tls.Config{RootCAs: roots, MaxVersion: tls.VersionTLS11}
	if _, err := tls.Dial("tcp", r.address, old); err == nil {
		t.Error("TLS 1.1 was taken")
	}
}

// TestSlowAndHugeHeaders: a client that does not finish its headers is cut off,
// one with too many is refused.
func TestSlowAndHugeHeaders(t *testing.T) {
	r := start(t, new(fakeService), nil, func(o *httpapi.Options) {
		o.HeaderTimeout, o.ReadTimeout, o.MaxHeaderBytes = 50*time.Millisecond, 100*time.Millisecond, 8<<10
	})
	dial := func(text string) *bufio.Reader {
		c, err := net.Dial("tcp", r.address)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		if err := c.SetDeadline(time.Now().Add(10 * time.Second)); err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(c, text) // a server may cut off while we write
		return bufio.NewReader(c)
	}
	if rest, err := io.ReadAll(dial("POST /v1/stats HTTP/1.1\r\nHost: localhost\r\nX-A: ")); errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("half a header kept a connection open: %q, %v", rest, err)
	}
	huge := "POST /v1/stats HTTP/1.1\r\nHost: localhost\r\nX-A: " + strings.Repeat("a", 20<<10) + "\r\n\r\n"
	if line, _ := dial(huge).ReadString('\n'); !strings.Contains(line, "431") {
		t.Errorf("huge headers: %q", line)
	}
	slow := fmt.Sprintf("POST /v1/stats HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\nContent-Length: 10\r\n\r\n{", r.secrets["read"])
	if line, _ := dial(slow).ReadString('\n'); !strings.Contains(line, "400") {
		t.Errorf("a body that does not come: %q", line)
	}
	// Nobody reads a body of a caller who may not call.
	stranger := "POST /v1/stats HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000000\r\n\r\n"
	if line, _ := dial(stranger).ReadString('\n'); !strings.Contains(line, "401") {
		t.Errorf("a stranger's large body: %q", line)
	}
}
