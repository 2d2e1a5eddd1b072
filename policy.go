package grounded

import (
	"slices"
	"strings"

	"github.com/grounded-memory/grounded/internal/rank"
	"github.com/grounded-memory/grounded/internal/rank/bank"
)

// defaultPolicy chooses among the banks' policies by the scope's own numbers.
const defaultPolicy = "auto"

// resolvedPolicy is the policy that ranks one read.
type resolvedPolicy struct {
	rank.Policy
	name string
	bank *Digest // of the bank that holds it, nil for a conventional policy
}

func (p resolvedPolicy) setOn(plan *Plan) { plan.Policy, plan.BankDigest = p.name, p.bank }

// knownPolicy says whether a request may name a policy.
func (m *Memory) knownPolicy(name string) bool {
	if name == defaultPolicy || rank.Conventional(name) != nil {
		return true
	}
	_, err := m.store.bankPolicy(name)
	return err == nil
}

// loadBanks reads the frozen banks, each checked against its recorded digest,
// and the given ones, which come in the place of those of their names.
func loadBanks(given [][]byte) ([]*bank.Bank, error) {
	var banks []*bank.Bank
	for _, name := range bank.Names() {
		b, err := bank.Load(name)
		if err != nil {
			return nil, &Error{Code: Internal, Message: "a built-in policy bank cannot be read", cause: err}
		}
		banks = append(banks, b)
	}
	for _, data := range given {
		b, err := bank.Parse(data)
		if err == nil {
			err = b.Usable()
		}
		if err != nil {
			return nil, invalid("policy_banks", "%v", err)
		}
		banks = slices.DeleteFunc(banks, func(old *bank.Bank) bool { return old.Name == b.Name })
		banks = append(banks, b)
	}
	return banks, nil
}

// BankInfo says what a policy bank is.
type BankInfo struct {
	Name     string   `json:"name"`
	Digest   Digest   `json:"sha256"`
	Bytes    int      `json:"bytes"`
	Policies []string `json:"policies"`
}

// Banks lists the store's policy banks.
func (s *Store) Banks() []BankInfo {
	var out []BankInfo
	for _, b := range s.banks {
		out = append(out, BankInfo{b.Name, b.Digest, bank.Size, b.PolicyNames()})
	}
	return out
}

// bankPolicy finds a policy such as "dialogue/people" or "passage/fact/2".
func (s *Store) bankPolicy(name string) (resolvedPolicy, error) {
	banks := s.banks
	bankName, rest, _ := strings.Cut(name, "/")
	i := slices.IndexFunc(banks, func(b *bank.Bank) bool { return b.Name == bankName })
	if i < 0 {
		return resolvedPolicy{}, invalid("policy", "%q is no policy; grounded banks lists them", clip(name))
	}
	policy, err := banks[i].Find(rest)
	if err != nil {
		return resolvedPolicy{}, invalid("policy", "%q is no policy; grounded banks lists them", clip(name))
	}
	digest := Digest(banks[i].Digest)
	return resolvedPolicy{Policy: policy, name: name, bank: &digest}, nil
}

// resolvePolicy turns a policy's name into the policy.
func (v *view) resolvePolicy(name string) (resolvedPolicy, error) {
	if name == defaultPolicy {
		bankName, purpose := bank.Choose(v.AllNotes.Stats())
		name = bankName + "/" + purpose
	}
	if p := rank.Conventional(name); p != nil {
		return resolvedPolicy{Policy: p, name: name}, nil
	}
	return v.memory.store.bankPolicy(name)
}

func joinWords(words []string) string { return strings.Join(words, " ") }
