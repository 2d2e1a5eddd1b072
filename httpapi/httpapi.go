// Package httpapi serves the operations of one scope over HTTP.
//
//	POST /v1/<operation>  the operation's arguments in, its result out; the JSON of every other door
//	GET  /healthz         the process lives; open to everybody
//	GET  /readyz          the memory answers and is not stopping; open to everybody
//	GET  /metrics         Prometheus text; any token
//	GET  /openapi.json    the description of this interface, OpenAPI 3.1; any token
//	     /mcp             the Model Context Protocol, if it is mounted; any token
//
// # Who may do what
//
// Every path but the two health checks, known or not and with any method, wants
// the header "Authorization: Bearer <token>", written exactly so. Tokens stand
// in a file that holds only their hashes ([Tokens]); each has a role, and each
// operation the least role that it takes. A request never names a scope: the
// [grounded.Service] given to [New] is the one that is served.
//
// Browsers are kept out but for pages of this very origin: the Host must be this
// machine or one of [Options.Hosts], Origin and Sec-Fetch-Site must not speak of
// another site, a body must be declared as application/json, and no answer ever
// permits another origin to read it.
//
// # Errors
//
// An error is its object {"code","message","field"?,"current"?} as the body,
// with the status that belongs to its code ([Status]). One case has a status of
// its own: 405 with an Allow header, code invalid_argument, for a wrong method.
// A status such as conflict or no_matches is a result, HTTP 200.
//
// 429 and 503 carry Retry-After. A 401 carries WWW-Authenticate and says the
// same whether there was no token, a wrong one, an expired or a revoked one.
//
// # Limits
//
// Sizes, times, rates and how much runs at once are bounded by [Options]. A body
// is read before its call takes one of the places to run in, so that slow
// senders hold up nobody, and all bodies together have a bound.
//
// # What is recorded
//
// One log line, one count and one span a request: operation, status, code,
// duration, sizes, token id, request id. Never a token, a header, a path that
// is not one of the above, or text of a request or record.
package httpapi

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/trace"

	"github.com/grounded-memory/grounded"
	"github.com/grounded-memory/grounded/internal/operation"
)

// Options configures a Handler. Only Tokens must be set; the zero value of
// every other field is its default.
type Options struct {
	// Tokens says who may call. Without one there is no service.
	Tokens *Tokens
	// Hosts are the names, with or without a port, by which clients reach the
	// service, beside localhost and loopback addresses.
	Hosts []string
	// BehindProxy says that a proxy ends TLS, so that pages of this origin are
	// https although requests arrive in clear text.
	BehindProxy bool
	// MCP, if set, is served at /mcp, behind the same checks. It finds the
	// caller's role in the request's context.
	MCP http.Handler
	// Version is told in /openapi.json.
	Version string

	Logger         *slog.Logger         // default: silence
	TracerProvider trace.TracerProvider // default: the global one
	Clock          func() time.Time     // tells when a token expires; default time.Now
	Rand           io.Reader            // for request ids; default crypto/rand

	MaxBodyBytes     int64         // of one request; default grounded.MaxRequestBytes
	MaxBufferedBytes int64         // of all request bodies that are in memory; default 256 MiB
	MaxHeaderBytes   int           // of one request; default 16 KiB
	MaxConcurrent    int           // operations that run at once; default 128
	QueueTimeout     time.Duration // how long a request waits for its turn; default 5 s
	RequestTimeout   time.Duration // how long one operation may run; default 30 s
	HeaderTimeout    time.Duration // how long a client may take for its headers; default 5 s
	ReadTimeout      time.Duration // … and for the whole request; default 30 s
	WriteTimeout     time.Duration // how long all of a request may take; default 90 s
	IdleTimeout      time.Duration // how long a connection may do nothing; default 120 s
	RatePerSecond    int           // requests a second and token; default 10,000, negative for no limit
	Burst            int           // requests at once above the rate; default RatePerSecond
	StopTimeout      time.Duration // how long Serve waits for calls when it stops; default 30 s
}

