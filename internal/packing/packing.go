// Package packing finds the smallest packet that holds a whole proof of every
// answer, and the longest prefix of related records that fits a budget. It knows
// texts and sizes, not records.
//
// # The smallest packet
//
// A packet is text: a head, one line for each answer (which names the proof that
// was chosen), and one line for each item of the chosen proofs, each item once,
// in ascending order. A combination chooses one alternative for each answer;
// combinations are tried in the order of their choices, the first answer's
// varying slowest, and the first of the smallest wins. Finding it is set cover,
// so in general nothing but trying helps:
//
//   - A size that adds up by lines ([Size.Additive]) is taken once for each
//     distinct line. Any other is taken of every whole packet.
//   - Up to Options.MaxCombinations combinations are tried. If there are more,
//     and some could have been smaller, Optimal is false.
//   - If there are more than [HardCombinations] and the size adds up, a branch
//     and bound search tries to prove the optimum beyond (Method "bounded"). It
//     chooses the open answer with the fewest alternatives left, tries them, and
//     excludes each for its siblings once it was tried; a dual bound cuts off
//     what cannot be smaller. It gives up after a fixed amount of work, and then
//     the combinations are tried in order as far as the bound goes.
//
// # Units in order
//
// [Fit] takes whole units, a record with the items that it needs, in the order
// given. A unit that does not fit is left out and counted; a later, smaller one
// may still fit.
package packing

import (
	"context"
	"math"
	"slices"
	"strings"
)

// HardCombinations is the most combinations that may be asked to be tried.
const HardCombinations = 65_536

// MaxTotal is what Result.Total says of any greater number, 2^53−1.
const MaxTotal = 1<<53 - 1

// Size measures texts.
type Size struct {
	Count    func(text string) int // not negative
	Additive bool                  // the sizes of lines add up to that of their packet
}

// Alternative is one proof of an answer.
type Alternative struct {
	Items []uint64 // ascending
	Line  string   // the answer's line when this proof is chosen
}

// Answer has at least one alternative.
type Answer struct {
	Alternatives []Alternative
}

// Problem is what to pack.
type Problem struct {
	Head    string
	Answers []Answer
	Item    func(id uint64) (string, error) // an item's line
}

// Options bound the search.
type Options struct {
	Budget          int // the greatest size that is of use; 0: any
	MaxCombinations int
	Size            Size
	Progress        func(tried, total int64) // may be nil
}

// Status says how packing ended.
type Status int

// The statuses.
const (
	Packed     Status = iota + 1 // a packet fits
	Exhausted                    // the bound was reached and nothing that was tried fits
	OverBudget                   // nothing fits at all
)

// How the search ended.
const (
	MethodExhaustive = "exhaustive" // every combination that counts was tried, up to the bound
	MethodBounded    = "bounded"    // what was not tried was soundly excluded
)

// Result is a packet, or why there is none.
type Result struct {
	Status   Status
	Packet   string
	Size     int
	Items    []uint64 // ascending
	Choice   []int    // the alternative of each answer
	Optimal  bool     // no combination gives a smaller packet
	Method   string
	Tried    int64
	Total    int64
	Smallest int // the least size that was seen, whether it fits or not
}

// Smallest finds the smallest packet. The error is the context's or that of
// Problem.Item.
func Smallest(ctx context.Context, problem Problem, options Options) (*Result, error) {
	s, err := newSearch(ctx, problem, options)
	if err != nil {
		return nil, err
	}
	if s.total > HardCombinations && options.Size.Additive && s.boundable() {
		proved, err := s.bounded()
		if err != nil {
			return nil, err
		}
		if proved {
			s.method, s.optimal = MethodBounded, true
			return s.result(), nil
		}
	}
	if err := s.enumerate(); err != nil {
		return nil, err
	}
	return s.result(), nil
}

// search is the state of one call.
type search struct {
	ctx     context.Context
	problem Problem
	options Options

	ids       []uint64       // the items, ascending
	place     map[uint64]int // id → place in ids
	lines     []string       // the items' lines
	itemSizes []int          // with an additive size
	headSize  int
	answers   []answer

	total   int64
	tried   int64
	optimal bool
	method  string
	best    []int
	size    int // of best; MaxInt before the first
}

type answer struct {
	alternatives []alternative
}

type alternative struct {
	items []int // places
	size  int   // of the answer's line, with an additive size
}

