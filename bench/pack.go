package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"time"

	"github.com/pkoukk/tiktoken-go"
	tiktokenloader "github.com/pkoukk/tiktoken-go-loader"

	"github.com/grounded-memory/grounded"
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
	path, err := data("pack/ag3.json")
	if err != nil {
		fmt.Println("left out: the saving on affine geometries, whose data is not beside the repository")
		return nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var sets []struct {
		Name    string
		Answers [][]uint64
		Optimum int
	}
	if err := json.Unmarshal(text, &sets); err != nil {
		return err
	}
	count := tokenizer.O200K().Count
	t := &table{}
	t.add("answers, each with three proofs of one record", "answers", "alone: records", "tokens", "together: records", "tokens", "saved", "time")
	for _, set := range sets {
		p := twelve()
		p.Answers = nil
		alone := map[uint64]bool{}
		aloneSize := count(p.Head)
		for i, points := range set.Answers {
			var a packing.Answer
			least, chosen := math.MaxInt, uint64(0)
			for _, point := range points {
				line := fmt.Sprintf(`{"answer":{"line":"line %d"},"proof":["r%d"]}`+"\n", i, point+1)
				item, _ := p.Item(point + 1)
				if size := count(line) + count(item); size < least {
					least, chosen = size, point+1
				}
				a.Alternatives = append(a.Alternatives, packing.Alternative{Items: []uint64{point + 1}, Line: line})
			}
			p.Answers = append(p.Answers, a)
			item, _ := p.Item(chosen)
			if aloneSize += least; alone[chosen] {
				aloneSize -= count(item)
			}
			alone[chosen] = true
		}
		start := time.Now()
		r, err := packing.Smallest(ctx, p, packing.Options{MaxCombinations: 4096, Size: packing.Size{Count: count, Additive: true}})
		if err != nil {
			return err
		}
		took := time.Since(start)
		t.add(fmt.Sprintf("%s (%d points suffice)", set.Name, set.Optimum), fmt.Sprint(len(set.Answers)), fmt.Sprint(len(alone)), fmt.Sprint(aloneSize),
			fmt.Sprint(len(r.Items)), fmt.Sprintf("%d (optimal: %v)", r.Size, r.Optimal), fmt.Sprintf("%.0f %%", 100-100*float64(r.Size)/float64(aloneSize)), show(took))
	}
	t.print()
	return nil
}
