package rewrite

import (
	"cmp"
	"encoding/binary"
	"hash/maphash"
	"iter"
	"slices"
	"sort"
	"strings"
)

// segment is a sorted table of bridges. All but the dead marks is fixed once it
// is made; a segment with other marks is another segment that shares the rest.
type segment struct {
	*table
	marks []uint64 // one bit a bridge: no longer in the set
	dead  int
}

// table is the fixed part of a segment. Its bridges are sorted by phrase,
// target and record.
type table struct {
	data     string   // the bridges' encodings, one after the other; see codec.go
	offsets  []int    // where each bridge begins in data, and data's end
	records  []uint64 // their records
	byRecord []uint32 // the bridges in the order of their records
	groups   []uint32 // the first bridge of each phrase, and the number of bridges
	firsts   []uint32 // the first phrase of each first word, and the number of phrases
	slots    []uint32 // open hash table of first words: 1 + index into firsts
	seed     maphash.Seed
}

// entry is one bridge, decoded.
type entry struct {
	phrase, target         string // keys
	phraseText, targetText string
}

func newSegment(bridges []Bridge) *segment {
	last := make(map[uint64]int, len(bridges))
	for i, b := range bridges {
		last[b.Record] = i
	}
	type keyed struct {
		phrase, target string
		*Bridge
	}
	list := make([]keyed, 0, len(bridges))
	for i := range bridges {
		b := &bridges[i]
		if last[b.Record] == i && usable(b.Phrase) && usable(b.Target) {
			list = append(list, keyed{strings.Join(b.Phrase, separator), strings.Join(b.Target, separator), b})
		}
	}
	slices.SortFunc(list, func(a, b keyed) int {
		return cmp.Or(strings.Compare(a.phrase, b.phrase), strings.Compare(a.target, b.target), cmp.Compare(a.Record, b.Record))
	})
	var data []byte
	records := make([]uint64, len(list))
	offsets := make([]int, 0, len(list)+1)
	for i, b := range list {
		offsets = append(offsets, len(data))
		records[i] = b.Record
		data = appendEntry(data, b.Record, &entry{b.phrase, b.target, b.PhraseText, b.TargetText})
	}
	return &segment{table: newTable(string(data), append(offsets, len(data)), records, nil)}
}

// newTable completes a table of sorted bridges. byRecord may be nil.
func newTable(data string, offsets []int, records []uint64, byRecord []uint32) *table {
	t := &table{data: data, offsets: offsets, records: records, byRecord: byRecord, seed: maphash.MakeSeed()}
	if byRecord == nil {
		t.byRecord = make([]uint32, len(records))
		for i := range t.byRecord {
			t.byRecord[i] = uint32(i)
		}
		slices.SortFunc(t.byRecord, func(a, b uint32) int { return cmp.Compare(records[a], records[b]) })
	}
	phrase, first := "", ""
	for i := range records {
		if p := t.entry(i).phrase; p != phrase {
			phrase = p
			if w, _, _ := strings.Cut(p, separator); w != first {
				first = w
				t.firsts = append(t.firsts, uint32(len(t.groups)))
			}
			t.groups = append(t.groups, uint32(i))
		}
	}
	t.firsts = append(t.firsts, uint32(len(t.groups)))
	t.groups = append(t.groups, uint32(len(records)))
	t.hashFirsts()
	return t
}

// hashFirsts fills a table that is at most half full.
func (t *table) hashFirsts() {
	size := 1
	for size < 2*len(t.firsts) {
		size *= 2
	}
	t.slots = make([]uint32, size)
	for i := range len(t.firsts) - 1 {
		word, _, _ := strings.Cut(t.phrase(int(t.firsts[i])), separator)
		at := t.slotOf(word)
		for t.slots[at] != 0 {
			at = (at + 1) & (size - 1)
		}
		t.slots[at] = uint32(i + 1)
	}
}

func (t *table) slotOf(word string) int {
	return int(maphash.String(t.seed, word) & uint64(len(t.slots)-1))
}

// len returns the number of live bridges.
func (s *segment) len() int {
	if s.table == nil {
		return 0
	}
	return len(s.records) - s.dead
}

func (s *segment) isDead(entry int) bool {
	return s.dead > 0 && s.marks[entry/64]&(1<<(entry%64)) != 0
}

// anyLive reports whether a span has a live bridge.
func (s *segment) anyLive(p span) bool {
	if s.dead == 0 || p.from >= p.to {
		return p.from < p.to
	}
	from, to := int(s.groups[p.from]), int(s.groups[p.to])
	for from < to {
		// The marks of one word from bit from on, up to bit to.
		living := ^s.marks[from/64] >> (from % 64)
		if n := to - from; n < 64 {
			living &= 1<<n - 1
		}
		if living != 0 {
			return true
		}
		from = (from/64 + 1) * 64
	}
	return false
}

