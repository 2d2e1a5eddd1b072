package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/grounded-memory/grounded"
)

// service is a running "grounded serve".
type service struct {
	process *exec.Cmd
	address string
	token   string
	path    string // of the store
}

// serve starts the service over a store of 100,000 facts, in a process of its own.
func serve(ctx context.Context, folder string) (*service, error) {
	binary, err := build(folder)
	if err != nil {
		return nil, err
	}
	s := &service{}
	if s.path, err = hundredThousand(ctx, folder); err != nil {
		return nil, err
	}
	tokens := filepath.Join(folder, "tokens.jsonl")
	secret, err := exec.Command(binary, "token", "new", "--role", "write", "--tokens", tokens).Output()
	if err != nil {
		return nil, err
	}
	for _, word := range strings.Fields(string(secret)) {
		if len(word) > len(s.token) {
			s.token = word
		}
	}
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s.address = free.Addr().String()
	if err := free.Close(); err != nil {
		return nil, err
	}
	s.process = exec.Command(binary, "--db", s.path, "serve", "--listen", s.address, "--tokens", tokens, "--rate", "-1", "--log-level", "error")
	s.process.Stderr = os.Stderr
	if err := s.process.Start(); err != nil {
		return nil, err
	}
	for range 100 {
		c, err := s.connect()
		if err == nil {
			_, err = c.call("stats", "{}")
			c.close()
		}
		if err == nil {
			return s, nil
		}
		time.Sleep(100 * time.Millisecond)
	}
	return nil, errors.Join(errors.New("the service does not answer"), s.stop())
}

func (s *service) stop() error {
	if err := s.process.Process.Signal(os.Interrupt); err != nil {
		return err
	}
	return s.process.Wait()
}

// memory is the service's resident memory in bytes.
func (s *service) memory() int {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.process.Process.Pid))
	for line := range strings.Lines(string(text)) {
		if fields := strings.Fields(line); len(fields) > 1 && fields[0] == "VmRSS:" {
			kilobytes, _ := strconv.Atoi(fields[1])
			return kilobytes << 10
		}
	}
	return 0
}

// wire is one kept connection, with as little between as can be: the client runs
// on the same cores.
type wire struct {
	conn  net.Conn
	in    *bufio.Reader
	token string
}

func (s *service) connect() (*wire, error) {
	conn, err := net.Dial("tcp", s.address)
	if err != nil {
		return nil, err
	}
	return &wire{conn, bufio.NewReader(conn), s.token}, nil
}

func (w *wire) close() { _ = w.conn.Close() }

// call makes one request and returns the size of its answer.
func (w *wire) call(operation, body string) (int, error) {
	_, err := fmt.Fprintf(w.conn, "POST /v1/%s HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
		operation, w.token, len(body), body)
	if err != nil {
		return 0, err
	}
	status, err := w.in.ReadString('\n')
	if err != nil {
		return 0, err
	}
	size := 0
	for {
		line, err := w.in.ReadSlice('\n')
		if err != nil {
			return 0, err
		}
		if len(line) <= 2 {
			break
		}
		if name, value, ok := strings.Cut(string(line), ":"); ok && strings.EqualFold(name, "content-length") {
			if size, err = strconv.Atoi(strings.TrimSpace(value)); err != nil {
				return 0, err
			}
		}
	}
	answer := make([]byte, size)
	if _, err := io.ReadFull(w.in, answer); err != nil {
		return 0, err
	}
	if !strings.HasPrefix(status, "HTTP/1.1 200") {
		return 0, fmt.Errorf("%s%s", status, answer)
	}
	return size, nil
}

