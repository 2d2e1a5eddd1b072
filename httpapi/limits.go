package httpapi

import (
	"bytes"
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"strconv"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/grounded-memory/grounded"
)

// bodyStep is how much room a body gets at first; it doubles as bytes arrive,
// so that a client who sends little holds little.
const bodyStep = 1 << 10

// readBody reads a request's body within all limits. What it returns is counted
// until releaseBody, also when there is an error.
func (h *Handler) readBody(x *exchange) ([]byte, error) {
	if err := checkKind(x.request.Header); err != nil {
		return nil, err
	}
	most := h.options.MaxBodyBytes
	if x.request.ContentLength > most {
		return nil, tooLarge(most)
	}
	var body []byte
	for {
		if len(body) == cap(body) {
			grown := min(max(bodyStep, 2*cap(body)), int(most)+1)
			if h.buffered.Add(int64(grown-cap(body))) > h.options.MaxBufferedBytes {
				h.buffered.Add(int64(cap(body) - grown))
				return body, &grounded.Error{Code: grounded.Unavailable, Message: "too many large requests at once; try again"}
			}
			fresh := make([]byte, len(body), grown)
			copy(fresh, body)
			body = fresh
		}
		n, err := x.request.Body.Read(body[len(body):cap(body)])
		body = body[:len(body)+n]
		x.read = len(body)
		if int64(len(body)) > most {
			return body, tooLarge(most)
		}
		if errors.Is(err, io.EOF) {
			return body, nil
		}
		if err != nil {
			return body, &grounded.Error{Code: grounded.InvalidArgument, Message: "the body broke off or came too slowly"}
		}
	}
}

// releaseBody ends the counting of a body.
func (h *Handler) releaseBody(body []byte) { h.buffered.Add(-int64(cap(body))) }

func tooLarge(most int64) error {
	return &grounded.Error{Code: grounded.TooLarge, Message: "a request holds at most " + strconv.FormatInt(most, 10) + " bytes"}
}

// checkKind refuses bodies that are not plain JSON. Pages of other sites can
// send forms and text unasked, but not this.
func checkKind(header http.Header) error {
	if header.Get("Content-Encoding") != "" {
		return &grounded.Error{Code: grounded.InvalidArgument, Field: "Content-Encoding", Message: "send the body as it is"}
	}
	kinds := header.Values("Content-Type")
	if len(kinds) == 0 {
		return nil
	}
	kind, parameters, err := mime.ParseMediaType(kinds[0])
	if err != nil || len(kinds) > 1 || kind != "application/json" {
		return &grounded.Error{Code: grounded.InvalidArgument, Field: "Content-Type", Message: "want application/json"}
	}
	if charset, ok := parameters["charset"]; ok && charset != "utf-8" && charset != "UTF-8" {
		return &grounded.Error{Code: grounded.InvalidArgument, Field: "Content-Type", Message: "JSON is UTF-8"}
	}
	return nil
}

// takePlace waits for one of the places to run an operation in.
func (h *Handler) takePlace(ctx context.Context) error {
	select {
	case h.places <- struct{}{}:
		return nil
	default:
	}
	timer := time.NewTimer(h.options.QueueTimeout)
	defer timer.Stop()
	select {
	case h.places <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return &grounded.Error{Code: grounded.Unavailable, Message: "the service is busy; try again"}
	}
}

func (h *Handler) leavePlace() { <-h.places }

// serveMCP passes a call on to the mounted handler, with its body in memory so
// that a slow client holds no place.
func (h *Handler) serveMCP(x *exchange) error {
	if x.request.Method != http.MethodPost {
		x.request.Body = http.MaxBytesReader(x.writer, x.request.Body, h.options.MaxBodyBytes)
		h.options.MCP.ServeHTTP(x.writer, x.request)
		return nil
	}
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
	defer h.leavePlace()
	request := x.request.WithContext(ctx)
	request.Body = io.NopCloser(bytes.NewReader(body))
	request.ContentLength = int64(len(body))
	h.options.MCP.ServeHTTP(x.writer, request)
	return nil
}

// rates limits each token's requests.
type rates struct {
	perSecond, burst int

	mu      sync.Mutex
	byToken map[string]*rate.Limiter
}

// mostLimiters bounds the memory of tokens that came and went.
const mostLimiters = maxTokens

func (r *rates) allow(token string, now time.Time) bool {
	if r.perSecond < 0 {
		return true
	}
	r.mu.Lock()
	limiter := r.byToken[token]
	if limiter == nil {
		if r.byToken == nil || len(r.byToken) >= mostLimiters {
			r.byToken = make(map[string]*rate.Limiter)
		}
		limiter = rate.NewLimiter(rate.Limit(r.perSecond), r.burst)
		r.byToken[token] = limiter
	}
	r.mu.Unlock()
	return limiter.AllowN(now, 1)
}
