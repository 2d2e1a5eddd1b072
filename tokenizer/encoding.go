package tokenizer

import (
	"container/heap"

	"github.com/dlclark/regexp2"
	loader "github.com/pkoukk/tiktoken-go-loader"
)

// The patterns that cut a text into pieces before pairs are merged, as the
// encodings define them (github openai/tiktoken, tiktoken_ext/openai_public.py).
const (
	cl100kPattern = `(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`
	o200kPattern  = `[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|` +
		`[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|` +
		`\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+`
)

// encoding is an unpacked byte-pair encoding.
type encoding struct {
	ranks   map[string]int
	pattern *regexp2.Regexp
}

// newEncoding unpacks an embedded vocabulary. What is embedded is part of this
// program; that it cannot be read would be a fault of the build, which tests
// see, and then every byte counts as a token.
func newEncoding(name, pattern string) *encoding {
	ranks, err := loader.NewOfflineLoader().LoadTiktokenBpe(name + ".tiktoken")
	if err != nil {
		ranks = nil
	}
	return &encoding{ranks, regexp2.MustCompile(pattern, regexp2.None)}
}

func (e *encoding) count(text string) int {
	runes := []rune(text)
	n := 0
	match, err := e.pattern.FindRunesMatch(runes)
	for err == nil && match != nil {
		n += e.countPiece(string(runes[match.Index : match.Index+match.Length]))
		match, err = e.pattern.FindNextMatch(match)
	}
	return n
}

// shortPiece is up to where trying every pair each time is the faster way.
const shortPiece = 64

func (e *encoding) countPiece(piece string) int {
	if _, ok := e.ranks[piece]; ok {
		return 1
	}
	if len(piece) <= shortPiece {
		return e.mergeShort(piece)
	}
	return e.mergeLong(piece)
}

// rank is that of the piece's bytes from start to end, or -1.
func (e *encoding) rank(piece string, start, end int) int {
	if r, ok := e.ranks[piece[start:end]]; ok {
		return r
	}
	return -1
}

// mergeShort joins the pair of lowest rank, the first of equals, until none is
// in the vocabulary, and counts the parts.
func (e *encoding) mergeShort(piece string) int {
	var buffer [shortPiece + 1]int
	starts := buffer[:0]
	for i := 0; i <= len(piece); i++ {
		starts = append(starts, i)
	}
	for len(starts) > 2 {
		best, at := -1, 0
		for i := 0; i+2 < len(starts); i++ {
			if r := e.rank(piece, starts[i], starts[i+2]); r >= 0 && (best < 0 || r < best) {
				best, at = r, i
			}
		}
		if best < 0 {
			break
		}
		starts = append(starts[:at+1], starts[at+2:]...)
	}
	return len(starts) - 1
}

// pair is a possible join of the part that begins at start with the next one.
type pair struct {
	rank, start, end int
}

type pairHeap []pair

func (h pairHeap) Len() int { return len(h) }
func (h pairHeap) Less(i, j int) bool {
	return h[i].rank < h[j].rank || h[i].rank == h[j].rank && h[i].start < h[j].start
}
func (h pairHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *pairHeap) Push(v any)   { *h = append(*h, v.(pair)) }
func (h *pairHeap) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}

// mergeLong does what mergeShort does in n·log n steps: the pairs wait in a heap,
// and one whose parts have changed meanwhile is passed over.
func (e *encoding) mergeLong(piece string) int {
	n := len(piece)
	next, previous := make([]int, n+1), make([]int, n+1) // the starts of the parts beside one
	for i := range next {
		next[i], previous[i] = i+1, i-1
	}
	var waiting pairHeap
	consider := func(start int) {
		if start < 0 || start >= n || next[start] >= n {
			return
		}
		end := next[next[start]]
		if r := e.rank(piece, start, end); r >= 0 {
			heap.Push(&waiting, pair{r, start, end})
		}
	}
	for i := range n {
		consider(i)
	}
	parts := n
	gone := make([]bool, n+1)
	for len(waiting) > 0 {
		p := heap.Pop(&waiting).(pair)
		if gone[p.start] || next[p.start] >= n || next[next[p.start]] != p.end {
			continue
		}
		middle := next[p.start]
		gone[middle] = true
		next[p.start] = p.end
		previous[p.end] = p.start
		parts--
		consider(p.start)
		consider(previous[p.start])
	}
	return parts
}