func newSearch(ctx context.Context, problem Problem, options Options) (*search, error) {
	s := &search{ctx: ctx, problem: problem, options: options, place: map[uint64]int{}, size: math.MaxInt, method: MethodExhaustive, total: 1}
	for _, a := range problem.Answers {
		for _, alt := range a.Alternatives {
			s.ids = append(s.ids, alt.Items...)
		}
		if n := int64(len(a.Alternatives)); s.total > MaxTotal/n {
			s.total = MaxTotal
		} else {
			s.total *= n
		}
	}
	slices.Sort(s.ids)
	s.ids = slices.Compact(s.ids)
	for i, id := range s.ids {
		s.place[id] = i
		line, err := problem.Item(id)
		if err != nil {
			return nil, err
		}
		s.lines = append(s.lines, line)
	}
	if options.Size.Additive {
		s.headSize = options.Size.Count(problem.Head)
		for _, line := range s.lines {
			s.itemSizes = append(s.itemSizes, options.Size.Count(line))
		}
	}
	for _, a := range problem.Answers {
		var own answer
		for _, alt := range a.Alternatives {
			o := alternative{}
			for _, id := range alt.Items {
				o.items = append(o.items, s.place[id])
			}
			if options.Size.Additive {
				o.size = options.Size.Count(alt.Line)
			}
			own.alternatives = append(own.alternatives, o)
		}
		s.answers = append(s.answers, own)
	}
	return s, ctx.Err()
}

// packet is the text of a combination.
func (s *search) packet(choice []int) string {
	var b strings.Builder
	b.WriteString(s.problem.Head)
	used := make([]bool, len(s.ids))
	for i, c := range choice {
		b.WriteString(s.problem.Answers[i].Alternatives[c].Line)
		for _, item := range s.answers[i].alternatives[c].items {
			used[item] = true
		}
	}
	for i, u := range used {
		if u {
			b.WriteString(s.lines[i])
		}
	}
	return b.String()
}

func (s *search) items(choice []int) []uint64 {
	var out []uint64
	for i, c := range choice {
		out = append(out, s.problem.Answers[i].Alternatives[c].Items...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// enumerate tries combinations in their order, up to the bound.
func (s *search) enumerate() error {
	e := enumeration{search: s, choice: make([]int, len(s.answers)), uses: make([]int, len(s.ids))}
	if err := e.from(0, s.headSize); err != nil {
		return err
	}
	s.optimal = s.tried == s.total
	return nil
}

// enumeration walks the combinations; sum is the size of what is chosen so far,
// with an additive size.
type enumeration struct {
	*search
	choice []int
	uses   []int
}

func (e *enumeration) full() bool { return e.tried >= int64(e.options.MaxCombinations) }

func (e *enumeration) from(i, sum int) error {
	if i == len(e.answers) {
		return e.leaf(sum)
	}
	for c := range e.answers[i].alternatives {
		if e.full() {
			return nil
		}
		alt := &e.answers[i].alternatives[c]
		with := sum + alt.size
		for _, item := range alt.items {
			if e.uses[item]++; e.uses[item] == 1 && e.options.Size.Additive {
				with += e.itemSizes[item]
			}
		}
		e.choice[i] = c
		err := e.from(i+1, with)
		for _, item := range alt.items {
			e.uses[item]--
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// checkEvery is how many combinations are tried between looks at the context.
const checkEvery = 256

func (e *enumeration) leaf(sum int) error {
	if !e.options.Size.Additive {
		sum = e.options.Size.Count(e.packet(e.choice))
	}
	if e.tried++; e.tried%checkEvery == 0 {
		if err := e.ctx.Err(); err != nil {
			return err
		}
		if e.options.Progress != nil {
			e.options.Progress(e.tried, e.total)
		}
	}
	if sum < e.size {
		e.size = sum
		e.best = append(e.best[:0], e.choice...)
	}
	return nil
}

func (s *search) result() *Result {
	r := &Result{Method: s.method, Tried: s.tried, Total: s.total, Smallest: s.size}
	switch {
	case s.options.Budget <= 0 || s.size <= s.options.Budget:
		r.Status, r.Optimal, r.Size, r.Choice = Packed, s.optimal, s.size, s.best
		r.Packet, r.Items = s.packet(s.best), s.items(s.best)
	case s.optimal:
		r.Status = OverBudget
	default:
		r.Status = Exhausted
	}
	return r
}
