package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"time"

	"github.com/pkoukk/tiktoken-go"
	tiktokenloader "github.com/pkoukk/tiktoken-go-loader"

	"github.com/grounded-memory/grounded"
	"github.com/grounded-memory/grounded/internal/datalog"
	"github.com/grounded-memory/grounded/internal/facts"
	"github.com/grounded-memory/grounded/internal/packing"
	"github.com/grounded-memory/grounded/tokenizer"
)

// pack measures the search for the smallest packet, verifying against reading,
// and what choosing proofs together saves.
func pack(ctx context.Context) error {
	if err := combinations(ctx); err != nil {
		return err
	}
	if err := verifying(ctx); err != nil {
		return err
	}
	return saving(ctx)
}

// twelve is a problem of twelve answers with two proofs each, 4,096 combinations,
// whose packets have about 5 KB.
func twelve() packing.Problem {
	p := packing.Problem{
		Head: `{"packet":"grounded/1","as_of":"2026-03-01T00:00:00Z","scope":"acme/support","status":"answered"}` + "\n",
		Item: func(id uint64) (string, error) {
			return fmt.Sprintf(`{"id":"r%d","entity":"Person %d of the platform team","predicate":"works_on","value":"billing project %d, the one that was begun in the spring","source":"HR export of March 2026, line %d"}`+"\n", id, id, id*7, id*31), nil
		},
	}
	for i := range uint64(12) {
		var a packing.Answer
		for _, items := range [][]uint64{{i + 1, 100 + i}, {i + 1, 101 + i}} {
			a.Alternatives = append(a.Alternatives, packing.Alternative{
				Items: items, Line: fmt.Sprintf(`{"answer":{"who":"Person %d of the platform team"},"proof":["r%d","r%d"]}`+"\n", i, items[0], items[1]),
			})
		}
		p.Answers = append(p.Answers, a)
	}
	return p
}

func combinations(ctx context.Context) error {
	tiktoken.SetBpeLoader(tiktokenloader.NewOfflineLoader())
	library, err := tiktoken.GetEncoding("o200k_base")
	if err != nil {
		return err
	}
	problem, own := twelve(), tokenizer.O200K()
	search := func(size packing.Size, result **packing.Result) func() error {
		return func() (err error) {
			*result, err = packing.Smallest(ctx, problem, packing.Options{MaxCombinations: 4096, Size: size})
			return err
		}
	}
	var lines, whole *packing.Result
	sides := []side{
		{"grounded: each line counted once", search(packing.Size{Count: own.Count, Additive: true}, &lines)},
		{"every whole packet, tiktoken-go", search(packing.Size{Count: func(text string) int { return len(library.EncodeOrdinary(text)) }}, &whole)},
	}
	medians, err := interleave(3, 0, sides...)
	if err != nil {
		return err
	}
	if lines.Packet != whole.Packet || lines.Size != whole.Size || lines.Tried != whole.Tried {
		return fmt.Errorf("the packets differ: %d tokens and %d", lines.Size, whole.Size)
	}
	t := &table{}
	t.add(fmt.Sprintf("%d combinations of a packet of %d bytes, %d tokens", lines.Tried, len(lines.Packet), lines.Size), "median", "ratio")
	for i, s := range sides {
		t.add(s.name, show(medians[i]), times(ratio(medians[i], medians[0])))
	}
	t.print()
	verdict(medians[0] <= 50*time.Millisecond, "%s (target 50 ms)", show(medians[0]))
	verdict(ratio(medians[1], medians[0]) >= 100, "%s faster than counting every packet (target 100×)", times(ratio(medians[1], medians[0])))
	fmt.Println()
	return nil
}

