package training

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func ExampleGenerate() {
	set, _ := Generate(Assistant, 1)
	q := set.Questions[0]
	fmt.Println(q.Text, "->", q.Evidence)
	// Output: What motivates me to study a foreign language? -> [assistant-1-0]
}

// TestSetsAreWhole: every question has evidence that is a note of the set, no
// slot is left open, and the same arguments give the same set.
func TestSetsAreWhole(t *testing.T) {
	for _, kind := range []string{Dialogue, Assistant, Facts} {
		for n := range 20 {
			set, err := Generate(kind, n)
			if err != nil {
				t.Fatal(err)
			}
			if len(set.Notes) < 10 || len(set.Questions) < 5 {
				t.Errorf("%s has %d notes and %d questions", set.Name, len(set.Notes), len(set.Questions))
			}
			ids := map[string]bool{}
			for _, note := range set.Notes {
				ids[note.ID] = true
				if strings.ContainsAny(note.Text, "{}|") || note.Text == "" || note.Speaker == "" {
					t.Errorf("%s: %q", note.ID, note.Text)
				}
			}
			for _, q := range set.Questions {
				if strings.ContainsAny(q.Text, "{}|") || len(q.Evidence) == 0 {
					t.Errorf("%s: %q", set.Name, q.Text)
				}
				for _, id := range q.Evidence {
					if !ids[id] {
						t.Errorf("%s: %q has evidence %s", set.Name, q.Text, id)
					}
				}
			}
			again, err := Generate(kind, n)
			if err != nil || !slices.Equal(again.Notes, set.Notes) {
				t.Errorf("%s differs the second time", set.Name)
			}
		}
	}
	if _, err := Generate("novel", 1); err == nil {
		t.Error("an unknown kind was generated")
	}
}
