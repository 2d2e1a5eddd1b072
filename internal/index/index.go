// Package index keeps one scope's eligible records in memory, in the shapes
// that reads need: facts to join, notes to search, bridges to rewrite with,
// and the scope digest.
//
// The store's rows and change log are the truth; an Index is derived from them
// and can be dropped at any time. A read opens a read transaction and asks for
// a View: the Index compares the scope's version with its own, applies the tail
// of the change log if it is behind, lets expire what the read's time has
// reached, and hands out an immutable View. Nothing a reader holds ever
// changes, so a read never mixes two versions.
//
// The parts (facts, notes, bridges) are loaded when first wanted, from the
// snapshot blob that goes with the core's, else from the rows. A scope that is
// only queried never pays for a text index, and the other way round.
package index

import (
	"container/heap"
	"context"
	"errors"
	"sync"
	"sync/atomic"

	"github.com/grounded-memory/grounded/internal/facts"
	"github.com/grounded-memory/grounded/internal/notes"
	"github.com/grounded-memory/grounded/internal/rewrite"
	"github.com/grounded-memory/grounded/internal/scopedigest"
)

// Kind is the kind of a record; the zero Kind marks a record that is not eligible.
type Kind uint8

// The kinds.
const (
	None Kind = iota
	Claim
	Note
	Bridge
	Relation
	numKinds
)

// Parts is a set of parts of the index that a read wants.
type Parts uint8

// The parts beside the core (counts, digests, expiry), which is always there.
const (
	Facts Parts = 1 << iota
	Notes
	Bridges
)

// Entry is one stored record as the index needs it. The content fields of its
// kind are filled in only if the parts asked for need them.
type Entry struct {
	Seq       uint64
	Kind      Kind
	Current   bool // neither corrected nor forgotten, and not flagged
	Asserted  bool
	Digest    [32]byte
	ExpiresAt int64 // 0: never

	Fact     facts.Fact     // an asserted claim
	Doc      notes.Doc      // a note or a claim
	Bridge   rewrite.Bridge // an asserted bridge
	Relation facts.Relation // a relation: always filled in
}

// Op is what a change did to a record.
type Op uint8

// The operations of the change log.
const (
	Added Op = iota + 1
	Retired
)

// Change is one line of the change log.
type Change struct {
	Version, Seq uint64
	Op           Op
}

// Source is one read transaction of the store, as the index sees it.
type Source interface {
	// State returns the scope's version (0: never written) and its last sequence number.
	State() (version, lastSeq uint64, err error)
	// Changes yields the change log after a version, in order.
	Changes(after uint64, yield func(Change) error) error
	// Entry returns one record with the content that parts need.
	Entry(seq uint64, parts Parts) (*Entry, error)
	// Entries yields every record after seq, ascending. The entry may be reused.
	Entries(after uint64, parts Parts, yield func(*Entry) error) error
	// Blob returns a snapshot blob and the version at which it was made.
	Blob(part string) (data []byte, version uint64, ok bool, err error)
}

// ErrBehind says that the read transaction is older than the index: begin another.
var ErrBehind = errors.New("index: the read transaction is older than the index")

const chunkSize = 1024

// slot is what is kept of every record, eligible or not, by sequence number.
type slot struct {
	digest [32]byte
	kind   Kind // None once it is no longer eligible
}

type chunk [chunkSize]slot

// View is an immutable picture of a scope's eligible records.
type View struct {
	Version   uint64
	Highest   uint64 // the highest eligible sequence number, 0 if there is none
	AllFacts  *facts.Set
	AllNotes  *notes.Index
	Rewrites  *rewrite.Set
	Relations []facts.Relation

	counts     [numKinds]int
	chunks     []*chunk
	digest     *scopedigest.State
	expired    int64 // every record with an expiry up to this time is out
	lastExpiry int64 // the latest expiry that was let happen
	nextExpiry int64 // the earliest expiry still to come, 0 if none
	parts      Parts
}

// Count returns how many records of a kind are eligible.
func (v *View) Count(kind Kind) int { return v.counts[kind] }

// Digest returns a record's digest; the record must be eligible in the view.
func (v *View) Digest(seq uint64) [32]byte {
	seq--
	if seq/chunkSize >= uint64(len(v.chunks)) {
		return [32]byte{}
	}
	return v.chunks[seq/chunkSize][seq%chunkSize].digest
}

