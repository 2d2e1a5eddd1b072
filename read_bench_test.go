package grounded_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/grounded-memory/grounded"
)

// benchMemory holds 20,000 facts and as many notes.
func benchMemory(b *testing.B) *grounded.Memory {
	store := openStore(b, filepath.Join(b.TempDir(), "s.db"), newClock())
	b.Cleanup(func() { _ = store.Close() })
	m := scopeOf(b, store, "team")
	if _, err := m.Load(ctx, func(yield func(grounded.WriteItem, error) bool) {
		for i := range 20_000 {
			if !yield(grounded.WriteItem{Remember: &grounded.RememberRequest{
				Entity: fmt.Sprintf("e%d", i%5000), Predicate: fmt.Sprintf("p%d", i%4), Value: fmt.Sprintf("e%d", i*31%5000), Source: "bench", Cardinality: grounded.Multi,
			}}, nil) || !yield(grounded.WriteItem{Note: &grounded.NoteRequest{Text: fmt.Sprintf("note %d about topic %d and subject %d", i, i%97, i%1009), Source: "bench"}}, nil) {
				return
			}
		}
	}, nil); err != nil {
		b.Fatal(err)
	}
	return m
}

// BenchmarkVerify shows what verifying costs beside the read that it checks.
func BenchmarkVerify(b *testing.B) {
	m := benchMemory(b)
	q := query(grounded.NewAtom(grounded.Const("e17"), "p1", grounded.Var("x")), grounded.NewAtom(grounded.Var("x"), "p0", grounded.Var("y")))
	g := &grounded.RecallGroundedRequest{Query: "topic 13 subject 500"}
	var queried, recalled *grounded.Certificate
	b.Run("query", func(b *testing.B) {
		for b.Loop() {
			r, err := m.Query(ctx, q)
			if err != nil {
				b.Fatal(err)
			}
			queried = r.Certificate
		}
	})
	b.Run("verify query", func(b *testing.B) {
		for b.Loop() {
			if _, err := m.Verify(ctx, &grounded.VerifyRequest{Certificate: queried}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("recall_grounded", func(b *testing.B) {
		for b.Loop() {
			r, err := m.RecallGrounded(ctx, g)
			if err != nil {
				b.Fatal(err)
			}
			recalled = r.Certificate
		}
	})
	b.Run("verify recall_grounded", func(b *testing.B) {
		for b.Loop() {
			if _, err := m.Verify(ctx, &grounded.VerifyRequest{Certificate: recalled}); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkPack packs 4,096 combinations counted by o200k_base: twelve answers
// with two proofs each.
func BenchmarkPack(b *testing.B) {
	store := openStore(b, filepath.Join(b.TempDir(), "s.db"), newClock())
	b.Cleanup(func() { _ = store.Close() })
	m := scopeOf(b, store, "team")
	for i := range 12 {
		for j := range 2 {
			if _, err := m.Remember(ctx, &grounded.RememberRequest{Entity: fmt.Sprintf("answer %d", i), Predicate: "p", Value: "v", Source: strings.Repeat(fmt.Sprintf("source %d ", j), 12)}); err != nil {
				b.Fatal(err)
			}
		}
	}
	r, err := m.Query(ctx, query(grounded.NewAtom(grounded.Var("x"), "p", grounded.Const("v"))))
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		p, err := m.Pack(ctx, &grounded.PackRequest{Certificate: r.Certificate, PackOptions: grounded.PackOptions{Tokenizer: "o200k_base"}})
		if err != nil || p.Combinations.Tried != 4096 {
			b.Fatalf("%+v, %v", p, err)
		}
	}
}
