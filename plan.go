package grounded

import (
	"context"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/grounded-memory/grounded/internal/index"
	"github.com/grounded-memory/grounded/internal/question"
	"github.com/grounded-memory/grounded/internal/screen"
	"github.com/grounded-memory/grounded/internal/textform"
)

// A read is data first: its request becomes a Plan in normal form, and run is
// the only evaluator. Query, Recall, RecallGrounded, Verify and Pack all go
// through it, so a certificate can be checked by running what it holds.

// heuristics names the versions of every rule that a result depends on beside
// the engine: text forms, the instruction-like screen, the recall grammar.
const heuristics = textform.Version + " " + screen.Version + " " + question.Version

// Operations that make a certificate.
const (
	opQuery          = "query"
	opRecall         = "recall"
	opRecallGrounded = "recall_grounded"
)

// outcome is what running a plan gave.
type outcome struct {
	status   Status
	plan     Plan // with the policy resolved
	result   any  // the result without certificate and packet, for its digest
	evidence []uint64

	query    *QueryResult
	recall   *RecallResult
	grounded *RecallGroundedResult
}

// parts are the parts of the index that a plan reads.
func (p *Plan) parts() index.Parts {
	switch p.Operation {
	case opQuery:
		return index.Facts
	case opRecall:
		return index.Facts | index.Notes
	}
	return index.Notes | index.Bridges
}

// run evaluates a plan in normal form on a view.
func (v *view) run(ctx context.Context, plan Plan) (*outcome, error) {
	switch plan.Operation {
	case opQuery:
		return v.runQuery(ctx, plan)
	case opRecall:
		return v.runRecall(ctx, plan)
	}
	return v.runRecallGrounded(ctx, plan)
}

// replan puts a plan that came with a certificate through the checks of its
// request again.
func (m *Memory) replan(p Plan) (Plan, error) {
	switch {
	case p.Operation == opQuery && p.Query != nil && p.Recall == nil && p.RecallGrounded == nil:
		return planQuery(p.Query)
	case p.Operation == opRecall && p.Recall != nil && p.Query == nil && p.RecallGrounded == nil:
		return planRecall(p.Recall)
	case p.Operation == opRecallGrounded && p.RecallGrounded != nil && p.Query == nil && p.Recall == nil:
		return m.planRecallGrounded(p.RecallGrounded)
	}
	return Plan{}, invalid("plan", "holds no one operation")
}

// planQuery checks a query and puts it into normal form.
func planQuery(req *QueryRequest) (Plan, error) {
	if req == nil {
		return Plan{}, invalid("where", "missing")
	}
	if len(req.Where) == 0 || len(req.Where) > MaxAtoms {
		return Plan{}, invalid("where", "%d atoms; a query has 1 to %d", len(req.Where), MaxAtoms)
	}
	c := checker{}
	q := &QueryRequest{Where: make([]Atom, len(req.Where))}
	var variables []string
	note := func(t Term) {
		if t.variable && !slices.Contains(variables, t.text) {
			variables = append(variables, t.text)
		}
	}
	for i, a := range req.Where {
		q.Where[i] = c.atom(i, a)
		note(a.Entity)
		note(a.Value)
	}
	q.Select = c.selected(req.Select, variables)
	q.Limits = QueryLimits{
		Examinations: c.bound("limits.examinations", req.Limits.Examinations, DefaultExaminations, MaxExaminations),
		States:       c.bound("limits.states", req.Limits.States, DefaultStates, MaxStates),
		Alternatives: c.bound("limits.alternatives", req.Limits.Alternatives, DefaultAlternatives, MaxAlternatives),
	}
	if c.err != nil {
		return Plan{}, c.err
	}
	return Plan{Operation: opQuery, Query: q, Heuristics: heuristics}, nil
}

func (c *checker) atom(i int, a Atom) Atom {
	out := Atom{
		Entity: c.queryTerm(place(i, 0), a.Entity),
		Value:  c.queryTerm(place(i, 2), a.Value),
	}
	if a.Predicate == "" {
		c.fail(place(i, 1), "missing")
		return out
	}
	p, err := textform.Predicate(a.Predicate)
	if err != nil {
		c.fail(place(i, 1), "%v", err)
	}
	if textform.Reserved(a.Predicate) {
		// No stored claim has a name like this, and no query sees a bridge.
		p = "_" + p
	}
	out.Predicate = p
	return out
}

