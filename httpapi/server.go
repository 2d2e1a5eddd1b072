package httpapi

import (
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"time"
)

// Server returns an HTTP server of the handler with all of its limits.
func (h *Handler) Server() *http.Server {
	return &http.Server{
		Handler:           h,
		ReadHeaderTimeout: h.options.HeaderTimeout,
		ReadTimeout:       h.options.ReadTimeout,
		WriteTimeout:      h.options.WriteTimeout,
		IdleTimeout:       h.options.IdleTimeout,
		MaxHeaderBytes:    h.options.MaxHeaderBytes,
		HTTP2:             &http.HTTP2Config{MaxConcurrentStreams: 100},
		ErrorLog:          slog.NewLogLogger(h.options.Logger.Handler(), slog.LevelDebug),
	}
}

// Serve serves on a listener until the context ends; with a TLS configuration,
// over TLS, HTTP/2 included. Then it takes no more connections and waits, up to
// Options.StopTimeout, until every call has been answered: a write that has
// begun is finished. It always closes the listener.
func (h *Handler) Serve(ctx context.Context, listener net.Listener, config *tls.Config) error {
	server := h.Server()
	ended := make(chan error, 1)
	go func() {
		if config == nil {
			ended <- server.Serve(listener)
			return
		}
		server.TLSConfig = config.Clone()
		ended <- server.ServeTLS(listener, "", "")
	}()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	h.Stop()
	stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), h.options.StopTimeout)
	defer cancel()
	started := time.Now()
	err := server.Shutdown(stop)
	if err != nil {
		h.options.Logger.Warn("calls were cut off at the end", "waited", time.Since(started))
		err = errors.Join(err, server.Close())
	}
	if served := <-ended; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	return err
}
