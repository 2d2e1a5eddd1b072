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
		return "5a6ccaab854c5538d31c5e6efc4dcbd12e36cc7d52a64ed9de4f2d79e6687bd3"
	case Passage:
		return "7982aad0ae96214a3dd825a0607124750358e2edc10e1a5890f01b59574303a9"
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

// Choose names the bank and the purpose that suit a scope, by its own numbers. A
// scope is talk if at least half of its notes have a speaker, or are in a session
// and one in 25 ends in a question:
//
//	talk, more than 2 speakers                       → dialogue/meeting
//	talk, mean length of 60 words or more            → dialogue/assistant
//	talk, fewer than 1 in 25 notes ends in a question → passage/fact (statements about people)
//	other talk                                       → dialogue/people
//	other notes, mean length below 25 words          → passage/fact
//	other notes, mean length below 120 words         → passage/paragraph
//	longer notes                                     → passage/document
func Choose(stats *notes.Stats) (bank, purpose string) {
	mean := stats.Tokens / uint64(max(1, stats.Docs))
	asking := 25*stats.Questions >= stats.Docs
	if stats.Docs > 0 && (2*stats.WithSpeaker >= stats.Docs || asking && 2*stats.InSession >= stats.Docs) {
		switch {
		case stats.Speakers > 2:
			return Dialogue, "meeting"
		case mean >= 60:
			return Dialogue, "assistant"
		case !asking:
			return Passage, "fact"
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
