package explain

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/grounded-memory/grounded"
)

// TestDraw: what supports an answer is in its drawing, by id, text and source.
func TestDraw(t *testing.T) {
	ctx := context.Background()
	store, err := grounded.Open(ctx, filepath.Join(t.TempDir(), "s.db"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	m, err := store.Scope("a", "b")
	if err != nil {
		t.Fatal(err)
	}
	for _, source := range []string{"HR", "wiki"} {
		if _, err := m.Remember(ctx, &grounded.RememberRequest{Entity: "Ada", Predicate: "manages", Value: "Bob", Source: source}); err != nil {
			t.Fatal(err)
		}
	}
	result, err := m.Query(ctx, &grounded.QueryRequest{Where: []grounded.Atom{grounded.NewAtom(grounded.Var("who"), "manages", grounded.Const("Bob"))}})
	if err != nil {
		t.Fatal(err)
	}
	d, err := Draw(ctx, m, result)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"?who = Ada", "proof 2 of 2", "Ada manages Bob", "source: HR", "source: wiki"} {
		if !strings.Contains(d.Text(), want) || !strings.Contains(d.SVG(), want) {
			t.Errorf("the drawing lacks %q:\n%s", want, d.Text())
		}
	}
}
