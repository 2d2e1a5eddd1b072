package grounded

import (
	"context"
	"fmt"
	"iter"

	"github.com/grounded-memory/grounded/internal/sqlite"
)

// LoadResult counts what a load did.
type LoadResult struct {
	Written     int `json:"written"`
	Existing    int `json:"existing"`    // equal eligible records that were there already
	Flagged     int `json:"flagged"`     // instruction-like, stored and never eligible
	Contradicts int `json:"contradicts"` // writes that contradict a record
}

// Load runs any number of writes in one transaction: all of them, or none if
// one fails. The error names the item, from 0. progress, if not nil, is told the
// number of items done every thousand.
func (m *Memory) Load(ctx context.Context, items iter.Seq2[WriteItem, error], progress func(done int)) (*LoadResult, error) {
	var result *LoadResult
	err := m.store.db.Update(ctx, m.scope, func(tx *sqlite.WriteTx) error {
		result = new(LoadResult)
		w, err := m.newWriter(tx)
		if err != nil {
			return err
		}
		done := 0
		for item, err := range items {
			if err == nil {
				err = result.load(w, item)
			}
			if err != nil {
				return inField(fmt.Sprintf("[%d]", done), err)
			}
			if done++; done%1000 == 0 {
				if progress != nil {
					progress(done)
				}
				if ctx.Err() != nil {
					return ctx.Err()
				}
			}
		}
		return tx.AdvanceTime(w.now)
	})
	if err != nil {
		return nil, storeError("load", err)
	}
	return result, nil
}

func (l *LoadResult) load(w *writer, item WriteItem) error {
	p, err := prepare(item)
	if err != nil {
		return err
	}
	if p.forget != 0 {
		return invalid("op", "a load cannot forget: use forget")
	}
	r, err := w.write(p)
	if err != nil {
		return err
	}
	if r.Existing {
		l.Existing++
		return nil
	}
	l.Written++
	if r.InstructionLike != "" {
		l.Flagged++
	}
	if len(r.Contradicts) > 0 {
		l.Contradicts++
	}
	return nil
}
