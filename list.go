package grounded

import (
	"context"
	"errors"
	"iter"
	"time"

	"github.com/grounded-memory/grounded/internal/index"
	"github.com/grounded-memory/grounded/internal/sqlite"
	"github.com/grounded-memory/grounded/internal/textform"
)

// Get returns one record and where it is in its life. A forgotten one has only
// its id and kind.
func (m *Memory) Get(ctx context.Context, req *GetRequest) (*GetResult, error) {
	if req == nil || req.ID == 0 {
		return nil, invalid("id", "missing")
	}
	var result *GetResult
	err := m.rows(ctx, "get", func(tx *sqlite.ReadTx, asOf int64) error {
		row, ok, err := tx.Row(uint64(req.ID))
		if err != nil {
			return err
		}
		if !ok {
			return notFound(req.ID)
		}
		r, err := recordOf(&row)
		if err != nil {
			return err
		}
		result = &GetResult{
			Record: *r, State: stateOf(&row, asOf),
			Corrects: RecordID(row.Corrects), CorrectedBy: RecordID(row.CorrectedBy),
		}
		return nil
	})
	return result, err
}

// List returns one page of the records that the request's filters let through,
// by id, each with its state. Without a State, records of every state are listed.
func (m *Memory) List(ctx context.Context, req *ListRequest) (*ListResult, error) {
	if req == nil {
		return nil, invalid("", "a list without a request")
	}
	f, err := newFilter(req)
	if err != nil {
		return nil, err
	}
	result := &ListResult{Records: []Record{}}
	err = m.rows(ctx, "list", func(tx *sqlite.ReadTx, asOf int64) error {
		n := 0
		err := tx.Rows(uint64(req.After), func(row *sqlite.Row) error {
			if n++; n%1024 == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			r, err := f.match(row, asOf)
			if err != nil || r == nil {
				return err
			}
			if len(result.Records) == f.limit {
				result.Next = result.Records[f.limit-1].ID
				return errPageFull
			}
			result.Records = append(result.Records, *r)
			return nil
		})
		if errors.Is(err, errPageFull) {
			return nil
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return result, nil
}

var errPageFull = errors.New("the page is full")

// Records yields every record that the request's filters let through, page by page.
func (m *Memory) Records(ctx context.Context, req *ListRequest) iter.Seq2[*Record, error] {
	return func(yield func(*Record, error) bool) {
		var page ListRequest
		if req != nil {
			page = *req
		}
		for {
			result, err := m.List(ctx, &page)
			if err != nil {
				yield(nil, err)
				return
			}
			for i := range result.Records {
				if !yield(&result.Records[i], nil) {
					return
				}
			}
			if result.Next == 0 {
				return
			}
			page.After = result.Next
		}
	}
}

// filter is a ListRequest in normal form.
type filter struct {
	ListRequest
	phrase string
	limit  int
}

func newFilter(req *ListRequest) (*filter, error) {
	f := &filter{ListRequest: *req, limit: req.Limit}
	c := checker{}
	f.Entity = c.optionalTerm("entity", req.Entity)
	f.Source = c.optionalTerm("source", req.Source)
	f.Session = c.optionalTerm("session", req.Session)
	f.phrase = textform.Phrase(req.Entity)
	if req.Predicate != "" {
		var err error
		if f.Predicate, err = textform.Predicate(req.Predicate); err != nil {
			c.fail("predicate", "%v", err)
		}
	}
	if _, ok := kindCodes[req.Kind]; req.Kind != "" && !ok {
		c.fail("kind", "%q is none of claim, note, bridge, relation", clip(string(req.Kind)))
	}
	switch req.State {
	case "", StateEligible, StateCorrected, StateForgotten, StateExpired, StateInstructionLike:
	default:
		c.fail("state", "%q is none of eligible, corrected, forgotten, expired, instruction_like", clip(string(req.State)))
	}
	f.limit = c.bound("limit", req.Limit, DefaultListLimit, MaxListLimit)
	return f, c.err
}

// bound returns a limit of a request: its default for zero, an error over its maximum.
func (c *checker) bound(field string, value, byDefault, most int) int {
	switch {
	case value == 0:
		return byDefault
	case value < 0 || value > most:
		c.fail(field, "%d is not between 1 and %d", value, most)
	}
	return value
}

// match returns the row's record, with its state, if the filter lets it through.
func (f *filter) match(row *sqlite.Row, asOf int64) (*Record, error) {
	state := stateOf(row, asOf)
	if f.Kind != "" && kindName(row.Kind) != f.Kind || f.State != "" && state != f.State {
		return nil, nil
	}
	r, err := recordOf(row)
	if err != nil {
		return nil, err
	}
	r.State = state
	if f.Source != "" && r.Source != f.Source || f.Session != "" && r.Session != f.Session {
		return nil, nil
	}
	if f.Entity != "" && r.Entity != f.Entity && (r.Phrase == "" || textform.Phrase(r.Phrase) != f.phrase) {
		return nil, nil
	}
	if f.Predicate != "" && r.Predicate != f.Predicate && r.Name != f.Predicate {
		return nil, nil
	}
	return r, nil
}

// History returns the chain of corrections that a record belongs to, oldest first.
func (m *Memory) History(ctx context.Context, req *HistoryRequest) (*HistoryResult, error) {
	if req == nil || req.ID == 0 {
		return nil, invalid("id", "missing")
	}
	var result *HistoryResult
	err := m.rows(ctx, "history", func(tx *sqlite.ReadTx, asOf int64) error {
		row, ok, err := tx.Row(uint64(req.ID))
		if err != nil {
			return err
		}
		if !ok {
			return notFound(req.ID)
		}
		for row.Corrects != 0 {
			if row, ok, err = tx.Row(row.Corrects); err != nil || !ok {
				return orDamaged(err)
			}
		}
		result = &HistoryResult{}
		for {
			entry := HistoryEntry{ID: RecordID(row.Seq), State: stateOf(&row, asOf)}
			if entry.State != StateForgotten {
				if entry.Record, err = recordOf(&row); err != nil {
					return err
				}
			}
			result.Chain = append(result.Chain, entry)
			if row.CorrectedBy == 0 {
				return nil
			}
			if row, ok, err = tx.Row(row.CorrectedBy); err != nil || !ok {
				return orDamaged(err)
			}
		}
	})
	if err != nil {
		return nil, err
	}
	return result, nil
}

func orDamaged(err error) error {
	if err != nil {
		return err
	}
	return &Error{Code: Damaged, Message: "a chain of corrections names a record that is not there; run grounded doctor"}
}

// Stats returns the scope's figures.
func (m *Memory) Stats(ctx context.Context, req *StatsRequest) (*StatsResult, error) {
	if req == nil {
		return nil, invalid("", "stats without a request")
	}
	var result *StatsResult
	err := m.read(ctx, "stats", index.Facts|index.Bridges, func(v *view) error {
		result = &StatsResult{
			Tenant: m.scope.Tenant, Namespace: m.scope.Namespace,
			Eligible: EligibleCounts{
				Claim: v.Count(index.Claim), Note: v.Count(index.Note),
				Bridge: v.Count(index.Bridge), Relation: v.Count(index.Relation),
			},
			ScopeDigest:    v.scopeDigest(),
			AsOf:           time.UnixMicro(v.asOf).UTC(),
			Contradictions: v.AllFacts.Contradictions() + v.Rewrites.Conflicts(),
		}
		return nil
	})
	return result, err
}
