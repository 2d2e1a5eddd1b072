// Package eval reads note sets with questions and evidence labels, and measures
// rankings of their notes.
//
// # Format
//
// A set is a folder with docs.jsonl, queries.jsonl and qrels.tsv, each plain or
// with .gz behind:
//
//	docs.jsonl     {"id":"d1","g":"scope","sess":"s1","seq":3,"spk":"Ada","text":"…","title":"…"}
//	queries.jsonl  {"id":"q1","g":"scope","cat":"temporal","text":"…"}
//	qrels.tsv      q1 TAB d1 TAB 2
//
// and, if there are bridges, glossary.tsv (phrase TAB target) for all scopes. A
// question searches only the notes of its scope; sess, spk, seq, cat and title
// may be missing. Loaders for LoCoMo, LongMemEval, BEAM and TREC-style folders
// (corpus.jsonl, queries.jsonl, qrels) give the same [Set].
//
// # Measures
//
// For each question, over its ranked list: recall@k is the share of its relevant
// notes among the first k; MRR is one by the place of the first relevant note
// (0 if none is in the list); nDCG@10 uses the grade as gain and log2(place+1)
// as discount, as trec_eval does. A question without results counts as zero.
// Intervals are the 2.5th and 97.5th percentiles of 1,000 bootstrap samples of
// the questions, drawn with a fixed seed.
package eval

import (
	"cmp"
	"math"
	"slices"
)

// Note is one note of a scope, in its order.
type Note struct {
	ID, Session, Speaker, Title, Text string
}

// Question asks for notes; Grades holds the relevant ones.
type Question struct {
	ID, Category, Text string
	Grades             map[string]int
}

// Scope is a group of notes that is searched by itself.
type Scope struct {
	Name      string
	Notes     []Note
	Questions []Question
}

// Bridge is a supplied rewrite.
type Bridge struct{ Phrase, Target string }

// Set is what is measured.
type Set struct {
	Name    string
	Scopes  []Scope
	Bridges []Bridge
}

// Questions counts a set's questions.
func (s *Set) Questions() (n int) {
	for i := range s.Scopes {
		n += len(s.Scopes[i].Questions)
	}
	return n
}

// Notes counts a set's notes.
func (s *Set) Notes() (n int) {
	for i := range s.Scopes {
		n += len(s.Scopes[i].Notes)
	}
	return n
}

// Measures are those of one question, or means over several. All lie between 0 and 1.
type Measures struct {
	Recall1  float64 `json:"recall@1"`
	Recall5  float64 `json:"recall@5"`
	Recall10 float64 `json:"recall@10"`
	NDCG10   float64 `json:"ndcg@10"`
	MRR      float64 `json:"mrr"`
}

// Measure judges one ranked list of note ids.
func Measure(ranked []string, grades map[string]int) Measures {
	return Measures{
		Recall1: recall(ranked, grades, 1), Recall5: recall(ranked, grades, 5), Recall10: recall(ranked, grades, 10),
		NDCG10: ndcg(ranked, grades, 10), MRR: reciprocalRank(ranked, grades),
	}
}

func first(ranked []string, k int) []string { return ranked[:min(k, len(ranked))] }

func recall(ranked []string, grades map[string]int, k int) float64 {
	relevant, found := 0, 0
	for _, grade := range grades {
		if grade > 0 {
			relevant++
		}
	}
	for _, id := range first(ranked, k) {
		if grades[id] > 0 {
			found++
		}
	}
	if relevant == 0 {
		return 0
	}
	return float64(found) / float64(relevant)
}

func ndcg(ranked []string, grades map[string]int, k int) float64 {
	gain, ideal := 0.0, 0.0
	for i, id := range first(ranked, k) {
		gain += float64(grades[id]) / math.Log2(float64(i)+2)
	}
	best := make([]int, 0, len(grades))
	for _, grade := range grades {
		best = append(best, grade)
	}
	slices.SortFunc(best, func(a, b int) int { return cmp.Compare(b, a) })
	for i, grade := range best[:min(k, len(best))] {
		ideal += float64(grade) / math.Log2(float64(i)+2)
	}
	if ideal == 0 {
		return 0
	}
	return gain / ideal
}

func reciprocalRank(ranked []string, grades map[string]int) float64 {
	for i, id := range ranked {
		if grades[id] > 0 {
			return 1 / float64(i+1)
		}
	}
	return 0
}

// Mean averages measures; that of none is zero.
func Mean(all []Measures) Measures {
	var m Measures
	n := float64(max(1, len(all)))
	for _, a := range all {
		m.Recall1 += a.Recall1 / n
		m.Recall5 += a.Recall5 / n
		m.Recall10 += a.Recall10 / n
		m.NDCG10 += a.NDCG10 / n
		m.MRR += a.MRR / n
	}
	return m
}

// Interval is a 95 % interval.
type Interval struct {
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

const resamples = 1000

// Bootstrap returns the 95 % interval of the mean of values.
func Bootstrap(values []float64) Interval {
	if len(values) == 0 {
		return Interval{}
	}
	seed := uint64(1)
	means := make([]float64, resamples)
	for i := range means {
		sum := 0.0
		for range values {
			seed = seed*6364136223846793005 + 1442695040888963407
			sum += values[(seed>>33)%uint64(len(values))]
		}
		means[i] = sum / float64(len(values))
	}
	slices.Sort(means)
	return Interval{means[resamples*25/1000], means[resamples*975/1000]}
}

// Difference returns the mean and the 95 % interval of b−a, question by
// question (a paired bootstrap). The slices have the same length.
func Difference(a, b []float64) (mean float64, interval Interval) {
	differences := make([]float64, len(a))
	for i := range a {
		differences[i] = b[i] - a[i]
		mean += differences[i] / float64(len(a))
	}
	return mean, Bootstrap(differences)
}
