package notes

import (
	"encoding/binary"
	"errors"
	"slices"
	"unicode/utf8"
)

// The snapshot format, version 1. Numbers are little-endian and 32 bits wide,
// records 64; a list is led by the number of its entries.
//
//	language                  length, bytes
//	words, stems, sessions, speakers   each a table: text length, text, list of ends
//	stemOf                    a list, one stem a word
//	records                   a list of 64-bit numbers, ascending
//	flags                     one byte a document
//	days, sessions, speakers  one number a document
//	ends                      one number a document: where its words end
//	seq                       a list of word ids
//
// What can be derived (postings, lengths, sessions' members, names) is.

var errSnapshot = errors.New("notes: not a snapshot of this format")

// AppendBinary appends the index's snapshot to dst.
func (x *Index) AppendBinary(dst []byte) []byte {
	s := newSegment(0)
	switch {
	case len(x.views) == 1 && x.views[0].dead == nil:
		s = x.views[0].segment
	case len(x.views) > 0:
		s = mergeSegments(x.views)
	}
	dst = appendText(dst, string(x.language.name))
	for _, t := range []*table{&s.words, &s.stems, &s.sessionNames, &s.speakerNames} {
		dst = appendText(dst, t.text)
		dst = appendNumbers(dst, ends(t.starts))
	}
	dst = appendNumbers(dst, s.stemOf)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(s.records)))
	for _, r := range s.records {
		dst = binary.LittleEndian.AppendUint64(dst, r)
	}
	for _, f := range s.flags {
		dst = append(dst, byte(f))
	}
	for _, day := range s.days {
		dst = binary.LittleEndian.AppendUint32(dst, uint32(day))
	}
	dst = appendRaw(dst, s.sessions)
	dst = appendRaw(dst, s.speakers)
	dst = appendRaw(dst, ends(s.starts))
	return appendNumbers(dst, s.seq)
}

func ends(starts []uint32) []uint32 {
	if len(starts) == 0 {
		return nil
	}
	return starts[1:]
}

func appendText(dst []byte, s string) []byte {
	return append(binary.LittleEndian.AppendUint32(dst, uint32(len(s))), s...)
}

func appendNumbers(dst []byte, n []uint32) []byte {
	return appendRaw(binary.LittleEndian.AppendUint32(dst, uint32(len(n))), n)
}

func appendRaw(dst []byte, n []uint32) []byte {
	dst = slices.Grow(dst, 4*len(n))
	for _, v := range n {
		dst = binary.LittleEndian.AppendUint32(dst, v)
	}
	return dst
}

// Load reads a snapshot. Whatever AppendBinary could not have written is an
// error; no bytes make it panic.
func Load(data []byte) (*Index, error) {
	r := &reader{data: data}
	x := &Index{language: newAnalyzer(Language(r.text()))}
	s := &segment{words: r.table(), stems: r.table(), sessionNames: r.table(), speakerNames: r.table()}
	s.stemOf = r.numbers()
	n := r.length(8)
	s.records = make([]uint64, n)
	for i := range s.records {
		s.records[i] = r.number64()
	}
	s.flags = make([]Flags, n)
	for i, b := range r.bytes(n) {
		s.flags[i] = Flags(b)
	}
	s.days = make([]int32, n)
	for i, day := range r.raw(n) {
		s.days[i] = int32(day)
	}
	s.sessions, s.speakers = r.raw(n), r.raw(n)
	s.starts = append(make([]uint32, 1, n+1), r.raw(n)...)
	s.seq = r.numbers()
	if r.failed || len(r.data) != 0 || !s.sound() {
		return nil, errSnapshot
	}
	s.derive()
	if n > 0 {
		e := edit{Index: x}
		e.admit(whole(s))
	}
	return x, nil
}

// sound checks every number that is used as an index, and every order that is
// relied upon.
func (s *segment) sound() bool {
	n := len(s.records)
	below := func(ids []uint32, limit int, none bool) bool {
		for _, id := range ids {
			if int64(id) >= int64(limit) && !(none && id == None) {
				return false
			}
		}
		return true
	}
	for i := 1; i < n; i++ {
		if s.records[i] <= s.records[i-1] {
			return false
		}
	}
	for _, t := range []*table{&s.words, &s.stems, &s.sessionNames, &s.speakerNames} {
		if !t.sound() {
			return false
		}
	}
	return len(s.flags) == n && len(s.days) == n && len(s.sessions) == n && len(s.speakers) == n &&
		ascends(s.starts) && int(s.starts[n]) == len(s.seq) && len(s.stemOf) == s.words.len() &&
		below(s.stemOf, s.stems.len(), false) && below(s.seq, s.words.len(), false) &&
		below(s.sessions, s.sessionNames.len(), true) && below(s.speakers, s.speakerNames.len(), true)
}

func ascends(n []uint32) bool {
	for i := 1; i < len(n); i++ {
		if n[i] < n[i-1] {
			return false
		}
	}
	return true
}

// sound says that a table is sorted, without repeats, and made of whole texts.
func (t *table) sound() bool {
	if !ascends(t.starts) || int(t.starts[len(t.starts)-1]) != len(t.text) || !utf8.ValidString(t.text) {
		return false
	}
	for i := uint32(1); int(i) < t.len(); i++ {
		if t.at(i-1) >= t.at(i) {
			return false
		}
	}
	return true
}

// reader takes a snapshot apart; after a failure it gives nothing any more.
type reader struct {
	data   []byte
	failed bool
}

func (r *reader) bytes(n int) []byte {
	if r.failed || n > len(r.data) {
		r.failed = true
		return nil
	}
	out := r.data[:n]
	r.data = r.data[n:]
	return out
}

func (r *reader) number() uint32 {
	if b := r.bytes(4); b != nil {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}

func (r *reader) number64() uint64 {
	if b := r.bytes(8); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

// length reads a count of entries of some size each, of which at least so many
// must be there.
func (r *reader) length(size int) int {
	n := int64(r.number())
	if n*int64(size) > int64(len(r.data)) {
		r.failed = true
		return 0
	}
	return int(n)
}

func (r *reader) text() string { return string(r.bytes(r.length(1))) }

func (r *reader) numbers() []uint32 { return r.raw(r.length(4)) }

func (r *reader) raw(n int) []uint32 {
	b := r.bytes(4 * n)
	out := make([]uint32, len(b)/4)
	for i := range out {
		out[i] = binary.LittleEndian.Uint32(b[4*i:])
	}
	return out
}

func (r *reader) table() table {
	text := r.text()
	return table{text, append([]uint32{0}, r.numbers()...)}
}
