package grounded_test

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/grounded-memory/grounded"
)

// BenchmarkLoad loads 20,000 facts in one transaction.
func BenchmarkLoad(b *testing.B) {
	for b.Loop() {
		store, err := grounded.Open(ctx, filepath.Join(b.TempDir(), "s.db"), nil)
		if err != nil {
			b.Fatal(err)
		}
		m, err := store.Scope("a", "b")
		if err != nil {
			b.Fatal(err)
		}
		start := time.Now()
		_, err = m.Load(ctx, func(yield func(grounded.WriteItem, error) bool) {
			for i := range 20_000 {
				if !yield(grounded.WriteItem{Remember: &grounded.RememberRequest{
					Entity: fmt.Sprintf("Q%d", i*7919%9973), Predicate: fmt.Sprintf("P%d", i%40), Value: fmt.Sprintf("Q%d", i), Source: "codex", Cardinality: grounded.Multi,
				}}, nil) {
					return
				}
			}
		}, nil)
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(20_000/time.Since(start).Seconds(), "facts/s")
		if err := store.Close(); err != nil {
			b.Fatal(err)
		}
	}
}
