package training

import (
	"context"
	"slices"

	"github.com/grounded-memory/grounded/internal/eval"
	"github.com/grounded-memory/grounded/internal/notes"
	"github.com/grounded-memory/grounded/internal/rank"
	"github.com/grounded-memory/grounded/internal/rank/bank"
	"github.com/grounded-memory/grounded/internal/textform"
)

// Corpus is training examples by scope: samples are drawn by scope, never by
// question, so that no conversation is in and out of a sample.
type Corpus struct {
	Name   string
	scopes [][]example
}

// Questions counts the examples.
func (c *Corpus) Questions() (n int) {
	for _, s := range c.scopes {
		n += len(s)
	}
	return n
}

// FromSet makes a corpus of an evaluation set.
func FromSet(ctx context.Context, set *eval.Set) (*Corpus, error) {
	c := &Corpus{Name: set.Name}
	for i := range set.Scopes {
		scope := &set.Scopes[i]
		docs := make([]notes.Doc, len(scope.Notes))
		ids := make(map[uint64]string, len(scope.Notes))
		for j, n := range scope.Notes {
			docs[j] = notes.Doc{Record: uint64(j + 1), Text: n.Text, Title: n.Title, Session: n.Session, Speaker: n.Speaker}
			ids[uint64(j+1)] = n.ID
		}
		examples, err := examplesOf(ctx, notes.Build(docs, notes.Options{}), scope.Questions, ids)
		if err != nil {
			return nil, err
		}
		if len(examples) > 0 {
			c.scopes = append(c.scopes, examples)
		}
	}
	return c, nil
}

// ClozeOf makes a corpus of the questions that [Cloze] makes of meetings.
func ClozeOf(ctx context.Context, kind string, meetings *eval.Set) (*Corpus, error) {
	set, err := Cloze(kind, meetings)
	if err != nil {
		return nil, err
	}
	return FromSet(ctx, set)
}

// Generated makes a corpus of the first n generated sets of a kind.
func Generated(ctx context.Context, kind string, n int) (*Corpus, error) {
	set := &eval.Set{Name: kind}
	for i := range n {
		g, err := Generate(kind, i)
		if err != nil {
			return nil, err
		}
		scope := eval.Scope{Name: g.Name}
		for _, note := range g.Notes {
			scope.Notes = append(scope.Notes, eval.Note{ID: note.ID, Session: note.Session, Speaker: note.Speaker, Text: note.Text})
		}
		for _, q := range g.Questions {
			grades := map[string]int{}
			for _, id := range q.Evidence {
				grades[id] = 1
			}
			scope.Questions = append(scope.Questions, eval.Question{Text: q.Text, Grades: grades})
		}
		set.Scopes = append(set.Scopes, scope)
	}
	return FromSet(ctx, set)
}

func examplesOf(ctx context.Context, x *notes.Index, questions []eval.Question, ids map[uint64]string) ([]example, error) {
	var out []example
	for _, q := range questions {
		found, err := rank.Candidates(ctx, x, []rank.Variant{{Words: textform.Words(q.Text)}})
		if err != nil {
			return nil, err
		}
		var e example
		relevant := 0
		for _, c := range found {
			grade := q.Grades[ids[c.Record]]
			if grade > 0 {
				relevant++
			}
			one := candidate{grade: float64(grade)}
			for i, f := range c.Features {
				one.x[i] = float64(min(127, f>>inputShift)) / 128
			}
			e = append(e, one)
		}
		if relevant > 0 {
			out = append(out, e)
		}
	}
	return out, nil
}

// Part is a corpus in a mix, with the share of the examples of an epoch that
// come from it, in percent.
type Part struct {
	*Corpus
	Percent int
}

// Recipe is how the members of one purpose are trained.
type Recipe struct {
	Mix      []Part
	Examples int // of an epoch
	Epochs   int
	Features []int // the inputs that the networks may use
	Context  bool  // begin with the rule of the context policy, and let training change it
	Limit    int32 // the greatest correction, in units of the BM25 feature
}

func (r *Recipe) maxOutput() float64 {
	if r.Context {
		return maxOutput
	}
	return maxCautious
}

// batch is how many examples share a step.
const batch = 16

// Train makes one member of a purpose. Each member is trained on its own
// bootstrap sample of the scopes.
func (r *Recipe) Train(purpose, member, seed int) bank.Policy {
	rng := newRandom("member", seed)
	n := newNetwork(rng, r)
	pools := make([][]example, len(r.Mix))
	for i, part := range r.Mix {
		for range part.scopes {
			pools[i] = append(pools[i], pick(rng, part.scopes)...)
		}
	}
	limit := float64(r.Limit) / rank.Full
	var optimiser adam
	steps := r.Epochs * r.Examples / batch
	for i := range steps {
		var g network
		for range batch {
			e := pick(rng, pools[r.draw(rng)])
			if rng.chance(25) {
				e = withoutNeighbours(e)
			}
			n.gradient(e, limit, &g)
		}
		optimiser.step(n, &g, 1.0/batch, float64(i)/float64(steps), r)
	}
	return n.policy(purpose, member, r.Limit)
}

// withoutNeighbours blanks what the notes beside say, so that a network learns to
// do without: many scopes have no order.
func withoutNeighbours(e example) example {
	out := slices.Clone(e)
	for i := range out {
		x := &out[i].x
		for _, f := range []int{
			rank.PreviousCoverage, rank.NextCoverage, rank.SecondPrevious, rank.SecondNext, rank.NewFromNeighbours,
			rank.PreviousBM25, rank.NextBM25, rank.SessionBest, rank.SessionShare, rank.PreviousAsks,
		} {
			x[f] = 0
		}
		x[rank.WindowCoverage] = x[rank.Coverage]
	}
	return out
}

// draw chooses a part of the mix by its share.
func (r *Recipe) draw(rng *random) int {
	at := rng.below(100)
	for i, part := range r.Mix {
		if at -= part.Percent; at < 0 {
			return i
		}
	}
	return len(r.Mix) - 1
}