func httpBench(ctx context.Context) error {
	folder, err := os.MkdirTemp("", "bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	s, err := serve(ctx, folder)
	if err != nil {
		return err
	}
	for _, part := range []func(context.Context) error{s.load, s.overhead, s.crowd} {
		if err := part(ctx); err != nil {
			return errors.Join(err, s.stop())
		}
	}
	return s.stop()
}

func askFact(n int) string {
	f := factOf(n % manyFacts)
	return fmt.Sprintf(`{"where":[[%q,%q,"?v"]]}`, f.Entity, f.Predicate)
}

// load measures 16 connections that read, without and with one that writes.
func (s *service) load(context.Context) error {
	const connections, span = 16, 8 * time.Second
	t := &table{}
	t.add("16 kept connections, 100,000 facts", "reads/s", "median", "p99", "writes/s")
	for _, writing := range []bool{false, true} {
		var stop atomic.Bool
		var wait sync.WaitGroup
		times, errs := make([][]time.Duration, connections), make([]error, connections+1)
		for i := range connections {
			wait.Go(func() { times[i], errs[i] = s.reader(i, &stop) })
		}
		written := 0
		if writing {
			wait.Go(func() { written, errs[connections] = s.writer(&stop) })
		}
		start := time.Now()
		time.Sleep(span)
		stop.Store(true)
		wait.Wait()
		took := time.Since(start).Seconds()
		if err := errors.Join(errs...); err != nil {
			return err
		}
		var all []time.Duration
		for _, some := range times {
			all = append(all, some...)
		}
		name := "reads alone"
		if writing {
			name = "while one writes"
		}
		rate, p99 := float64(len(all))/took, quantile(all, 0.99)
		t.add(name, fmt.Sprintf("%.0f", rate), show(quantile(all, 0.5)), show(p99), fmt.Sprintf("%.0f", float64(written)/took))
		if writing {
			defer verdict(rate >= 5000 && p99 < 25*time.Millisecond, "%.0f reads/s, p99 %s, while one writes (target 5,000 and 25 ms)", rate, show(p99))
		}
	}
	t.print()
	return nil
}

func (s *service) reader(i int, stop *atomic.Bool) (times []time.Duration, err error) {
	c, err := s.connect()
	if err != nil {
		return nil, err
	}
	defer c.close()
	for n := i * 6131; !stop.Load(); n += 7919 {
		start := time.Now()
		if _, err := c.call("query", askFact(n)); err != nil {
			return nil, err
		}
		times = append(times, time.Since(start))
	}
	return times, nil
}

func (s *service) writer(stop *atomic.Bool) (written int, err error) {
	c, err := s.connect()
	if err != nil {
		return 0, err
	}
	defer c.close()
	for ; !stop.Load(); written++ {
		if _, err := c.call("note", `{"text":"one more","source":"bench"}`); err != nil {
			return written, err
		}
	}
	return written, nil
}

// overhead compares one call over HTTP with the same call in Go.
func (s *service) overhead(ctx context.Context) error {
	store, err := grounded.Open(ctx, s.path, nil)
	if err != nil {
		return err
	}
	defer store.Close()
	memory, err := store.Scope("default", "default")
	if err != nil {
		return err
	}
	c, err := s.connect()
	if err != nil {
		return err
	}
	defer c.close()
	n := 0
	medians, err := interleave(2000, 0,
		side{"HTTP", func() error { n += 7919; _, err := c.call("query", askFact(n)); return err }},
		side{"Go", func() error {
			n += 7919
			f := factOf(n % manyFacts)
			_, err := memory.Query(ctx, &grounded.QueryRequest{Where: []grounded.Atom{grounded.NewAtom(grounded.Const(f.Entity), f.Predicate, grounded.Var("v"))}})
			return err
		}})
	if err != nil {
		return err
	}
	fmt.Println()
	t := &table{}
	t.add("one fact", "median")
	t.add("in Go", show(medians[1]))
	t.add("over HTTP, another process", show(medians[0]))
	t.print()
	verdict(medians[0]-medians[1] <= 150*time.Microsecond, "the door costs %s (target 150 µs)", show(medians[0]-medians[1]))
	fmt.Println()
	return nil
}

// crowd opens 10,000 connections, of which half say nothing and half send a body
// a byte at a time, and looks at the service's memory and at others' calls.
func (s *service) crowd(context.Context) error {
	const each = 5000
	before := s.memory()
	slow := "POST /v1/stats HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + s.token + "\r\nContent-Type: application/json\r\nContent-Length: 8000000\r\n\r\n{"
	var all []net.Conn
	defer func() {
		for _, c := range all {
			_ = c.Close()
		}
	}()
	for i := range 2 * each {
		c, err := net.Dial("tcp", s.address)
		if err != nil {
			return fmt.Errorf("connection %d: %w", i, err)
		}
		all = append(all, c)
		if i%2 == 0 {
			if _, err := io.WriteString(c, slow); err != nil {
				return err
			}
		}
	}
	healthy, err := s.connect()
	if err != nil {
		return err
	}
	defer healthy.close()
	spent := make([]time.Duration, 500)
	most := 0
	for i := range spent {
		_, _ = io.WriteString(all[2*i], " ")
		start := time.Now()
		if _, err := healthy.call("query", askFact(i)); err != nil {
			return err
		}
		spent[i] = time.Since(start)
		most = max(most, s.memory())
	}
	t := &table{}
	t.add("10,000 idle and slow connections", "service's memory", "each", "calls of others: median", "p99")
	t.add("before", fmt.Sprintf("%.0f MB", float64(before)/1e6))
	t.add("during", fmt.Sprintf("%.0f MB", float64(most)/1e6), fmt.Sprintf("%.1f KiB", float64(most-before)/1024/(2*each)), show(quantile(spent, 0.5)), show(quantile(spent, 0.99)))
	t.print()
	return nil
}
