package facts

import (
	"slices"
	"sort"
	"strings"
)

// pageTerms is how many texts a page of the dictionary holds.
const pageTerms = 256

// dictionary numbers texts. Those that it was made with come first, in their
// order; those added since are listed in that order in added. It is immutable.
type dictionary struct {
	texts []string   // by term
	pages [][]string // the texts of further terms, in pages
	count uint32
	base  uint32     // how many terms are in the order of their texts
	added [][]uint32 // terms from base on, by text, in chunks
}

// newDictionary numbers texts in ascending order, which must all be different.
// It keeps the slice.
func newDictionary(texts []string) *dictionary {
	n := uint32(len(texts))
	return &dictionary{texts: texts, count: n, base: n}
}

func (d *dictionary) text(term uint32) string {
	if term < d.base {
		return d.texts[term]
	}
	term -= d.base
	return d.pages[term/pageTerms][term%pageTerms]
}

// compare orders two terms by their texts' bytes.
func (d *dictionary) compare(a, b uint32) int {
	switch {
	case a == b:
		return 0
	case a < d.base && b < d.base:
		if a < b {
			return -1
		}
		return 1
	}
	return strings.Compare(d.text(a), d.text(b))
}

func (d *dictionary) lookup(text string) (uint32, bool) {
	if n, ok := slices.BinarySearch(d.texts, text); ok {
		return uint32(n), true
	}
	c, i := d.place(text)
	if c < len(d.added) && i < len(d.added[c]) && d.text(d.added[c][i]) == text {
		return d.added[c][i], true
	}
	return 0, false
}

// place returns the chunk of added that a text belongs to, and where in it.
func (d *dictionary) place(text string) (c, i int) {
	c = sort.Search(len(d.added), func(i int) bool { return d.text(d.added[i][0]) > text })
	if c > 0 {
		c--
	}
	if c < len(d.added) {
		chunk := d.added[c]
		i = sort.Search(len(chunk), func(i int) bool { return d.text(chunk[i]) >= text })
	}
	return c, i
}

// extend returns a dictionary that has the texts as well. New texts are copied,
// so that they keep nothing else in memory.
func (d *dictionary) extend(texts []string) *dictionary {
	var fresh []string
	for _, text := range texts {
		if _, ok := d.lookup(text); !ok {
			fresh = append(fresh, text)
		}
	}
	if len(fresh) == 0 {
		return d
	}
	slices.Sort(fresh)
	fresh = slices.Compact(fresh)
	next := *d
	next.pages = slices.Clone(d.pages)
	next.added = slices.Clone(d.added)
	for _, text := range fresh {
		next.insert(strings.Clone(text), d)
	}
	return &next
}

// insert adds one text to a dictionary that is being made from another.
func (d *dictionary) insert(text string, from *dictionary) {
	term := d.count
	page := int((term - d.base) / pageTerms)
	switch {
	case page == len(d.pages):
		d.pages = append(d.pages, make([]string, 0, 8))
	case page < len(from.pages) && len(d.pages[page]) == len(from.pages[page]):
		d.pages[page] = slices.Clone(d.pages[page]) // shared until now
	}
	d.pages[page] = append(d.pages[page], text)
	d.count++
	if len(d.added) == 0 {
		d.added = append(d.added, []uint32{term})
		return
	}
	c, i := d.place(text)
	old := d.added[c]
	chunk := make([]uint32, 0, len(old)+1)
	chunk = append(append(append(chunk, old[:i]...), term), old[i:]...)
	if len(chunk) <= chunkRows {
		d.added[c] = chunk
		return
	}
	half := len(chunk) / 2
	d.added[c] = chunk[:half:half]
	d.added = slices.Insert(d.added, c+1, chunk[half:])
}
