package main

import (
	"context"
	"fmt"
	"os"
	"runtime/pprof"
	"time"

	"github.com/grounded-memory/grounded"
)

func main() {
	ctx := context.Background()
	dir, _ := os.MkdirTemp("", "zz")
	defer os.RemoveAll(dir)
	s, err := grounded.Open(ctx, dir+"/a.db", nil)
	if err != nil {
		panic(err)
	}
	m, _ := s.Scope("a", "b")
	f, _ := os.Create("/tmp/zz.prof")
	n := 40000
	if len(os.Args) > 1 {
		n = 30
	} else {
		pprof.StartCPUProfile(f)
	}
	st := time.Now()
	for i := range n {
		_, err := m.Remember(ctx, &grounded.RememberRequest{Entity: fmt.Sprint("Person ", i/2), Predicate: "works on", Value: fmt.Sprint("p ", i), Source: "HR", Cardinality: "multi"})
		if err != nil {
			panic(err)
		}
	}
	fmt.Println(time.Since(st) / time.Duration(n))
	pprof.StopCPUProfile()
}
