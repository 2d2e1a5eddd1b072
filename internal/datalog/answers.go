package datalog

import "math"

// answer makes the answers of the matches, or sets the bound that they break.
func (j *join) answer(result *Result) error {
	order := j.order()
	starts := j.cut(order)
	n := len(starts)
	if n > j.limits.Alternatives {
		result.Bound = BoundAnswers
		return nil
	}
	p, err := j.newProofs(order)
	if err != nil {
		return err
	}
	places := make([]int32, len(order))
	for i := range places {
		places[i] = int32(i)
	}
	total, counts := 0, make([]int, n)
	groups := make([][]int32, n)
	for i, low := range starts {
		high := int32(len(order))
		if i+1 < n {
			high = starts[i+1]
		}
		if err := j.tick(int(high - low)); err != nil {
			return err
		}
		groups[i], counts[i] = p.minimal(places[low:high])
		total = add(total, counts[i])
	}
	result.AlternativesComplete = total <= j.limits.Alternatives
	if !result.AlternativesComplete {
		share(counts, j.limits.Alternatives)
		total = j.limits.Alternatives
	}
	result.Answers = make([]Answer, n)
	binds := make([]uint32, 0, n*len(j.selects))
	p.out = make([][]uint64, 0, total)
	for i, group := range groups {
		if err := j.tick(counts[i]); err != nil {
			return err
		}
		terms := j.now.of(int(order[starts[i]]))
		for _, v := range j.selects {
			binds = append(binds, terms[j.column[v]])
		}
		result.Answers[i] = Answer{
			Bind:   binds[i*len(j.selects) : len(binds) : len(binds)],
			Proofs: p.first(group, counts[i]),
		}
	}
	return nil
}

// cut returns where in the ordered matches each answer begins.
func (j *join) cut(order []int32) []int32 {
	starts := make([]int32, 0, len(order))
	for i := range order {
		if i == 0 || !j.sameAnswer(order[i-1], order[i]) {
			starts = append(starts, int32(i))
		}
	}
	return starts
}

func (j *join) sameAnswer(a, b int32) bool {
	if len(j.selects) == j.columns {
		return false // different matches differ in a variable
	}
	x, y := j.now.of(int(a)), j.now.of(int(b))
	for _, v := range j.selects {
		if c := j.column[v]; x[c] != y[c] {
			return false
		}
	}
	return true
}

// share cuts counts down to a total: each keeps one, then each that has more
// gets one more in turn.
func share(counts []int, total int) {
	// The greatest level up to which all can be filled, and what is left then.
	filled := func(level int) int {
		sum := 0
		for _, n := range counts {
			sum = add(sum, min(n, level))
		}
		return sum
	}
	low, high := 1, total
	for low < high {
		if middle := low + (high-low+1)/2; filled(middle) <= total {
			low = middle
		} else {
			high = middle - 1
		}
	}
	left := total - filled(low)
	for i, n := range counts {
		counts[i] = min(n, low)
		if n > low && left > 0 {
			counts[i]++
			left--
		}
	}
}

func add(a, b int) int {
	if a > math.MaxInt-b {
		return math.MaxInt
	}
	return a + b
}

func times(a, b int) int {
	if a > 0 && b > math.MaxInt/a {
		return math.MaxInt
	}
	return a * b
}
