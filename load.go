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
// number of items done every thousand. Items are read on another goroutine, a
// little ahead of what is written, and no more once Load has returned.
func (m *Memory) Load(ctx context.Context, items iter.Seq2[WriteItem, error], progress func(done int)) (*LoadResult, error) {
	var result *LoadResult
	err := m.store.db.Update(ctx, m.scope, func(tx *sqlite.WriteTx) error {
		result = new(LoadResult)
		w, err := m.newWriter(tx)
		if err != nil {
			return err
		}
		done := 0
		for p, err := range preparedAhead(items) {
			if err == nil {
				err = result.load(w, p)
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

// preparedAhead reads and checks items on a goroutine of its own, while the caller
// writes those before. The goroutine has ended when the loop over it has.
func preparedAhead(items iter.Seq2[WriteItem, error]) iter.Seq2[*prepared, error] {
	type outcome struct {
		prepared *prepared
		err      error
	}
	const batch, batches = 256, 4
	return func(yield func(*prepared, error) bool) {
		ready, stop := make(chan []outcome, batches), make(chan struct{})
		go func() {
			defer close(ready)
			next := make([]outcome, 0, batch)
			for item, err := range items {
				var p *prepared
				if err == nil {
					p, err = prepare(item)
				}
				if next = append(next, outcome{p, err}); len(next) < batch && err == nil {
					continue
				}
				select {
				case ready <- next:
					next = make([]outcome, 0, batch)
				case <-stop:
					return
				}
				if err != nil {
					return
				}
			}
			select {
			case ready <- next:
			case <-stop:
			}
		}()
		defer func() {
			close(stop)
			for range ready { // until the goroutine has let go of items
			}
		}()
		for some := range ready {
			for _, o := range some {
				if !yield(o.prepared, o.err) {
					return
				}
			}
		}
	}
}

func (l *LoadResult) load(w *writer, p *prepared) error {
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
