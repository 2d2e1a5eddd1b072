package bank

import (
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/grounded-memory/grounded/internal/notes"
	"github.com/grounded-memory/grounded/internal/rank"
)

//go:embed dialogue.bank passage.bank
var files embed.FS

// The banks' names and what their purposes are called, in order.
const (
	Dialogue = "dialogue" // notes in sessions
	Passage  = "passage"  // notes that stand alone
)

// PurposesOf lists a bank's purposes.
func PurposesOf(name string) []string {
	switch name {
	case Dialogue:
		return []string{"people", "assistant", "meeting"}
	case Passage:
		return []string{"fact", "paragraph", "document"}
	}
	return nil
}

// frozen is the SHA-256 of each bank. A release never changes them silently.
func frozen(name string) string {
	switch name {
	case Dialogue:
		return "4fd5cbbdd63a8260ac2688c91b3a6e18c3ce8f035f7941e7683bcf286e6583a9"
	case Passage:
		return "41fa04ee7ef7ad408356becff8dc7f470bca8597bd924ff89464d3361e50fbeb"
	}
	return ""
}

// Names lists the banks.
func Names() []string { return []string{Dialogue, Passage} }

// Load reads one of the frozen banks, and checks it against its recorded digest.
func Load(name string) (*Bank, error) {
	data, err := files.ReadFile(name + ".bank")
	if err != nil {
		return nil, err
	}
	b, err := Parse(data)
	if err != nil {
		return nil, err
	}
	if got := hex.EncodeToString(b.Digest[:]); got != frozen(name) {
		return nil, fmt.Errorf("the bank %s is not the one of this version: SHA-256 %s", name, got)
	}
	return b, b.Usable()
}

// Usable says whether a bank was trained on the features of this version.
func (b *Bank) Usable() error {
	if b.FeatureVersion != rank.FeatureVersion || b.FeatureDigest != rank.FeatureDigest() {
		return fmt.Errorf("the bank %s was made for other features than version %d", b.Name, rank.FeatureVersion)
	}
	return nil
}

// ErrUnknown says that a bank has no policy of that name.
var ErrUnknown = errors.New("no such policy")

// Find returns the policy "purpose", the mean of its members, or
// "purpose/member", a single one.
func (b *Bank) Find(name string) (rank.Policy, error) {
	purpose, member, single := strings.Cut(name, "/")
	for i, known := range b.purposes() {
		if known != purpose {
			continue
		}
		members := b.Policies[i*Members : (i+1)*Members]
		if !single {
			return mean(members), nil
		}
		if n, err := strconv.Atoi(member); err == nil && n >= 0 && n < Members && strconv.Itoa(n) == member {
			return mean(members[n : n+1]), nil
		}
	}
	return nil, fmt.Errorf("%s/%s: %w", b.Name, name, ErrUnknown)
}

// purposes are the names of a bank's purposes; those of a bank that is not one
// of the frozen two are numbered.
func (b *Bank) purposes() []string {
	if names := PurposesOf(b.Name); names != nil {
		return names
	}
	return []string{"0", "1", "2"}
}

// PolicyNames lists all policies of a bank, each purpose before its members.
func (b *Bank) PolicyNames() []string {
	var out []string
	for _, purpose := range b.purposes() {
		out = append(out, b.Name+"/"+purpose)
		for i := range Members {
			out = append(out, fmt.Sprintf("%s/%s/%d", b.Name, purpose, i))
		}
	}
	return out
}

// mean is the mean of some networks as a policy: BM25 in parts of the best
// candidate's, plus their mean bounded correction, times the number of networks.
type mean []Policy

// NeedsFeatures returns true.
func (mean) NeedsFeatures() bool { return true }

// Score returns the sum over the networks of BM25 and their corrections.
func (m mean) Score(f *rank.Features) int64 {
	sum := int64(0)
	for i := range m {
		sum += int64(f[rank.BM25ToBest]) + int64(m[i].Correct(f[:]))
	}
	return sum
}

// Choose names the bank and the purpose that suit a scope, by its own numbers:
//
//	notes in sessions: at least half          → dialogue
//	    fewer than 1 in 25 ends in a question → passage/fact (statements in sessions)
//	    more than 2 speakers                  → meeting
//	    mean length of 60 words or more       → assistant
//	    else                                  → people
//	else                                      → passage
//	    mean length below 25 words            → fact
//	    mean length below 120 words           → paragraph
//	    else                                  → document
func Choose(stats *notes.Stats) (bank, purpose string) {
	mean := stats.Tokens / uint64(max(1, stats.Docs))
	if 2*stats.InSession >= stats.Docs && stats.Docs > 0 {
		switch {
		case 25*stats.Questions < stats.Docs && mean < 60:
			return Passage, "fact"
		case stats.Speakers > 2:
			return Dialogue, "meeting"
		case mean >= 60:
			return Dialogue, "assistant"
		}
		return Dialogue, "people"
	}
	switch {
	case mean < 25:
		return Passage, "fact"
	case mean < 120:
		return Passage, "paragraph"
	}
	return Passage, "document"
}
