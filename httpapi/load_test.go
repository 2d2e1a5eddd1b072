package httpapi_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/go-json-experiment/json"

	"github.com/grounded-memory/grounded"
	"github.com/grounded-memory/grounded/httpapi"
	"github.com/grounded-memory/grounded/internal/conformance"
)

// connection is one keep-alive connection that costs its process little.
type connection struct {
	t      testing.TB
	conn   net.Conn
	reader *bufio.Reader
	secret string
}

func (r *running) connect(t testing.TB) *connection {
	t.Helper()
	c, err := net.Dial("tcp", r.address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return &connection{t, c, bufio.NewReader(c), r.secrets["write"]}
}

// call does one operation and returns its status and body.
func (c *connection) call(operation, body string) (status int, data []byte, err error) {
	request := "POST /v1/" + operation + " HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + c.secret +
		"\r\nContent-Type: application/json\r\nContent-Length: " + strconv.Itoa(len(body)) + "\r\n\r\n" + body
	if _, err := io.WriteString(c.conn, request); err != nil {
		return 0, nil, err
	}
	response, err := http.ReadResponse(c.reader, nil)
	if err != nil {
		return 0, nil, err
	}
	data, err = io.ReadAll(response.Body)
	return response.StatusCode, data, err
}

// must does one operation that has to succeed.
func (c *connection) must(operation, body string) []byte {
	status, data, err := c.call(operation, body)
	if err != nil || status != http.StatusOK {
		c.t.Errorf("%s: status %d, %v: %s", operation, status, err, data)
	}
	return data
}

// register is the model of one single-valued fact: a write sets it, a read
// sees the last write.
func register() porcupine.Model {
	return porcupine.Model{
		Init: func() any { return "v0" },
		Step: func(state, input, output any) (bool, any) {
			if value := input.(string); value != "" {
				return true, value
			}
			return state == output, state
		},
		Equal: func(a, b any) bool { return a == b },
	}
}

// history collects operations on the fact (door, code, ?v).
type history struct {
	mu    sync.Mutex
	began time.Time
	ops   []porcupine.Operation
}

func (h *history) add(client int, input, output string, from, to time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ops = append(h.ops, porcupine.Operation{ClientId: client, Input: input, Output: output, Call: from.Sub(h.began).Nanoseconds(), Return: to.Sub(h.began).Nanoseconds()})
}

// aFact asks for the one fact that TestLoad and others only read.
const aFact = `{"where":[["entity 5","knows","?a"]]}`

func valueOf(t testing.TB, data []byte) string {
	var result grounded.QueryResult
	if err := json.Unmarshal(data, &result); err != nil || len(result.Answers) != 1 {
		t.Errorf("%v: %s", err, data)
		return "none"
	}
	return result.Answers[0].Bind["?v"]
}

// TestHistoryIsLinearizable: one writer corrects a fact while readers ask for
// it; there is one order of all calls that explains every answer, and no write
// is lost. The control: a history in which a read goes back in time has none.
func TestHistoryIsLinearizable(t *testing.T) {
	rounds := 2
	if os.Getenv("GROUNDED_LONG") != "" {
		rounds = 200
	}
	memory, _ := conformance.Open(t)
	r := start(t, memory, nil)
	operations := 0
	for round := range rounds {
		operations += linearizableRound(t, r, "door "+strconv.Itoa(round))
	}
	t.Logf("%d histories, %d operations", rounds, operations)
}

// linearizableRound checks one history about one entity. A history is kept
// short: checking takes memory by the square of its length.
func linearizableRound(t *testing.T, r *running, entity string) int {
	const readers, writes, mostReads = 3, 60, 600
	fact := `{"where":[["` + entity + `","code","?v"]]}`
	writer := r.connect(t)
	var result grounded.WriteResult
	write := func(operation, body string) {
		if err := json.Unmarshal(writer.must(operation, body), &result); err != nil {
			t.Fatal(err)
		}
	}
	write("remember", `{"entity":"`+entity+`","predicate":"code","value":"v0","source":"s"}`)
	first := result.ID
	h := &history{began: time.Now()}
	var stop atomic.Bool
	var wait sync.WaitGroup
	for i := range readers {
		c := r.connect(t)
		wait.Go(func() {
			for n := 0; n < mostReads && !stop.Load(); n++ {
				from := time.Now()
				value := valueOf(t, c.must("query", fact))
				h.add(i+1, "", value, from, time.Now())
			}
		})
	}
	for n := range writes {
		value := "v" + strconv.Itoa(n+1)
		from := time.Now()
		write("correct", `{"id":"`+result.ID.String()+`","value":"`+value+`","source":"s"}`)
		h.add(0, value, "", from, time.Now())
	}
	stop.Store(true)
	wait.Wait()
	if !porcupine.CheckOperations(register(), h.ops) {
		t.Errorf("%s: no order explains the %d operations", entity, len(h.ops))
	}
	if got := valueOf(t, writer.must("query", fact)); got != "v"+strconv.Itoa(writes) {
		t.Errorf("%s: the last write is %s", entity, got)
	}
	var chain grounded.HistoryResult
	if err := json.Unmarshal(writer.must("history", `{"id":"`+first.String()+`"}`), &chain); err != nil || len(chain.Chain) != writes+1 {
		t.Errorf("%s: %d links, want %d (%v)", entity, len(chain.Chain), writes+1, err)
	}
	back := append(slices.Clone(h.ops), porcupine.Operation{ClientId: 99, Input: "", Output: "v0", Call: 1 << 60, Return: 1<<60 + 1})
	if porcupine.CheckOperations(register(), back) {
		t.Error("the checker takes anything")
	}
	return len(h.ops)
}

// quantile returns a quantile of sorted durations.
func quantile(sorted []time.Duration, q float64) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[min(len(sorted)-1, int(q*float64(len(sorted))))]
}

