package httpapi

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/grounded-memory/grounded"
)

// watch records what is asked and answered: a log line, counts and a span each.
// Names of routes come from the table, never from the client.
type watch struct {
	logger *slog.Logger
	tracer trace.Tracer

	registry *prometheus.Registry
	metrics  http.Handler
	requests *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
	running  prometheus.Gauge
	received prometheus.Counter
	sent     prometheus.Counter
}

func newWatch(logger *slog.Logger, provider trace.TracerProvider) *watch {
	w := &watch{
		logger:   logger,
		tracer:   provider.Tracer("github.com/grounded-memory/grounded/httpapi"),
		registry: prometheus.NewRegistry(),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "grounded_http_requests_total", Help: "Requests answered, by route, HTTP status and error code (none for a result).",
		}, []string{"route", "status", "code"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "grounded_http_request_seconds", Help: "Time from the end of a request's headers to the end of its answer.",
			Buckets: []float64{.0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30},
		}, []string{"route"}),
		running:  prometheus.NewGauge(prometheus.GaugeOpts{Name: "grounded_http_requests_running", Help: "Requests that are being answered."}),
		received: prometheus.NewCounter(prometheus.CounterOpts{Name: "grounded_http_received_bytes_total", Help: "Bytes of request bodies read."}),
		sent:     prometheus.NewCounter(prometheus.CounterOpts{Name: "grounded_http_sent_bytes_total", Help: "Bytes of answers' bodies sent."}),
	}
	w.registry.MustRegister(
		w.requests, w.seconds, w.running, w.received, w.sent,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	)
	w.metrics = promhttp.HandlerFor(w.registry, promhttp.HandlerOpts{DisableCompression: true})
	return w
}

// around runs an exchange and records it, also if it panics.
func (w *watch) around(x *exchange, run func()) {
	started := time.Now()
	w.running.Inc()
	parent := propagation.TraceContext{}.Extract(x.request.Context(), propagation.HeaderCarrier(x.request.Header))
	ctx, span := w.tracer.Start(parent, x.route.name, trace.WithSpanKind(trace.SpanKindServer), trace.WithAttributes(
		attribute.String("http.request.method", method(x.request)),
		attribute.String("http.route", x.route.name),
		attribute.String("grounded.request_id", x.id),
	))
	x.request = x.request.WithContext(ctx)
	defer func() {
		if problem := recover(); problem != nil {
			w.panicked(x, problem)
		}
		w.running.Dec()
		w.record(x, time.Since(started), span)
	}()
	run()
}

// panicked answers for a fault of this program. The value of a panic may hold
// anything, so only its type is logged.
func (w *watch) panicked(x *exchange, problem any) {
	if err, ok := problem.(error); ok && errors.Is(err, http.ErrAbortHandler) {
		panic(problem) // the standard library's own word for breaking off
	}
	w.logger.Error("panic", "request_id", x.id, "route", x.route.name, "type", fmt.Sprintf("%T", problem), "stack", string(debug.Stack()))
	x.fail(&grounded.Error{Code: grounded.Internal, Message: "internal error"})
}

func (w *watch) record(x *exchange, took time.Duration, span trace.Span) {
	status := x.writer.status
	if status == 0 { // nothing was written: net/http sends an empty 200
		status = http.StatusOK
	}
	code := "none"
	if x.err != nil {
		code = string(x.err.Code)
	}
	w.requests.WithLabelValues(x.route.name, strconv.Itoa(status), code).Inc()
	w.seconds.WithLabelValues(x.route.name).Observe(took.Seconds())
	w.received.Add(float64(x.read))
	w.sent.Add(float64(x.writer.written))

	span.SetAttributes(attribute.Int("http.response.status_code", status), attribute.String("grounded.code", code))
	if status >= 500 {
		span.SetStatus(codes.Error, code)
	}
	span.End()

	level := slog.LevelInfo
	if status >= 500 {
		level = slog.LevelError
	}
	ctx := x.request.Context()
	if !w.logger.Enabled(ctx, level) {
		return
	}
	attributes := []slog.Attr{
		slog.String("request_id", x.id), slog.String("method", method(x.request)), slog.String("route", x.route.name),
		slog.Int("status", status), slog.String("code", code), slog.String("token", x.token.ID),
		slog.Int64("microseconds", took.Microseconds()), slog.Int("received", x.read), slog.Int64("sent", x.writer.written),
		slog.String("remote", x.request.RemoteAddr),
	}
	if x.err != nil && Status(x.err.Code) == http.StatusInternalServerError && x.cause != nil {
		attributes = append(attributes, slog.String("cause", causeOf(x.cause)))
	}
	w.logger.LogAttrs(ctx, level, "request", attributes...)
}

// causeOf says all that is known about an error that the client is not told.
func causeOf(err error) string {
	var e *grounded.Error
	if errors.As(err, &e) && e.Code != grounded.Internal {
		return e.Message
	}
	text := err.Error()
	for _, inner := range unwrapAll(err) {
		text += ": " + inner.Error()
	}
	return text
}

func unwrapAll(err error) []error {
	several, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return nil
	}
	return several.Unwrap()
}

// method returns a request's method if it is a known one.
func method(r *http.Request) string {
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions:
		return r.Method
	}
	return "other"
}

// serveMetrics writes the metrics of this handler's own registry.
func (h *Handler) serveMetrics(x *exchange) error {
	h.watch.metrics.ServeHTTP(x.writer, x.request)
	return nil
}
