// Package facts holds one scope's eligible asserted claims as an immutable set
// that can be joined: every statement by predicate and entity, and by predicate
// and value, with the records that say it.
//
// A statement is one (entity, predicate, value); several records may say the
// same. Terms (entities and values) and predicates are interned: a term is a
// number that belongs to its [Set] and to no other. Predicate names that a
// declared relation lists as aliases are one predicate with its canonical name,
// so that they share their groups.
//
// A group is all statements of one entity under one predicate. It is single if
// the predicate's declared relation is, or, under no declared relation, if any
// record of it was written as single. A single group with two or more different
// values is a contradiction; which groups those are is known at every moment.
//
// # Form
//
// Each predicate has two sorted tables of 64-bit keys, entity<<32|value and
// value<<32|entity, each key with the statement's record. A table is cut into
// chunks of 256 rows that sets share: [Set.Apply] copies the chunks that it
// changes and the directory that lists them, so that a single write costs some
// microseconds and nothing that a reader holds ever changes. A record takes 52
// bytes beside its texts, a term 16 beside its text. After as many changes as
// there are records the set is built anew, which drops the texts that are no
// longer used.
//
// # Limits
//
// Record ids have 62 bits. A set has at most 2³¹ terms.
package facts

// Fact is one eligible asserted claim.
type Fact struct {
	Record    uint64 // its record id, below 2⁶²
	Entity    string
	Predicate string // as written, in predicate form; relations resolve it
	Value     string
	Single    bool // whether it was written as single-valued
}

// Relation is one declared predicate. Where two relations claim one name, the
// first in the list has it.
type Relation struct {
	Name    string   // the canonical name
	Aliases []string // other names of it
	Single  bool     // the cardinality of all its groups
}

// Item is one statement as seen from one of its ends.
type Item struct {
	Term    uint32   // the other end
	Records []uint64 // the records that say it, ascending
}

// A word is a statement's first record with two flags on top.
const (
	moreFlag   = 1 << 63 // further records say the same
	singleFlag = 1 << 62 // at least one of them was written as single
	recordMask = singleFlag - 1
)

// row is what is kept of one record: its statement by terms, as written.
type row struct {
	predicate uint32 // the term of the written name; the top bit: written as single
	entity    uint32
	value     uint32
}

const rowSingle = 1 << 31

func (r row) name() uint32 { return r.predicate &^ rowSingle }
func (r row) single() bool { return r.predicate&rowSingle != 0 }

// copies are the records of a statement that several records say.
type copies struct {
	records table[bool] // record → written as single
	singles int
}

type none = struct{}

type cardinality uint8

const (
	undeclared cardinality = iota
	declaredSingle
	declaredMulti
)

// predicate is everything known under one canonical name.
type predicate struct {
	name      uint32
	byEntity  table[uint64] // entity<<32|value → word
	byValue   table[uint64] // value<<32|entity → word
	more      table[copies] // entity<<32|value → its records, where there are several
	conflicts table[none]   // the entities of contradictory groups
	declared  cardinality
	entities  int // different entities
	values    int // different values
	singles   int // statements with a record written as single
}

// Set is an immutable set of facts. It is safe for concurrent use.
type Set struct {
	terms      *dictionary
	records    table[row]
	predicates []*predicate
	numbers    table[uint32] // the term of a canonical name → index in predicates
	relations  []Relation
	names      resolver
	conflicts  int // contradictory groups in all
	edits      int // rows changed since the set was built
}

func pair(high, low uint32) uint64 { return uint64(high)<<32 | uint64(low) }

// contradictory computes whether a group contradicts itself.
func (p *predicate) contradictory(entity uint32) bool {
	if p.declared == declaredMulti || p.byEntity.count(entity) < 2 {
		return false
	}
	if p.declared == declaredSingle {
		return true
	}
	if p.singles == 0 {
		return false
	}
	skip, more := 0, true
	for more {
		var words []uint64
		_, words, more = p.byEntity.run(entity, skip)
		for _, w := range words {
			if w&singleFlag != 0 {
				return true
			}
		}
		skip += len(words)
	}
	return false
}

// findConflicts computes all contradictory groups from scratch.
func (p *predicate) findConflicts() {
	p.conflicts = table[none]{}
	if p.declared == declaredMulti || p.declared == undeclared && p.singles == 0 {
		return
	}
	var found []uint64
	var entity uint32
	values, single := 0, p.declared == declaredSingle
	flush := func() {
		if values > 1 && single {
			found = append(found, uint64(entity))
		}
		values, single = 0, p.declared == declaredSingle
	}
	for _, c := range p.byEntity.chunks {
		for i, key := range c.keys {
			if e := uint32(key >> 32); e != entity || values == 0 {
				flush()
				entity = e
			}
			values++
			single = single || c.values[i]&singleFlag != 0
		}
	}
	flush()
	p.conflicts = newTable(found, make([]none, len(found)))
}
