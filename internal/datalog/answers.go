package datalog

import (
	"cmp"
	"math"
	"slices"
)

// answer makes the answers of the matches, or sets the bound that they break.
func (j *join) answer(result *Result) error {
	groups := j.group()
	if len(groups) > j.limits.Alternatives {
		result.Bound = BoundAnswers
		return nil
	}
	p := j.newProofs()
	total, counts := 0, make([]int, len(groups))
	for i := range groups {
		if err := j.tick(len(groups[i])); err != nil {
			return err
		}
		groups[i], counts[i] = p.minimal(groups[i])
		total = add(total, counts[i])
	}
	result.AlternativesComplete = total <= j.limits.Alternatives
	share(counts, j.limits.Alternatives)
	result.Answers = make([]Answer, len(groups))
	binds := make([]uint32, 0, len(groups)*len(j.selects))
	for i, matches := range groups {
		if err := j.tick(len(matches) + counts[i]); err != nil {
			return err
		}
		terms := j.terms(int(matches[0]))
		for _, n := range j.selects {
			binds = append(binds, terms[j.column[n]])
		}
		result.Answers[i] = Answer{
			Bind:   binds[i*len(j.selects) : len(binds) : len(binds)],
			Proofs: p.first(matches, counts[i]),
		}
	}
	return nil
}

func (j *join) terms(match int) []uint32 {
	return j.now.terms[match*j.now.width : (match+1)*j.now.width]
}

// group cuts the matches into those of each answer, in the order of the answers.
func (j *join) group() [][]int32 {
	order := make([]int32, j.now.count)
	for i := range order {
		order[i] = int32(i)
	}
	compare := func(a, b int32) int {
		x, y := j.terms(int(a)), j.terms(int(b))
		for _, n := range j.selects {
			if c := j.column[n]; x[c] != y[c] {
				return j.facts.Compare(x[c], y[c])
			}
		}
		return 0
	}
	slices.SortFunc(order, compare)
	var groups [][]int32
	for low := 0; low < len(order); {
		high := low + 1
		for high < len(order) && compare(order[low], order[high]) == 0 {
			high++
		}
		groups = append(groups, order[low:high:high])
		low = high
	}
	return groups
}

// share cuts counts down to a total: each keeps one, then each that has more
// gets one more in turn.
func share(counts []int, total int) {
	sum := 0
	for _, n := range counts {
		sum = add(sum, n)
	}
	if sum <= total {
		return
	}
	// The greatest level up to which all can be filled, and what is left then.
	filled := func(level int) int {
		sum := 0
		for _, n := range counts {
			sum = add(sum, min(n, level))
		}
		return sum
	}
	low, high := 1, total
	for low < high {
		if middle := (low + high + 1) / 2; filled(middle) <= total {
			low = middle
		} else {
			high = middle - 1
		}
	}
	left := total - filled(low)
	for i, n := range counts {
		counts[i] = min(n, low)
		if n > low && left > 0 {
			counts[i]++
			left--
		}
	}
}

func add(a, b int) int {
	if a > math.MaxInt-b {
		return math.MaxInt
	}
	return a + b
}

func times(a, b int) int {
	if a > 0 && b > math.MaxInt/a {
		return math.MaxInt
	}
	return a * b
}

// set is a set of at most MaxAtoms facts by their least records, ascending, or
// of records.
type set struct {
	ids [MaxAtoms]uint64
	n   int
}

func (s *set) slice() []uint64 { return s.ids[:s.n] }

func compareSets(a, b *set) int {
	return cmp.Or(cmp.Compare(a.n, b.n), slices.Compare(a.slice(), b.slice()))
}

// add puts an id in its place; ids come in any order, some twice.
func (s *set) add(id uint64) {
	at := s.n
	for at > 0 && s.ids[at-1] > id {
		at--
	}
	if at > 0 && s.ids[at-1] == id {
		return
	}
	copy(s.ids[at+1:s.n+1], s.ids[at:s.n])
	s.ids[at] = id
	s.n++
}

// proofs are the facts of each match.
type proofs struct {
	sets   []set
	copies map[uint64][]uint64 // least record → all records, of facts with several
}

func (j *join) newProofs() *proofs {
	p := &proofs{sets: make([]set, j.now.count)}
	for m := range p.sets {
		for i, word := range j.now.words[m*j.now.depth : (m+1)*j.now.depth] {
			p.sets[m].add(word & recordMask)
			if word&moreFlag != 0 {
				p.note(j, i, m, word&recordMask)
			}
		}
	}
	return p
}

// note looks up all records of a fact of a match.
func (p *proofs) note(j *join, step, match int, id uint64) {
	if _, ok := p.copies[id]; ok {
		return
	}
	if p.copies == nil {
		p.copies = make(map[uint64][]uint64)
	}
	s := &j.steps[step]
	terms := j.terms(match)
	p.copies[id] = j.facts.StatementRecords(j.term(s.Entity, terms), s.Predicate.number, j.term(s.Value, terms))
}

// minimal leaves of an answer's matches one for each set of facts that contains
// no other, in order, and returns how many alternatives they make.
func (p *proofs) minimal(matches []int32) (kept []int32, alternatives int) {
	slices.SortFunc(matches, func(a, b int32) int { return compareSets(&p.sets[a], &p.sets[b]) })
	kept = matches[:0]
	least := p.sets[matches[0]].n
	var smaller map[set]bool
	if p.sets[matches[len(matches)-1]].n > least {
		smaller = make(map[set]bool)
	}
	var last *set
	for _, m := range matches {
		s := &p.sets[m]
		if last != nil && *last == *s || s.n > least && containsOne(smaller, s) {
			continue
		}
		if smaller != nil {
			smaller[*s] = true
		}
		last = s
		kept = append(kept, m)
		alternatives = add(alternatives, p.count(s))
	}
	return kept, alternatives
}

// containsOne reports whether a set has a proper part among sets.
func containsOne(sets map[set]bool, s *set) bool {
	for part := 1; part < 1<<s.n-1; part++ {
		var sub set
		for i := range s.n {
			if part>>i&1 == 1 {
				sub.ids[sub.n] = s.ids[i]
				sub.n++
			}
		}
		if sets[sub] {
			return true
		}
	}
	return false
}

// count returns how many sets of records a set of facts makes.
func (p *proofs) count(s *set) int {
	if p.copies == nil {
		return 1
	}
	n := 1
	for _, id := range s.slice() {
		if all, ok := p.copies[id]; ok {
			n = times(n, len(all))
		}
	}
	return n
}

// first lists the first alternatives of an answer.
func (p *proofs) first(matches []int32, count int) [][]uint64 {
	out := make([][]uint64, 0, count)
	if p.copies == nil {
		for _, m := range matches[:count] {
			out = append(out, p.sets[m].slice())
		}
		return out
	}
	for low := 0; low < len(matches) && len(out) < count; {
		high := low
		var queue choices
		for high < len(matches) && p.sets[matches[high]].n == p.sets[matches[low]].n {
			c := newChoice(p, &p.sets[matches[high]])
			if c.advance() {
				queue.push(c)
			}
			high++
		}
		for len(queue) > 0 && len(out) < count {
			out = append(out, append([]uint64(nil), queue[0].ids()...))
			queue.next()
		}
		low = high
	}
	return out
}
