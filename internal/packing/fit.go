package packing

import (
	"context"
	"slices"
	"strings"
)

// Unit is a record with the items that it needs: whole, or not at all.
type Unit struct {
	ID    uint64
	Line  string
	Needs []uint64 // items, in any order; an item that several units need is paid for once
}

// FitProblem is what to fit into a budget.
type FitProblem struct {
	Head  string
	Units []Unit                          // the more important first
	Item  func(id uint64) (string, error) // an item's line
}

// FitResult is a packet, or the size that is too much for the budget.
type FitResult struct {
	Status   Status // Packed or OverBudget
	Packet   string
	Size     int
	Items    []uint64 // the units' ids in their order, then the items that they need, ascending
	LeftOut  int
	Smallest int // the least size that was seen: of the head alone, if nothing fits
}

// Fit takes units in order as long as the packet fits; a budget of 0 takes all.
// The packet is the head, the lines of the units, then those of the items that
// they need, each once, ascending. If not even the head fits, or none of the
// units, nothing is packed.
func Fit(ctx context.Context, problem FitProblem, budget int, size Size) (*FitResult, error) {
	f := fitting{problem: problem, lines: map[uint64]string{}}
	packet, err := f.packet(nil)
	if err != nil {
		return nil, err
	}
	result := &FitResult{Status: Packed, Packet: packet, Size: size.Count(packet)}
	result.Smallest = result.Size
	fits := func(n int) bool { return budget <= 0 || n <= budget }
	if !fits(result.Size) {
		return &FitResult{Status: OverBudget, Smallest: result.Size}, nil
	}
	var taken []int
	least := 0 // the size of the smallest packet with a unit that did not fit
	for i := range problem.Units {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		packet, err := f.packet(append(taken, i))
		if err != nil {
			return nil, err
		}
		n := size.Count(packet)
		if !fits(n) {
			result.LeftOut++
			if least == 0 || n < least {
				least = n
			}
			continue
		}
		taken = append(taken, i)
		result.Packet, result.Size = packet, n
	}
	if len(taken) == 0 && len(problem.Units) > 0 {
		return &FitResult{Status: OverBudget, Smallest: least, LeftOut: result.LeftOut}, nil
	}
	for _, i := range taken {
		result.Items = append(result.Items, problem.Units[i].ID)
	}
	result.Items = append(result.Items, f.needs(taken)...)
	return result, nil
}

type fitting struct {
	problem FitProblem
	lines   map[uint64]string
}

func (f *fitting) needs(taken []int) []uint64 {
	var out []uint64
	for _, i := range taken {
		out = append(out, f.problem.Units[i].Needs...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func (f *fitting) packet(taken []int) (string, error) {
	var b strings.Builder
	b.WriteString(f.problem.Head)
	for _, i := range taken {
		b.WriteString(f.problem.Units[i].Line)
	}
	for _, id := range f.needs(taken) {
		line, ok := f.lines[id]
		if !ok {
			var err error
			if line, err = f.problem.Item(id); err != nil {
				return "", err
			}
			f.lines[id] = line
		}
		b.WriteString(line)
	}
	return b.String(), nil
}
