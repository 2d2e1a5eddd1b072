package grounded

import (
	"context"
	"fmt"

	"github.com/grounded-memory/grounded/internal/sqlite"
)

// Correct supersedes a record by a new one, atomically. A record can be
// corrected once: correcting one that is corrected, forgotten or expired is
// AlreadyCorrected (with the record in force), AlreadyForgotten or Expired.
func (m *Memory) Correct(ctx context.Context, req *CorrectRequest) (*WriteResult, error) {
	return m.writeOne(ctx, "correct", req == nil, WriteItem{Correct: req})
}

// Forget deletes a record for good. When it returns, no file of the store holds
// the record's text; a tombstone with the id, its predecessor and its time
// stays, and what the record corrected is not revived.
func (m *Memory) Forget(ctx context.Context, req *ForgetRequest) (*WriteResult, error) {
	return m.writeOne(ctx, "forget", req == nil, WriteItem{Forget: req})
}

func (w *writer) correct(p *prepared) (WriteResult, error) {
	old, err := w.correctable(p.correct.ID)
	if err != nil {
		return WriteResult{}, err
	}
	r, err := successor(old, p)
	if err != nil {
		return WriteResult{}, err
	}
	w.stamp(r, p.ttl)
	if r.Kind == KindRelation {
		if err := w.nameIsFree(r, old.ID); err != nil {
			return WriteResult{}, err
		}
	}
	id, err := w.insert(r, w.sameKey(r))
	if err != nil {
		return WriteResult{}, err
	}
	if err := w.tx.MarkCorrected(uint64(old.ID), uint64(id)); err != nil {
		return WriteResult{}, err
	}
	w.valid = w.valid && r.Kind != KindRelation
	rel, err := w.relationOf(r.Predicate)
	if err != nil {
		return WriteResult{}, err
	}
	result, err := w.result(r, id, rel, false)
	result.Corrects = old.ID
	return result, err
}

// correctable returns the record that is to be corrected, or says why it cannot be.
func (w *writer) correctable(id RecordID) (*Record, error) {
	row, err := w.row(id)
	if err != nil {
		return nil, err
	}
	switch stateOf(row, w.now) {
	case StateForgotten:
		return nil, &Error{Code: AlreadyForgotten, Field: "id", Message: fmt.Sprintf("%s was forgotten", id)}
	case StateCorrected:
		current, err := w.inForce(row)
		if err != nil {
			return nil, err
		}
		e := &Error{Code: AlreadyCorrected, Field: "id", Current: current, Message: fmt.Sprintf("%s was corrected; %s is in force: correct that one", id, current)}
		if current == 0 {
			e.Message = fmt.Sprintf("%s was corrected, and its correction is no longer in force; nothing is revived", id)
		}
		return nil, e
	case StateExpired:
		return nil, &Error{Code: Expired, Field: "id", Message: fmt.Sprintf("%s expired at %s", id, fromMicros(row.ExpiresAt).Format(timeFormat))}
	}
	return recordOf(row)
}

const timeFormat = "2006-01-02T15:04:05.999999Z"

func (w *writer) row(id RecordID) (*sqlite.Row, error) {
	row, ok, err := w.tx.Row(uint64(id))
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, notFound(id)
	}
	return &row, nil
}

func notFound(id RecordID) error {
	return &Error{Code: NotFound, Field: "id", Message: fmt.Sprintf("no record %s in this scope", id)}
}

// inForce follows a chain of corrections to its end; 0 if that end is no
// longer in force.
func (w *writer) inForce(row *sqlite.Row) (RecordID, error) {
	for row.CorrectedBy != 0 {
		next, err := w.row(RecordID(row.CorrectedBy))
		if err != nil {
			return 0, err
		}
		row = next
	}
	switch stateOf(row, w.now) {
	case StateForgotten, StateExpired:
		return 0, nil
	}
	return RecordID(row.Seq), nil
}

// successor is the record that replaces old: what the correction gives, and the
// rest carried over.
func successor(old *Record, p *prepared) (*Record, error) {
	req, change := p.correct, &p.record
	r := *old
	r.ID, r.Corrects, r.Source, r.InstructionLike, r.State = 0, old.ID, change.Source, "", ""
	allowed := map[string]bool{}
	switch old.Kind {
	case KindClaim:
		allowed["value"] = true
		if req.Value != nil {
			r.Value = change.Value
		}
	case KindNote:
		allowed["text"] = true
		if req.Text != nil {
			r.Text = change.Text
		}
	case KindBridge:
		allowed["target"] = true
		if req.Target != nil {
			r.Target = change.Target
		}
	case KindRelation:
		allowed["aliases"], allowed["cardinality"] = true, true
		if req.Aliases != nil {
			r.Aliases = change.Aliases
		}
		if req.Cardinality != "" {
			r.Cardinality = change.Cardinality
		}
	}
	given := map[string]bool{
		"value": req.Value != nil, "text": req.Text != nil, "target": req.Target != nil,
		"aliases": req.Aliases != nil, "cardinality": req.Cardinality != "",
	}
	for _, field := range []string{"value", "text", "target", "aliases", "cardinality"} {
		if given[field] && !allowed[field] {
			return nil, invalid(field, "%s is a %s: that field is not its to change", old.ID, old.Kind)
		}
	}
	if req.ExpiresAt.Given {
		r.ExpiresAt = change.ExpiresAt
	}
	r.InstructionLike = flag(&r)
	return &r, nil
}

func (w *writer) forget(id RecordID) (WriteResult, error) {
	row, err := w.row(id)
	if err != nil {
		return WriteResult{}, err
	}
	if row.ForgottenAt != 0 {
		return WriteResult{}, &Error{Code: AlreadyForgotten, Field: "id", Message: fmt.Sprintf("%s was forgotten already", id)}
	}
	if err := w.tx.Erase(row.Seq, max(1, w.now)); err != nil {
		return WriteResult{}, err
	}
	w.valid = w.valid && row.Kind != uint8(kindCodes[KindRelation])
	return WriteResult{ID: id, Forgotten: true}, nil
}
