package notes

import (
	"slices"
	"sort"
	"strings"
)

// table is a list of strings in one piece of memory, sorted by bytes and
// without repeats unless said otherwise.
type table struct {
	text   string
	starts []uint32 // one more than there are strings
}

// newTable makes a table of sorted strings.
func newTable(sorted []string) table {
	size := 0
	for _, s := range sorted {
		size += len(s)
	}
	var text strings.Builder
	text.Grow(size)
	starts := make([]uint32, 1, len(sorted)+1)
	for _, s := range sorted {
		text.WriteString(s)
		starts = append(starts, uint32(text.Len()))
	}
	return table{text.String(), starts}
}

func (t *table) len() int { return max(0, len(t.starts)-1) }

func (t *table) at(i uint32) string { return t.text[t.starts[i]:t.starts[i+1]] }

// find returns the place of a string.
func (t *table) find(s string) (uint32, bool) {
	i, ok := sort.Find(t.len(), func(i int) int { return strings.Compare(s, t.at(uint32(i))) })
	return uint32(i), ok
}

// interned collects strings in order of first appearance.
type interned struct {
	ids  map[string]uint32
	list []string
}

func (in *interned) id(s string) uint32 {
	id, ok := in.ids[s]
	if !ok {
		if in.ids == nil {
			in.ids = make(map[string]uint32)
		}
		id = uint32(len(in.list))
		in.ids[s] = id
		in.list = append(in.list, s)
	}
	return id
}

// sorted returns the strings as a table, and where each went.
func (in *interned) sorted() (table, []uint32) {
	order := make([]uint32, len(in.list))
	for i := range order {
		order[i] = uint32(i)
	}
	slices.SortFunc(order, func(a, b uint32) int { return strings.Compare(in.list[a], in.list[b]) })
	words := make([]string, len(order))
	where := make([]uint32, len(order))
	for i, old := range order {
		words[i] = in.list[old]
		where[old] = uint32(i)
	}
	return newTable(words), where
}

// mergeTables joins the used strings of several tables into one, and returns
// for each table where its strings went. Unused strings go nowhere.
func mergeTables(tables []*table, used [][]bool) (table, [][]uint32) {
	at := make([]uint32, len(tables))
	where := make([][]uint32, len(tables))
	for i, t := range tables {
		where[i] = make([]uint32, t.len())
	}
	var merged []string
	for {
		least, found := "", false
		for i, t := range tables {
			for int(at[i]) < t.len() && !used[i][at[i]] {
				at[i]++
			}
			if int(at[i]) < t.len() && (!found || t.at(at[i]) < least) {
				least, found = t.at(at[i]), true
			}
		}
		if !found {
			return newTable(merged), where
		}
		for i, t := range tables {
			if int(at[i]) < t.len() && used[i][at[i]] && t.at(at[i]) == least {
				where[i][at[i]] = uint32(len(merged))
				at[i]++
			}
		}
		merged = append(merged, least)
	}
}
