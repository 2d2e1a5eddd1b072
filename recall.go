package grounded

import (
	"context"
	"slices"

	"github.com/grounded-memory/grounded/internal/question"
	"github.com/grounded-memory/grounded/internal/rank"
	"github.com/grounded-memory/grounded/internal/rewrite"
	"github.com/grounded-memory/grounded/internal/textform"
)

// Recall answers a narrow grammar of questions ("what is X's P", "P of X", …)
// from asserted claims, with evidence, or shows the conflict; anything else
// falls back to related records. It never uses bridges.
func (m *Memory) Recall(ctx context.Context, req *RecallRequest) (*RecallResult, error) {
	plan, err := planRecall(req)
	if err != nil {
		return nil, err
	}
	var result *RecallResult
	err = m.read(ctx, "recall", plan.parts(), func(v *view) error {
		o, c, packed, err := v.answer(ctx, plan, req.Pack)
		if err != nil {
			return err
		}
		result = o.recall
		result.Certificate, result.Packed = c, packed
		return nil
	})
	if err != nil {
		return nil, err
	}
	return result, nil
}

func (v *view) runRecall(ctx context.Context, plan Plan) (*outcome, error) {
	for _, q := range question.Parse(plan.Recall.Text) {
		o, err := v.answerQuestion(q)
		if err != nil {
			return nil, err
		}
		if o != nil {
			o.plan, o.status, o.result = plan, o.recall.Status, o.recall
			return o, nil
		}
	}
	words := textform.Words(plan.Recall.Text)
	variants := []rewrite.Variant{{Words: words}}
	matches, policy, err := v.related(ctx, variants, defaultPolicy, plan.Recall.K)
	if err != nil {
		return nil, err
	}
	o := &outcome{plan: plan, recall: &RecallResult{Status: Related, Results: matches, Variants: variantList(variants)}}
	policy.setOn(&o.plan)
	if len(matches) == 0 {
		o.recall.Status = NoMatches
	}
	o.citeMatches(matches)
	o.status, o.result = o.recall.Status, o.recall
	return o, nil
}

// answerQuestion tries one reading of a question on the facts; nil if they
// hold nothing for it.
func (v *view) answerQuestion(q question.Question) (*outcome, error) {
	predicate, ok := v.predicateOf(q.Predicate)
	if !ok {
		return nil, nil
	}
	entity, hasEntity := v.termOf(q.Entity)
	value, hasValue := v.termOf(q.Value)
	var answers []string
	var records []uint64
	groups := map[uint32]bool{}
	switch q.Kind {
	case question.ValueOf:
		if !hasEntity {
			return nil, nil
		}
		for _, f := range v.AllFacts.Values(entity, predicate) {
			answers = append(answers, v.AllFacts.Text(f.Term))
			records = append(records, f.Records...)
			groups[entity] = true
		}
	case question.Holds:
		if !hasEntity || !hasValue {
			return nil, nil
		}
		for _, f := range v.AllFacts.Values(entity, predicate) {
			if f.Term == value {
				answers = append(answers, v.AllFacts.Text(value))
				records = append(records, f.Records...)
				groups[entity] = true
			}
		}
	case question.EntitiesWith:
		if !hasValue {
			return nil, nil
		}
		for _, f := range v.AllFacts.Entities(predicate, value) {
			answers = append(answers, v.AllFacts.Text(f.Term))
			records = append(records, f.Records...)
			groups[f.Term] = true
		}
	}
	if len(answers) == 0 {
		return nil, nil
	}
	return v.settled(predicate, groups, answers, records)
}

// settled answers with evidence, unless a group that the answers rest on
// contradicts itself.
func (v *view) settled(predicate uint32, groups map[uint32]bool, answers []string, records []uint64) (*outcome, error) {
	o := &outcome{recall: &RecallResult{Status: Answered}}
	var entities []uint32
	for entity := range groups {
		if v.AllFacts.Contradictory(entity, predicate) {
			entities = append(entities, entity)
		}
	}
	slices.SortFunc(entities, func(a, b uint32) int { return compareText(v.AllFacts.Text(a), v.AllFacts.Text(b)) })
	for _, entity := range entities {
		conflict, err := v.claimConflict(entity, predicate)
		if err != nil {
			return nil, err
		}
		o.recall.Status = Conflict
		o.recall.Conflicts = append(o.recall.Conflicts, *conflict)
		o.cite(conflict.Records)
	}
	if len(entities) > 0 {
		return o, nil
	}
	slices.Sort(answers)
	slices.Sort(records)
	evidence, err := v.records(slices.Compact(records))
	if err != nil {
		return nil, err
	}
	o.recall.Answers, o.recall.Evidence = slices.Compact(answers), evidence
	o.cite(evidence)
	return o, nil
}

func compareText(a, b string) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// predicateOf finds the predicate that words of a question name.
func (v *view) predicateOf(words string) (uint32, bool) {
	name, err := textform.Predicate(words)
	if err != nil || textform.Reserved(words) {
		return 0, false
	}
	return v.AllFacts.Predicate(name)
}

