package facts

import (
	"math/bits"
	"slices"
	"sort"
)

// chunkRows is how many rows a chunk holds at most: what a single write copies.
const chunkRows = 256

// chunk is a run of rows, by ascending key.
type chunk[V any] struct {
	keys   []uint64
	values []V
}

// table is an immutable map from ascending keys to values, in chunks that
// tables made from each other share. The zero table is empty.
type table[V any] struct {
	firsts []uint64 // the first key of each chunk
	starts []uint32 // how many rows are in the chunks before
	chunks []*chunk[V]
	rows   int
}

// newTable cuts rows by ascending key into chunks. It keeps the slices.
func newTable[V any](keys []uint64, values []V) table[V] {
	n := (len(keys) + chunkRows - 1) / chunkRows
	t := table[V]{firsts: make([]uint64, 0, n), starts: make([]uint32, 0, n), chunks: make([]*chunk[V], 0, n)}
	chunks := make([]chunk[V], n)
	for i := range chunks {
		low, high := i*chunkRows, min((i+1)*chunkRows, len(keys))
		chunks[i] = chunk[V]{keys[low:high:high], values[low:high:high]}
		t.add(&chunks[i])
	}
	return t
}

func (t *table[V]) add(c *chunk[V]) {
	t.firsts = append(t.firsts, c.keys[0])
	t.starts = append(t.starts, uint32(t.rows))
	t.chunks = append(t.chunks, c)
	t.rows += len(c.keys)
}

// search returns the first index whose key is not below key. No branch depends
// on the keys: it would be guessed wrong half of the time.
func search(keys []uint64, key uint64) int {
	low, n := 0, len(keys)
	for n > 1 {
		half := n >> 1
		_, below := bits.Sub64(keys[low+half-1], key, 0)
		low += half & -int(below)
		n -= half
	}
	if n == 1 && keys[low] < key {
		low++
	}
	return low
}

// lower returns the place of the first row whose key is not below key; the
// chunk is len(t.chunks) if there is none.
func (t *table[V]) lower(key uint64) (c, offset int) {
	c = search(t.firsts, key)
	if c < len(t.firsts) && t.firsts[c] == key {
		return c, 0
	}
	if c == 0 {
		return 0, 0
	}
	keys := t.chunks[c-1].keys
	if offset = search(keys, key); offset < len(keys) {
		return c - 1, offset
	}
	return c, 0
}

// find returns the value of a key.
func (t *table[V]) find(key uint64) (value V, ok bool) {
	if c, i := t.lower(key); c < len(t.chunks) {
		if found := t.chunks[c]; found.keys[i] == key {
			return found.values[i], true
		}
	}
	return value, false
}

// rank returns how many rows have a key below key.
func (t *table[V]) rank(key uint64) int {
	c, i := t.lower(key)
	if c == len(t.chunks) {
		return t.rows
	}
	return int(t.starts[c]) + i
}

// count returns how many rows have the upper half high.
func (t *table[V]) count(high uint32) int {
	c, low := t.lower(pair(high, 0))
	if c == len(t.chunks) {
		return 0
	}
	keys := t.chunks[c].keys
	if end := low + groupLength(keys[low:], high); end < len(keys) {
		return end - low
	}
	if high == 1<<32-1 {
		return t.rows - int(t.starts[c]) - low
	}
	return t.rank(pair(high+1, 0)) - int(t.starts[c]) - low
}

// groupLength returns how many of the keys, from the first on, have the upper
// half high. Groups are mostly short, so it doubles its steps.
func groupLength(keys []uint64, high uint32) int {
	step := 1
	for step <= len(keys) && uint32(keys[step-1]>>32) == high {
		step *= 2
	}
	low := step / 2
	rest := keys[low:min(step, len(keys))]
	n := 0
	for n < len(rest) && len(rest) <= 8 && uint32(rest[n]>>32) == high {
		n++
	}
	if len(rest) > 8 {
		n = search(rest, pair(high, 1<<32-1))
		if n < len(rest) && uint32(rest[n]>>32) == high {
			n++
		}
	}
	return low + n
}

