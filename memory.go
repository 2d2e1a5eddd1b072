package grounded

import (
	"context"
	"crypto/sha256"
	"errors"

	"github.com/grounded-memory/grounded/internal/canonical"
	"github.com/grounded-memory/grounded/internal/index"
	"github.com/grounded-memory/grounded/internal/scopedigest"
	"github.com/grounded-memory/grounded/internal/sqlite"
)

// Memory is one scope of a store. It is safe for concurrent use.
type Memory struct {
	store *Store
	scope sqlite.Scope
	index *index.Index
}

var _ Service = (*Memory)(nil)

// view is what one read works on: a read transaction, the index at its version,
// and the time that both stand for.
type view struct {
	*index.View
	memory *Memory
	tx     *sqlite.ReadTx
	asOf   int64
}

// read runs fn on one consistent view of the scope, with the wanted parts of
// the index loaded.
func (m *Memory) read(ctx context.Context, doing string, want index.Parts, fn func(*view) error) error {
	for {
		var v view
		var recorded int64
		err := m.store.db.View(ctx, m.scope, func(tx *sqlite.ReadTx) error {
			state, err := tx.State()
			if err != nil {
				return err
			}
			recorded = state.Time
			iv, asOf, err := m.index.View(ctx, &source{tx: tx, state: state}, max(m.clock(), state.Time), want)
			if err != nil {
				return err
			}
			v = view{View: iv, memory: m, tx: tx, asOf: asOf}
			return fn(&v)
		})
		if errors.Is(err, index.ErrBehind) && ctx.Err() == nil {
			continue // another read has moved the index past this transaction
		}
		if err == nil && v.LastExpiry() > recorded && !m.store.opts.ReadOnly {
			m.recordTime(ctx, v.asOf)
		}
		return storeError(doing, err)
	}
}

// recordTime stores that records were seen to have expired, so that no other
// process with a clock set back sees them again. It is best effort: on a full
// disk, reads go on, and this process remembers.
func (m *Memory) recordTime(ctx context.Context, asOf int64) {
	err := m.store.db.Update(ctx, m.scope, func(tx *sqlite.WriteTx) error { return tx.AdvanceTime(asOf) })
	if err != nil {
		m.store.opts.Logger.Warn("the time at which records expired was not stored", "error", err.Error())
	}
}

// rows runs fn on one read transaction without the index, for reads of single rows.
func (m *Memory) rows(ctx context.Context, doing string, fn func(tx *sqlite.ReadTx, asOf int64) error) error {
	err := m.store.db.View(ctx, m.scope, func(tx *sqlite.ReadTx) error {
		state, err := tx.State()
		if err != nil {
			return err
		}
		return fn(tx, max(m.clock(), state.Time, m.index.Latest()))
	})
	return storeError(doing, err)
}

func (m *Memory) clock() int64 { return m.store.opts.Clock().UnixMicro() }

// scopeDigest is the published digest of the view's eligible records.
func (v *view) scopeDigest() Digest {
	return scopedigest.Published(digestVersion, v.memory.scope.Tenant, v.memory.scope.Namespace, v.State())
}

// digestVersion names how scope digests are computed.
const digestVersion = "grounded-scope/1"

// record reads a record's content from the store.
func (v *view) record(id RecordID) (*Record, error) {
	row, ok, err := v.tx.Row(uint64(id))
	if err != nil {
		return nil, err
	}
	if !ok || len(row.Body) == 0 {
		return nil, &Error{Code: Damaged, Message: "the index names " + id.String() + ", which the store does not hold; run grounded doctor"}
	}
	return recordOf(&row)
}

func (v *view) records(ids []uint64) ([]Record, error) {
	out := make([]Record, 0, len(ids))
	for _, id := range ids {
		r, err := v.record(RecordID(id))
		if err != nil {
			return nil, err
		}
		out = append(out, *r)
	}
	return out, nil
}

// digestOf is the SHA-256 of a value's canonical JSON.
func digestOf(v any) (Digest, error) {
	data, err := canonical.Marshal(v)
	if err != nil {
		return Digest{}, &Error{Code: Internal, Message: "the value has no canonical form", cause: err}
	}
	return sha256.Sum256(data), nil
}
