package facts

// A sorting is rows in an order that begins with their predicate.
type sorting struct {
	order  []uint32 // row numbers
	counts []uint32 // rows of each predicate
}

// sortings are the two orders of a set's tables; rows alike stay by record.
type sortings struct {
	byEntity sorting // predicate, entity, value
	byValue  sorting // predicate, value, entity
}

// sortRows sorts rows, given by ascending record, by counting: three passes for
// each of the two orders, without a comparison.
func sortRows(rows []row, predicateOf []uint32, predicates, terms int) sortings {
	n := len(rows)
	counts := make([]uint32, max(predicates, terms)+1)
	first, second := make([]uint32, n), make([]uint32, n)
	entity := func(r *row) uint32 { return r.entity }
	value := func(r *row) uint32 { return r.value }
	predicate := func(r *row) uint32 { return predicateOf[r.name()] }
	sizes := make([]uint32, predicates)
	for i := range rows {
		sizes[predicate(&rows[i])]++
	}
	sortBy := func(keys ...func(*row) uint32) sorting {
		in, out := first, second
		for i := range in {
			in[i] = uint32(i)
		}
		for _, key := range keys {
			countingPass(rows, key, counts, in, out)
			in, out = out, in
		}
		return sorting{append([]uint32(nil), in...), sizes}
	}
	return sortings{sortBy(value, entity, predicate), sortBy(entity, value, predicate)}
}

// countingPass moves row numbers from in to out, by key, keeping their order
// where keys are alike.
func countingPass(rows []row, key func(*row) uint32, counts, in, out []uint32) {
	clear(counts)
	for i := range rows {
		counts[key(&rows[i])+1]++
	}
	for i := 1; i < len(counts); i++ {
		counts[i] += counts[i-1]
	}
	for _, n := range in {
		k := key(&rows[n])
		out[counts[k]] = n
		counts[k]++
	}
}

type part struct {
	predicate int
	rows      []uint32
}

// parts cuts a sorting into its predicates.
func (s sorting) parts(predicates int) []part {
	out := make([]part, predicates)
	low := uint32(0)
	for i := range out {
		high := low + s.counts[i]
		out[i] = part{i, s.order[low:high]}
		low = high
	}
	return out
}
