package packing

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func itemLine(id uint64) (string, error) {
	return fmt.Sprintf("item %d%s\n", id, strings.Repeat("x", int(id%7))), nil
}

var bytesSize = Size{Count: func(s string) int { return len(s) }, Additive: true}

func Example() {
	problem := Problem{Head: "head\n", Item: itemLine, Answers: []Answer{
		{[]Alternative{{[]uint64{1}, "a by 1\n"}, {[]uint64{3}, "a by 3\n"}}},
		{[]Alternative{{[]uint64{2}, "b by 2\n"}, {[]uint64{3}, "b by 3\n"}}},
	}}
	r, _ := Smallest(context.Background(), problem, Options{MaxCombinations: 100, Size: bytesSize})
	fmt.Printf("%s%d bytes, %d of %d combinations tried\n", r.Packet, r.Size, r.Tried, r.Total)
	// Output:
	// head
	// a by 3
	// b by 3
	// item 3xxx
	// 29 bytes, 4 of 4 combinations tried
}

// nasty is neither additive nor monotone: a longer text may cost less.
func nasty(s string) int {
	h := fnv.New32a()
	_, _ = h.Write([]byte(s))
	return int(h.Sum32()%50) + len(s)/20
}

func drawProblem(t *rapid.T, answers, alternatives int) Problem {
	p := Problem{Head: "head\n", Item: itemLine}
	for i := range rapid.IntRange(0, answers).Draw(t, "answers") {
		var a Answer
		for j := range rapid.IntRange(1, alternatives).Draw(t, "alternatives") {
			items := rapid.SliceOfNDistinct(rapid.Uint64Range(1, 9), 1, 3, rapid.ID).Draw(t, "items")
			slices.Sort(items)
			a.Alternatives = append(a.Alternatives, Alternative{items, fmt.Sprintf("answer %d by %d%s\n", i, j, strings.Repeat("y", rapid.IntRange(0, 3).Draw(t, "long")))})
		}
		p.Answers = append(p.Answers, a)
	}
	return p
}

// brute tries the first n combinations of whole packets in their order.
func brute(p Problem, count func(string) int, n int) (best []int, size int, tried, total int) {
	total = 1
	for _, a := range p.Answers {
		total *= len(a.Alternatives)
	}
	size = math.MaxInt
	for k := 0; k < total && k < n; k++ {
		choice := make([]int, len(p.Answers))
		for i, rest := len(choice)-1, k; i >= 0; i-- {
			choice[i], rest = rest%len(p.Answers[i].Alternatives), rest/len(p.Answers[i].Alternatives)
		}
		tried++
		if c := count(text(p, choice)); c < size {
			best, size = choice, c
		}
	}
	return best, size, tried, total
}

func text(p Problem, choice []int) string {
	out := p.Head
	var ids []uint64
	for i, c := range choice {
		out += p.Answers[i].Alternatives[c].Line
		ids = append(ids, p.Answers[i].Alternatives[c].Items...)
	}
	slices.Sort(ids)
	for _, id := range slices.Compact(ids) {
		line, _ := itemLine(id)
		out += line
	}
	return out
}

// TestModel compares with trying every combination, with an additive tokenizer
// and with a nasty one, with and without budgets and bounds.
func TestModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawProblem(t, 5, 4)
		size := rapid.SampledFrom([]Size{bytesSize, {Count: nasty}}).Draw(t, "size")
		limit := rapid.SampledFrom([]int{1, 3, 20, 5000}).Draw(t, "bound")
		budget := rapid.SampledFrom([]int{0, 1, 30, 60, 100}).Draw(t, "budget")
		r, err := Smallest(context.Background(), p, Options{Budget: budget, MaxCombinations: limit, Size: size})
		if err != nil {
			t.Fatal(err)
		}
		best, least, tried, total := brute(p, size.Count, limit)
		if r.Smallest != least || r.Tried != int64(tried) || r.Total != int64(total) {
			t.Fatalf("smallest %d of %d/%d; brute force %d of %d/%d", r.Smallest, r.Tried, r.Total, least, tried, total)
		}
		switch {
		case budget == 0 || least <= budget:
			if r.Status != Packed || !slices.Equal(r.Choice, best) || r.Packet != text(p, best) || r.Size != least || r.Optimal != (tried == total) {
				t.Fatalf("%+v; brute force %v of size %d", r, best, least)
			}
		case tried == total:
			if r.Status != OverBudget || r.Packet != "" {
				t.Fatalf("%+v does not fit", r)
			}
		default:
			if r.Status != Exhausted || r.Packet != "" {
				t.Fatalf("%+v", r)
			}
		}
	})
}

// TestBoundedAgrees: branch and bound finds the same combination as trying all,
// the first of the smallest.
func TestBoundedAgrees(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawProblem(t, 6, 4)
		s, err := newSearch(context.Background(), p, Options{MaxCombinations: math.MaxInt, Size: bytesSize})
		if err != nil {
			t.Fatal(err)
		}
		proved, err := s.bounded()
		if err != nil || !proved {
			t.Fatalf("not proved: %v", err)
		}
		best, least, _, _ := brute(p, bytesSize.Count, math.MaxInt)
		if s.size != least || !slices.Equal(s.best, best) && len(best) > 0 {
			t.Fatalf("%v of size %d; brute force %v of size %d", s.best, s.size, best, least)
		}
	})
}

