package grounded

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/grounded-memory/grounded/internal/canonical"
	"github.com/grounded-memory/grounded/internal/index"
	"github.com/grounded-memory/grounded/internal/sqlite"
	"github.com/grounded-memory/grounded/internal/textform"
)

func batchField(i int) string { return fmt.Sprintf("writes[%d].args", i) }

// apply runs prepared writes in one transaction. field names the place of the
// i-th write in the request, nil for a single write.
func (m *Memory) apply(ctx context.Context, doing string, writes []*prepared, field func(int) string) ([]WriteResult, error) {
	var results []WriteResult
	err := m.store.db.Update(ctx, m.scope, func(tx *sqlite.WriteTx) error {
		results = make([]WriteResult, len(writes))
		w, err := m.newWriter(tx)
		if err != nil {
			return err
		}
		for i, p := range writes {
			if err := ctx.Err(); err != nil {
				return err
			}
			if results[i], err = w.write(p); err != nil {
				if field != nil {
					return inField(field(i), err)
				}
				return err
			}
		}
		return tx.AdvanceTime(w.now)
	})
	if err != nil {
		return nil, storeError(doing, err)
	}
	if slices.ContainsFunc(writes, func(p *prepared) bool { return p.forget != 0 }) {
		// A deletion is reported only when no file holds the text any more.
		if err := m.store.db.Scrub(ctx); err != nil {
			return nil, storeError(doing+": deleted, but its text is still in the log, because another process is reading; it will be erased by the next write or by grounded maintain", err)
		}
	}
	return results, nil
}

// writer applies the rules of the life cycle inside one write transaction.
type writer struct {
	tx    *sqlite.WriteTx
	rand  io.Reader
	now   int64
	next  uint64 // the next sequence number
	key   [16]byte
	rels  []relation
	valid bool // rels is up to date

	// written counts the records of each key, if the scope held none before this
	// transaction and they are not too many: what is not there need not be looked up.
	written map[int64]int32
}

// manyKeys is how many keys are counted at most.
const manyKeys = 1 << 21

// relation is a declared predicate with its record.
type relation struct {
	id RecordID
	*Record
}

func (m *Memory) newWriter(tx *sqlite.WriteTx) (*writer, error) {
	state, err := tx.State()
	if err != nil {
		return nil, err
	}
	w := &writer{
		tx: tx, rand: m.store.opts.Rand, key: state.Key, next: state.LastSeq + 1,
		now: max(m.clock(), state.Time, m.index.Latest()),
	}
	if state.LastSeq == 0 {
		w.written = make(map[int64]int32)
	}
	return w, nil
}

// count notes the keys of a record that was written.
func (w *writer) count(row *sqlite.Row) {
	if w.written == nil || row.Kind == uint8(index.Note) {
		return // notes are never looked up
	}
	w.written[row.SameKey]++
	w.written[row.GroupKey]++
	if len(w.written) > manyKeys {
		w.written = nil
	}
}

// atMost says whether a key is known to have so few records.
func (w *writer) atMost(n int32, key int64) bool { return w.written != nil && w.written[key] <= n }

// write runs one write, or returns the result of the first one with its key.
func (w *writer) write(p *prepared) (WriteResult, error) {
	if p.key == "" {
		return w.dispatch(p)
	}
	key := sha256.Sum256([]byte("grounded-idempotency/1\x00" + p.key))
	stored, ok, err := w.tx.Idempotent(key)
	if err != nil {
		return WriteResult{}, err
	}
	var result WriteResult
	if ok {
		return result, canonical.Decode(stored, &result)
	}
	if result, err = w.dispatch(p); err != nil {
		return result, err
	}
	if stored, err = canonical.Marshal(result); err != nil {
		return result, err
	}
	return result, w.tx.PutIdempotent(key, stored)
}

func (w *writer) dispatch(p *prepared) (WriteResult, error) {
	switch {
	case p.forget != 0:
		return w.forget(p.forget)
	case p.correct != nil:
		return w.correct(p)
	}
	return w.create(p)
}

