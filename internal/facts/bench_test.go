package facts_test

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/grounded-memory/grounded/internal/facts"
)

// many makes facts like those of a long-used memory: many entities with a few
// values each under a few dozen predicates.
func many(n int) []facts.Fact {
	out := make([]facts.Fact, n)
	for i := range out {
		x := uint64(i)*0x9e3779b97f4a7c15>>20 + 1
		out[i] = facts.Fact{
			Record: uint64(i + 1), Entity: fmt.Sprintf("entity %d", x%uint64(n/8+1)),
			Predicate: fmt.Sprintf("predicate_%d", x%40), Value: fmt.Sprintf("value %d", x/64%uint64(n/2+1)), Single: x%3 == 0,
		}
	}
	return out
}

func BenchmarkBuild100k(b *testing.B) {
	all := many(100_000)
	for b.Loop() {
		facts.Build(nil, all)
	}
}

func BenchmarkLoad100k(b *testing.B) {
	data := facts.Build(nil, many(100_000)).AppendBinary(nil)
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		if _, err := facts.Load(data); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkAppendBinary100k(b *testing.B) {
	s := facts.Build(nil, many(100_000))
	for b.Loop() {
		s.AppendBinary(nil)
	}
}

// BenchmarkApplyOne100k adds a fact and removes another, one write each, with
// the rebuilding that this brings about now and then.
func BenchmarkApplyOne100k(b *testing.B) {
	all := many(100_000)
	s := facts.Build(nil, all)
	next, oldest := uint64(len(all)+1), uint64(1)
	for i := 0; b.Loop(); i++ {
		if i%2 == 0 {
			f := all[(i*7919)%len(all)]
			f.Record, f.Value = next, fmt.Sprint("fresh ", next)
			s = s.Apply([]facts.Fact{f}, nil)
			next++
		} else {
			s = s.Apply(nil, []uint64{oldest})
			oldest++
		}
	}
}

func BenchmarkApplyBatch100k(b *testing.B) {
	all := many(101_000)
	s := facts.Build(nil, all[:100_000])
	for b.Loop() {
		s.Apply(all[100_000:], nil)
	}
}

// BenchmarkMemory reports the bytes of a set beside its texts, for each fact.
func BenchmarkMemory(b *testing.B) {
	all := many(100_000)
	texts, seen := 0, map[string]bool{}
	for _, f := range all {
		for _, t := range []string{f.Entity, f.Predicate, f.Value} {
			if !seen[t] {
				seen[t] = true
				texts += len(t)
			}
		}
	}
	data := facts.Build(nil, all).AppendBinary(nil)
	for b.Loop() {
		before := heap()
		s, err := facts.Load(data)
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(heap()-before-int64(texts))/float64(s.Records()), "B/fact")
	}
}

func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
