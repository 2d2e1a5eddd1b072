package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// entities is how many the memories hold.
const mcpEntities = 10_000

// mcp compares `grounded mcp` with the memory server of the Model Context Protocol
// project (npm ci in bench/peers): the search of one fact among 10,000 entities,
// and what eight processes that write to one file at once leave of their writes.
func mcp(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "grounded-bench-mcp-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	ours, err := build(dir)
	if err != nil {
		return err
	}
	if err := mcpStart(ctx, ours, dir); err != nil {
		return err
	}
	theirs := filepath.Join("peers", "node_modules", "@modelcontextprotocol", "server-memory", "dist", "index.js")
	if _, err := os.Stat(theirs); err != nil {
		fmt.Println("left out: the memory server, which npm ci in bench/peers installs")
		return nil
	}
	graph := filepath.Join(dir, "graph.jsonl")
	if err := writeGraph(graph); err != nil {
		return err
	}
	db := filepath.Join(dir, "memory.db")
	if out, err := exec.CommandContext(ctx, ours, "--db", db, "import", "--format", "server-memory", graph).CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	startOurs := func(file string) (*stdioServer, error) { return startServer(ctx, nil, ours, "mcp", "--db", file) }
	startTheirs := func(file string) (*stdioServer, error) {
		return startServer(ctx, []string{"MEMORY_FILE_PATH=" + file}, "node", theirs)
	}
	if err := compareSearch(startOurs, db, startTheirs, graph); err != nil {
		return err
	}
	return compareWriters(startOurs, filepath.Join(dir, "ours.db"), startTheirs, filepath.Join(dir, "theirs.jsonl"))
}

// mcpStart measures a server from its start to its first answer, 100,000 records.
func mcpStart(ctx context.Context, binary, dir string) error {
	path, err := hundredThousand(ctx, dir)
	if err != nil {
		return err
	}
	start := func() (time.Duration, error) {
		begun := time.Now()
		s, err := startServer(ctx, nil, binary, "mcp", "--db", path)
		if err != nil {
			return 0, err
		}
		f := factOf(4711)
		text, err := s.call("query", map[string]any{"where": [][]string{{f.Entity, f.Predicate, "?v"}}})
		took := time.Since(begun)
		if err == nil && !strings.Contains(text, f.Value) {
			err = fmt.Errorf("no answer: %s", text)
		}
		return took, errors.Join(err, s.stop())
	}
	var spent []time.Duration
	for range 21 {
		took, err := start()
		if err != nil {
			return err
		}
		spent = append(spent, took)
	}
	took := quantile(spent, 0.5)
	verdict(took <= 100*time.Millisecond, "%s from the start of the process to the first answer, 100,000 records (target 100 ms)", show(took))
	fmt.Println()
	return nil
}

func writeGraph(path string) error {
	var b strings.Builder
	for i := range mcpEntities {
		fmt.Fprintf(&b, `{"type":"entity","name":"entity-%d","entityType":"person","observations":["works in room %d and knows entity-%d"]}`+"\n", i, i*7919%mcpEntities, i*31%mcpEntities)
	}
	return os.WriteFile(path, []byte(b.String()), 0o600)
}

func compareSearch(startOurs func(string) (*stdioServer, error), db string, startTheirs func(string) (*stdioServer, error), graph string) error {
	fmt.Printf("%-28s %12s %12s\n", "10,000 entities", "first answer", "search")
	var medians []time.Duration
	for _, c := range []struct {
		name, file, tool string
		args             func(name string) map[string]any
		start            func(string) (*stdioServer, error)
	}{
		{"grounded, query", db, "query", func(name string) map[string]any {
			return map[string]any{"where": [][]string{{name, "entity_type", "?type"}}}
		}, startOurs},
		{"grounded, recall_grounded", db, "recall_grounded", func(name string) map[string]any { return map[string]any{"query": name} }, startOurs},
		// One word: theirs finds whole substrings only.
		{"server-memory, search_nodes", graph, "search_nodes", func(name string) map[string]any { return map[string]any{"query": name} }, startTheirs},
	} {
		began := time.Now()
		s, err := c.start(c.file)
		if err != nil {
			return err
		}
		var all []time.Duration
		var first time.Duration
		for i := range 25 {
			start := time.Now()
			text, err := s.call(c.tool, c.args(fmt.Sprintf("entity-%d", 9000+i)))
			if err != nil {
				return err
			}
			if !strings.Contains(text, fmt.Sprintf("entity-%d", 9000+i)) {
				return fmt.Errorf("%s does not find entity-%d: %s", c.name, 9000+i, text[:min(300, len(text))])
			}
			if i == 0 {
				first = time.Since(began)
			}
			all = append(all, time.Since(start))
		}
		slices.Sort(all)
		medians = append(medians, all[len(all)/2])
		fmt.Printf("%-28s %12s %12s\n", c.name, first.Round(time.Millisecond), all[len(all)/2].Round(10*time.Microsecond))
		if err := s.stop(); err != nil {
			return err
		}
	}
	fmt.Println()
	verdict(ratio(medians[2], medians[0]) >= 20, "a fact is found %s faster (target 20×), related records %s", times(ratio(medians[2], medians[0])), times(ratio(medians[2], medians[1])))
	fmt.Println()
	return nil
}