// State returns the multiset digest of the eligible records. It must not be changed.
func (v *View) State() *scopedigest.State { return v.digest }

// LastExpiry returns the latest expiry that the index has let happen: a time
// that the store should remember, so that a clock set back revives nothing.
func (v *View) LastExpiry() int64 { return v.lastExpiry }

// Index is the current View of one scope and what is needed to move it on. It
// is safe for concurrent use.
type Index struct {
	current atomic.Pointer[View]
	latest  atomic.Int64 // the greatest time any read was asked for

	mu        sync.Mutex
	view      View // being built; copied to current
	relations map[uint64]facts.Relation
	expiring  expiryHeap

	baseVersion uint64   // the version of the core blob that was loaded, 0 if none
	baseSeq     uint64   // and its last sequence number
	gone        []uint64 // records of the blob that have left since
	lastSeq     uint64
}

// New returns an empty index.
func New() *Index { return &Index{} }

// View brings the index up to src and to the time asOf (microseconds) and
// returns the view and the time that it stands for, which is never earlier than
// that of an earlier call.
func (x *Index) View(ctx context.Context, src Source, asOf int64, want Parts) (*View, int64, error) {
	for {
		seen := x.latest.Load()
		if asOf <= seen {
			asOf = seen
			break
		}
		if x.latest.CompareAndSwap(seen, asOf) {
			break
		}
	}
	version, lastSeq, err := src.State()
	if err != nil {
		return nil, 0, err
	}
	if v := x.current.Load(); v != nil && v.serves(version, asOf, want) {
		return v, asOf, nil
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	asOf = max(asOf, x.view.expired)
	if v := x.current.Load(); v != nil && v.serves(version, asOf, want) {
		return v, asOf, nil
	}
	if version < x.view.Version {
		return nil, 0, ErrBehind
	}
	if err := x.refresh(ctx, src, version, lastSeq, asOf, want); err != nil {
		// Half-applied changes must not be built upon.
		x.reset()
		return nil, 0, err
	}
	v := x.view
	v.digest = x.view.digest.Clone()
	x.current.Store(&v)
	return &v, max(asOf, v.expired), nil
}

// Latest returns the greatest time that any read was asked for.
func (x *Index) Latest() int64 { return x.latest.Load() }

func (v *View) serves(version uint64, asOf int64, want Parts) bool {
	return v.Version == version && v.parts&want == want && v.expired <= asOf && (v.nextExpiry == 0 || v.nextExpiry > asOf)
}

func (x *Index) reset() {
	x.current.Store(nil)
	x.view = View{expired: x.view.expired}
	x.relations, x.expiring, x.gone = nil, nil, nil
	x.baseVersion, x.baseSeq, x.lastSeq = 0, 0, 0
}

// delta collects what a refresh changes, by kind.
type delta struct {
	facts     []facts.Fact
	docs      []notes.Doc
	bridges   []rewrite.Bridge
	removed   [numKinds][]uint64
	relations bool
}

func (x *Index) refresh(ctx context.Context, src Source, version, lastSeq uint64, asOf int64, want Parts) error {
	if x.view.digest == nil {
		if err := x.loadCore(ctx, src, asOf); err != nil {
			return err
		}
	}
	var d delta
	if x.view.Version < version {
		if err := x.applyLog(ctx, src, asOf, &d); err != nil {
			return err
		}
		x.view.Version = version
		x.lastSeq = lastSeq
	}
	x.expire(max(asOf, x.view.expired), &d)
	x.applyDelta(&d)
	return x.loadParts(ctx, src, want)
}

// applyLog reads the tail of the change log into d. A record's row is read as
// it is now, so a record that was added and retired within the tail is never
// added.
func (x *Index) applyLog(ctx context.Context, src Source, asOf int64, d *delta) error {
	n := 0
	return src.Changes(x.view.Version, func(c Change) error {
		if n++; n%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if c.Op == Retired {
			x.remove(c.Seq, d)
			return nil
		}
		e, err := src.Entry(c.Seq, x.view.parts)
		if err != nil {
			return err
		}
		if x.admit(e, asOf) {
			d.add(e, x.view.parts)
		}
		return nil
	})
}

// admit gives a record its slot and, if it is eligible, its place in the core.
// It reports whether the record is eligible.
func (x *Index) admit(e *Entry, asOf int64) bool {
	s := x.slot(e.Seq)
	if !e.Current || s.kind != None {
		return false
	}
	if e.ExpiresAt != 0 && e.ExpiresAt <= asOf {
		x.view.lastExpiry = max(x.view.lastExpiry, e.ExpiresAt)
		return false
	}
	s.digest, s.kind = e.Digest, e.Kind
	x.view.counts[e.Kind]++
	x.view.Highest = max(x.view.Highest, e.Seq)
	x.view.digest.Add(e.Digest)
	if e.ExpiresAt != 0 {
		heap.Push(&x.expiring, expiry{e.ExpiresAt, e.Seq})
	}
	if e.Kind == Relation {
		x.relations[e.Seq] = e.Relation
	}
	return true
}

func (d *delta) add(e *Entry, parts Parts) {
	switch e.Kind {
	case Claim:
		if parts&Facts != 0 && e.Asserted {
			d.facts = append(d.facts, e.Fact)
		}
		if parts&Notes != 0 {
			d.docs = append(d.docs, e.Doc)
		}
	case Note:
		if parts&Notes != 0 {
			d.docs = append(d.docs, e.Doc)
		}
	case Bridge:
		if parts&Bridges != 0 && e.Asserted {
			d.bridges = append(d.bridges, e.Bridge)
		}
	case Relation:
		d.relations = true
	}
}

// remove takes a record out of the core, if it is in.
func (x *Index) remove(seq uint64, d *delta) {
	s := x.slot(seq)
	if s.kind == None {
		return
	}
	x.view.counts[s.kind]--
	x.view.digest.Remove(s.digest)
	d.removed[s.kind] = append(d.removed[s.kind], seq)
	if s.kind == Relation {
		delete(x.relations, seq)
		d.relations = true
	}
	if seq <= x.baseSeq {
		x.gone = append(x.gone, seq)
	}
	// Readers never look at kinds, only at the digests of records that their
	// own view holds, so the slot may change under them.
	s.kind = None
	for x.view.Highest > 0 && x.slot(x.view.Highest).kind == None {
		x.view.Highest--
	}
}

// expire removes what has expired by asOf.
func (x *Index) expire(asOf int64, d *delta) {
	for len(x.expiring) > 0 && x.expiring[0].at <= asOf {
		e := heap.Pop(&x.expiring).(expiry)
		if x.slot(e.seq).kind != None {
			x.remove(e.seq, d)
			x.view.lastExpiry = max(x.view.lastExpiry, e.at)
		}
	}
	x.view.expired = max(x.view.expired, asOf)
	x.view.nextExpiry = 0
	if len(x.expiring) > 0 {
		x.view.nextExpiry = x.expiring[0].at
	}
}

// applyDelta moves the loaded parts on.
func (x *Index) applyDelta(d *delta) {
	v := &x.view
	if removed := d.removed[Claim]; v.AllFacts != nil && len(d.facts)+len(removed) > 0 {
		v.AllFacts = v.AllFacts.Apply(d.facts, removed)
	}
	if v.AllNotes != nil && len(d.docs)+len(d.removed[Note])+len(d.removed[Claim]) > 0 {
		v.AllNotes = v.AllNotes.Apply(d.docs, append(d.removed[Note], d.removed[Claim]...))
	}
	if removed := d.removed[Bridge]; v.Rewrites != nil && len(d.bridges)+len(removed) > 0 {
		v.Rewrites = v.Rewrites.Apply(d.bridges, removed)
	}
	if d.relations {
		v.Relations = x.sortedRelations()
		if v.AllFacts != nil {
			v.AllFacts = v.AllFacts.WithRelations(v.Relations)
		}
	}
}

// slot returns the slot of a record, making room for it. Chunks are shared with
// older views, which never look past what they know.
func (x *Index) slot(seq uint64) *slot {
	i := seq - 1
	for i/chunkSize >= uint64(len(x.view.chunks)) {
		x.view.chunks = append(x.view.chunks, new(chunk))
	}
	return &x.view.chunks[i/chunkSize][i%chunkSize]
}

type expiry struct {
	at  int64
	seq uint64
}

// expiryHeap is a min-heap by time.
type expiryHeap []expiry

func (h expiryHeap) Len() int           { return len(h) }
func (h expiryHeap) Less(i, j int) bool { return h[i].at < h[j].at }
func (h expiryHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *expiryHeap) Push(v any)        { *h = append(*h, v.(expiry)) }
func (h *expiryHeap) Pop() any {
	old := *h
	last := old[len(old)-1]
	*h = old[:len(old)-1]
	return last
}
