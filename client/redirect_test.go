package client_test

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/grounded-memory/grounded"
	"github.com/grounded-memory/grounded/client"
)

// sink listens in the place of every origin there is: whatever is dialled ends
// here, in clear text or over TLS with a certificate of any name. It answers
// each request by a script and notes which origin saw the token.
type sink struct {
	listener net.Listener
	roots    *x509.CertPool
	script   func(origin string, number int) (status int, header http.Header)

	mu      sync.Mutex
	dialled map[string]string // the client's end of a connection → what it wanted to dial
	seen    []sighting
}

// sighting is one request that arrived.
type sighting struct {
	origin     string // scheme://dialled address
	credential bool   // the token was in it, somewhere
	body       bool   // so was the call's text
}

const bodyText = "a text that only the right origin may see"

func newSink(t *testing.T) *sink {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &sink{listener: listener, dialled: map[string]string{}}
	config := s.certificates(t)
	server := &http.Server{
		Handler:  http.HandlerFunc(s.serve),
		ErrorLog: log.New(&strings.Builder{}, "", 0),
		ConnContext: func(ctx context.Context, c net.Conn) context.Context {
			return context.WithValue(ctx, connKey{}, c)
		},
	}
	go func() { _ = server.Serve(&eitherListener{listener, config}) }()
	t.Cleanup(func() { _ = server.Close() })
	return s
}

type connKey struct{}

// certificates gives every name a certificate of one authority.
func (s *sink) certificates(t *testing.T) *tls.Config {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	authority := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	s.roots = x509.NewCertPool()
	if root, err := x509.CreateCertificate(rand.Reader, authority, authority, &key.PublicKey, key); err != nil {
		t.Fatal(err)
	} else if parsed, err := x509.ParseCertificate(root); err != nil {
		t.Fatal(err)
	} else {
		s.roots.AddCert(parsed)
	}
	return &tls.Config{GetCertificate: func(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
		leaf := &x509.Certificate{SerialNumber: big.NewInt(2), NotBefore: authority.NotBefore, NotAfter: authority.NotAfter}
		if hello.ServerName != "" {
			leaf.DNSNames = []string{hello.ServerName}
		} else {
			leaf.IPAddresses = []net.IP{net.IPv4(127, 0, 0, 1), net.IPv4(127, 0, 0, 2), net.IPv4(10, 0, 0, 1), net.IPv6loopback}
		}
		der, err := x509.CreateCertificate(rand.Reader, leaf, authority, &key.PublicKey, key)
		return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, err
	}}
}

// eitherListener tells TLS from clear text by the first byte.
type eitherListener struct {
	net.Listener
	config *tls.Config
}

func (l *eitherListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &eitherConn{Conn: c, config: l.config}, nil
}

type eitherConn struct {
	net.Conn
	config *tls.Config
	once   sync.Once
	inner  net.Conn
	isTLS  bool
}

type peekedConn struct {
	net.Conn
	reader *bufio.Reader
}

func (c *peekedConn) Read(p []byte) (int, error) { return c.reader.Read(p) }

func (c *eitherConn) Read(p []byte) (int, error) {
	c.start()
	return c.inner.Read(p)
}

func (c *eitherConn) Write(p []byte) (int, error) {
	c.start()
	return c.inner.Write(p)
}

func (c *eitherConn) start() {
	c.once.Do(func() {
		peeked := &peekedConn{c.Conn, bufio.NewReader(c.Conn)}
		c.inner = peeked
		if first, err := peeked.reader.Peek(1); err == nil && first[0] == 0x16 {
			c.isTLS = true
			c.inner = tls.Server(peeked, c.config)
		}
	})
}

// dial stands in for the network and the resolver.
func (s *sink) dial(ctx context.Context, network, address string) (net.Conn, error) {
	c, err := new(net.Dialer).DialContext(ctx, "tcp", s.listener.Addr().String())
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dialled[c.LocalAddr().String()] = address
	return c, nil
}

func (s *sink) serve(w http.ResponseWriter, r *http.Request) {
	conn, _ := r.Context().Value(connKey{}).(*eitherConn)
	var body strings.Builder
	_, _ = bufio.NewReader(r.Body).WriteTo(&body)
	whole := fmt.Sprint(r.RequestURI, r.Host, r.Header, body.String())
	scheme := "http"
	if conn.isTLS {
		scheme = "https"
	}
	s.mu.Lock()
	origin := scheme + "://" + s.dialled[conn.RemoteAddr().String()]
	s.seen = append(s.seen, sighting{origin, strings.Contains(whole, token) || r.Header.Get("Authorization") != "", strings.Contains(whole, bodyText)})
	number := len(s.seen) - 1
	s.mu.Unlock()
	status, header := s.script(origin, number)
	for name, values := range header {
		w.Header()[name] = values
	}
	w.WriteHeader(status)
	if status == http.StatusOK {
		_, _ = w.Write([]byte(`{"results":[],"id":"r1"}`))
	}
}