func compareWriters(startOurs func(string) (*stdioServer, error), db string, startTheirs func(string) (*stdioServer, error), graph string) error {
	const processes, writes = 8, 25
	count := func(start func(string) (*stdioServer, error), file string, write func(*stdioServer, string) error) (acknowledged int, err error) {
		var mu sync.Mutex
		var group sync.WaitGroup
		var errs []error
		servers := make([]*stdioServer, processes)
		for p := range servers {
			if servers[p], err = start(file); err != nil {
				return 0, err
			}
		}
		for p, s := range servers {
			group.Go(func() {
				for i := range writes {
					err := write(s, fmt.Sprintf("writer-%d-%d", p, i))
					mu.Lock()
					if err == nil {
						acknowledged++
					} else {
						errs = append(errs, err)
					}
					mu.Unlock()
				}
				_ = s.stop()
			})
		}
		group.Wait()
		if len(errs) > 0 {
			fmt.Printf("  %d calls failed, the first: %.120s\n", len(errs), errs[0])
		}
		return acknowledged, nil
	}
	a, err := count(startOurs, db, func(s *stdioServer, name string) error {
		_, err := s.call("remember", map[string]any{"entity": name, "predicate": "is", "value": "written", "source": "bench"})
		return err
	})
	if err != nil {
		return err
	}
	s, err := startOurs(db)
	if err != nil {
		return err
	}
	kept := 0
	for p := range processes {
		for i := range writes {
			text, err := s.call("query", map[string]any{"where": [][]string{{fmt.Sprintf("writer-%d-%d", p, i), "is", "?v"}}})
			if err != nil {
				return err
			}
			if strings.Contains(text, `"answered"`) {
				kept++
			}
		}
	}
	if err := s.stop(); err != nil {
		return err
	}
	fmt.Printf("8 processes, 25 writes each: grounded acknowledged %d and kept %d\n", a, kept)
	b, err := count(startTheirs, graph, func(s *stdioServer, name string) error {
		_, err := s.call("create_entities", map[string]any{"entities": []any{map[string]any{"name": name, "entityType": "written", "observations": []string{}}}})
		return err
	})
	if err != nil {
		return err
	}
	data, err := os.ReadFile(graph)
	if err != nil {
		return err
	}
	fmt.Printf("8 processes, 25 writes each: server-memory acknowledged %d and kept %d\n", b, strings.Count(string(data), `"writer-`))
	return nil
}

// stdioServer is an MCP server as a child process.
type stdioServer struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
	id  int
}

func startServer(ctx context.Context, env []string, name string, args ...string) (*stdioServer, error) {
	s := &stdioServer{cmd: exec.CommandContext(ctx, name, args...)}
	s.cmd.Env = append(os.Environ(), env...)
	var err error
	if s.in, err = s.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	s.out = bufio.NewReaderSize(out, 1<<20)
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	if _, err := s.request("initialize", map[string]any{"protocolVersion": "2025-06-18", "capabilities": map[string]any{}, "clientInfo": map[string]any{"name": "bench", "version": "1"}}); err != nil {
		return nil, err
	}
	_, err = io.WriteString(s.in, `{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n")
	return s, err
}

func (s *stdioServer) request(method string, params any) (json.RawMessage, error) {
	s.id++
	data, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": s.id, "method": method, "params": params})
	if err != nil {
		return nil, err
	}
	if _, err := s.in.Write(append(data, '\n')); err != nil {
		return nil, err
	}
	for {
		line, err := s.out.ReadBytes('\n')
		if err != nil {
			return nil, err
		}
		var reply struct {
			ID     int             `json:"id"`
			Result json.RawMessage `json:"result"`
			Error  json.RawMessage `json:"error"`
		}
		if err := json.Unmarshal(line, &reply); err != nil || reply.ID != s.id {
			continue
		}
		if reply.Error != nil {
			return nil, fmt.Errorf("%s: %s", method, reply.Error)
		}
		return reply.Result, nil
	}
}

// call calls a tool and returns its result as text.
func (s *stdioServer) call(tool string, args any) (string, error) {
	result, err := s.request("tools/call", map[string]any{"name": tool, "arguments": args})
	if err == nil && strings.Contains(string(result), `"isError":true`) {
		err = errors.New(string(result))
	}
	return string(result), err
}

func (s *stdioServer) stop() error {
	if err := s.in.Close(); err != nil {
		return err
	}
	_ = s.cmd.Wait() // a server that is told to go may say so by its status
	return nil
}