func (o *Options) fillDefaults() {
	setDefault(&o.MaxBodyBytes, grounded.MaxRequestBytes)
	setDefault(&o.MaxBufferedBytes, 256<<20)
	setDefault(&o.MaxHeaderBytes, 16<<10)
	setDefault(&o.MaxConcurrent, 128)
	setDefault(&o.QueueTimeout, 5*time.Second)
	setDefault(&o.RequestTimeout, 30*time.Second)
	setDefault(&o.HeaderTimeout, 5*time.Second)
	setDefault(&o.ReadTimeout, 30*time.Second)
	setDefault(&o.WriteTimeout, 90*time.Second)
	setDefault(&o.IdleTimeout, 120*time.Second)
	setDefault(&o.RatePerSecond, 10_000)
	setDefault(&o.Burst, max(o.RatePerSecond, 1))
	setDefault(&o.StopTimeout, 30*time.Second)
	setDefault(&o.Logger, slog.New(slog.DiscardHandler))
	if o.TracerProvider == nil {
		o.TracerProvider = otel.GetTracerProvider()
	}
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.Rand == nil {
		o.Rand = rand.Reader
	}
}

func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// Handler is the service as an http.Handler; [Handler.Serve] runs it with the
// time limits that a handler cannot set for itself.
type Handler struct {
	service    grounded.Service
	options    Options
	operations map[string]*operation.Operation // by path below /v1/
	openAPI    []byte
	hosts      map[string]bool
	places     chan struct{} // one for each operation that runs
	buffered   atomic.Int64  // bytes of bodies in memory
	rates      rates
	watch      *watch
	stopping   atomic.Bool
	ready      readiness
	randMu     sync.Mutex // Options.Rand need not be safe for concurrent use
}

// New makes the service of one scope. It is an error if no token is in force,
// or a host is none.
func New(service grounded.Service, options Options) (*Handler, error) {
	if options.Tokens == nil {
		return nil, errors.New("a service without tokens would be open to everybody; make one with: grounded token new")
	}
	options.fillDefaults()
	if err := options.Tokens.check(options.Clock()); err != nil {
		return nil, err
	}
	hosts, err := allowedHosts(options.Hosts)
	if err != nil {
		return nil, err
	}
	openAPI, err := describe(options.Version)
	if err != nil {
		return nil, err
	}
	h := &Handler{
		service: service, options: options, hosts: hosts, openAPI: openAPI,
		operations: make(map[string]*operation.Operation),
		places:     make(chan struct{}, options.MaxConcurrent),
		rates:      rates{perSecond: options.RatePerSecond, burst: options.Burst},
		watch:      newWatch(options.Logger, options.TracerProvider),
	}
	for _, op := range operation.All() {
		h.operations[op.Name] = &op
	}
	return h, nil
}

// Stop makes /readyz say no, so that a load balancer sends nothing more.
func (h *Handler) Stop() { h.stopping.Store(true) }

// Status is the HTTP status that belongs to a code.
func Status(code grounded.Code) int {
	switch code {
	case grounded.InvalidArgument:
		return http.StatusBadRequest
	case grounded.NotFound:
		return http.StatusNotFound
	case grounded.AlreadyCorrected, grounded.AlreadyForgotten, grounded.Expired:
		return http.StatusConflict
	case grounded.Unauthenticated:
		return http.StatusUnauthorized
	case grounded.PermissionDenied:
		return http.StatusForbidden
	case grounded.TooLarge:
		return http.StatusRequestEntityTooLarge
	case grounded.RateLimited:
		return http.StatusTooManyRequests
	case grounded.Unavailable:
		return http.StatusServiceUnavailable
	case grounded.StorageFull:
		return http.StatusInsufficientStorage
	}
	return http.StatusInternalServerError // damaged, internal
}

// route is what a path stands for.
type route struct {
	name   string // for logs, metrics and spans: never what the client wrote
	method string // the one method that it takes; "" for any
	role   operation.Role
	serve  func(x *exchange) error
}

