package grounded

import (
	"strings"

	"github.com/grounded-memory/grounded/internal/rank"
)

// defaultPolicy chooses among the policies by the scope's own statistics.
const defaultPolicy = "auto"

// resolvedPolicy is the policy that ranks one read.
type resolvedPolicy struct {
	rank.Policy
	name string
	bank *Digest // of the bank that holds it, nil for a conventional policy
}

func (p resolvedPolicy) setOn(plan *Plan) { plan.Policy, plan.BankDigest = p.name, p.bank }

// knownPolicy says whether a request may name a policy.
func knownPolicy(name string) bool {
	return name == defaultPolicy || rank.Conventional(name) != nil
}

// resolvePolicy turns a policy's name into the policy.
func (v *view) resolvePolicy(name string) (resolvedPolicy, error) {
	if name == defaultPolicy {
		name = "context"
	}
	p := rank.Conventional(name)
	if p == nil {
		return resolvedPolicy{}, invalid("policy", "%q is no policy", clip(name))
	}
	return resolvedPolicy{Policy: p, name: name}, nil
}

func joinWords(words []string) string { return strings.Join(words, " ") }