// redirectCase is one way to send a client elsewhere.
type redirectCase struct {
	name      string
	base      string
	locations []string // of the first answer, the second, …; the last stays
}

// redirectCases are the 34 cases.
func redirectCases() []redirectCase {
	const h, l = "https://h.test", "http://localhost"
	return []redirectCase{
		{"scheme downgrade", h, []string{"http://h.test/v1/x"}},
		{"scheme downgrade, same port", h, []string{"http://h.test:443/v1/x"}},
		{"other port", h, []string{"https://h.test:8443/v1/x"}},
		{"subdomain", h, []string{"https://evil.h.test/v1/x"}},
		{"parent domain", "https://a.h.test", []string{"https://h.test/v1/x"}},
		{"name that begins the same", h, []string{"https://h.test.evil.test/v1/x"}},
		{"other host", h, []string{"https://evil.test/v1/x"}},
		{"host as user name", h, []string{"https://h.test@evil.test/v1/x"}},
		{"host and port as user name", h, []string{"https://h.test:443@evil.test/v1/x"}},
		{"user name at the same host", h, []string{"https://user:password@h.test/v1/x"}},
		{"trailing dot", h, []string{"https://h.test./v1/x"}},
		{"other letter case", h, []string{"https://H.TEST/v1/x"}},
		{"ideographic full stop", h, []string{"https://h。test/v1/x"}},
		{"punycode look-alike", h, []string{"https://xn--h-7ga.test/v1/x"}},
		{"no scheme", h, []string{"//evil.test/v1/x"}},
		{"backslashes", h, []string{`\\evil.test/v1/x`}},
		{"slash and backslash", h, []string{`/\evil.test/v1/x`}},
		{"no slashes", h, []string{"https:evil.test/v1/x"}},
		{"three slashes", h, []string{"https:///evil.test/v1/x"}},
		{"tab inside", h, []string{"https://h.test\t@evil.test/v1/x"}},
		{"escaped dot", h, []string{"https://h.test%2eevil.test/v1/x"}},
		{"mapped address", h, []string{"https://[::ffff:10.0.0.1]/v1/x"}},
		{"file", h, []string{"file:///etc/passwd"}},
		{"script", h, []string{"javascript:alert(1)"}},
		{"no location", h, []string{""}},
		{"away and on", h, []string{"https://evil.test/v1/x", "https://evil.test/v1/y"}},
		{"away and back", h, []string{"https://evil.test/v1/x", "https://h.test/v1/x"}},
		{"loop at the same host", h, []string{"https://h.test/v1/x"}},
		{"relative, for ever", h, []string{"/v1/x"}},
		{"loopback to another port", l, []string{"http://localhost:9/v1/x"}},
		{"loopback to a name below it", l, []string{"http://evil.localhost/v1/x"}},
		{"loopback to another loopback", "http://127.0.0.1", []string{"http://127.0.0.2/v1/x"}},
		{"loopback to a number", l, []string{"http://2130706433/v1/x"}},
		{"loopback to the same", l, []string{"http://localhost/v1/y"}},
	}
}

func redirectCodes() []int {
	return []int{
		http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect,
	}
}

func (c *redirectCase) script(code int) func(string, int) (int, http.Header) {
	return func(_ string, number int) (int, http.Header) {
		location := c.locations[min(number, len(c.locations)-1)]
		header := http.Header{"Content-Type": {"application/json"}}
		if location != "" {
			header.Set("Location", location)
		}
		return code, header
	}
}

// rightOrigin is the origin that a base URL names, as the sink writes it.
func rightOrigin(t *testing.T, base string) string {
	u, err := url.Parse(base)
	if err != nil {
		t.Fatal(err)
	}
	port := map[string]string{"http": "80", "https": "443"}[u.Scheme]
	host := u.Hostname()
	if host == "localhost" {
		host = "127.0.0.1" // dialled without a resolver
	}
	return u.Scheme + "://" + net.JoinHostPort(host, port)
}

func (s *sink) reset(script func(string, int) (int, http.Header)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen, s.script = nil, script
}

