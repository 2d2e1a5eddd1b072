package grounded

import (
	"context"
	"reflect"
	"slices"
)

// Verify checks a certificate's form and checksum, runs its plan on the store
// as it is now, and compares. Valid means exactly that the same plan selects
// the same records with the same content from the same eligible records; it is
// no statement about the world, and no proof of who made the certificate.
func (m *Memory) Verify(ctx context.Context, req *VerifyRequest) (*VerifyResult, error) {
	if req == nil || req.Certificate == nil {
		return nil, invalid("certificate", "missing")
	}
	plan, reasons := m.checkForm(req.Certificate)
	if len(reasons) > 0 {
		return invalidResult(reasons, false), nil
	}
	var result *VerifyResult
	err := m.read(ctx, "verify", plan.parts(), func(v *view) error {
		_, checked, err := v.check(ctx, req.Certificate, plan)
		result = checked
		return err
	})
	if err != nil {
		return nil, err
	}
	return result, nil
}

func invalidResult(reasons []Reason, unchanged bool) *VerifyResult {
	return &VerifyResult{Status: Invalid, Reasons: reasons, EvidenceUnchanged: &unchanged}
}

// checkForm checks what can be checked without the store.
func (m *Memory) checkForm(c *Certificate) (Plan, []Reason) {
	if c.raw != nil || c.Format != CertificateFormat || c.AsOf.IsZero() || c.AsOf != wholeMicros(c.AsOf) {
		return Plan{}, []Reason{ReasonMalformed}
	}
	var reasons []Reason
	plan, err := m.replan(c.Plan)
	if err != nil || !sameRequest(plan, c.Plan) || !ascending(c.Evidence) {
		reasons = append(reasons, ReasonMalformed)
	}
	if sum, err := c.checksum(); err != nil || sum != c.Checksum {
		reasons = append(reasons, ReasonChecksum)
	}
	if c.Tenant != m.scope.Tenant || c.Namespace != m.scope.Namespace {
		reasons = append(reasons, ReasonScopeMismatch)
	}
	if c.Engine != EngineVersion || c.Plan.Heuristics != heuristics {
		reasons = append(reasons, ReasonEngineVersion)
	}
	return plan, reasons
}

// sameRequest says whether a certificate's plan was in normal form already.
func sameRequest(normal, given Plan) bool {
	return reflect.DeepEqual(normal.Query, given.Query) && reflect.DeepEqual(normal.Recall, given.Recall) &&
		reflect.DeepEqual(normal.RecallGrounded, given.RecallGrounded)
}

// check runs a certificate's plan on the view and compares what it gives now.
func (v *view) check(ctx context.Context, c *Certificate, plan Plan) (*outcome, *VerifyResult, error) {
	o, err := v.run(ctx, plan)
	if err != nil {
		return nil, nil, err
	}
	now, err := v.seal(o)
	if err != nil {
		return nil, nil, err
	}
	late, err := v.writtenAfter(c)
	if err != nil {
		return nil, nil, err
	}
	var reasons []Reason
	if !reflect.DeepEqual(now.Plan.BankDigest, c.Plan.BankDigest) {
		reasons = append(reasons, ReasonEngineVersion)
	}
	scopeChanged := now.ScopeDigest != c.ScopeDigest || late
	if scopeChanged {
		reasons = append(reasons, ReasonScopeChanged)
	}
	same := slices.Equal(now.Evidence, c.Evidence)
	if !same || !scopeChanged && (now.ResultDigest != c.ResultDigest || now.Plan.Policy != c.Plan.Policy) {
		reasons = append(reasons, ReasonEvidenceChanged)
	}
	if len(reasons) > 0 {
		return o, invalidResult(reasons, same), nil
	}
	return o, &VerifyResult{Status: Valid}, nil
}

// writtenAfter reports that the newest eligible record is younger than the
// certificate says its snapshot was, which no honest certificate of these
// records can be.
func (v *view) writtenAfter(c *Certificate) (bool, error) {
	if v.Highest == 0 {
		return false, nil
	}
	row, ok, err := v.tx.Row(v.Highest)
	return ok && row.CreatedAt > c.AsOf.UnixMicro(), err
}

// ascending says that evidence is in order of its ids, each once.
func ascending(evidence []Evidence) bool {
	for i := 1; i < len(evidence); i++ {
		if evidence[i].ID <= evidence[i-1].ID {
			return false
		}
	}
	return true
}
