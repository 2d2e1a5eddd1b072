package facts

// columns are rows taken apart, to be sorted by counting: no comparison, one
// pass a column.
type columns struct {
	predicates, entities, values []uint32
	terms                        int // more than any entity or value
	different                    int // more than any predicate
}

// order returns the rows sorted by predicate, entity and value; rows alike keep
// their order.
func (c *columns) order() []uint32 {
	in, out := make([]uint32, len(c.entities)), make([]uint32, len(c.entities))
	for i := range in {
		in[i] = uint32(i)
	}
	counts := make([]uint32, max(c.terms, c.different)+1)
	sortBy(c.values, counts[:c.terms+1], in, out)
	sortBy(c.entities, counts[:c.terms+1], out, in)
	sortBy(c.predicates, counts[:c.different+1], in, out)
	return out
}

// sortBy moves row numbers from in to out, by a column, keeping their order where
// the column is alike. There are as many counts as numbers in the column, and one.
func sortBy(column, counts, in, out []uint32) {
	clear(counts)
	for _, key := range column {
		counts[key+1]++
	}
	for i := 1; i < len(counts); i++ {
		counts[i] += counts[i-1]
	}
	for _, n := range in {
		key := column[n]
		out[counts[key]] = n
		counts[key]++
	}
}

// builder fills the tables of predicates.
type builder struct {
	records    []uint64
	rows       []row
	predicates []*predicate

	// The statements of all predicates, one predicate after the other.
	keys   []uint64 // entity<<32|value
	words  []uint64
	of     []uint32 // the predicate of each
	starts []uint32 // where each predicate begins
}

// fill makes the tables by entity.
func (b *builder) fill(c columns) {
	order := c.order()
	b.keys, b.words = make([]uint64, 0, len(order)), make([]uint64, 0, len(order))
	b.of, b.starts = make([]uint32, 0, len(order)), make([]uint32, len(b.predicates))
	for low := 0; low < len(order); {
		n := c.predicates[order[low]]
		high := low + 1
		for high < len(order) && c.predicates[order[high]] == n {
			high++
		}
		b.starts[n] = uint32(len(b.keys))
		b.fillOne(b.predicates[n], order[low:high])
		for range len(b.keys) - int(b.starts[n]) {
			b.of = append(b.of, n)
		}
		low = high
	}
}

// fillOne makes the table by entity of one predicate, from its rows in order.
func (b *builder) fillOne(p *predicate, order []uint32) {
	begin := len(b.keys)
	var more []change[copies]
	last := uint32(0)
	for i := 0; i < len(order); {
		r := b.rows[order[i]]
		key, word := pair(r.entity, r.value), b.records[order[i]]
		if r.single() {
			word |= singleFlag
		}
		end := i + 1
		for end < len(order) && pair(b.rows[order[end]].entity, b.rows[order[end]].value) == key {
			end++
		}
		if end > i+1 {
			c := b.copies(order[i:end])
			more = append(more, change[copies]{key: key, value: c})
			word = c.word()
		}
		if i == 0 || r.entity != last {
			p.entities++
			last = r.entity
		}
		p.singles += int(word >> 62 & 1)
		b.keys, b.words = append(b.keys, key), append(b.words, word)
		i = end
	}
	end := len(b.keys)
	p.byEntity = newTable(b.keys[begin:end:end], b.words[begin:end:end])
	p.more = p.more.edit(more)
}

func (b *builder) copies(order []uint32) copies {
	keys := make([]uint64, len(order))
	single := make([]bool, len(order))
	singles := 0
	for i, n := range order {
		keys[i], single[i] = b.records[n], b.rows[n].single()
		singles += bit(single[i])
	}
	return copies{newTable(keys, single), singles}
}

// fillByValue makes the tables by value: statements by entity, sorted by value,
// are in the order of value and entity within each predicate.
func (b *builder) fillByValue(terms int) {
	n := len(b.keys)
	column, in, out := make([]uint32, n), make([]uint32, n), make([]uint32, n)
	for i, key := range b.keys {
		column[i], in[i] = uint32(key), uint32(i)
	}
	sortBy(column, make([]uint32, terms+1), in, out)
	keys, words := make([]uint64, n), make([]uint64, n)
	next := append([]uint32(nil), b.starts...)
	for _, i := range out {
		p := b.of[i]
		at := next[p]
		next[p]++
		keys[at], words[at] = b.keys[i]<<32|b.keys[i]>>32, b.words[i]
		if at == b.starts[p] || keys[at-1]>>32 != keys[at]>>32 {
			b.predicates[p].values++
		}
	}
	for i, p := range b.predicates {
		low, high := b.starts[i], next[i]
		p.byValue = newTable(keys[low:high:high], words[low:high:high])
	}
}

// word is the word of a statement with copies.
func (c *copies) word() uint64 {
	word := c.records.firsts[0]
	if c.records.rows > 1 {
		word |= moreFlag
	}
	if c.singles > 0 {
		word |= singleFlag
	}
	return word
}
