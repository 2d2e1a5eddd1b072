package rank

import (
	"math/bits"
	"slices"

	"github.com/grounded-memory/grounded/internal/notes"
	"github.com/grounded-memory/grounded/internal/textform"
)

// Fixed-point formats: BM25 scores, inverse document frequencies and saturation
// have 12 fractional bits, k1 and b 8.
const (
	fraction  = 12
	parameter = 8
	one       = 1 << fraction
)

// log2 returns the binary logarithm of n ≥ 1 with 12 fractional bits, by
// repeated squaring: whole numbers only, so every machine finds the same.
func log2(n uint64) uint32 {
	whole := bits.Len64(n) - 1
	x := n << (63 - whole) >> 32 // 1 ≤ x < 2 with 31 fractional bits
	result := uint32(whole)
	for range fraction {
		x = x * x >> 31
		result <<= 1
		if x >= 1<<32 {
			x >>= 1
			result |= 1
		}
	}
	return result
}

// inverseFrequency is log2((N+1)/(df+½)), that is BM25's log(1+(N−df+½)/(df+½))
// in bits.
func inverseFrequency(documents, frequency int) uint32 {
	return log2(2*uint64(documents)+2) - log2(2*uint64(frequency)+1)
}

// k1 and b with 8 fractional bits.
const (
	textK1, textB   = 307, 192
	shortK1, shortB = 154, 96
	longK1, longB   = 640, 256
)

// bm25 holds the numbers by which one index is scored.
type bm25 struct {
	documents int
	gain      uint32                    // k1+1
	lengths   [notes.LengthCodes]uint32 // k1·(1−b+b·length/mean), by length code
	low       [4][notes.LengthCodes]uint32
}

// newBM25 chooses k1 and b by the kind of the notes. For texts they are 1.2 and
// 0.75, as in the textbook. For messages, where most notes have a speaker, they
// go from 0.6 and 0.375 (50 words and less in the mean: a word said twice is hardly
// more than said once, and lengths differ little) to 2.5 and 1 (100 words and
// more: a long message says nothing but how much was said at once).
func newBM25(stats *notes.Stats) *bm25 {
	k1, b := uint64(textK1), uint64(textB)
	if stats.Docs > 0 && 2*stats.WithSpeaker > stats.Docs {
		long := min(max(stats.Tokens/uint64(stats.Docs), 50), 100) - 50 // 0 to 50
		k1 = shortK1 + long*(longK1-shortK1)/50
		b = shortB + long*(longB-shortB)/50
	}
	s := &bm25{documents: stats.Docs, gain: uint32(1<<parameter + k1)}
	mean := max(1, stats.Tokens<<parameter/uint64(max(1, stats.Docs)))
	for code := range s.lengths {
		relative := uint64(notes.CodeLength(uint8(code))) << (2 * parameter) / mean
		s.lengths[code] = uint32(k1 * (1<<parameter - b + b*relative>>parameter) >> parameter)
	}
	for tf := range s.low {
		for code := range s.low[tf] {
			s.low[tf][code] = s.divide(uint32(tf+1), uint8(code))
		}
	}
	return s
}

// saturation is tf·(k1+1)/(tf+k1·(1−b+b·length/mean)).
func (s *bm25) saturation(tf uint8, code uint8) uint32 {
	if int(tf) <= len(s.low) {
		return s.low[tf-1][code]
	}
	return s.divide(uint32(tf), code)
}

func (s *bm25) divide(tf uint32, code uint8) uint32 {
	return (tf * s.gain << fraction) / (tf<<parameter + s.lengths[code])
}

// best is the most that a term can give, at any frequency and length.
func (s *bm25) best(idf uint32) uint32 {
	return uint32(uint64(idf) * uint64(s.gain) >> parameter)
}

func impact(idf, saturation uint32) uint32 {
	return uint32(uint64(idf) * uint64(saturation) >> fraction)
}

// maxCount bounds how often a repeated word of a question counts.
const maxCount = 16

// functionShare is what the weight of function words is divided by.
const functionShare = 8

// term is one stem of a question.
type term struct {
	stem  string
	words []string // the question's words with this stem
	known bool     // some note holds it
	count uint32   // how often the question holds it
	idf   uint32   // weight: inverse document frequency times count
	best  uint32
	ids   []uint32 // of the stem, by segment; none where absent
}

const absent = ^uint32(0)

// question is one variant, looked up in an index.
type question struct {
	terms []term // by falling idf, then stem
	order []int  // of the question's words in their order: places in terms
	best  uint64 // the sum of what the terms can give
	idf   uint64 // the sum of their frequencies' weights
	known int    // terms that some note holds
}

// lookUp finds a variant's terms.
func lookUp(x *notes.Index, scores *bm25, words []string) *question {
	q := &question{}
	place := map[string]int{}
	var sequence []string
	for _, token := range textform.QueryTokens(words) {
		stem := x.Stem(token.Text)
		sequence = append(sequence, stem)
		if i, ok := place[stem]; ok {
			q.terms[i].count++
			if !slices.Contains(q.terms[i].words, token.Text) {
				q.terms[i].words = append(q.terms[i].words, token.Text)
			}
			continue
		}
		place[stem] = len(q.terms)
		q.terms = append(q.terms, term{stem: stem, words: []string{token.Text}, count: 1})
	}
	for i := range q.terms {
		t := &q.terms[i]
		frequency := 0
		for s := range x.Segments() {
			id, ok := x.Segment(s).Stem(t.stem)
			if !ok {
				id = absent
			} else {
				frequency += x.Segment(s).Frequency(id)
			}
			t.ids = append(t.ids, id)
		}
		if t.known = frequency > 0; t.known {
			q.known++
		}
		t.idf = inverseFrequency(scores.documents, frequency) * min(t.count, maxCount)
		if !slices.ContainsFunc(t.words, func(w string) bool { return !isFunctionWord(w) }) {
			t.idf = max(1, t.idf/functionShare)
		}
		t.best = scores.best(t.idf)
		q.best += uint64(t.best)
		q.idf += uint64(t.idf)
	}
	slices.SortFunc(q.terms, func(a, b term) int {
		if a.idf != b.idf {
			return int(int64(b.idf) - int64(a.idf))
		}
		if a.stem < b.stem {
			return -1
		}
		return 1
	})
	for i := range q.terms {
		place[q.terms[i].stem] = i
	}
	for _, stem := range sequence {
		q.order = append(q.order, place[stem])
	}
	return q
}
