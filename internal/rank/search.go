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
// the notes that are still in question are few, and each is looked up in them.
func search(ctx context.Context, x *notes.Index, scores *bm25, q *question, limit int, sums *sums) ([]scored, error) {
	s := searcher{index: x, scores: scores, question: q, limit: limit, sums: sums.bySegment, touched: sums.touched[:0], open: sums.open[:0], scratch: sums.scratch}
	defer s.clear(sums)
	rest := make([]uint64, len(q.terms)+1)
	for i := len(q.terms) - 1; i >= 0; i-- {
		rest[i] = rest[i+1] + uint64(q.terms[i].best)
	}
	next := 0
	for ; next < len(q.terms); next++ {
		// No note has more so far than what the terms before can give.
		if len(s.touched) >= limit && rest[next] < rest[0]-rest[next] && rest[next] < uint64(s.threshold(s.touched)) {
			break
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		s.add(&q.terms[next])
	}
	return s.finish(next, rest), ctx.Err()
}

// sums is the memory of a search, all zero between two of them.
type sums struct {
	bySegment [][]uint32 // by document; nil until it is needed
	touched   []notes.Ref
	open      []notes.Ref
	scratch   []uint32
}

// clear gives the memory back.
func (s *searcher) clear(to *sums) {
	for _, ref := range s.touched {
		s.sums[ref.Segment][ref.Doc] = 0
	}
	to.touched, to.open, to.scratch = s.touched, s.open, s.scratch
}

type searcher struct {
	index    *notes.Index
	scores   *bm25
	question *question
	limit    int
	sums     [][]uint32  // by segment, by document
	touched  []notes.Ref // all that have a sum
	open     []notes.Ref // of them those that may be among the best
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
func (s *searcher) threshold(open []notes.Ref) uint32 {
	s.scratch = s.scratch[:0]
	for _, ref := range open {
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

// finish adds the terms from next on to the notes that may still be among the
// best, and returns the best. rest is what the terms from each on can give.
func (s *searcher) finish(next int, rest []uint64) []scored {
	open := s.contenders(s.touched, rest[next])
	for ; next < len(s.question.terms); next++ {
		s.lookUp(open, &s.question.terms[next])
		open = s.contenders(open, rest[next+1])
	}
	best := make([]scored, len(open))
	for i, ref := range open {
		best[i] = scored{ref, s.index.Segment(int(ref.Segment)).Record(ref.Doc), s.sums[ref.Segment][ref.Doc]}
	}
	slices.SortFunc(best, better)
	return best[:min(s.limit, len(best))]
}

// contenders keeps the notes that rest more could bring among the best.
func (s *searcher) contenders(open []notes.Ref, rest uint64) []notes.Ref {
	if len(open) <= s.limit {
		return open
	}
	least := uint64(s.threshold(open))
	kept := s.open[:0] // after the first time these are the ones given
	for _, ref := range open {
		if uint64(s.sums[ref.Segment][ref.Doc])+rest >= least {
			kept = append(kept, ref)
		}
	}
	s.open = kept
	return kept
}

// lookUp adds a term's impacts to some notes.
func (s *searcher) lookUp(open []notes.Ref, t *term) {
	var docs []uint32
	var frequencies, codes []uint8
	at, segment := 0, -1
	for _, ref := range open {
		if int(ref.Segment) != segment {
			segment, at, docs = int(ref.Segment), 0, nil
			if id := t.ids[segment]; id != absent {
				docs, frequencies = s.index.Segment(segment).Postings(id)
				codes = s.index.Segment(segment).LengthCodes()
			}
		}
		if len(docs) == 0 {
			continue
		}
		if at = seek(docs, at, ref.Doc); at < len(docs) && docs[at] == ref.Doc {
			s.sums[segment][ref.Doc] += max(1, impact(t.idf, s.scores.saturation(frequencies[at], codes[ref.Doc])))
		}
	}
}

// seek returns the first place whose document is not below doc. Notes mostly come
// in ascending order, so it begins where the last one was found.
func seek(docs []uint32, at int, doc uint32) int {
	if at > 0 && docs[at-1] >= doc {
		at = 0
	}
	step := 1
	for at+step <= len(docs) && docs[at+step-1] < doc {
		at += step
		step *= 2
	}
	for n := min(step, len(docs)-at); n > 0; {
		half := n / 2
		if docs[at+half] < doc {
			at += half + 1
			n -= half + 1
		} else {
			n = half
		}
	}
	return at
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
