package rank

import (
	"context"
	"slices"

	"github.com/grounded-memory/grounded/internal/notes"
)

// scored is a note with its BM25 score for one variant.
type scored struct {
	ref    notes.Ref
	record uint64
	score  uint32
}

// better orders by score, then by record.
func better(a, b scored) int {
	switch {
	case a.score != b.score:
		return int(int64(b.score) - int64(a.score))
	case a.record < b.record:
		return -1
	}
	return 1
}

// search finds the limit best notes for a question, exactly.
//
// It goes through the postings of one term after another, the rarest first, and
// adds up impacts. As soon as the terms that are left could not lift a note that
// has none of the others among the best, their postings are not gone through:
// the notes that are still in question are few, and their words are looked at.
func search(ctx context.Context, x *notes.Index, scores *bm25, q *question, limit int) ([]scored, error) {
	s := searcher{index: x, scores: scores, question: q, limit: limit, sums: make([][]uint32, x.Segments())}
	rest := make([]uint64, len(q.terms)+1)
	for i := len(q.terms) - 1; i >= 0; i-- {
		rest[i] = rest[i+1] + uint64(q.terms[i].best)
	}
	next := 0
	for ; next < len(q.terms); next++ {
		// No note has more so far than what the terms before can give.
		if len(s.touched) >= limit && rest[next] < rest[0]-rest[next] && rest[next] < uint64(s.threshold()) {
			break
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		s.add(&q.terms[next])
	}
	return s.finish(next, rest[next]), ctx.Err()
}

type searcher struct {
	index    *notes.Index
	scores   *bm25
	question *question
	limit    int
	sums     [][]uint32 // by segment, by document
	touched  []notes.Ref
	scratch  []uint32
}

// add goes through one term's postings.
func (s *searcher) add(t *term) {
	for i := range s.index.Segments() {
		if t.ids[i] == absent {
			continue
		}
		segment := s.index.Segment(i)
		if s.sums[i] == nil {
			s.sums[i] = make([]uint32, segment.Docs())
		}
		sums, codes, live := s.sums[i], segment.LengthCodes(), segment.AllLive()
		docs, frequencies := segment.Postings(t.ids[i])
		for j, doc := range docs {
			if !live && segment.Dead(doc) {
				continue
			}
			if sums[doc] == 0 {
				s.touched = append(s.touched, notes.Ref{Segment: uint32(i), Doc: doc})
			}
			// A posting always counts, however little: a zero would look untouched.
			sums[doc] += max(1, impact(t.idf, s.scores.saturation(frequencies[j], codes[doc])))
		}
	}
}

// threshold is the limit-th greatest sum so far.
func (s *searcher) threshold() uint32 {
	s.scratch = s.scratch[:0]
	for _, ref := range s.touched {
		s.scratch = append(s.scratch, s.sums[ref.Segment][ref.Doc])
	}
	return nth(s.scratch, s.limit-1)
}

// nth returns the n-th greatest number, from 0. It reorders the numbers.
func nth(numbers []uint32, n int) uint32 {
	low, high := 0, len(numbers)-1
	for low < high {
		pivot := numbers[(low+high)/2]
		i, j := low, high
		for i <= j {
			for numbers[i] > pivot {
				i++
			}
			for numbers[j] < pivot {
				j--
			}
			if i <= j {
				numbers[i], numbers[j] = numbers[j], numbers[i]
				i++
				j--
			}
		}
		switch {
		case n <= j:
			high = j
		case n >= i:
			low = i
		default:
			return numbers[n]
		}
	}
	return numbers[n]
}

// finish adds the terms from next on, which can give rest at most, to the notes
// that may still be among the best, and returns the best.
func (s *searcher) finish(next int, rest uint64) []scored {
	f := finisher{searcher: s, terms: s.question.terms[next:], tables: make([]*stemTable, s.index.Segments())}
	if len(s.touched) > s.limit {
		// Those that lead so far come first: their whole scores are what the others
		// have to beat.
		leading := s.threshold()
		for i, n := 0, 0; i < len(s.touched) && n < s.limit; i++ {
			if ref := s.touched[i]; s.sums[ref.Segment][ref.Doc] >= leading {
				s.touched[i], s.touched[n] = s.touched[n], ref
				n++
			}
		}
	}
	for _, ref := range s.touched {
		if len(f.best) == s.limit && uint64(s.sums[ref.Segment][ref.Doc])+rest < uint64(f.best[0].score) {
			continue
		}
		f.take(ref)
	}
	slices.SortFunc(f.best, better)
	return f.best
}

// finisher completes scores and keeps the best notes, the worst of them first:
// best is a heap once it is full.
type finisher struct {
	*searcher
	terms  []term // those whose postings were not gone through
	tables []*stemTable
	best   []scored
}

// take looks at a note with its whole score.
func (f *finisher) take(ref notes.Ref) {
	sum := f.sums[ref.Segment][ref.Doc]
	segment := f.index.Segment(int(ref.Segment))
	if len(f.terms) > 0 {
		if f.tables[ref.Segment] == nil {
			f.tables[ref.Segment] = newStemTable(f.terms, int(ref.Segment))
		}
		sum += f.rest(segment, ref.Doc, f.tables[ref.Segment], f.terms)
	}
	one := scored{ref, segment.Record(ref.Doc), sum}
	switch {
	case len(f.best) < f.limit:
		f.best = append(f.best, one)
		if len(f.best) == f.limit {
			for i := f.limit/2 - 1; i >= 0; i-- {
				f.sink(i)
			}
		}
	case better(one, f.best[0]) < 0:
		f.best[0] = one
		f.sink(0)
	}
}

// sink restores the heap below i.
func (f *finisher) sink(i int) {
	for {
		worst := i
		for child := 2*i + 1; child <= 2*i+2 && child < len(f.best); child++ {
			if better(f.best[worst], f.best[child]) < 0 {
				worst = child
			}
		}
		if worst == i {
			return
		}
		f.best[i], f.best[worst] = f.best[worst], f.best[i]
		i = worst
	}
}

// rest scores a note for terms by its words.
func (s *searcher) rest(segment notes.Segment, doc uint32, table *stemTable, terms []term) (sum uint32) {
	var counts [32]uint8
	tf := counts[:min(len(terms), len(counts))]
	if len(terms) > len(counts) {
		tf = make([]uint8, len(terms))
	}
	stems := segment.Stems()
	for _, word := range segment.Words(doc) {
		if i, ok := table.find(stems[word]); ok && tf[i] < 255 {
			tf[i]++
		}
	}
	code := segment.LengthCodes()[doc]
	for i, n := range tf {
		if n > 0 {
			sum += max(1, impact(terms[i].idf, s.scores.saturation(n, code)))
		}
	}
	return sum
}

// stemTable finds the place of a stem among a question's terms: a small hash
// table with linear probing.
type stemTable struct {
	keys   []uint32
	places []int32
	mask   uint32
}

func newStemTable(terms []term, segment int) *stemTable {
	size := 8
	for size < 3*len(terms) {
		size *= 2
	}
	t := &stemTable{make([]uint32, size), make([]int32, size), uint32(size - 1)}
	for i := range t.keys {
		t.keys[i] = absent
	}
	for i := range terms {
		id := terms[i].ids[segment]
		if id == absent {
			continue
		}
		at := hash(id) & t.mask
		for t.keys[at] != absent {
			at = (at + 1) & t.mask
		}
		t.keys[at], t.places[at] = id, int32(i)
	}
	return t
}

func hash(id uint32) uint32 { return id * 0x9E3779B1 >> 7 }

func (t *stemTable) find(id uint32) (int, bool) {
	for at := hash(id) & t.mask; ; at = (at + 1) & t.mask {
		switch t.keys[at] {
		case id:
			return int(t.places[at]), true
		case absent:
			return 0, false
		}
	}
}
