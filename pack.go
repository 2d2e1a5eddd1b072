package grounded

import (
	"context"
	"time"

	"github.com/grounded-memory/grounded/internal/packing"
	"github.com/grounded-memory/grounded/tokenizer"
)

// Pack turns a certificate into a packet for a reader, usually a language
// model: header, answers and whole proofs, or related records with their
// rewrites, each text with its source, inside a budget of tokens. It verifies
// first; a certificate that does not hold any more packs nothing (Stale). All
// text comes from the store.
func (m *Memory) Pack(ctx context.Context, req *PackRequest) (*PackResult, error) {
	if req == nil || req.Certificate == nil {
		return nil, invalid("certificate", "missing")
	}
	options, err := m.planPack(&req.PackOptions)
	if err != nil {
		return nil, err
	}
	plan, reasons := m.checkForm(req.Certificate)
	if len(reasons) > 0 {
		return &PackResult{Status: Stale, Reasons: reasons}, nil
	}
	var result *PackResult
	err = m.read(ctx, "pack", plan.parts(), func(v *view) error {
		o, checked, err := v.check(ctx, req.Certificate, plan)
		if err != nil {
			return err
		}
		if checked.Status != Valid {
			result = &PackResult{Status: Stale, Reasons: checked.Reasons}
			return nil
		}
		result, err = v.pack(ctx, o, req.Certificate.AsOf, options)
		return err
	})
	if err != nil {
		return nil, err
	}
	return result, nil
}

// packOptions are PackOptions in normal form.
type packOptions struct {
	budget       int // 0: none
	combinations int
	tokenizer    tokenizer.Tokenizer
	renderer     renderer
}

func (m *Memory) planPack(given *PackOptions) (packOptions, error) {
	c := checker{}
	options := packOptions{
		budget:       given.Budget,
		combinations: c.bound("max_combinations", given.MaxCombinations, DefaultCombinations, MaxCombinations),
		tokenizer:    m.tokenizerOf(given.Tokenizer),
	}
	if given.Budget < 0 {
		c.fail("budget", "must not be negative")
	}
	if options.tokenizer == nil {
		c.fail("tokenizer", "%q is none of bytes, cl100k_base, o200k_base", clip(given.Tokenizer))
	}
	switch given.Format {
	case "", formatJSON, formatText:
		options.renderer = rendererFor(given.Format)
	default:
		c.fail("format", "%q is neither json nor text", clip(given.Format))
	}
	return options, c.err
}

// tokenizerOf finds a tokenizer by its name; nil if there is none.
func (m *Memory) tokenizerOf(name string) tokenizer.Tokenizer {
	if name == "" {
		name = "bytes"
	}
	for _, t := range m.store.opts.Tokenizers {
		if t.Name() == name {
			return t
		}
	}
	t, err := tokenizer.ByName(name)
	if err != nil {
		return nil
	}
	return t
}

// pack builds the packet of an outcome on the view that it was found on.
func (v *view) pack(ctx context.Context, o *outcome, asOf time.Time, options packOptions) (*PackResult, error) {
	p := packer{view: v, outcome: o, options: options}
	var err error
	if p.head, err = options.renderer.header(o, asOf); err != nil {
		return nil, err
	}
	switch {
	case o.status == Answered && o.query != nil:
		return p.answers(ctx)
	case o.recall != nil && o.status == Answered:
		return p.whole(nil, o.recall.Evidence)
	case o.status == Conflict:
		return p.conflicts()
	case o.recall != nil:
		return p.matches(ctx, o.recall.Results)
	case o.grounded != nil:
		return p.matches(ctx, o.grounded.Results)
	}
	return p.whole(nil, nil)
}

// packer builds one packet.
type packer struct {
	view    *view
	outcome *outcome
	options packOptions
	head    string
}

func (p *packer) size() packing.Size {
	additive, ok := p.options.tokenizer.(tokenizer.LineAdditive)
	return packing.Size{Count: p.options.tokenizer.Count, Additive: ok && additive.LineAdditive()}
}

