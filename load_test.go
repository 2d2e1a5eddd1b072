package grounded_test

import (
	"errors"
	"path/filepath"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"github.com/grounded-memory/grounded"
)

// openScope opens a scope of a new store in a folder; close it when done.
func openScope(t rapid.TB, folder string) (m *grounded.Memory, done func() error) {
	t.Helper()
	store, err := grounded.Open(ctx, filepath.Join(folder, "store.db"), nil)
	if err != nil {
		t.Fatal(err)
	}
	m, err = store.Scope("a", "b")
	if err != nil {
		t.Fatal(err)
	}
	return m, store.Close
}

func drawWrite(t *rapid.T) grounded.WriteItem {
	word := func(name string, words ...string) string { return rapid.SampledFrom(words).Draw(t, name) }
	cardinality := rapid.SampledFrom([]grounded.Cardinality{"", grounded.Single, grounded.Multi}).Draw(t, "cardinality")
	modality := rapid.SampledFrom([]grounded.Modality{"", grounded.Asserted, grounded.Quoted}).Draw(t, "modality")
	switch word("kind", "claim", "claim", "claim", "bridge", "note") {
	case "bridge":
		return grounded.WriteItem{RememberBridge: &grounded.RememberBridgeRequest{
			Phrase: word("phrase", "k8s", "K8S", "db"), Target: word("target", "kubernetes", "database"), Source: word("source", "s", "t"), Modality: modality,
		}}
	case "note":
		return grounded.WriteItem{Note: &grounded.NoteRequest{Text: word("text", "one", "two"), Source: "s"}}
	}
	return grounded.WriteItem{Remember: &grounded.RememberRequest{
		Entity: word("entity", "Ada", "Bob"), Predicate: word("predicate", "likes", "loves", "owns"), Value: word("value", "tea", "milk"),
		Source: word("source", "s", "t"), Cardinality: cardinality, Modality: modality,
	}}
}

// TestWritesToAnEmptyScope: what is known without looking it up, because the scope
// was empty, is what looking up would find.
func TestWritesToAnEmptyScope(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		var items []grounded.WriteItem
		if rapid.Bool().Draw(r, "relation") {
			items = append(items, grounded.WriteItem{DeclareRelation: &grounded.DeclareRelationRequest{
				Name: "likes", Aliases: []string{"loves"}, Source: "s",
				Cardinality: rapid.SampledFrom([]grounded.Cardinality{grounded.Single, grounded.Multi}).Draw(r, "of the relation"),
			}})
		}
		for range rapid.IntRange(1, 20).Draw(r, "writes") {
			items = append(items, drawWrite(r))
		}
		empty, closeEmpty := openScope(r, tempDir(r))
		used, closeUsed := openScope(r, tempDir(r))
		if _, err := used.Note(ctx, &grounded.NoteRequest{Text: "first", Source: "s"}); err != nil {
			r.Fatal(err)
		}
		got, err := empty.Write(ctx, &grounded.WriteRequest{Writes: items})
		if err != nil {
			r.Fatal(err)
		}
		want, err := used.Write(ctx, &grounded.WriteRequest{Writes: items})
		if err != nil {
			r.Fatal(err)
		}
		for i := range want.Results { // the note has taken the first id
			want.Results[i].ID--
			for j := range want.Results[i].Contradicts {
				want.Results[i].Contradicts[j]--
			}
		}
		if !reflect.DeepEqual(got, want) {
			r.Fatalf("%+v\nwant %+v", got, want)
		}
		if err := errors.Join(closeEmpty(), closeUsed()); err != nil {
			r.Fatal(err)
		}
	})
}

// TestLoadReadsAhead: items are read before those in front of them are written,
// but an error is that of the first, nothing stays, and no item is read later.
func TestLoadReadsAhead(t *testing.T) {
	m, done := openScope(t, t.TempDir())
	read, over := 0, false
	broken := errors.New("broken")
	for _, at := range []int{0, 1, 255, 256, 257, 3000} {
		read, over = 0, false
		_, err := m.Load(ctx, func(yield func(grounded.WriteItem, error) bool) {
			for n := range 10_000 {
				if over {
					t.Error("an item was read after the load had ended")
				}
				read++
				item := grounded.WriteItem{Note: &grounded.NoteRequest{Text: "text", Source: "s"}}
				var fault error
				if n == at {
					if at%2 == 0 {
						item.Note.Text = ""
					} else {
						fault = broken
					}
				}
				if !yield(item, fault) {
					return
				}
			}
		}, nil)
		over = true
		var e *grounded.Error
		switch {
		case at%2 == 1 && !errors.Is(err, broken):
			t.Errorf("at %d: %v", at, err)
		case at%2 == 0 && (!errors.As(err, &e) || e.Code != grounded.InvalidArgument):
			t.Errorf("at %d: %v", at, err)
		}
		if read > at+1 {
			t.Errorf("at %d: %d items were read", at, read)
		}
	}
	stats, err := m.Stats(ctx, &grounded.StatsRequest{})
	if err != nil || stats.Eligible.Note != 0 {
		t.Errorf("%+v, %v", stats, err)
	}
	if err := done(); err != nil {
		t.Error(err)
	}
}