// TestS34_Redirects: 34 cases × 5 codes × 2 kinds of call. No origin but the
// right one sees a credential, or anything at all, and no call goes on without.
func TestS34_Redirects(t *testing.T) {
	s := newSink(t)
	if n := len(redirectCases()); n != 34 {
		t.Fatalf("%d cases", n)
	}
	tried := 0
	for _, c := range redirectCases() {
		for _, code := range redirectCodes() {
			for _, reads := range []bool{true, false} {
				s.reset(c.script(code))
				m := newClient(t, c.base, client.Options{Token: token, Dial: s.dial, TLS: &tls.Config{RootCAs: s.roots}})
				var err error
				if reads {
					_, err = m.Recall(t.Context(), &grounded.RecallRequest{Text: bodyText})
				} else {
					_, err = m.Note(t.Context(), &grounded.NoteRequest{Text: bodyText, Source: "s", IdempotencyKey: "k"})
				}
				tried++
				name := fmt.Sprintf("%s, %d, reads %v", c.name, code, reads)
				if !errors.Is(err, grounded.PermissionDenied) {
					t.Errorf("%s: %v", name, err)
				}
				if err != nil && strings.Contains(err.Error(), token) {
					t.Errorf("%s: the error holds the token", name)
				}
				right := rightOrigin(t, c.base)
				for _, got := range s.seen {
					if got.origin != right {
						t.Errorf("%s: %s saw a request, credential %v", name, got.origin, got.credential)
					}
					if !got.credential {
						t.Errorf("%s: a request without its credential", name)
					}
				}
				if len(s.seen) == 0 || !reads && len(s.seen) != 1 {
					t.Errorf("%s: %d requests arrived", name, len(s.seen))
				}
			}
		}
	}
	if tried != 340 {
		t.Errorf("%d tried", tried)
	}
}

// TestGoDefaultClientLeaks is the negative control: the sink does see what
// leaks. Go's own client sends the credential elsewhere in several cases.
func TestGoDefaultClientLeaks(t *testing.T) {
	s := newSink(t)
	leaks := map[string]int{}
	codes := redirectCodes()
	if testing.Short() {
		codes = codes[3:4]
	}
	for _, c := range redirectCases() {
		for _, code := range codes {
			for _, method := range []string{http.MethodGet, http.MethodPost} {
				s.reset(c.script(code))
				naive := &http.Client{Transport: &http.Transport{DialContext: s.dial, TLSClientConfig: &tls.Config{RootCAs: s.roots}, DisableKeepAlives: true}}
				request, err := http.NewRequestWithContext(t.Context(), method, c.base+"/v1/recall", strings.NewReader(bodyText))
				if err != nil {
					t.Fatal(err)
				}
				request.Header.Set("Authorization", "Bearer "+token)
				if response, err := naive.Do(request); err == nil {
					_ = response.Body.Close()
				}
				right := strings.Replace(rightOrigin(t, c.base), "127.0.0.1", hostOf(t, c.base), 1)
				for _, got := range s.seen {
					if got.origin != right && got.credential {
						leaks[c.name]++
					}
				}
			}
		}
	}
	if len(leaks) < 3 {
		t.Errorf("only %v leak: does the sink see anything?", leaks)
	}
	for name, n := range leaks {
		t.Logf("Go's default client: %s: %d requests with the credential at a wrong origin", name, n)
	}
}

func hostOf(t *testing.T, base string) string {
	u, err := url.Parse(base)
	if err != nil {
		t.Fatal(err)
	}
	return u.Hostname()
}

// TestSameOriginRedirectOfARead is the one redirect that is followed.
func TestSameOriginRedirectOfARead(t *testing.T) {
	s := newSink(t)
	for _, code := range []int{http.StatusTemporaryRedirect, http.StatusPermanentRedirect} {
		s.reset(func(_ string, number int) (int, http.Header) {
			if number == 0 {
				return code, http.Header{"Location": {"/moved/v1/recall"}}
			}
			return http.StatusOK, http.Header{"Content-Type": {"application/json"}}
		})
		c := newClient(t, "https://h.test", client.Options{Token: token, Dial: s.dial, TLS: &tls.Config{RootCAs: s.roots}})
		if _, err := c.Recall(t.Context(), &grounded.RecallRequest{Text: bodyText}); err != nil {
			t.Errorf("%d: %v", code, err)
		}
		if len(s.seen) != 2 || !s.seen[1].credential || !s.seen[1].body || s.seen[1].origin != "https://h.test:443" {
			t.Errorf("%d: %+v", code, s.seen)
		}
	}
}