// create writes a new record, unless an equal eligible one is there.
func (w *writer) create(p *prepared) (WriteResult, error) {
	r := p.record
	w.stamp(&r, p.ttl)
	rel, err := w.relationOf(r.Predicate)
	if err != nil {
		return WriteResult{}, err
	}
	switch r.Kind {
	case KindClaim:
		if r.Cardinality == "" && rel == nil {
			r.Cardinality = Single
		}
	case KindRelation:
		// An equal declaration is found below; any other of the same name is refused.
	}
	same := w.sameKey(&r)
	if r.Kind != KindNote && r.InstructionLike == "" {
		existing, err := w.existing(&r, same)
		if err != nil {
			return WriteResult{}, err
		}
		if existing != 0 {
			return w.result(&r, existing, rel, true)
		}
	}
	if r.Kind == KindRelation {
		if err := w.nameIsFree(&r, 0); err != nil {
			return WriteResult{}, err
		}
	}
	id, err := w.insert(&r, same)
	if err != nil {
		return WriteResult{}, err
	}
	return w.result(&r, id, rel, false)
}

// result reports a write, with the records that it contradicts.
func (w *writer) result(r *Record, id RecordID, rel *relation, existing bool) (WriteResult, error) {
	result := WriteResult{ID: id, Existing: existing, InstructionLike: r.InstructionLike}
	if r.Kind == KindClaim || r.Kind == KindBridge {
		var err error
		if result.Contradicts, err = w.contradicts(r, id, rel); err != nil {
			return result, err
		}
	}
	return result, nil
}

// stamp sets the times of a record that is written now.
func (w *writer) stamp(r *Record, ttl time.Duration) {
	r.CreatedAt = time.UnixMicro(w.now).UTC()
	if ttl != 0 {
		// A time to live of less than a microsecond still lasts one.
		r.ExpiresAt = time.UnixMicro(w.now + max(1, ttl.Microseconds())).UTC()
	}
}

// insert gives a record its id and stores it.
func (w *writer) insert(r *Record, same int64) (RecordID, error) {
	var salt [16]byte
	if _, err := io.ReadFull(w.rand, salt[:]); err != nil {
		return 0, &Error{Code: Internal, Message: "no random bytes", cause: err}
	}
	r.ID = RecordID(w.next)
	row, err := newRow(w.key, r, same, salt)
	if err != nil {
		return 0, err
	}
	seq, err := w.tx.Insert(row)
	if err != nil {
		return 0, err
	}
	if seq != w.next {
		return 0, &Error{Code: Internal, Message: fmt.Sprintf("the store gave id %d for %d", seq, w.next)}
	}
	w.next++
	w.count(row)
	if r.Kind == KindRelation {
		w.valid = false
	}
	return r.ID, nil
}

// sameKey is the key of a record's supplied fields.
func (w *writer) sameKey(r *Record) int64 {
	parts := []string{
		string(r.Kind), r.Entity, r.Predicate, r.Value, r.Phrase, r.Target, r.Name, r.Source,
		string(r.Modality), string(r.Cardinality), r.ExpiresAt.Format(time.RFC3339Nano),
	}
	return rowKey(w.key, append(parts, r.Aliases...)...)
}

// sameSupplied compares what sameKey digests.
func sameSupplied(a, b *Record) bool {
	return a.Kind == b.Kind && a.Entity == b.Entity && a.Predicate == b.Predicate && a.Value == b.Value &&
		a.Phrase == b.Phrase && a.Target == b.Target && a.Name == b.Name && a.Source == b.Source &&
		a.Modality == b.Modality && a.Cardinality == b.Cardinality && a.ExpiresAt.Equal(b.ExpiresAt) &&
		slices.Equal(a.Aliases, b.Aliases)
}

// existing returns the lowest eligible record that equals r in every supplied field.
func (w *writer) existing(r *Record, same int64) (id RecordID, err error) {
	if w.atMost(0, same) {
		return 0, nil
	}
	err = w.tx.Same(same, func(row *sqlite.Row) error {
		if id != 0 || stateOf(row, w.now) != StateEligible {
			return nil
		}
		old, err := recordOf(row)
		if err == nil && sameSupplied(old, r) {
			id = old.ID
		}
		return err
	})
	return id, err
}