// TestAffineGeometry proves the known optima: 5 points meet all lines of
// AG(2,3), 18 those of AG(3,3), out of 3^12 and 3^117 combinations.
func TestAffineGeometry(t *testing.T) {
	data, err := os.ReadFile("testdata/ag3.json")
	if err != nil {
		t.Fatal(err)
	}
	var file []struct {
		Name    string  `json:"name"`
		Lines   [][]int `json:"answers"`
		Optimum int     `json:"optimum"`
	}
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	for _, g := range file {
		p := Problem{Item: func(id uint64) (string, error) { return fmt.Sprintf("p%02d\n", id), nil }}
		for i, line := range g.Lines {
			var a Answer
			for _, point := range line {
				a.Alternatives = append(a.Alternatives, Alternative{[]uint64{uint64(point)}, fmt.Sprintf("line %03d by %02d\n", i, point)})
			}
			p.Answers = append(p.Answers, a)
		}
		r, err := Smallest(context.Background(), p, Options{MaxCombinations: 4096, Size: bytesSize})
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Items) != g.Optimum || !r.Optimal || r.Method != MethodBounded {
			t.Errorf("%s: %d points, optimal %v by %s; the optimum is %d", g.Name, len(r.Items), r.Optimal, r.Method, g.Optimum)
		}
		t.Logf("%s: %d points, %d combinations tried", g.Name, len(r.Items), r.Tried)
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	p := Problem{Item: itemLine}
	for i := range uint64(20) {
		p.Answers = append(p.Answers, Answer{[]Alternative{{[]uint64{i}, "x\n"}, {[]uint64{i + 1}, "y\n"}}})
	}
	calls := 0
	_, err := Smallest(ctx, p, Options{MaxCombinations: HardCombinations, Size: Size{Count: nasty}, Progress: func(tried, total int64) {
		calls++
		cancel()
	}})
	if !errors.Is(err, context.Canceled) || calls != 1 {
		t.Errorf("cancelled in the first report of progress: %v after %d", err, calls)
	}
	if _, err := Fit(ctx, FitProblem{Units: []Unit{{1, "x\n", nil}}}, 0, bytesSize); !errors.Is(err, context.Canceled) {
		t.Errorf("Fit goes on: %v", err)
	}
}

// TestFit compares with taking units by hand, and holds that whole units are
// packed and nothing else.
func TestFit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := FitProblem{Head: "head\n", Item: itemLine}
		for i := range rapid.IntRange(0, 6).Draw(t, "units") {
			p.Units = append(p.Units, Unit{uint64(100 + i), fmt.Sprintf("unit %d%s\n", i, strings.Repeat("z", rapid.IntRange(0, 20).Draw(t, "long"))), rapid.SliceOfN(rapid.Uint64Range(1, 5), 0, 3).Draw(t, "needs")})
		}
		budget := rapid.IntRange(0, 150).Draw(t, "budget")
		size := rapid.SampledFrom([]Size{bytesSize, {Count: nasty}}).Draw(t, "size")
		r, err := Fit(context.Background(), p, budget, size)
		if err != nil {
			t.Fatal(err)
		}
		if r.Status == OverBudget {
			if budget == 0 || r.Smallest <= budget || r.Packet != "" {
				t.Fatalf("%+v with a budget of %d", r, budget)
			}
			return
		}
		if budget > 0 && r.Size > budget || size.Count(r.Packet) != r.Size {
			t.Fatalf("%+v with a budget of %d", r, budget)
		}
		taken := 0
		for _, u := range p.Units {
			if !slices.Contains(r.Items, u.ID) {
				continue
			}
			taken++
			if !strings.Contains(r.Packet, u.Line) {
				t.Fatalf("%d is not in %q", u.ID, r.Packet)
			}
			for _, id := range u.Needs {
				line, _ := itemLine(id)
				if strings.Count(r.Packet, line) != 1 {
					t.Fatalf("%q is not in %q once", line, r.Packet)
				}
			}
		}
		if taken+r.LeftOut != len(p.Units) {
			t.Fatalf("%d taken, %d left out of %d", taken, r.LeftOut, len(p.Units))
		}
	})
}

func BenchmarkFourThousand(b *testing.B) {
	p := Problem{Head: "head\n", Item: itemLine}
	for i := range uint64(12) {
		p.Answers = append(p.Answers, Answer{[]Alternative{{[]uint64{i, i + 1}, "x\n"}, {[]uint64{i + 2}, "y\n"}}})
	}
	for b.Loop() {
		if _, err := Smallest(context.Background(), p, Options{MaxCombinations: 4096, Size: bytesSize}); err != nil {
			b.Fatal(err)
		}
	}
}
