// Command bench compares Grounded Memory with its peers on the machine it runs
// on. Every figure is a median of interleaved rounds, and every ratio comes from
// one run, so that a slow machine or a busy one changes both sides alike.
//
//	cd bench && go run . codex     # one comparison
//	cd bench && go run .           # the list of comparisons
//
// The peers are SQLite (the C library, and the build that the product itself
// uses), SWI-Prolog, FTS5, Bleve, the tokenizer library, and the memory server of
// the Model Context Protocol project. A peer that is not installed is left out,
// and the table says so. docs/performance.md holds figures and what they mean.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"runtime/pprof"
	"time"
)

// comparison is one table, or a few that belong together.
type comparison struct {
	name, about string
	run         func(ctx context.Context) error
}

func comparisons() []comparison {
	return []comparison{
		{"codex", "joins of up to six atoms over CoDEx-M, against SQLite and SWI-Prolog", codex},
		{"write", "durable writes, concurrent writers and imports, against bare SQLite", write},
		{"mcp", "an MCP server beside the memory server of the protocol's project", mcp},
		{"memory", "bytes of the index in memory", memory},
		{"read", "a read when nothing changed", read},
		{"cold", "a new process that answers one question", cold},
		{"notes", "the ten best notes, against FTS5 and Bleve; variants; a million notes", noteSearch},
		{"pack", "the smallest packet of 4,096; verifying; what choosing proofs together saves", pack},
		{"http", "the service on loopback: load, the cost of the door, 10,000 idle and slow connections", httpBench},
	}
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	profile := flag.String("cpuprofile", "", "write a CPU profile to this file")
	flag.Parse()
	if err := run(ctx, flag.Args(), *profile); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, names []string, profile string) error {
	all := comparisons()
	if len(names) == 0 {
		fmt.Println("usage: go run . NAME...")
		for _, c := range all {
			fmt.Printf("  %-8s %s\n", c.name, c.about)
		}
		return nil
	}
	if profile != "" {
		file, err := os.Create(profile)
		if err != nil {
			return err
		}
		defer file.Close()
		if err := pprof.StartCPUProfile(file); err != nil {
			return err
		}
		defer pprof.StopCPUProfile()
	}
	for _, name := range names {
		found := false
		for _, c := range all {
			if c.name != name && name != "all" {
				continue
			}
			found = true
			fmt.Printf("# %s: %s\n# %s, %s/%s, %d cores, %s\n\n", c.name, c.about,
				runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.GOMAXPROCS(0), time.Now().UTC().Format(time.DateOnly))
			if err := c.run(ctx); err != nil {
				return fmt.Errorf("%s: %w", c.name, err)
			}
		}
		if !found {
			return fmt.Errorf("there is no comparison %q", name)
		}
	}
	return nil
}