// contradicts lists the eligible asserted records that say something else than
// r, which is stored as id, in a single-valued group.
func (w *writer) contradicts(r *Record, id RecordID, rel *relation) ([]RecordID, error) {
	out := []RecordID{}
	if r.Modality != Asserted || r.InstructionLike != "" || r.expired(w.now) {
		return out, nil
	}
	var err error
	if r.Kind == KindBridge {
		key, target := bridgeGroup(w.key, r.Phrase), textform.Phrase(r.Target)
		if w.atMost(1, key) {
			return out, nil // r alone
		}
		err = w.group(key, func(old *Record) {
			if old.ID != id && textform.Phrase(old.Phrase) == textform.Phrase(r.Phrase) && textform.Phrase(old.Target) != target {
				out = append(out, old.ID)
			}
		})
	} else {
		out, err = w.contradictingClaims(r, id, rel)
	}
	slices.Sort(out)
	return out, err
}

func (w *writer) contradictingClaims(r *Record, id RecordID, rel *relation) ([]RecordID, error) {
	out := []RecordID{}
	single := r.Cardinality == Single
	names := []string{r.Predicate}
	if rel != nil {
		names = append([]string{rel.Name}, rel.Aliases...)
		if single = rel.Cardinality == Single; !single {
			return out, nil
		}
	} else if !single {
		key := claimGroup(w.key, r.Entity, r.Predicate)
		if w.atMost(1, key) {
			return out, nil // r alone
		}
		has, err := w.tx.GroupHasSingle(key)
		if err != nil || !has {
			return out, err
		}
	}
	for _, name := range names {
		key := claimGroup(w.key, r.Entity, name)
		if w.atMost(0, key) || name == r.Predicate && w.atMost(1, key) {
			continue // none, or r alone
		}
		err := w.group(key, func(old *Record) {
			if old.Entity != r.Entity || old.Predicate != name {
				return
			}
			single = single || old.Cardinality == Single
			if old.ID != id && old.Value != r.Value {
				out = append(out, old.ID)
			}
		})
		if err != nil {
			return nil, err
		}
	}
	if !single {
		return []RecordID{}, nil
	}
	return out, nil
}

// group visits the eligible asserted records of a group.
func (w *writer) group(key int64, visit func(*Record)) error {
	return w.tx.Group(key, func(row *sqlite.Row) error {
		if stateOf(row, w.now) != StateEligible {
			return nil
		}
		r, err := recordOf(row)
		if err == nil && r.Modality == Asserted {
			visit(r)
		}
		return err
	})
}

func (r *Record) expired(now int64) bool {
	us := expiryMicros(r)
	return us != 0 && us <= now
}

// relations returns the relations in force.
func (w *writer) relations() ([]relation, error) {
	if w.valid {
		return w.rels, nil
	}
	w.rels = w.rels[:0]
	err := w.tx.KindRows(uint8(index.Relation), func(row *sqlite.Row) error {
		if stateOf(row, w.now) != StateEligible {
			return nil
		}
		r, err := recordOf(row)
		if err == nil {
			w.rels = append(w.rels, relation{r.ID, r})
		}
		return err
	})
	w.valid = err == nil
	return w.rels, err
}

// relationOf returns the relation that declares a predicate, nil if none does.
func (w *writer) relationOf(predicate string) (*relation, error) {
	if predicate == "" {
		return nil, nil
	}
	rels, err := w.relations()
	if err != nil {
		return nil, err
	}
	for i := range rels {
		if rels[i].Name == predicate || slices.Contains(rels[i].Aliases, predicate) {
			return &rels[i], nil
		}
	}
	return nil, nil
}

// nameIsFree refuses a relation whose name or alias another one declares.
func (w *writer) nameIsFree(r *Record, except RecordID) error {
	if r.InstructionLike != "" {
		return nil // it is never in force
	}
	for i, name := range append([]string{r.Name}, r.Aliases...) {
		rel, err := w.relationOf(name)
		if err != nil {
			return err
		}
		if rel != nil && rel.id != except {
			field := "name"
			if i > 0 {
				field = "aliases"
			}
			return &Error{
				Code: InvalidArgument, Field: field, Current: rel.id,
				Message: fmt.Sprintf("%q is already declared by %s: correct that record", name, rel.id),
			}
		}
	}
	return nil
}
