// Package rank finds the notes of an index that bear on a question and puts
// them in order. Every number is whole: the same index and question give the
// same scores on every machine.
//
// # Candidates
//
// For each variant of a question the best notes by BM25 are found exactly, over
// stems, words joined by OR. Their scores are normalised by the most that the
// variant's own words could give, known to the index or not, so that variants
// can be compared; a note's score is its best over the variants (the fewer
// steps, then the earlier variant, of equal ones). A policy that looks at
// features gets the best [CandidateLimit] of each variant, and for notes in
// sessions the neighbours of the best [Expanded] as well: what answers a question
// often stands beside what repeats its words.
//
// A note is a candidate only if the words that it shares with the variant carry
// at least 1/[FloorShare] of the variant's weight (the sum of its words'
// inverse document frequencies, unknown words included): a question of nonsense
// with one "the" in it finds nothing.
//
// # Policies
//
// A policy turns features ([Features]) into a score. [Conventional] policies
// need no training: bm25, and context, which adds the neighbours' share of the
// question and the naming of the speaker. Package bank holds trained ones.
// Equal scores are ordered by fewer steps, then by record.
package rank

import (
	"context"
	"slices"

	"github.com/grounded-memory/grounded/internal/notes"
)

// The sizes of the candidate set, and the floor.
const (
	CandidateLimit = 200
	Expanded       = 20
	FloorShare     = 12
)

// Variant is one form of a question.
type Variant struct {
	Words []string // in phrase form
	Steps int      // rewrites that led to it
}

// Hit is a note that was found.
type Hit struct {
	Record  uint64
	Score   int64
	Variant int // the variant that won
}

// Candidate is a note with what a policy looks at.
type Candidate struct {
	Record   uint64
	Variant  int
	Features Features
}

// Top returns the k best notes by a policy.
func Top(ctx context.Context, x *notes.Index, variants []Variant, policy Policy, k int) ([]Hit, error) {
	limit := k
	if policy.NeedsFeatures() {
		limit = CandidateLimit
	}
	pool, err := gather(ctx, x, variants, limit)
	if err != nil || len(pool.best) == 0 {
		return nil, err
	}
	if policy.NeedsFeatures() {
		if err := pool.measure(ctx); err != nil {
			return nil, err
		}
	}
	hits := make([]Hit, len(pool.best))
	for i := range pool.best {
		c := &pool.best[i]
		hits[i] = Hit{c.record, policy.Score(&c.features), c.variant}
	}
	slices.SortFunc(hits, func(a, b Hit) int {
		switch {
		case a.Score != b.Score:
			return sign(b.Score - a.Score)
		case variants[a.Variant].Steps != variants[b.Variant].Steps:
			return variants[a.Variant].Steps - variants[b.Variant].Steps
		}
		return sign(int64(a.Record) - int64(b.Record))
	})
	return hits[:min(k, len(hits))], nil
}

// Candidates returns the candidates of a question with their features, by
// record. Training and evaluation use it.
func Candidates(ctx context.Context, x *notes.Index, variants []Variant) ([]Candidate, error) {
	pool, err := gather(ctx, x, variants, CandidateLimit)
	if err != nil {
		return nil, err
	}
	if err := pool.measure(ctx); err != nil {
		return nil, err
	}
	out := make([]Candidate, len(pool.best))
	for i, c := range pool.best {
		out[i] = Candidate{c.record, c.variant, c.features}
	}
	slices.SortFunc(out, func(a, b Candidate) int { return sign(int64(a.Record) - int64(b.Record)) })
	return out, nil
}

func sign(n int64) int {
	switch {
	case n < 0:
		return -1
	case n > 0:
		return 1
	}
	return 0
}

// candidate is a note in the making.
type candidate struct {
	scored
	variant  int
	relative int32 // the normalised score, 0 to Full
	features Features
}

// pool is the candidates of one call.
type pool struct {
	ctx       context.Context
	index     *notes.Index
	scores    *bm25
	variants  []Variant
	questions []*question
	best      []candidate // by falling relative score
	place     map[notes.Ref]int
}

// gather finds the candidates of all variants by BM25.
func gather(ctx context.Context, x *notes.Index, variants []Variant, limit int) (*pool, error) {
	p := &pool{ctx: ctx, index: x, scores: newBM25(x.Stats()), variants: variants, place: map[notes.Ref]int{}}
	memory := &sums{bySegment: make([][]uint32, x.Segments())}
	for v, variant := range variants {
		q := lookUp(x, p.scores, variant.Words)
		p.questions = append(p.questions, q)
		if q.known == 0 {
			continue
		}
		found, err := search(ctx, x, p.scores, q, limit, memory)
		if err != nil {
			return nil, err
		}
		for _, s := range found {
			p.offer(candidate{scored: s, variant: v, relative: relative(s.score, q)})
		}
	}
	p.best = slices.DeleteFunc(p.best, func(c candidate) bool { return !p.aboveFloor(&c) })
	slices.SortFunc(p.best, func(a, b candidate) int {
		switch {
		case a.relative != b.relative:
			return int(b.relative - a.relative)
		case variants[a.variant].Steps != variants[b.variant].Steps:
			return variants[a.variant].Steps - variants[b.variant].Steps
		}
		return sign(int64(a.record) - int64(b.record))
	})
	clear(p.place) // some have gone, and the others stand elsewhere
	for i := range p.best {
		p.best[i].features[BM25] = p.best[i].relative
		p.place[p.best[i].ref] = i
	}
	return p, nil
}

// Full is the greatest value of a feature.
const Full = 1 << 14

// relative is a score in parts of what its question's words could give.
func relative(score uint32, q *question) int32 {
	return int32(min(Full, uint64(score)*Full/max(1, q.best)))
}

// offer takes a candidate in, or keeps the better variant of one that is in.
func (p *pool) offer(c candidate) {
	i, ok := p.place[c.ref]
	if !ok {
		p.place[c.ref] = len(p.best)
		p.best = append(p.best, c)
		return
	}
	old := &p.best[i]
	if c.relative > old.relative || c.relative == old.relative && p.variants[c.variant].Steps < p.variants[old.variant].Steps {
		*old = c
	}
}

// aboveFloor says whether the words that a note shares with its variant carry
// enough of the variant's weight.
func (p *pool) aboveFloor(c *candidate) bool {
	q := p.questions[c.variant]
	if uint64(c.relative)*FloorShare >= Full {
		return true // more than the floor in BM25 itself, which takes as much in weight
	}
	segment := p.index.Segment(int(c.ref.Segment))
	table := newStemTable(q.terms, int(c.ref.Segment))
	seen := make([]bool, len(q.terms))
	sum := uint64(0)
	for _, word := range segment.Words(c.ref.Doc) {
		if i, ok := table.find(segment.StemOf(word)); ok && !seen[i] {
			seen[i] = true
			sum += uint64(q.terms[i].idf)
		}
	}
	return sum*FloorShare >= q.idf
}