// run returns rows of the group with the upper half high that lie side by side,
// from the skip-th row of the group on, and whether there may be more after them.
func (t *table[V]) run(high uint32, skip int) (keys []uint64, values []V, more bool) {
	c, i := t.lower(pair(high, 0))
	if skip > 0 && c < len(t.chunks) {
		c, i = t.at(int(t.starts[c]) + i + skip)
	}
	if c >= len(t.chunks) {
		return nil, nil, false
	}
	found := t.chunks[c]
	end := i + groupLength(found.keys[i:], high)
	return found.keys[i:end], found.values[i:end], end == len(found.keys) && c+1 < len(t.chunks)
}

// at returns the place of the n-th row.
func (t *table[V]) at(n int) (c, offset int) {
	if n >= t.rows {
		return len(t.chunks), 0
	}
	c, exact := slices.BinarySearch(t.starts, uint32(n))
	if !exact {
		c--
	}
	return c, n - int(t.starts[c])
}

// change puts a value under a key, or removes the key.
type change[V any] struct {
	key    uint64
	value  V
	remove bool
}

// edit returns the table with changes made, which must be in ascending order of
// different keys. Chunks without a change are shared.
func (t *table[V]) edit(changes []change[V]) table[V] {
	if len(changes) == 0 {
		return *t
	}
	n := len(t.chunks) + len(changes)/chunkRows + 2
	out := table[V]{firsts: make([]uint64, 0, n), starts: make([]uint32, 0, n), chunks: make([]*chunk[V], 0, n)}
	done := 0
	for len(changes) > 0 && done < len(t.chunks) {
		// The chunk of the first change, and how many more are its.
		c := max(sort.Search(len(t.firsts), func(i int) bool { return t.firsts[i] > changes[0].key })-1, 0)
		out.share(t, done, c)
		last := c == len(t.chunks)-1
		mine := len(changes)
		if !last {
			mine = sort.Search(len(changes), func(i int) bool { return changes[i].key >= t.firsts[c+1] })
		}
		out.cut(merge(t.chunks[c], changes[:mine]), last)
		changes = changes[mine:]
		done = c + 1
	}
	if len(t.chunks) == 0 {
		out.cut(merge(&chunk[V]{}, changes), false)
	}
	out.share(t, done, len(t.chunks))
	return out
}

// share adds chunks of another table, those from low and before high.
func (t *table[V]) share(from *table[V], low, high int) {
	if low >= high {
		return
	}
	t.firsts = append(t.firsts, from.firsts[low:high]...)
	t.chunks = append(t.chunks, from.chunks[low:high]...)
	shift := uint32(t.rows) - from.starts[low]
	for _, start := range from.starts[low:high] {
		t.starts = append(t.starts, start+shift)
	}
	end := from.rows
	if high < len(from.chunks) {
		end = int(from.starts[high])
	}
	t.rows += end - int(from.starts[low])
}

// cut adds a chunk that may be too long, or empty. The last chunk of a table is
// filled up before the next is begun, because records come in ascending order.
func (t *table[V]) cut(c *chunk[V], last bool) {
	n := len(c.keys)
	if n == 0 {
		return
	}
	size := chunkRows
	if parts := (n + chunkRows - 1) / chunkRows; !last {
		size = (n + parts - 1) / parts
	}
	for low := 0; low < n; low += size {
		high := min(low+size, n)
		t.add(&chunk[V]{c.keys[low:high:high], c.values[low:high:high]})
	}
}

func merge[V any](c *chunk[V], changes []change[V]) *chunk[V] {
	n := len(c.keys) + len(changes)
	out := &chunk[V]{make([]uint64, 0, n), make([]V, 0, n)}
	from := 0
	for i := range changes {
		at := from + search(c.keys[from:], changes[i].key)
		out.keys = append(out.keys, c.keys[from:at]...)
		out.values = append(out.values, c.values[from:at]...)
		from = at
		if at < len(c.keys) && c.keys[at] == changes[i].key {
			from++
		}
		if !changes[i].remove {
			out.keys = append(out.keys, changes[i].key)
			out.values = append(out.values, changes[i].value)
		}
	}
	out.keys = append(out.keys, c.keys[from:]...)
	out.values = append(out.values, c.values[from:]...)
	return out
}
