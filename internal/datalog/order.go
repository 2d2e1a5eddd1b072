package datalog

import "slices"

// fewMatches is up to how many matches comparing is quicker than counting.
const fewMatches = 32

// order returns the matches in the order of their answers: by the texts of the
// selected variables, one after the other. Those of one answer lie side by side.
func (j *join) order() []int32 {
	order := make([]int32, j.now.count)
	for i := range order {
		order[i] = int32(i)
	}
	if len(order) <= fewMatches || !j.ordered() {
		slices.SortFunc(order, j.compareMatches)
		return order
	}
	spare := make([]int32, len(order))
	for i := len(j.selects) - 1; i >= 0; i-- {
		order, spare = j.orderBy(j.column[j.selects[i]], order, spare)
	}
	return order
}

func (j *join) compareMatches(a, b int32) int {
	x, y := j.now.of(int(a)), j.now.of(int(b))
	for _, v := range j.selects {
		if c := j.column[v]; x[c] != y[c] {
			return j.facts.Compare(x[c], y[c])
		}
	}
	return 0
}

// ordered reports whether all selected terms are in the order of their texts.
func (j *join) ordered() bool {
	below := j.facts.Ordered()
	for _, v := range j.selects {
		for at := j.column[v]; at < len(j.now.terms); at += j.now.width {
			if j.now.terms[at] >= below {
				return false
			}
		}
	}
	return true
}

// orderBy sorts matches by one term, keeping the order of those alike, by
// counting its bytes from the last to the first. It returns its two slices.
func (j *join) orderBy(column int, order, spare []int32) (sorted, other []int32) {
	terms, width := j.now.terms, j.now.width
	first := terms[column]
	varying := uint32(0)
	for at := column; at < len(terms); at += width {
		varying |= terms[at] ^ first
	}
	for shift := 0; varying>>shift != 0; shift += 8 {
		if varying>>shift&0xff == 0 {
			continue
		}
		var counts [257]int32
		for _, m := range order {
			counts[terms[int(m)*width+column]>>shift&0xff+1]++
		}
		for i := 1; i < 256; i++ {
			counts[i] += counts[i-1]
		}
		for _, m := range order {
			digit := terms[int(m)*width+column] >> shift & 0xff
			spare[counts[digit]] = m
			counts[digit]++
		}
		order, spare = spare, order
	}
	return order, spare
}
