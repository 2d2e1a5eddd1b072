package grounded

import (
	"context"

	"github.com/grounded-memory/grounded/internal/datalog"
)

// Query joins up to six fact patterns over the eligible asserted claims and
// returns every answer with all of its minimal proofs. A contradiction that
// takes part in a complete match stops inference (Conflict), and a bound that is
// reached gives BudgetExceeded; neither gives rows.
func (m *Memory) Query(ctx context.Context, req *QueryRequest) (*QueryResult, error) {
	plan, err := planQuery(req)
	if err != nil {
		return nil, err
	}
	var result *QueryResult
	err = m.read(ctx, "query", plan.parts(), func(v *view) error {
		o, c, packed, err := v.answer(ctx, plan, req.Pack)
		if err != nil {
			return err
		}
		result = o.query
		result.Certificate, result.Packed = c, packed
		return nil
	})
	if err != nil {
		return nil, err
	}
	return result, nil
}

// answer runs a plan, seals it and, if asked to, packs it: all on one view.
func (v *view) answer(ctx context.Context, plan Plan, pack *PackOptions) (*outcome, *Certificate, *PackResult, error) {
	var options packOptions
	if pack != nil {
		var err error
		if options, err = v.memory.planPack(pack); err != nil {
			return nil, nil, nil, inField("pack", err)
		}
	}
	o, err := v.run(ctx, plan)
	if err != nil {
		return nil, nil, nil, err
	}
	c, err := v.seal(o)
	if err != nil || pack == nil {
		return o, c, nil, err
	}
	packed, err := v.pack(ctx, o, c.AsOf, options)
	return o, c, packed, err
}

func (v *view) runQuery(ctx context.Context, plan Plan) (*outcome, error) {
	q := plan.Query
	program := v.program(q)
	found, err := datalog.Evaluate(ctx, v.AllFacts, program, datalog.Limits{
		Examinations: q.Limits.Examinations, States: q.Limits.States, Alternatives: q.Limits.Alternatives,
	})
	if err != nil {
		return nil, err
	}
	result := &QueryResult{
		Work:        QueryWork{Examinations: found.Work.Examinations, States: found.Work.States},
		Diagnostics: &QueryDiagnostics{ContradictionsExamined: found.ContradictionsExamined},
	}
	for _, step := range found.Plan {
		result.Plan = append(result.Plan, PlanStep{Atom: step.Atom, By: step.By})
	}
	o := &outcome{plan: plan, query: result}
	switch {
	case found.Bound != "":
		result.Status, result.Bound = BudgetExceeded, found.Bound
	case len(found.Conflicts) > 0:
		result.Status = Conflict
		for _, g := range found.Conflicts {
			conflict, err := v.claimConflict(g.Entity, g.Predicate)
			if err != nil {
				return nil, err
			}
			result.Conflicts = append(result.Conflicts, *conflict)
			o.cite(conflict.Records)
		}
	default:
		v.answers(q, found, result, o)
	}
	o.status, o.result = result.Status, result
	return o, nil
}

// program turns a query in normal form into ids. A constant that no fact holds
// has no id, and its atom no match.
func (v *view) program(q *QueryRequest) datalog.Program {
	number := map[string]int{}
	var names []string
	term := func(t Term) datalog.Term {
		if !t.variable {
			return constant(v.AllFacts.Lookup, t.text)
		}
		n, ok := number[t.text]
		if !ok {
			n = len(names)
			number[t.text] = n
			names = append(names, t.text)
		}
		return datalog.Var(n)
	}
	p := datalog.Program{}
	for _, a := range q.Where {
		p.Atoms = append(p.Atoms, datalog.Atom{Entity: term(a.Entity), Predicate: constant(v.AllFacts.Predicate, a.Predicate), Value: term(a.Value)})
	}
	p.Variables = names
	for _, name := range q.Select {
		p.Select = append(p.Select, number[name])
	}
	return p
}

// constant is a constant's id, or its text where no fact holds it: the plan must
// not depend on whether this process has seen it before.
func constant(find func(string) (uint32, bool), text string) datalog.Term {
	id, ok := find(text)
	if !ok {
		return datalog.Missing(text)
	}
	return datalog.Const(id, true)
}

// answers fills in the rows of a query that has its answers.
func (v *view) answers(q *QueryRequest, found *datalog.Result, result *QueryResult, o *outcome) {
	result.Status = Answered
	if len(found.Answers) == 0 {
		result.Status = NoMatches
	}
	result.AlternativesComplete = &found.AlternativesComplete
	result.Answers = make([]Answer, len(found.Answers))
	for i, a := range found.Answers {
		bind := make(map[string]string, len(q.Select))
		for j, name := range q.Select {
			bind[name] = v.AllFacts.Text(a.Bind[j])
		}
		proofs := make([][]RecordID, len(a.Proofs))
		for j, proof := range a.Proofs {
			proofs[j] = make([]RecordID, len(proof))
			for k, record := range proof {
				proofs[j][k] = RecordID(record)
			}
			o.evidence = append(o.evidence, proof...)
		}
		result.Answers[i] = Answer{Bind: bind, Proofs: proofs}
	}
}

// claimConflict shows both sides of a contradictory group.
func (v *view) claimConflict(entity, predicate uint32) (*ClaimConflict, error) {
	records, err := v.records(v.AllFacts.GroupRecords(entity, predicate))
	if err != nil {
		return nil, err
	}
	return &ClaimConflict{Entity: v.AllFacts.Text(entity), Predicate: v.AllFacts.PredicateName(predicate), Records: records}, nil
}

// cite adds records to the evidence of an outcome.
func (o *outcome) cite(records []Record) {
	for i := range records {
		o.evidence = append(o.evidence, uint64(records[i].ID))
	}
}