func place(atom, part int) string {
	return "where[" + string(rune('0'+atom)) + "][" + string(rune('0'+part)) + "]"
}

func (c *checker) queryTerm(field string, t Term) Term {
	if t.variable {
		if !isVariable(t.text) {
			c.fail(field, "%q is no variable name: a letter or _, then letters, digits and _", clip(t.text))
		}
		return t
	}
	return Const(c.term(field, t.text))
}

// selected resolves a select list: missing means every variable.
func (c *checker) selected(given, variables []string) []string {
	if given == nil {
		return append([]string{}, variables...)
	}
	out := []string{}
	for _, name := range given {
		if !slices.Contains(variables, name) {
			c.fail("select", "%q does not occur in where", clip(name))
		}
		if !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

func planRecall(req *RecallRequest) (Plan, error) {
	if req == nil {
		return Plan{}, invalid("text", "missing")
	}
	c := checker{}
	r := &RecallRequest{Text: c.queryText("text", req.Text), K: c.bound("k", req.K, DefaultK, MaxK)}
	if c.err != nil {
		return Plan{}, c.err
	}
	return Plan{Operation: opRecall, Recall: r, Heuristics: heuristics}, nil
}

func (m *Memory) planRecallGrounded(req *RecallGroundedRequest) (Plan, error) {
	if req == nil {
		return Plan{}, invalid("query", "missing")
	}
	c := checker{}
	r := &RecallGroundedRequest{
		Query:       c.queryText("query", req.Query),
		K:           c.bound("k", req.K, DefaultK, MaxK),
		Policy:      req.Policy,
		MaxVariants: c.bound("max_variants", req.MaxVariants, DefaultVariants, MaxVariants),
	}
	steps := DefaultSteps
	if req.MaxSteps != nil {
		if steps = *req.MaxSteps; steps < 0 || steps > MaxSteps {
			c.fail("max_steps", "%d is not between 0 and %d", steps, MaxSteps)
		}
	}
	r.MaxSteps = &steps
	if r.Policy == "" {
		r.Policy = defaultPolicy
	}
	if !m.knownPolicy(r.Policy) {
		c.fail("policy", "%q is no policy; grounded banks lists them", clip(r.Policy))
	}
	if c.err != nil {
		return Plan{}, c.err
	}
	return Plan{Operation: opRecallGrounded, RecallGrounded: r, Heuristics: heuristics}, nil
}

func (c *checker) queryText(field, text string) string {
	switch {
	case text == "":
		c.fail(field, "missing")
	case len(text) > MaxQueryTextBytes:
		c.fail(field, "%d bytes; at most %d", len(text), MaxQueryTextBytes)
	case !utf8.ValidString(text):
		c.fail(field, "not valid UTF-8")
	}
	return text
}

// seal makes the certificate of an outcome.
func (v *view) seal(o *outcome) (*Certificate, error) {
	slices.Sort(o.evidence)
	o.evidence = slices.Compact(o.evidence)
	c := &Certificate{
		Format: CertificateFormat, Engine: EngineVersion,
		Tenant: v.memory.scope.Tenant, Namespace: v.memory.scope.Namespace,
		AsOf: time.UnixMicro(v.asOf).UTC(), Plan: o.plan, ScopeDigest: v.scopeDigest(),
		Evidence: make([]Evidence, len(o.evidence)),
	}
	for i, seq := range o.evidence {
		c.Evidence[i] = Evidence{RecordID(seq), v.Digest(seq)}
	}
	var err error
	if c.ResultDigest, err = digestOf(o.result); err != nil {
		return nil, err
	}
	c.Checksum, err = c.checksum()
	return c, err
}

// checksum is the SHA-256 of the certificate's canonical JSON without its checksum.
func (c *Certificate) checksum() (Digest, error) {
	bare := *c
	bare.Checksum = Digest{}
	return digestOf(wireCertificate(bare))
}
