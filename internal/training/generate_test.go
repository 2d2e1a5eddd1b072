package training

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/grounded-memory/grounded/internal/eval"
	"github.com/grounded-memory/grounded/internal/rank"
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

// meeting is a meeting of three whose turns have words enough to ask for.
func meeting(turns int) *eval.Set {
	set := &eval.Set{Scopes: []eval.Scope{{Name: "m"}}}
	r := newRandom("meeting", 0)
	for i := range turns {
		words := []string{"Well"}
		for range 12 + r.below(20) {
			words = append(words, fmt.Sprintf("matter%d", r.below(300)))
		}
		speaker := []string{"Chair", "Marketing", "Designer"}[r.below(3)]
		set.Scopes[0].Notes = append(set.Scopes[0].Notes, eval.Note{ID: fmt.Sprint(i), Speaker: speaker, Text: strings.Join(words, " ")})
	}
	return set
}

// TestClozes: every question is about a note of the set, most of its words are of
// that note or of those beside it, the speakers are given ones, and the same
// meetings give the same clozes.
func TestClozes(t *testing.T) {
	for kind, speakers := range map[string]int{ClozePeople: 2, ClozeGroup: 3, ClozeAssistant: 2} {
		set, err := Cloze(kind, meeting(200))
		if err != nil {
			t.Fatal(err)
		}
		scope := set.Scopes[0]
		if len(scope.Questions) < 10 {
			t.Fatalf("%s: %d questions", kind, len(scope.Questions))
		}
		place, heard := map[string]int{}, map[string]bool{}
		for i, note := range scope.Notes {
			place[note.ID] = i
			heard[note.Speaker] = true
			if note.Session == "" || note.Speaker == "Chair" || note.Speaker == "Marketing" {
				t.Errorf("%s: note %s is of %q in session %q", kind, note.ID, note.Speaker, note.Session)
			}
		}
		if len(heard) != speakers {
			t.Errorf("%s has %d speakers, want %d", kind, len(heard), speakers)
		}
		near, words := 0, 0
		for _, q := range scope.Questions {
			for id := range q.Grades {
				at, ok := place[id]
				if !ok {
					t.Fatalf("%s: %q is about %q, which is no note", kind, q.Text, id)
				}
				around := ""
				for _, note := range scope.Notes[max(0, at-2):min(len(scope.Notes), at+2)] {
					around += " " + note.Text + " "
				}
				for _, word := range strings.Fields(strings.TrimSuffix(q.Text, "?")) {
					if strings.HasPrefix(word, "matter") {
						words++
						if strings.Contains(around, " "+word+" ") {
							near++
						}
					}
				}
			}
		}
		if 3*near < 2*words {
			t.Errorf("%s: only %d of %d words are near what is asked for", kind, near, words)
		}
		again, err := Cloze(kind, meeting(200))
		if err != nil || !reflect.DeepEqual(again, set) {
			t.Errorf("%s differs the second time", kind)
		}
		if empty, err := Cloze(kind, &eval.Set{Scopes: []eval.Scope{{}}}); err != nil || len(empty.Scopes[0].Questions) != 0 {
			t.Errorf("%s of nothing: %v, %v", kind, empty, err)
		}
	}
	if _, err := Cloze("novel", meeting(1)); err == nil {
		t.Error("an unknown kind of cloze was made")
	}
}

// TestNetworksUseOnlyTheirFeatures: not even those of the hand rule that they begin with.
func TestNetworksUseOnlyTheirFeatures(t *testing.T) {
	recipe := &Recipe{Features: []int{rank.Coverage}, Context: true, Epochs: 1, Examples: 64, Limit: 4096}
	corpus, err := ClozeOf(t.Context(), ClozePeople, meeting(100))
	if err != nil {
		t.Fatal(err)
	}
	recipe.Mix = []Part{{corpus, 100}}
	policy := recipe.Train(0, 0, 1)
	used := false
	for j := range policy.Weights {
		for i, w := range policy.Weights[j] {
			if w != 0 && i != rank.Coverage {
				t.Errorf("unit %d uses %s", j, rank.FeatureNames()[i])
			}
			used = used || w != 0
		}
	}
	if !used {
		t.Error("nothing was learned")
	}
	if again := recipe.Train(0, 0, 1); !reflect.DeepEqual(again, policy) {
		t.Error("the second training differs")
	}
}
