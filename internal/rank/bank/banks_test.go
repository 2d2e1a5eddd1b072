package bank

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/grounded-memory/grounded/internal/notes"
	"github.com/grounded-memory/grounded/internal/rank"
)

func ExampleLoad() {
	b, err := Load(Dialogue)
	fmt.Println(b.Name, len(b.Policies), Size, err)
	// Output: dialogue 12 6064 <nil>
}

// TestFrozen holds both banks at their recorded digests, and their sum at the
// 24 policies and 12,128 bytes of the founding text.
func TestFrozen(t *testing.T) {
	total, policies := 0, 0
	for _, name := range Names() {
		b, err := Load(name)
		if err != nil {
			t.Fatal(err)
		}
		total += len(b.Encode())
		policies += len(b.Policies)
	}
	if total != 12_128 || policies != 24 {
		t.Errorf("%d policies, %d bytes", policies, total)
	}
}

func TestPolicyNames(t *testing.T) {
	b, err := Load(Passage)
	if err != nil {
		t.Fatal(err)
	}
	names := b.PolicyNames()
	if len(names) != Purposes*(1+Members) || !slices.Contains(names, "passage/fact") || !slices.Contains(names, "passage/document/3") {
		t.Errorf("names %v", names)
	}
	for _, name := range names {
		if _, err := b.Find(name[len("passage/"):]); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, name := range []string{"", "people", "fact/4", "fact/-1", "fact/01", "fact/", "fact/1/2", "Fact"} {
		if _, err := b.Find(name); !errors.Is(err, ErrUnknown) {
			t.Errorf("%q is a policy", name)
		}
	}
}

// TestCorrectionIsBounded: whatever the features, a policy moves a note by no
// more than its limit.
func TestCorrectionIsBounded(t *testing.T) {
	for _, name := range Names() {
		b, err := Load(name)
		if err != nil {
			t.Fatal(err)
		}
		for i := range b.Policies {
			for seed := range uint32(500) {
				var f rank.Features
				for j := range f {
					f[j] = int32((seed*2654435761 + uint32(j)*40503) % (rank.Full + 1))
				}
				if c := b.Policies[i].Correct(f[:]); c > b.Policies[i].Limit || c < -b.Policies[i].Limit {
					t.Fatalf("a correction of %d with a limit of %d", c, b.Policies[i].Limit)
				}
			}
		}
	}
}

func TestChoose(t *testing.T) {
	for want, stats := range map[string]notes.Stats{
		"passage/paragraph":  {Docs: 10, Tokens: 500},
		"passage/document":   {Docs: 10, Tokens: 5000},
		"passage/fact":       {Docs: 10, Tokens: 100},
		"dialogue/people":    {Docs: 100, Tokens: 2500, InSession: 100, WithSpeaker: 100, Speakers: 2, Questions: 20},
		"dialogue/people ":   {Docs: 100, Tokens: 2500, InSession: 100, Questions: 20},
		"dialogue/meeting":   {Docs: 100, Tokens: 2500, WithSpeaker: 100, Speakers: 6},
		"dialogue/assistant": {Docs: 100, Tokens: 20000, InSession: 100, WithSpeaker: 100, Speakers: 2, Questions: 2},
		"passage/fact ":      {Docs: 100, Tokens: 2500, InSession: 100, WithSpeaker: 100, Speakers: 2, Questions: 2},
		"passage/document ":  {Docs: 100, Tokens: 20000, InSession: 100, Questions: 2}, // paragraphs of files
	} {
		bank, purpose := Choose(&stats)
		if got := bank + "/" + purpose; got != strings.TrimSpace(want) {
			t.Errorf("%+v: %s, want %s", stats, got, want)
		}
	}
	Choose(&notes.Stats{}) // an empty scope is no trap
}