// routeOf finds the route of a path. Paths are compared as they are: nothing is
// cleaned, and nothing redirected.
func (h *Handler) routeOf(path string) *route {
	switch path {
	case "/metrics":
		return &route{"/metrics", http.MethodGet, operation.Read, h.serveMetrics}
	case "/openapi.json":
		return &route{"/openapi.json", http.MethodGet, operation.Read, h.serveOpenAPI}
	case "/mcp":
		if h.options.MCP != nil {
			return &route{"/mcp", "", operation.Read, h.serveMCP}
		}
	}
	if name, ok := strings.CutPrefix(path, "/v1/"); ok {
		if op := h.operations[name]; op != nil {
			return &route{"/v1/" + op.Name, http.MethodPost, op.Role, func(x *exchange) error { return h.serveOperation(x, op) }}
		}
	}
	return &route{name: "unknown", role: operation.Read, serve: func(*exchange) error {
		return &grounded.Error{Code: grounded.NotFound, Message: "there is nothing at this path; operations are at /v1/<operation>"}
	}}
}

// ServeHTTP answers one request.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	setHeaders(w.Header())
	switch r.URL.Path {
	case "/healthz":
		h.serveHealth(w, r, nil)
		return
	case "/readyz":
		h.serveHealth(w, r, h.checkReady)
		return
	}
	x := &exchange{writer: &countingWriter{ResponseWriter: w}, request: r, route: h.routeOf(r.URL.Path), id: h.requestID(r)}
	x.writer.Header().Set("X-Request-Id", x.id)
	h.watch.around(x, func() {
		if err := h.admit(x); err != nil {
			x.fail(err)
			return
		}
		if err := x.route.serve(x); err != nil {
			x.fail(err)
		}
	})
}

// exchange is one request and what becomes of it.
type exchange struct {
	writer  *countingWriter
	request *http.Request
	route   *route
	id      string
	token   Token
	err     *grounded.Error // what was answered, if it was an error
	cause   error           // the same, whole
	read    int             // bytes of the body
}

// admit lets a request through to its route, or says why not. Everything here
// happens before a byte of the body is read.
func (h *Handler) admit(x *exchange) error {
	if err := h.checkOrigin(x.request); err != nil {
		return err
	}
	now := h.options.Clock()
	token, err := h.authenticate(x.request.Header, now)
	if err != nil {
		return err
	}
	x.token = token
	if !h.rates.allow(token.ID, now) {
		return &grounded.Error{Code: grounded.RateLimited, Message: "more requests than this token may make; wait a second"}
	}
	if method := x.route.method; method != "" && x.request.Method != method {
		return &wrongMethod{method}
	}
	role, _ := operation.ParseRole(token.Role)
	if role < x.route.role {
		return &grounded.Error{Code: grounded.PermissionDenied, Message: "this takes the role " + x.route.role.String() + "; the token has " + token.Role}
	}
	if x.request.URL.RawQuery != "" || x.request.URL.ForceQuery {
		return &grounded.Error{Code: grounded.InvalidArgument, Message: "a URL here has no query; arguments go in the body, the token in the Authorization header"}
	}
	x.request = x.request.WithContext(operation.WithRole(x.request.Context(), role))
	return nil
}

func (h *Handler) serveOperation(x *exchange, op *operation.Operation) error {
	body, err := h.readBody(x)
	defer h.releaseBody(body)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(x.request.Context(), h.options.RequestTimeout)
	defer cancel()
	if err := h.takePlace(ctx); err != nil {
		return err
	}
	data, err := func() ([]byte, error) {
		defer h.leavePlace()
		result, err := op.Call(ctx, h.service, body)
		if err != nil {
			return nil, err
		}
		return grounded.EncodeResult(result)
	}()
	if err != nil {
		return err
	}
	x.reply(http.StatusOK, "application/json", data)
	return nil
}
