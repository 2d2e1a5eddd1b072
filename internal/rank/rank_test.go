package rank

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/grounded-memory/grounded/internal/notes"
	"github.com/grounded-memory/grounded/internal/textform"
)

var ctx = context.Background()

func Example() {
	x := notes.Build([]notes.Doc{
		{Record: 1, Text: "The billing export fails on leap days."},
		{Record: 2, Text: "Lunch is at noon."},
		{Record: 3, Text: "Exports of the archive take an hour."},
	}, notes.Options{})
	hits, err := Top(ctx, x, []Variant{{Words: []string{"billing", "exports"}}}, Conventional("bm25"), 5)
	for _, h := range hits {
		fmt.Println(h.Record, h.Score)
	}
	fmt.Println(err)
	// Output:
	// 1 6988
	// 3 2264
	// <nil>
}

func TestLog2(t *testing.T) {
	for _, n := range []uint64{1, 2, 3, 5, 7, 100, 999, 1 << 20, 1<<40 + 12345, math.MaxUint64} {
		if got, want := float64(log2(n))/one, math.Log2(float64(n)); math.Abs(got-want) > 1.5/one {
			t.Errorf("log2(%d) = %f, want %f", n, got, want)
		}
	}
}

var vocabulary = strings.Fields("alpha beta gamma delta epsilon zeta the of running runs ran Ada Bob 中文 export? 42")

func drawText(t *rapid.T, most int) string {
	return strings.Join(rapid.SliceOfN(rapid.SampledFrom(vocabulary), 0, most).Draw(t, "words"), " ")
}

func drawIndex(t *rapid.T) (*notes.Index, []notes.Doc) {
	var docs []notes.Doc
	record := uint64(0)
	x := notes.Build(nil, notes.Options{})
	for range rapid.IntRange(1, 4).Draw(t, "batches") {
		var add []notes.Doc
		for range rapid.IntRange(0, 12).Draw(t, "notes") {
			record++
			add = append(add, notes.Doc{
				Record: record, Text: drawText(t, 12), Session: rapid.SampledFrom([]string{"", "s", "u"}).Draw(t, "session"),
				Speaker: rapid.SampledFrom([]string{"", "Ada", "Bob Smith", "user"}).Draw(t, "speaker"),
			})
		}
		var remove []uint64
		if len(docs) > 0 && rapid.Bool().Draw(t, "remove") {
			i := rapid.IntRange(0, len(docs)-1).Draw(t, "which")
			remove = append(remove, docs[i].Record)
			docs = slices.Delete(docs, i, i+1)
		}
		x = x.Apply(add, remove)
		docs = append(docs, add...)
	}
	return x, docs
}

// brute scores every note from scratch, with the formula and no index but the
// words of the notes.
func brute(x *notes.Index, docs []notes.Doc, variants []Variant, k int) []Hit {
	scores := newBM25(x.Stats())
	stems := func(tokens []string) (out []string) {
		for _, w := range tokens {
			out = append(out, x.Stem(w))
		}
		return out
	}
	texts := make([][]string, len(docs))
	for i, d := range docs {
		for _, part := range []string{d.Speaker, d.Title, d.Text} {
			texts[i] = append(texts[i], stems(notes.Tokens(part))...)
		}
	}
	count := func(list []string, s string) (n int) {
		for _, o := range list {
			if o == s {
				n++
			}
		}
		return n
	}
	var hits []Hit
	for i, d := range docs {
		best := Hit{Record: d.Record, Score: -1}
		for v, variant := range variants {
			var words, asked []string
			for _, token := range textform.QueryTokens(variant.Words) {
				words = append(words, token.Text)
			}
			asked = stems(words)
			score, most, weight, held := uint64(0), uint64(0), uint64(0), uint64(0)
			seen := map[string]bool{}
			for j, stem := range asked {
				if seen[stem] {
					continue
				}
				seen[stem] = true
				df := 0
				for _, text := range texts {
					if count(text, stem) > 0 {
						df++
					}
				}
				idf := inverseFrequency(len(docs), df) * uint32(min(maxCount, count(asked, stem)))
				function := true
				for l := range asked {
					if asked[l] == stem && !isFunctionWord(words[l]) {
						function = false
					}
				}
				_ = j
				if function {
					idf = max(1, idf/functionShare)
				}
				most += uint64(scores.best(idf))
				weight += uint64(idf)
				if tf := count(texts[i], stem); tf > 0 {
					held += uint64(idf)
					score += uint64(max(1, impact(idf, scores.saturation(uint8(min(255, tf)), notes.LengthCode(len(texts[i]))))))
				}
			}
			if held == 0 {
				continue
			}
			rel := int64(min(Full, score*Full/max(1, most)))
			if rel > best.Score || rel == best.Score && variant.Steps < variants[best.Variant].Steps {
				// The floor is asked of the variant that wins.
				best = Hit{d.Record, rel, v}
				if held*FloorShare < weight && uint64(rel)*FloorShare < Full {
					best.Record = 0
				} else {
					best.Record = d.Record
				}
			}
		}
		if best.Score >= 0 && best.Record != 0 {
			hits = append(hits, best)
		}
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
	return hits[:min(k, len(hits))]
}

// TestModel: the index loses and invents no candidate, for any number of
// variants, segments and removed notes.
func TestModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x, docs := drawIndex(t)
		var variants []Variant
		for steps := range rapid.IntRange(1, 3).Draw(t, "variants") {
			variants = append(variants, Variant{textform.Words(drawText(t, 5) + " unknownword"[:rapid.SampledFrom([]int{0, 12}).Draw(t, "unknown")]), steps})
		}
		k := rapid.IntRange(1, 40).Draw(t, "k")
		got, err := Top(ctx, x, variants, Conventional("bm25"), k)
		if err != nil {
			t.Fatal(err)
		}
		// A wide k makes the floor independent of which notes each variant offers.
		if want := brute(x, docs, variants, k); k >= len(docs) && !slices.Equal(got, want) {
			t.Fatalf("%v\ngot  %v\nwant %v", variants, got, want)
		}
		if len(variants) == 1 {
			if want := brute(x, docs, variants, k); !slices.Equal(got, want) && len(want) == k {
				t.Fatalf("%v, k=%d\ngot  %v\nwant %v", variants, k, got, want)
			}
		}
		for _, name := range []string{"bm25", "context"} {
			hits, err := Top(ctx, x, variants, Conventional(name), k)
			if err != nil || len(hits) > k {
				t.Fatalf("%s: %d hits, %v", name, len(hits), err)
			}
		}
	})
}