// without returns the segment with one more bridge dead.
func (s *segment) without(entry int) *segment {
	out := &segment{table: s.table, marks: slices.Clone(s.marks), dead: s.dead + 1}
	if out.marks == nil {
		out.marks = make([]uint64, (len(s.records)+63)/64)
	}
	out.marks[entry/64] |= 1 << (entry % 64)
	return out
}

// find returns the bridge of a record.
func (t *table) find(record uint64) (int, bool) {
	i, ok := slices.BinarySearchFunc(t.byRecord, record, func(entry uint32, record uint64) int {
		return cmp.Compare(t.records[entry], record)
	})
	if !ok {
		return 0, false
	}
	return int(t.byRecord[i]), true
}

// phrases yields the index of every phrase, of dead bridges too.
func (t *table) phrases() iter.Seq[int] {
	return func(yield func(int) bool) {
		for g := range len(t.groups) - 1 {
			if !yield(g) {
				return
			}
		}
	}
}

// phrase returns the key of a phrase.
func (t *table) phrase(group int) string {
	data := t.data[t.offsets[t.groups[group]]:]
	_, n := uvarint(data)
	phrase, _ := cutString(data[n:])
	return phrase
}

// bridgesOf returns the range of the bridges of a phrase.
func (t *table) bridgesOf(phrase string) (from, to int) {
	n := len(t.groups) - 1
	g := sort.Search(n, func(i int) bool { return t.phrase(i) >= phrase })
	if g == n || t.phrase(g) != phrase {
		return 0, 0
	}
	return int(t.groups[g]), int(t.groups[g+1])
}

// span is a range of phrases that begin with the same words.
type span struct{ from, to int }

// first returns the phrases that begin with a word.
func (t *table) first(word string) span {
	for at := t.slotOf(word); t.slots[at] != 0; at = (at + 1) & (len(t.slots) - 1) {
		i := t.slots[at] - 1
		if from := int(t.firsts[i]); startsWith(t.phrase(from), word) {
			return span{from, int(t.firsts[i+1])}
		}
	}
	return span{}
}

func startsWith(phrase, word string) bool {
	return strings.HasPrefix(phrase, word) && (len(phrase) == len(word) || phrase[len(word)] == separator[0])
}

// whole reports whether the first phrase of a span has no word after its first
// n bytes: it is those words.
func (t *table) whole(s span, n int) bool { return len(t.phrase(s.from)) == n }

// next narrows a span, whose phrases agree in their first n bytes, to those
// whose next word is the given one.
func (t *table) next(s span, n int, word string) span {
	if t.whole(s, n) {
		s.from++
	}
	following := func(i int) string {
		w, _, _ := strings.Cut(t.phrase(i)[n+len(separator):], separator)
		return w
	}
	from := s.from + sort.Search(s.to-s.from, func(i int) bool { return following(s.from+i) >= word })
	to := from + sort.Search(s.to-from, func(i int) bool { return following(from+i) > word })
	return span{from, to}
}

// merge returns one segment of the live bridges of two.
func merge(a, b *segment) *segment {
	size := 0
	for _, s := range []*segment{a, b} {
		if s.table != nil {
			size += len(s.data)
		}
	}
	data := make([]byte, 0, size)
	records := make([]uint64, 0, a.len()+b.len())
	offsets := make([]int, 0, a.len()+b.len()+1)
	take := func(s *segment, i int) {
		if !s.isDead(i) {
			offsets = append(offsets, len(data))
			records = append(records, s.records[i])
			data = append(data, s.data[s.offsets[i]:s.offsets[i+1]]...)
		}
	}
	i, j := 0, 0
	for i < a.size() || j < b.size() {
		if j == b.size() || i < a.size() && a.before(i, b, j) {
			take(a, i)
			i++
		} else {
			take(b, j)
			j++
		}
	}
	return &segment{table: newTable(string(data), append(offsets, len(data)), records, nil)}
}

// size returns the number of bridges, dead ones too.
func (s *segment) size() int {
	if s.table == nil {
		return 0
	}
	return len(s.records)
}

// before reports whether bridge i sorts before bridge j of another table.
func (t *table) before(i int, other *segment, j int) bool {
	a, b := t.entry(i), other.entry(j)
	return cmp.Or(strings.Compare(a.phrase, b.phrase), strings.Compare(a.target, b.target), cmp.Compare(t.records[i], other.records[j])) < 0
}

// uvarint is binary.Uvarint on a string.
func uvarint(s string) (uint64, int) {
	var x uint64
	for i := 0; i < len(s) && i < binary.MaxVarintLen64; i++ {
		if s[i] < 0x80 {
			if i == binary.MaxVarintLen64-1 && s[i] > 1 {
				return 0, 0
			}
			return x | uint64(s[i])<<(7*i), i + 1
		}
		x |= uint64(s[i]&0x7f) << (7 * i)
	}
	return 0, 0
}