func (v *view) termOf(words string) (uint32, bool) {
	text, err := textform.Term(words)
	if err != nil {
		return 0, false
	}
	return v.AllFacts.Lookup(text)
}

// RecallGrounded finds the records that bear on a query under the rewrites that
// were supplied. A reachable phrase with two targets is Conflict, a rewrite
// beyond a bound BudgetExceeded; neither gives results.
func (m *Memory) RecallGrounded(ctx context.Context, req *RecallGroundedRequest) (*RecallGroundedResult, error) {
	plan, err := m.planRecallGrounded(req)
	if err != nil {
		return nil, err
	}
	var result *RecallGroundedResult
	err = m.read(ctx, "recall_grounded", plan.parts(), func(v *view) error {
		o, c, packed, err := v.answer(ctx, plan, req.Pack)
		if err != nil {
			return err
		}
		result = o.grounded
		result.Certificate, result.Packed = c, packed
		return nil
	})
	if err != nil {
		return nil, err
	}
	return result, nil
}

func (v *view) runRecallGrounded(ctx context.Context, plan Plan) (*outcome, error) {
	r := plan.RecallGrounded
	expanded, err := v.Rewrites.Expand(ctx, textform.Words(r.Query), rewrite.Limits{Variants: r.MaxVariants, Steps: *r.MaxSteps})
	if err != nil {
		return nil, err
	}
	result := &RecallGroundedResult{}
	o := &outcome{plan: plan, grounded: result}
	switch {
	case len(expanded.Conflicts) > 0:
		result.Status = Conflict
		for _, c := range expanded.Conflicts {
			records, err := v.records(c.Records)
			if err != nil {
				return nil, err
			}
			result.Conflicts = append(result.Conflicts, BridgeConflict{Phrase: c.Phrase, Records: records})
			o.cite(records)
		}
	case expanded.Bound != "":
		result.Status, result.Bound = BudgetExceeded, expanded.Bound
	default:
		matches, policy, err := v.related(ctx, expanded.Variants, r.Policy, r.K)
		if err != nil {
			return nil, err
		}
		result.Status, result.Results, result.Variants = Related, matches, variantList(expanded.Variants)
		if len(matches) == 0 {
			result.Status = NoMatches
		}
		policy.setOn(&o.plan)
		result.Policy = policy.name
		o.citeMatches(matches)
	}
	o.status, o.result = result.Status, result
	return o, nil
}

func variantList(variants []rewrite.Variant) []Variant {
	out := make([]Variant, len(variants))
	for i, v := range variants {
		out[i] = Variant{Text: joinWords(v.Words), Rewrites: rewriteList(v.Rewrites)}
	}
	return out
}

func rewriteList(rewrites []rewrite.Rewrite) []Rewrite {
	out := make([]Rewrite, len(rewrites))
	for i, r := range rewrites {
		out[i] = Rewrite{Bridge: RecordID(r.Bridge), Phrase: r.Phrase, Target: r.Target, At: r.At}
	}
	return out
}

// related ranks the records that bear on the variants of a question.
func (v *view) related(ctx context.Context, variants []rewrite.Variant, policyName string, k int) ([]Match, resolvedPolicy, error) {
	policy, err := v.resolvePolicy(policyName)
	if err != nil {
		return nil, policy, err
	}
	questions := make([]rank.Variant, len(variants))
	for i, variant := range variants {
		questions[i] = rank.Variant{Words: variant.Words, Steps: len(variant.Rewrites)}
	}
	hits, err := rank.Top(ctx, v.AllNotes, questions, policy.Policy, k)
	if err != nil {
		return nil, policy, err
	}
	matches := make([]Match, 0, len(hits))
	for _, hit := range hits {
		r, err := v.record(RecordID(hit.Record))
		if err != nil {
			return nil, policy, err
		}
		matches = append(matches, matchOf(r, hit, rewriteList(variants[hit.Variant].Rewrites)))
	}
	return matches, policy, nil
}

func matchOf(r *Record, hit rank.Hit, chain []Rewrite) Match {
	match := Match{
		ID: r.ID, Kind: r.Kind, Text: r.Text, Source: r.Source, Score: hit.Score, Variant: hit.Variant, Rewrites: chain,
		Entity: r.Entity, Predicate: r.Predicate, Value: r.Value,
		Title: r.Title, Session: r.Session, SaidAt: r.SaidAt, Speaker: r.Speaker,
	}
	if r.Kind == KindClaim {
		match.Text = claimText(r)
	}
	if r.Modality != Asserted {
		match.Modality = r.Modality
	}
	return match
}

// citeMatches adds selected records and the bridges that led to them.
func (o *outcome) citeMatches(matches []Match) {
	for i := range matches {
		o.evidence = append(o.evidence, uint64(matches[i].ID))
		for _, r := range matches[i].Rewrites {
			o.evidence = append(o.evidence, uint64(r.Bridge))
		}
	}
}
