package datalog

import (
	"math/bits"
	"slices"
)

// proofs are the facts of each match, each by its least record.
type proofs struct {
	depth  int
	ids    []uint64            // depth for each match; ascending, of the different ones
	sizes  []uint8             // how many different facts a match has; nil: depth
	copies map[uint64][]uint64 // least record → all records, of facts with several
	out    [][]uint64          // room for alternatives
}

// newProofs follows the trails of all matches back. It visits them in the order
// in which their proofs will be read.
func (j *join) newProofs(order []int32) (*proofs, error) {
	depth := len(j.steps)
	p := &proofs{depth: depth, ids: make([]uint64, len(order)*depth)}
	if j.repeats() {
		p.sizes = make([]uint8, len(order))
	}
	for place, m := range order {
		if err := j.tick(1); err != nil {
			return nil, err
		}
		ids := p.ids[place*depth : (place+1)*depth]
		flags, at := uint64(0), m
		for i := depth - 1; i >= 0; i-- {
			t := &j.trails[i]
			word := t.words[at]
			at = t.parents[at]
			flags |= word
			insert(ids[i:], word&recordMask)
		}
		if flags&moreFlag != 0 {
			p.note(j, m)
		}
		if p.sizes != nil {
			p.sizes[place] = uint8(len(slices.Compact(ids)))
		}
	}
	return p, nil
}

// insert puts an id, in the first place, where it belongs among ascending ones.
func insert(ids []uint64, id uint64) {
	i := 0
	for ; i+1 < len(ids) && ids[i+1] < id; i++ {
		ids[i] = ids[i+1]
	}
	ids[i] = id
}

// repeats reports whether two atoms can be the same fact.
func (j *join) repeats() bool {
	for i := range j.steps {
		for k := range i {
			if j.steps[i].Predicate == j.steps[k].Predicate {
				return true
			}
		}
	}
	return false
}

// note looks up all records of the facts of a match that several records say.
func (p *proofs) note(j *join, match int32) {
	if p.copies == nil {
		p.copies = make(map[uint64][]uint64)
	}
	terms := j.now.of(int(match))
	for i := len(j.steps) - 1; i >= 0; i-- {
		s, t := &j.steps[i], &j.trails[i]
		word := t.words[match]
		match = t.parents[match]
		if word&moreFlag == 0 || p.copies[word&recordMask] != nil {
			continue
		}
		p.copies[word&recordMask] = j.facts.StatementRecords(j.term(s.Entity, terms), s.Predicate.number, j.term(s.Value, terms))
	}
}

// set returns the facts of the match at a place in the order of answers.
func (p *proofs) set(place int32) []uint64 {
	n := p.depth
	if p.sizes != nil {
		n = int(p.sizes[place])
	}
	low := int(place) * p.depth
	return p.ids[low : low+n : low+n]
}

// fewSets is up to how many smaller sets a set is compared with each of them.
const fewSets = 16

// minimal leaves of an answer's matches, given by their places, one for each set
// of facts that contains no other, in order, and returns how many alternatives
// they make.
func (p *proofs) minimal(places []int32) (kept []int32, alternatives int) {
	if len(places) > 1 {
		p.sort(places)
		if p.sizes != nil {
			places = p.strike(places)
		}
	}
	if p.copies == nil {
		return places, len(places)
	}
	for _, place := range places {
		n := 1
		for _, id := range p.set(place) {
			if all, ok := p.copies[id]; ok {
				n = times(n, len(all))
			}
		}
		alternatives = add(alternatives, n)
	}
	return places, alternatives
}

// sort orders matches by size, then by ids.
func (p *proofs) sort(places []int32) {
	// The least id mostly decides, and is at hand here.
	type keyed struct {
		size  int
		least uint64
		place int32
	}
	sets := make([]keyed, len(places))
	for i, place := range places {
		set := p.set(place)
		sets[i] = keyed{len(set), set[0], place}
	}
	slices.SortFunc(sets, func(a, b keyed) int {
		switch {
		case a.size != b.size:
			return a.size - b.size
		case a.least < b.least:
			return -1
		case a.least > b.least:
			return 1
		}
		return slices.Compare(p.set(a.place), p.set(b.place))
	})
	for i := range sets {
		places[i] = sets[i].place
	}
}

// strike drops sets that contain another, from sets in order.
func (p *proofs) strike(places []int32) []int32 {
	kept := places[:0]
	var smaller smallerSets
	for _, place := range places {
		set := p.set(place)
		if n := len(kept); n > 0 {
			last := p.set(kept[n-1])
			if slices.Equal(last, set) {
				continue
			}
			if len(last) < len(set) {
				smaller.learn(p, kept)
			}
		}
		if !smaller.partOf(p, set) {
			kept = append(kept, place)
		}
	}
	return kept
}

// smallerSets are the sets kept that are smaller than the one at hand.
type smallerSets struct {
	places []int32
	sizes  uint                      // which sizes they have, a bit each
	known  map[[MaxAtoms]uint64]bool // the sets, once they are many
}

// learn goes on to sets of a greater size: all that are kept are smaller.
func (s *smallerSets) learn(p *proofs, kept []int32) {
	fresh := kept[len(s.places):]
	s.places = kept
	s.sizes |= 1 << len(p.set(kept[len(kept)-1]))
	if len(kept) <= fewSets {
		return
	}
	if s.known == nil {
		s.known = make(map[[MaxAtoms]uint64]bool, len(kept))
		fresh = kept
	}
	for _, place := range fresh {
		s.known[arrayOf(p.set(place))] = true
	}
}

// partOf reports whether one of the sets is a part of another.
func (s *smallerSets) partOf(p *proofs, set []uint64) bool {
	if s.known == nil {
		for _, place := range s.places {
			if containsAll(set, p.set(place)) {
				return true
			}
		}
		return false
	}
	for choice := uint(1); choice < 1<<len(set)-1; choice++ {
		if s.sizes>>bits.OnesCount(choice)&1 == 0 {
			continue
		}
		var part [MaxAtoms]uint64
		n := 0
		for i, id := range set {
			if choice>>i&1 == 1 {
				part[n] = id
				n++
			}
		}
		if s.known[arrayOf(part[:n])] {
			return true
		}
	}
	return false
}

func arrayOf(ids []uint64) (out [MaxAtoms]uint64) {
	copy(out[:], ids)
	for i := len(ids); i < MaxAtoms; i++ {
		out[i] = 1<<64 - 1
	}
	return out
}

// containsAll reports whether ascending ids have all of others.
func containsAll(ids, others []uint64) bool {
	i := 0
	for _, other := range others {
		for i < len(ids) && ids[i] < other {
			i++
		}
		if i == len(ids) || ids[i] != other {
			return false
		}
	}
	return true
}

// first lists the first alternatives of an answer.
func (p *proofs) first(places []int32, count int) [][]uint64 {
	begin := len(p.out)
	if p.copies == nil {
		for _, place := range places[:count] {
			p.out = append(p.out, p.set(place))
		}
		return p.out[begin:len(p.out):len(p.out)]
	}
	for low := 0; low < len(places) && len(p.out)-begin < count; {
		size := len(p.set(places[low]))
		var queue choices
		for ; low < len(places) && len(p.set(places[low])) == size; low++ {
			c := p.newChoice(p.set(places[low]))
			c.advance()
			queue = append(queue, c)
		}
		for len(queue) > 0 && len(p.out)-begin < count {
			p.out = append(p.out, slices.Clone(queue[0].ids))
			queue.next()
		}
	}
	return p.out[begin:len(p.out):len(p.out)]
}
