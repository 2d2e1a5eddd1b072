package httpapi

import (
	"encoding/hex"
	"errors"
	"io"
	"net/http"
	"strconv"

	"github.com/grounded-memory/grounded"
)

// setHeaders sets what every answer carries.
func setHeaders(header http.Header) {
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Cache-Control", "no-store")
	header.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	header.Set("Cross-Origin-Resource-Policy", "same-origin")
	header.Set("Referrer-Policy", "no-referrer")
}

// countingWriter remembers the status and counts the bytes of an answer.
type countingWriter struct {
	http.ResponseWriter
	status  int
	written int64
}

// WriteHeader sends the status.
func (w *countingWriter) WriteHeader(status int) {
	if w.status == 0 && status >= 200 {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write sends a part of the body.
func (w *countingWriter) Write(data []byte) (int, error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	n, err := w.ResponseWriter.Write(data)
	w.written += int64(n)
	return n, err
}

// Unwrap lets http.ResponseController reach the writer below.
func (w *countingWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// reply sends a whole answer. That the client has gone is not our error.
func (x *exchange) reply(status int, kind string, data []byte) {
	header := x.writer.Header()
	header.Set("Content-Type", kind)
	header.Set("Content-Length", strconv.Itoa(len(data)))
	x.writer.WriteHeader(status)
	if _, err := x.writer.Write(data); err != nil {
		x.cause = err
	}
}

// wrongMethod is the one refusal whose status does not follow from its code.
type wrongMethod struct{ allowed string }

// Error says what to do.
func (e *wrongMethod) Error() string { return "this path takes " + e.allowed + " only" }

// fail sends an error, unless an answer has begun.
func (x *exchange) fail(err error) {
	var method *wrongMethod
	if errors.As(err, &method) {
		x.writer.Header().Set("Allow", method.allowed)
		x.sendError(http.StatusMethodNotAllowed, &grounded.Error{Code: grounded.InvalidArgument, Message: method.Error()})
		return
	}
	e := grounded.AsError(err)
	x.cause = err
	switch e.Code {
	case grounded.Unauthenticated:
		x.writer.Header().Set("WWW-Authenticate", `Bearer realm="grounded"`)
	case grounded.RateLimited, grounded.Unavailable:
		x.writer.Header().Set("Retry-After", "1")
	}
	x.sendError(Status(e.Code), e)
}

func (x *exchange) sendError(status int, e *grounded.Error) {
	x.err = e
	if x.writer.status != 0 {
		return
	}
	data, err := grounded.EncodeResult(e)
	if err != nil { // an error is two texts and an id: this cannot be
		data = []byte(`{"code":"internal","message":"internal error"}`)
	}
	x.reply(status, "application/json", data)
}

// requestID takes the client's id if it is a sane one, or makes one.
func (h *Handler) requestID(r *http.Request) string {
	if given := r.Header.Values("X-Request-Id"); len(given) == 1 && isSaneID(given[0]) {
		return given[0]
	}
	var random [12]byte
	h.randMu.Lock()
	defer h.randMu.Unlock()
	if _, err := io.ReadFull(h.options.Rand, random[:]); err != nil {
		return "none"
	}
	return hex.EncodeToString(random[:])
}

// isSaneID says that an id is fit for headers and logs: up to 64 letters,
// digits, dots, dashes and underscores.
func isSaneID(id string) bool {
	if id == "" || len(id) > 64 {
		return false
	}
	for i := range len(id) {
		switch c := id[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '.', c == '-', c == '_':
		default:
			return false
		}
	}
	return true
}
