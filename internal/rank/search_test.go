package rank

import (
	"context"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/grounded-memory/grounded/internal/notes"
)

// TestSearchIsExact compares the search, which leaves out what it can, with
// adding up every note's words, over indexes of several segments with many notes.
func TestSearchIsExact(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	words := strings.Fields("alpha beta gamma delta the of river stone cloud green table never maybe house seven")
	some := func(n int) []string {
		out := make([]string, n)
		for i := range out {
			out[i] = words[min(random.IntN(len(words)), random.IntN(len(words)))]
		}
		return out
	}
	for range 25 {
		x := notes.Build(nil, notes.Options{})
		record := uint64(0)
		for range 1 + random.IntN(6) {
			docs := make([]notes.Doc, 1+random.IntN(300))
			for i := range docs {
				record++
				docs[i] = notes.Doc{Record: record, Text: strings.Join(some(1+random.IntN(30)), " ")}
			}
			docs[0].Text += strings.Repeat(" river", 300) // more than are counted
			gone := make([]uint64, random.IntN(20))
			for i := range gone {
				gone[i] = 1 + random.Uint64N(record)
			}
			x = x.Apply(docs, gone)
		}
		// One memory serves one question after another.
		scores, memory := newBM25(x.Stats()), &sums{bySegment: make([][]uint32, x.Segments())}
		for range 5 {
			limit := 1 + random.IntN(20)
			q := lookUp(x, scores, some(1+random.IntN(6)))
			got, err := search(context.Background(), x, scores, q, limit, memory)
			if err != nil {
				t.Fatal(err)
			}
			want := everyNote(x, scores, q)
			if !slices.Equal(got, want[:min(limit, len(want))]) {
				t.Fatalf("the best %d for %+v are %v, want %v", limit, q.terms, got, want)
			}
		}
	}
}

// everyNote scores all notes by their words.
func everyNote(x *notes.Index, scores *bm25, q *question) []scored {
	var all []scored
	for i := range x.Segments() {
		segment := x.Segment(i)
		for doc := range uint32(segment.Docs()) {
			if segment.Dead(doc) {
				continue
			}
			sum := uint32(0)
			for _, t := range q.terms {
				count := uint8(0)
				for _, word := range segment.Words(doc) {
					if segment.StemOf(word) == t.ids[i] && count < 255 {
						count++
					}
				}
				if count > 0 {
					sum += max(1, impact(t.idf, scores.saturation(count, segment.LengthCodes()[doc])))
				}
			}
			if sum > 0 {
				all = append(all, scored{notes.Ref{Segment: uint32(i), Doc: doc}, segment.Record(doc), sum})
			}
		}
	}
	slices.SortFunc(all, better)
	return all
}
