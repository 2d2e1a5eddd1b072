package rank

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/grounded-memory/grounded/internal/notes"
)

// zipf draws words as texts have them: the n-th most frequent about 1/n as often
// as the first.
type zipf struct{ state uint64 }

func (z *zipf) word(vocabulary int) string {
	z.state = z.state*6364136223846793005 + 1442695040888963407
	u := float64(z.state>>11) / (1 << 53)
	return fmt.Sprintf("w%d", int(math.Pow(float64(vocabulary), u)))
}

func manyNotes(n, words int) *notes.Index {
	z := &zipf{1}
	docs := make([]notes.Doc, n)
	for i := range docs {
		text := make([]string, words)
		for j := range text {
			text[j] = z.word(50_000)
		}
		docs[i] = notes.Doc{Record: uint64(i + 1), Text: strings.Join(text, " ")}
	}
	return notes.Build(docs, notes.Options{})
}

func BenchmarkTop(b *testing.B) {
	x := manyNotes(100_000, 20)
	z := &zipf{7}
	var questions [][]string
	for range 64 {
		var q []string
		for range 4 {
			q = append(q, z.word(50_000))
		}
		questions = append(questions, q)
	}
	for _, name := range []string{"bm25", "context"} {
		for _, variants := range []int{1, 16} {
			b.Run(fmt.Sprintf("%s/%d variants", name, variants), func(b *testing.B) {
				i := 0
				for b.Loop() {
					var v []Variant
					for j := range variants {
						v = append(v, Variant{Words: questions[(i+j)%len(questions)], Steps: j})
					}
					i++
					if _, err := Top(ctx, x, v, Conventional(name), 10); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