// TestSegmentsDoNotMatter: the same notes give the same candidates and features
// in however many pieces they came, and after a round trip through a snapshot.
func TestSegmentsDoNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x, docs := drawIndex(t)
		whole := notes.Build(docs, notes.Options{})
		loaded, err := notes.Load(x.AppendBinary(nil))
		if err != nil {
			t.Fatal(err)
		}
		if *whole.Stats() != *x.Stats() || *loaded.Stats() != *x.Stats() {
			t.Fatalf("statistics differ:\n%+v\n%+v\n%+v", *x.Stats(), *whole.Stats(), *loaded.Stats())
		}
		variants := []Variant{{Words: textform.Words("who is " + drawText(t, 5))}, {Words: textform.Words(drawText(t, 4)), Steps: 1}}
		want, err := Candidates(ctx, whole, variants)
		if err != nil {
			t.Fatal(err)
		}
		for _, other := range []*notes.Index{x, loaded} {
			got, err := Candidates(ctx, other, variants)
			if err != nil || !slices.Equal(got, want) {
				t.Fatalf("%v\ngot  %v\nwant %v", err, got, want)
			}
		}
		for _, c := range want {
			for i, f := range c.Features {
				if f < 0 || f > Full {
					t.Fatalf("feature %s is %d", FeatureNames()[i], f)
				}
			}
		}
	})
}

// TestNonsenseFindsNothing, though a word of it is everywhere.
func TestNonsenseFindsNothing(t *testing.T) {
	var docs []notes.Doc
	for i := range 50 {
		docs = append(docs, notes.Doc{Record: uint64(i + 1), Text: fmt.Sprintf("the note number %d of the project", i)})
	}
	x := notes.Build(docs, notes.Options{})
	for text, found := range map[string]bool{
		"flurbnax of the quizzle": false, "zzz": false, "": false, "!!": false, "project": true, "number 7": true, "the": true,
	} {
		hits, err := Top(ctx, x, []Variant{{Words: textform.Words(text)}}, Conventional("context"), 5)
		if err != nil || (len(hits) > 0) != found {
			t.Errorf("%q: %d hits, %v", text, len(hits), err)
		}
	}
}

func TestFeatureNames(t *testing.T) {
	if len(FeatureNames()) != FeatureCount {
		t.Errorf("%d names of %d features", len(FeatureNames()), FeatureCount)
	}
}

func TestCancelled(t *testing.T) {
	gone, cancel := context.WithCancel(ctx)
	cancel()
	x := notes.Build([]notes.Doc{{Record: 1, Text: "alpha"}}, notes.Options{})
	if _, err := Top(gone, x, []Variant{{Words: []string{"alpha"}}}, Conventional("bm25"), 1); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}
