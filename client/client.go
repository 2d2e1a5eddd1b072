// Package client is the memory over HTTP: a [Client] has the operations of
// [grounded.Service], with the same types and the same errors, and does them at
// a server that "grounded serve" runs.
//
// # The token
//
// The bearer token goes out in one header, to one origin: the scheme, host and
// port of the base URL. It is never sent
//
//   - in clear text to anything but this machine: http is taken only for the
//     host localhost and for literal loopback addresses, and localhost is
//     dialled at its loopback addresses without asking a resolver;
//   - to where a redirect points, unless that is the same https origin, letter by
//     letter, and the call only reads;
//   - through a proxy, unless [Options.Proxy] names one; then only as TLS from
//     end to end. Proxies of the environment are ignored.
//
// No error holds it, not even if a server sends it back.
//
// # Time, size, retries
//
// A call ends within [Options.Timeout], whatever the server does, and a reply of
// more than [Options.MaxReplyBytes] is refused. A call that failed because the
// server could not be reached, was overloaded or broke off is tried again if
// doing it twice changes nothing: reads, and writes that carry an idempotency
// key. Everything else is tried once.
//
// # Errors
//
// Every error is a [*grounded.Error], so that
//
//	errors.Is(err, grounded.NotFound)
//
// holds here as it does for a memory in the same process. A reply that is not of
// this service is Unavailable.
package client

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/grounded-memory/grounded"
)

// The defaults of [Options].
const (
	DefaultTimeout       = 30 * time.Second
	DefaultRetries       = 2
	DefaultMaxReplyBytes = 64 << 20
)

const (
	maxTokenBytes  = 4096
	maxHeaderBytes = 64 << 10 // of a reply
	dialTimeout    = 10 * time.Second
	idleTimeout    = 60 * time.Second
	idlePerHost    = 32
)

// Options configures a Client. The zero value is the default in every field,
// with no token.
type Options struct {
	// Token is the bearer token, as "grounded token new" printed it.
	Token string
	// Timeout bounds one call with all its retries; default DefaultTimeout. A
	// context with an earlier deadline ends it earlier.
	Timeout time.Duration
	// Retries is how often a call that may be repeated is tried again; default
	// DefaultRetries, negative for never.
	Retries int
	// MaxReplyBytes is the largest reply that is read; default DefaultMaxReplyBytes.
	MaxReplyBytes int64
	// TLS adds to how a server is checked, e.g. RootCAs or a client
	// certificate. It must not switch the check off.
	TLS *tls.Config
	// Proxy is a proxy for https, through which TLS goes from end to end.
	Proxy *url.URL
	// Dial opens connections; default a net.Dialer. For http its address is
	// always a literal loopback address.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// Rand gives the jitter between retries; default crypto/rand.
	Rand io.Reader
	// Sleep waits between retries, or ends early with the context's error;
	// default a timer.
	Sleep func(ctx context.Context, d time.Duration) error
}

// Client does the operations of one scope at a server. It is safe for
// concurrent use and keeps connections open between calls.
type Client struct {
	base      *url.URL
	options   Options
	transport *http.Transport

	randMu sync.Mutex // Options.Rand need not be safe for concurrent use
}

var _ grounded.Service = (*Client)(nil)

// New makes a client of the server at baseURL, e.g. https://memory.example.com
// or http://127.0.0.1:8750; a path is kept as a prefix. It is InvalidArgument
// if the URL would expose the token. No connection is made yet.
func New(baseURL string, options Options) (*Client, error) {
	base, err := parseBase(baseURL)
	if err != nil {
		return nil, err
	}
	if err := checkToken(options.Token); err != nil {
		return nil, err
	}
	if options.TLS != nil && options.TLS.InsecureSkipVerify {
		return nil, invalid("tls", "a server that is not checked gets no token")
	}
	fillDefaults(&options)
	c := &Client{base: base, options: options}
	c.transport = newTransport(base, &c.options)
	return c, nil
}

// Close closes connections that are not in use. The client can be used again.
func (c *Client) Close() error {
	c.transport.CloseIdleConnections()
	return nil
}

func fillDefaults(o *Options) {
	if o.Timeout <= 0 {
		o.Timeout = DefaultTimeout
	}
	if o.Retries == 0 {
		o.Retries = DefaultRetries
	}
	if o.MaxReplyBytes <= 0 {
		o.MaxReplyBytes = DefaultMaxReplyBytes
	}
	if o.Dial == nil {
		o.Dial = (&net.Dialer{Timeout: dialTimeout}).DialContext
	}
	if o.Rand == nil {
		o.Rand = rand.Reader
	}
	if o.Sleep == nil {
		o.Sleep = sleep
	}
}

func newTransport(base *url.URL, o *Options) *http.Transport {
	config := &tls.Config{}
	if o.TLS != nil {
		config = o.TLS.Clone()
	}
	if config.MinVersion < tls.VersionTLS12 {
		config.MinVersion = tls.VersionTLS12
	}
	t := &http.Transport{
		DialContext:            o.Dial,
		TLSClientConfig:        config,
		ForceAttemptHTTP2:      true,
		DisableCompression:     true, // what is read is what was sent; nothing swells
		MaxResponseHeaderBytes: maxHeaderBytes,
		MaxIdleConnsPerHost:    idlePerHost,
		IdleConnTimeout:        idleTimeout,
		TLSHandshakeTimeout:    dialTimeout,
	}
	if base.Scheme == "http" {
		t.DialContext = dialLoopback(base.Hostname(), o.Dial)
		return t
	}
	if o.Proxy != nil {
		t.Proxy = http.ProxyURL(o.Proxy)
	}
	return t
}

// sleep waits for d, or until the context ends.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// checkToken refuses what cannot stand in a header, without repeating it.
func checkToken(token string) error {
	if len(token) > maxTokenBytes {
		return invalid("token", "longer than %d bytes", maxTokenBytes)
	}
	for i := range len(token) {
		if token[i] <= ' ' || token[i] >= 0x7f {
			return invalid("token", "a token is printable ASCII without spaces; is there a line end in it?")
		}
	}
	return nil
}

// quote makes a text that came from elsewhere fit for an error: without the
// token, and short.
func (c *Client) quote(text string) string {
	const most = 300
	if c.options.Token != "" {
		text = strings.ReplaceAll(text, c.options.Token, "[token]")
	}
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "…"
	}
	return text
}

func invalid(field, format string, args ...any) *grounded.Error {
	return &grounded.Error{Code: grounded.InvalidArgument, Field: field, Message: fmt.Sprintf(format, args...)}
}

func unavailable(format string, args ...any) *grounded.Error {
	return &grounded.Error{Code: grounded.Unavailable, Message: fmt.Sprintf(format, args...)}
}
