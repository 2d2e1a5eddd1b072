package httpapi

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/grounded-memory/grounded"
)

// readyFor is how long one look at the memory serves everybody who asks whether
// it is ready: the path is open, and must not be a way to make the memory work.
const readyFor = time.Second

// readiness remembers the last look.
type readiness struct {
	mu sync.Mutex
	at time.Time
	ok bool
}

// checkReady says whether the memory answers. It does not if the service is
// stopping, the token file cannot be read or the store fails.
func (h *Handler) checkReady(ctx context.Context) bool {
	if h.stopping.Load() {
		return false
	}
	h.ready.mu.Lock()
	defer h.ready.mu.Unlock()
	if h.ready.at.IsZero() || time.Since(h.ready.at) >= readyFor {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), h.options.RequestTimeout)
		defer cancel()
		_, err := h.service.Stats(ctx, &grounded.StatsRequest{})
		if err == nil {
			_, err = h.options.Tokens.current()
		}
		h.ready.ok, h.ready.at = err == nil, time.Now()
	}
	return h.ready.ok
}

// serveHealth answers the two open paths. They say one word, to any Host:
// probes ask by address.
func (h *Handler) serveHealth(w http.ResponseWriter, r *http.Request, check func(context.Context) bool) {
	x := &exchange{writer: &countingWriter{ResponseWriter: w}, request: r}
	switch {
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		x.fail(&wrongMethod{"GET, HEAD"})
	case check != nil && !check(r.Context()):
		x.writer.Header().Set("Retry-After", "1")
		x.reply(http.StatusServiceUnavailable, "text/plain; charset=utf-8", []byte("not ready\n"))
	default:
		x.reply(http.StatusOK, "text/plain; charset=utf-8", []byte("ok\n"))
	}
}