// fill stores n records over the Go API.
func fill(t testing.TB, memory *grounded.Memory, n int) {
	t.Helper()
	const batch = 5000
	for from := 0; from < n; from += batch {
		request := &grounded.WriteRequest{}
		for i := from; i < min(n, from+batch); i++ {
			request.Writes = append(request.Writes, grounded.WriteItem{Remember: &grounded.RememberRequest{
				Entity: "entity " + strconv.Itoa(i), Predicate: "knows", Value: "entity " + strconv.Itoa((i*7919+1)%n), Source: "s",
			}})
		}
		if _, err := memory.Write(t.Context(), request); err != nil {
			t.Fatal(err)
		}
	}
}

// TestLoad measures reads over 16 keep-alive connections at 100,000 records
// while one writer writes. Figures are logged, errors and lost writes fail.
func TestLoad(t *testing.T) {
	if os.Getenv("GROUNDED_LONG") == "" {
		t.Skip("GROUNDED_LONG is not set")
	}
	const records, connections = 100_000, 16
	memory, _ := conformance.Open(t)
	fill(t, memory, records)
	r := start(t, memory, nil, func(o *httpapi.Options) { o.RatePerSecond, o.Logger = -1, nil })
	r.connect(t).must("query", aFact)
	for _, writing := range []bool{false, true} {
		var stop atomic.Bool
		var wait sync.WaitGroup
		times := make([][]time.Duration, connections)
		for i := range connections {
			c := r.connect(t)
			wait.Go(func() {
				for n := i; !stop.Load(); n += 31 {
					from := time.Now()
					c.must("query", fmt.Sprintf(`{"where":[["entity %d","knows","?a"],["?a","knows","?b"]]}`, n%records))
					times[i] = append(times[i], time.Since(from))
				}
			})
		}
		written := 0
		if writing {
			c := r.connect(t)
			wait.Go(func() {
				for ; !stop.Load(); written++ {
					c.must("note", `{"text":"one more","source":"s"}`)
				}
			})
		}
		began := time.Now()
		time.Sleep(10 * time.Second)
		stop.Store(true)
		wait.Wait()
		took := time.Since(began)
		all := slices.Concat(times...)
		slices.Sort(all)
		t.Logf("writing %v: %.0f reads/s, median %v, p99 %v, %.0f writes/s", writing, float64(len(all))/took.Seconds(),
			quantile(all, .5), quantile(all, .99), float64(written)/took.Seconds())
		stats, err := memory.Stats(t.Context(), &grounded.StatsRequest{})
		if err != nil || stats.Eligible.Note != written {
			t.Errorf("%d notes, %d were acknowledged (%v)", stats.Eligible.Note, written, err)
		}
	}
}

// TestDoorOverhead logs what a call over HTTP takes beyond the same call in Go.
func TestDoorOverhead(t *testing.T) {
	if os.Getenv("GROUNDED_LONG") == "" {
		t.Skip("GROUNDED_LONG is not set")
	}
	memory, _ := conformance.Open(t)
	fill(t, memory, 10_000)
	r := start(t, memory, nil, func(o *httpapi.Options) { o.RatePerSecond, o.Logger = -1, nil })
	c, direct := r.connect(t), conformance.Direct(memory)
	const n = 5000
	over, without := make([]time.Duration, n), make([]time.Duration, n)
	for i := range n {
		from := time.Now()
		c.must("query", aFact)
		over[i] = time.Since(from)
		from = time.Now()
		if _, err := direct(t.Context(), "query", []byte(aFact)); err != nil {
			t.Fatal(err)
		}
		without[i] = time.Since(from)
	}
	slices.Sort(over)
	slices.Sort(without)
	t.Logf("median over HTTP %v, in Go %v, door %v", quantile(over, .5), quantile(without, .5), quantile(over, .5)-quantile(without, .5))
}

// TestManyConnections: idle and slow connections cost little, and others are
// answered meanwhile.
func TestManyConnections(t *testing.T) {
	each := 100
	if os.Getenv("GROUNDED_LONG") != "" {
		each = 4000 // both ends of each are in this process: file descriptors are scarce
	}
	memory, _ := conformance.Open(t)
	r := start(t, memory, nil)
	var before, during runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	slow := "POST /v1/stats HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + r.secrets["read"] + "\r\nContent-Length: 8000000\r\n\r\n{"
	for i := range 2 * each {
		c := r.connect(t)
		if i%2 == 0 {
			if _, err := io.WriteString(c.conn, slow); err != nil {
				t.Fatal(err)
			}
		}
	}
	healthy := r.connect(t)
	times := make([]time.Duration, 200)
	for i := range times {
		from := time.Now()
		healthy.must("stats", "{}")
		times[i] = time.Since(from)
	}
	runtime.GC()
	runtime.ReadMemStats(&during)
	slices.Sort(times)
	perConnection := (int64(during.HeapInuse+during.StackInuse) - int64(before.HeapInuse+before.StackInuse)) / int64(2*each)
	t.Logf("%d idle and %d slow connections: %d bytes each with the client's end, healthy calls p99 %v", each, each, perConnection, quantile(times, .99))
	if perConnection > 128<<10 {
		t.Errorf("%d bytes a connection", perConnection)
	}
	if !strings.Contains(r.do(r.request("GET", "/metrics", "")).Body.String(), "grounded_http_requests_running") {
		t.Error("no metrics")
	}
}