// answers chooses one proof for each answer so that the whole packet is smallest.
func (p *packer) answers(ctx context.Context) (*PackResult, error) {
	problem := packing.Problem{Head: p.head, Item: p.recordLine}
	for _, answer := range p.outcome.query.Answers {
		var a packing.Answer
		for _, proof := range answer.Proofs {
			line, err := p.options.renderer.answer(answer.Bind, proof)
			if err != nil {
				return nil, err
			}
			items := make([]uint64, len(proof))
			for i, id := range proof {
				items[i] = uint64(id)
			}
			a.Alternatives = append(a.Alternatives, packing.Alternative{Items: items, Line: line})
		}
		problem.Answers = append(problem.Answers, a)
	}
	found, err := packing.Smallest(ctx, problem, packing.Options{
		Budget: p.options.budget, MaxCombinations: p.options.combinations, Size: p.size(), Progress: p.view.memory.store.opts.Progress,
	})
	if err != nil {
		return nil, err
	}
	result := &PackResult{
		Tokenizer: p.options.tokenizer.Name(), Optimal: &found.Optimal, Method: found.Method,
		Combinations: &Combinations{Tried: found.Tried, Total: found.Total},
	}
	switch found.Status {
	case packing.Packed:
		none := 0
		result.Status, result.Packet, result.Size, result.LeftOut = Packed, found.Packet, found.Size, &none
		result.Records = recordIDs(found.Items)
	case packing.Exhausted:
		result.Status, result.Smallest, result.Optimal = SearchExhausted, found.Smallest, nil
	default:
		result.Status, result.Smallest, result.Optimal = BudgetExceeded, found.Smallest, nil
	}
	return result, nil
}

func (p *packer) recordLine(id uint64) (string, error) {
	r, err := p.view.record(RecordID(id))
	if err != nil {
		return "", err
	}
	return p.options.renderer.record(r)
}

func recordIDs(ids []uint64) []RecordID {
	out := make([]RecordID, len(ids))
	for i, id := range ids {
		out[i] = RecordID(id)
	}
	return out
}

// matches packs related records in rank order, each with the bridges of its
// rewrites.
func (p *packer) matches(ctx context.Context, matches []Match) (*PackResult, error) {
	units := make([]packing.Unit, len(matches))
	for i := range matches {
		line, err := p.options.renderer.match(&matches[i])
		if err != nil {
			return nil, err
		}
		units[i] = packing.Unit{ID: uint64(matches[i].ID), Line: line}
		for _, r := range matches[i].Rewrites {
			units[i].Needs = append(units[i].Needs, uint64(r.Bridge))
		}
	}
	found, err := packing.Fit(ctx, packing.FitProblem{Head: p.head, Units: units, Item: p.recordLine}, p.options.budget, p.size())
	if err != nil {
		return nil, err
	}
	if found.Status != packing.Packed {
		return &PackResult{Status: BudgetExceeded, Tokenizer: p.options.tokenizer.Name(), Smallest: found.Smallest}, nil
	}
	return &PackResult{
		Status: Packed, Packet: found.Packet, Size: found.Size, Tokenizer: p.options.tokenizer.Name(),
		Records: recordIDs(found.Items), LeftOut: &found.LeftOut,
	}, nil
}

// conflicts packs every conflict with the records of all its sides.
func (p *packer) conflicts() (*PackResult, error) {
	var lines []string
	var records []Record
	add := func(field, name string, sides []Record) error {
		line, err := p.options.renderer.conflict(field, name, sides)
		lines, records = append(lines, line), append(records, sides...)
		return err
	}
	claims := []ClaimConflict(nil)
	switch {
	case p.outcome.query != nil:
		claims = p.outcome.query.Conflicts
	case p.outcome.recall != nil:
		claims = p.outcome.recall.Conflicts
	}
	for _, c := range claims {
		if err := add("entity", c.Entity+" "+c.Predicate, c.Records); err != nil {
			return nil, err
		}
	}
	if p.outcome.grounded != nil {
		for _, c := range p.outcome.grounded.Conflicts {
			if err := add("phrase", c.Phrase, c.Records); err != nil {
				return nil, err
			}
		}
	}
	return p.whole(lines, records)
}

// whole packs all lines and records, or nothing if they do not fit together.
func (p *packer) whole(lines []string, records []Record) (*PackResult, error) {
	packet := p.head
	for _, line := range lines {
		packet += line
	}
	result := &PackResult{Status: Packed, Tokenizer: p.options.tokenizer.Name(), Records: []RecordID{}}
	for i := range records {
		line, err := p.options.renderer.record(&records[i])
		if err != nil {
			return nil, err
		}
		packet += line
		result.Records = append(result.Records, records[i].ID)
	}
	size := p.options.tokenizer.Count(packet)
	if p.options.budget > 0 && size > p.options.budget {
		return &PackResult{Status: BudgetExceeded, Tokenizer: p.options.tokenizer.Name(), Smallest: size}, nil
	}
	none := 0
	result.Packet, result.Size, result.LeftOut = packet, size, &none
	return result, nil
}