// verifying compares reads with verifying their certificates.
func verifying(ctx context.Context) error {
	folder, err := os.MkdirTemp("", "bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	all, err := codexFacts()
	if err != nil {
		return err
	}
	path := filepath.Join(folder, "codex.db")
	if err := storeFacts(ctx, path, all); err != nil {
		return err
	}
	store, err := grounded.Open(ctx, path, nil)
	if err != nil {
		return err
	}
	defer store.Close()
	memory, err := store.Scope("bench", "codex")
	if err != nil {
		return err
	}
	queries, err := codexQueries()
	if err != nil {
		return err
	}
	t := &table{}
	t.add("CoDEx-M", "answers", "read", "verify", "verify/read")
	worst := 0.0
	for _, q := range queries {
		if q.Minimal > grounded.MaxAlternatives {
			continue
		}
		request := &grounded.QueryRequest{Select: append([]string{}, q.Select...), Limits: grounded.QueryLimits{
			Examinations: grounded.MaxExaminations, States: grounded.MaxStates, Alternatives: grounded.MaxAlternatives,
		}}
		for _, a := range q.Where {
			request.Where = append(request.Where, grounded.NewAtom(termOf(a[0]), a[1], termOf(a[2])))
		}
		result, err := memory.Query(ctx, request)
		if err != nil {
			return err
		}
		if len(result.Answers) != q.Answers {
			return fmt.Errorf("%s: %d answers, %s", q.ID, len(result.Answers), result.Bound)
		}
		medians, err := interleave(15, 200*time.Millisecond,
			side{"read", func() error { _, err := memory.Query(ctx, request); return err }},
			side{"verify", func() error {
				r, err := memory.Verify(ctx, &grounded.VerifyRequest{Certificate: result.Certificate})
				if err == nil && r.Status != grounded.Valid {
					err = fmt.Errorf("%s %v", r.Status, r.Reasons)
				}
				return err
			}})
		if err != nil {
			return err
		}
		worst = max(worst, ratio(medians[1], medians[0]))
		t.add(q.ID, fmt.Sprint(q.Answers), show(medians[0]), show(medians[1]), times(ratio(medians[1], medians[0])))
	}
	t.print()
	verdict(worst <= 2, "verifying takes at most %s the read's time (target 2×)", times(worst))
	fmt.Println()
	return nil
}

func termOf(text string) grounded.Term {
	if text[0] == '?' {
		return grounded.Var(text[1:])
	}
	return grounded.Const(text)
}

// saving compares the packet whose proofs are chosen together with one that takes
// each answer's smallest proof by itself.
func saving(ctx context.Context) error {
	count := tokenizer.O200K().Count
	t := &table{}
	t.add("", "answers", "alone: records", "tokens", "together: records", "tokens", "saved", "optimal", "time")
	compare := func(name string, p packing.Problem) error {
		records, tokens, err := alone(p, count)
		if err != nil {
			return err
		}
		start := time.Now()
		r, err := packing.Smallest(ctx, p, packing.Options{MaxCombinations: 65_536, Size: packing.Size{Count: count, Additive: true}})
		if err != nil {
			return err
		}
		t.add(name, fmt.Sprint(len(p.Answers)), fmt.Sprint(records), fmt.Sprint(tokens), fmt.Sprint(len(r.Items)), fmt.Sprint(r.Size),
			fmt.Sprintf("%.1f %%", 100-100*float64(r.Size)/float64(tokens)), fmt.Sprint(r.Optimal), show(time.Since(start)))
		return nil
	}
	if err := compare("twelve answers, two proofs each", twelve()); err != nil {
		return err
	}
	sets, err := geometries()
	if err != nil {
		fmt.Println("left out: affine geometries, whose data is not beside the repository")
	}
	for _, set := range sets {
		if err := compare(fmt.Sprintf("%s (%d records suffice)", set.Name, set.Optimum), set.problem()); err != nil {
			return err
		}
	}
	p, err := countries(ctx)
	if err != nil {
		return err
	}
	if err := compare("CoDEx-M q4_proj, 4,491 proofs", p); err != nil {
		return err
	}
	t.print()
	return nil
}

// alone takes each answer's smallest proof and returns the packet's size.
func alone(p packing.Problem, count func(string) int) (records, tokens int, err error) {
	chosen := map[uint64]int{}
	tokens = count(p.Head)
	for _, answer := range p.Answers {
		least, best := math.MaxInt, map[uint64]int{}
		line := 0
		for _, a := range answer.Alternatives {
			sizes := map[uint64]int{}
			sum := count(a.Line)
			own := sum
			for _, id := range a.Items {
				item, err := p.Item(id)
				if err != nil {
					return 0, 0, err
				}
				sizes[id] = count(item)
				sum += sizes[id]
			}
			if sum < least {
				least, best, line = sum, sizes, own
			}
		}
		tokens += line
		maps.Copy(chosen, best)
	}
	for _, size := range chosen {
		tokens += size
	}
	return len(chosen), tokens, nil
}

// geometry is an affine space: each answer is a line, proved by any of its points.
type geometry struct {
	Name    string
	Answers [][]uint64
	Optimum int
}

func geometries() (sets []geometry, err error) {
	path, err := data("pack/ag3.json")
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return sets, json.Unmarshal(text, &sets)
}

func (g *geometry) problem() packing.Problem {
	p := twelve()
	p.Answers = nil
	for i, points := range g.Answers {
		var a packing.Answer
		for _, point := range points {
			a.Alternatives = append(a.Alternatives, packing.Alternative{
				Items: []uint64{point + 1}, Line: fmt.Sprintf(`{"answer":{"line":"line %d"},"proof":["r%d"]}`+"\n", i, point+1),
			})
		}
		p.Answers = append(p.Answers, a)
	}
	return p
}

// countries is a query whose answers have up to 2,924 proofs of four records.
func countries(ctx context.Context) (packing.Problem, error) {
	all, err := codexFacts()
	if err != nil {
		return packing.Problem{}, err
	}
	queries, err := codexQueries()
	if err != nil {
		return packing.Problem{}, err
	}
	set := facts.Build(nil, all)
	p := packing.Problem{Head: twelve().Head, Item: func(id uint64) (string, error) {
		f := &all[id-1]
		return fmt.Sprintf(`{"id":"r%d","entity":%q,"predicate":%q,"value":%q,"source":"CoDEx-M"}`+"\n", id, f.Entity, f.Predicate, f.Value), nil
	}}
	for _, q := range queries {
		if q.ID != "q4_proj" {
			continue
		}
		r, err := datalog.Evaluate(ctx, set, q.program(set, q.written()), wide)
		if err != nil {
			return p, err
		}
		for _, answer := range r.Answers {
			var a packing.Answer
			for _, proof := range answer.Proofs {
				ids, _ := json.Marshal(proof)
				a.Alternatives = append(a.Alternatives, packing.Alternative{
					Items: proof, Line: fmt.Sprintf(`{"answer":{"n":%q},"proof":%s}`+"\n", set.Text(answer.Bind[0]), ids),
				})
			}
			p.Answers = append(p.Answers, a)
		}
	}
	return p, nil
}
