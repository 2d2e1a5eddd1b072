package packing

import (
	"math"
	"slices"
)

// The greatest problems that branch and bound is tried on, and its work: one
// unit is one look at an item of an alternative.
const (
	boundedAnswers = 2_000
	boundedItems   = 20_000
	boundedWork    = 300_000_000
	orderedWork    = 100_000_000
)

func (s *search) boundable() bool {
	return len(s.answers) <= boundedAnswers && len(s.ids) <= boundedItems
}

// bounded looks for the optimum by branch and bound. It reports whether it has
// proved one; what it has found stays as the best so far either way.
//
// The search is over sets of items: an answer is settled once some alternative of
// it lies inside the set, and then costs its cheapest such line. Branching takes
// an open answer and tries its alternatives; once one was tried, its siblings
// need only look at sets that do not hold it, which for an alternative of one
// missing item bars that item.
func (s *search) bounded() (bool, error) {
	b := &brancher{search: s, used: make([]bool, len(s.ids)), barred: make([]bool, len(s.ids)), residual: make([]int, len(s.ids)), share: make([]int, len(s.ids)), left: boundedWork}
	b.greedy()
	if err := b.branch(s.headSize); err != nil {
		return false, err
	}
	if b.left <= 0 {
		return false, nil
	}
	// The optimum's size is known. Of all combinations of that size the first is wanted.
	o := &ordered{brancher: b, choice: make([]int, len(s.answers)), target: s.size}
	b.left = orderedWork
	clear(b.used)
	clear(b.barred)
	found, err := o.from(0, s.headSize)
	if err != nil {
		return false, err
	}
	if found {
		s.best = o.choice
	}
	return true, nil
}

type brancher struct {
	*search
	used, barred []bool
	residual     []int // of each item's size, what no answer has claimed yet
	share        []int // scratch
	left         int   // work left
	nodes        int64
}

// missing returns the size that an alternative would add, or -1 if it is barred.
func (b *brancher) missing(alt *alternative) int {
	add := 0
	for _, item := range alt.items {
		if b.used[item] {
			continue
		}
		if b.barred[item] {
			return -1
		}
		add += b.itemSizes[item]
	}
	b.left -= len(alt.items)
	return add
}

// greedy makes a first combination: each answer in turn takes what adds least.
func (b *brancher) greedy() {
	clear(b.used)
	for i := range b.answers {
		best, at := math.MaxInt, 0
		for c := range b.answers[i].alternatives {
			alt := &b.answers[i].alternatives[c]
			if add := b.missing(alt) + alt.size; add < best {
				best, at = add, c
			}
		}
		b.use(b.answers[i].alternatives[at].items, nil)
	}
	b.complete()
	clear(b.used)
}

// use puts items into the set; those that were new are appended to undo.
func (b *brancher) use(items, undo []int) []int {
	for _, item := range items {
		if !b.used[item] {
			b.used[item] = true
			undo = append(undo, item)
		}
	}
	return undo
}

// complete takes the set as it is: every answer takes its cheapest line inside
// it, the first of equals; items that no answer then needs are not in the packet.
func (b *brancher) complete() {
	choice := make([]int, len(b.answers))
	held := make([]bool, len(b.ids))
	size := b.headSize
	for i := range b.answers {
		best := math.MaxInt
		for c := range b.answers[i].alternatives {
			alt := &b.answers[i].alternatives[c]
			if alt.size < best && b.inside(alt) {
				best, choice[i] = alt.size, c
			}
		}
		size += best
		for _, item := range b.answers[i].alternatives[choice[i]].items {
			if !held[item] {
				held[item] = true
				size += b.itemSizes[item]
			}
		}
	}
	b.tried++
	if size < b.size {
		b.size = size
		b.best = choice
	}
}

func (b *brancher) inside(alt *alternative) bool {
	for _, item := range alt.items {
		if !b.used[item] {
			return false
		}
	}
	return true
}

// branch explores the sets that hold what is used and nothing that is barred.
// sum is the size of the head and of the used items.
func (b *brancher) branch(sum int) error {
	if b.nodes++; b.nodes%checkEvery == 0 {
		if err := b.ctx.Err(); err != nil {
			return err
		}
		if b.options.Progress != nil {
			b.options.Progress(b.tried, b.total)
		}
	}
	if b.left <= 0 {
		return nil
	}
	bound, open := b.bound(sum)
	if bound >= b.size {
		return nil
	}
	if open < 0 {
		b.complete()
		return nil
	}
	return b.tryAlternatives(open, sum)
}

