package datalog

import "slices"

// choice goes through the sets of records that one set of facts makes, one
// record of each fact, in the order of their ascending ids. It holds no more
// than the set at hand.
type choice struct {
	lists [][]uint64 // the records of each fact, ascending
	ids   []uint64   // the set at hand
	from  []int      // which list each of ids is from
	begun bool
}

func (p *proofs) newChoice(set []uint64) *choice {
	n := len(set)
	c := &choice{lists: make([][]uint64, n), ids: make([]uint64, n), from: make([]int, n)}
	for i, id := range set {
		if all, ok := p.copies[id]; ok {
			c.lists[i] = all
		} else {
			c.lists[i] = set[i : i+1]
		}
	}
	return c
}

// advance goes to the next set and reports whether there is one.
func (c *choice) advance() bool {
	n := len(c.lists)
	depth, least := 0, uint64(0)
	if c.begun {
		depth = n - 1
		least = c.ids[depth] + 1
	}
	c.begun = true
	for depth < n {
		if list, id, ok := c.pick(depth, least); ok {
			c.ids[depth], c.from[depth] = id, list
			least = id + 1
			depth++
			continue
		}
		if depth == 0 {
			return false
		}
		depth--
		least = c.ids[depth] + 1
	}
	return true
}

// pick returns the least id not below least of a fact not chosen from above, if
// every other such fact has a greater one left.
func (c *choice) pick(depth int, least uint64) (list int, id uint64, ok bool) {
	for i, records := range c.lists {
		if slices.Contains(c.from[:depth], i) {
			continue
		}
		at, _ := slices.BinarySearch(records, least)
		if at == len(records) {
			return 0, 0, false
		}
		if !ok || records[at] < id {
			list, id, ok = i, records[at], true
		}
	}
	// Ids of different facts differ, so that the least of all is below what each
	// of the others offered.
	return list, id, ok
}

// choices is a heap of choices by the set at hand; all sets are of one size. It
// is filled in order, for sets of facts in order begin with sets of records in
// order.
type choices []*choice

func (q choices) less(a, b int) bool { return slices.Compare(q[a].ids, q[b].ids) < 0 }

// next moves the first choice on, or drops it once it has nothing more.
func (q *choices) next() {
	h := *q
	if !h[0].advance() {
		last := len(h) - 1
		h[0] = h[last]
		h[last] = nil
		h = h[:last]
		*q = h
	}
	for i := 0; ; {
		least := i
		for child := 2*i + 1; child <= 2*i+2 && child < len(h); child++ {
			if h.less(child, least) {
				least = child
			}
		}
		if least == i {
			return
		}
		h[i], h[least] = h[least], h[i]
		i = least
	}
}