func (b *brancher) tryAlternatives(open, sum int) error {
	var barred []int
	defer func() {
		for _, item := range barred {
			b.barred[item] = false
		}
	}()
	for _, c := range b.cheapestFirst(open) {
		alt := &b.answers[open].alternatives[c]
		add := b.missing(alt)
		if add < 0 {
			continue
		}
		undo := b.use(alt.items, nil)
		err := b.branch(sum + add)
		for _, item := range undo {
			b.used[item] = false
		}
		if err != nil {
			return err
		}
		if len(undo) == 1 {
			b.barred[undo[0]] = true
			barred = append(barred, undo[0])
		}
	}
	return nil
}

// cheapestFirst orders an answer's alternatives by what they would add.
func (b *brancher) cheapestFirst(i int) []int {
	type choice struct{ at, add int }
	var all []choice
	for c := range b.answers[i].alternatives {
		alt := &b.answers[i].alternatives[c]
		if add := b.missing(alt); add >= 0 {
			all = append(all, choice{c, add + alt.size})
		}
	}
	slices.SortStableFunc(all, func(x, y choice) int { return x.add - y.add })
	out := make([]int, len(all))
	for j, c := range all {
		out[j] = c.at
	}
	return out
}

// bound returns a size that no completion goes below, and the open answer with
// the fewest alternatives left, -1 if none is open. It is MaxInt if some answer
// has no alternative left.
//
// Each open answer claims of the items that its alternatives miss as much as its
// cheapest alternative costs, every alternative paying its share from what the
// answers before have left. The claims are a feasible solution of the dual of the
// covering problem's relaxation, so their sum is a valid bound.
func (b *brancher) bound(sum int) (bound, open int) {
	copy(b.residual, b.itemSizes)
	open = -1
	fewest := math.MaxInt
	bound = sum
	for i := range b.answers {
		a := &b.answers[i]
		line, claim, alive, settled := math.MaxInt, math.MaxInt, 0, false
		for c := range a.alternatives {
			alt := &a.alternatives[c]
			if b.missing(alt) < 0 {
				continue
			}
			alive++
			line = min(line, alt.size)
			left := 0
			for _, item := range alt.items {
				if !b.used[item] {
					left += b.residual[item]
				}
			}
			claim = min(claim, left)
			settled = settled || b.inside(alt)
		}
		if alive == 0 {
			return math.MaxInt, -1
		}
		bound += line
		if settled {
			continue
		}
		if alive < fewest {
			fewest, open = alive, i
		}
		if claim > 0 {
			b.claim(a, claim)
			bound += claim
		}
	}
	return bound, open
}

// claim takes the claim from the items of each alternative that is left. An item
// that several alternatives share pays once.
func (b *brancher) claim(a *answer, claim int) {
	for c := range a.alternatives {
		alt := &a.alternatives[c]
		if b.missing(alt) < 0 {
			continue
		}
		need := claim
		for _, item := range alt.items {
			need -= b.share[item]
		}
		for _, item := range alt.items {
			if b.used[item] || need <= 0 {
				continue
			}
			pay := min(need, b.residual[item]-b.share[item])
			b.share[item] += pay
			need -= pay
		}
	}
	for c := range a.alternatives {
		for _, item := range a.alternatives[c].items {
			b.residual[item] -= b.share[item]
			b.share[item] = 0
		}
	}
}

// ordered looks for the first combination, in their order, of a known size.
type ordered struct {
	*brancher
	choice []int
	target int
}

// from goes on with answer i; sum is the size of the head, of the lines chosen
// before and of the used items.
func (o *ordered) from(i, sum int) (bool, error) {
	if o.nodes++; o.nodes%checkEvery == 0 && o.ctx.Err() != nil {
		return false, o.ctx.Err()
	}
	if o.left <= 0 || sum > o.target {
		return false, nil
	}
	if i == len(o.answers) {
		return sum == o.target, nil
	}
	if o.boundFrom(i, sum) > o.target {
		return false, nil
	}
	for c := range o.answers[i].alternatives {
		alt := &o.answers[i].alternatives[c]
		add := o.missing(alt)
		undo := o.use(alt.items, nil)
		o.choice[i] = c
		found, err := o.from(i+1, sum+add+alt.size)
		for _, item := range undo {
			o.used[item] = false
		}
		if found || err != nil {
			return found, err
		}
	}
	return false, nil
}

// boundFrom is bound for the answers from i on.
func (o *ordered) boundFrom(i, sum int) int {
	rest := brancher{search: &search{answers: o.answers[i:], itemSizes: o.itemSizes}, used: o.used, barred: o.barred, residual: o.residual, share: o.share}
	bound, _ := rest.bound(sum)
	o.left += rest.left
	return bound
}
