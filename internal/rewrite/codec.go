package rewrite

import (
	"cmp"
	"encoding/binary"
	"errors"
	"strings"
	"unicode/utf8"
)

// The format, with every integer an unsigned LEB128 in its shortest form:
//
//	number of bridges
//	for each bridge, sorted by phrase, target and record:
//	    record
//	    phrase, target           words joined by a zero byte
//	    phrase text, target text empty if it is the words joined by a space
//	for each bridge in the order of records: its place above, from 0
//
// A string is its length in bytes and the bytes. There is one encoding of a set,
// and Load refuses any other.

var errDamaged = errors.New("rewrite: not an encoded set of bridges")

// AppendBinary appends the encoding of the set. It holds nothing of a removed
// bridge.
func (s *Set) AppendBinary(out []byte) []byte {
	whole := &segment{}
	for i := len(s.segments) - 1; i >= 0; i-- {
		if seg := s.segments[i]; whole.len() == 0 && seg.dead == 0 {
			whole = seg
		} else {
			whole = merge(seg, whole)
		}
	}
	out = binary.AppendUvarint(out, uint64(whole.len()))
	if whole.len() == 0 {
		return out
	}
	out = append(out, whole.data...)
	for _, entry := range whole.byRecord {
		out = binary.AppendUvarint(out, uint64(entry))
	}
	return out
}

// Load returns the set that data encodes. It keeps no reference to data.
func Load(data []byte) (*Set, error) {
	r := reader{text: string(data)}
	n := r.integer()
	// A bridge takes at least eight bytes, which bounds what is allocated here.
	if r.bad || n > uint64(len(data)/8) {
		return nil, errDamaged
	}
	begin := len(data) - len(r.text)
	records, offsets := make([]uint64, n), make([]int, n, n+1)
	var last entry
	for i := range records {
		offsets[i] = len(data) - len(r.text) - begin
		records[i] = r.integer()
		e := entry{r.key(), r.key(), r.string(), r.string()}
		if r.bad || e.phraseText != "" && e.phraseText == plain(e.phrase) || e.targetText != "" && e.targetText == plain(e.target) {
			return nil, errDamaged
		}
		if i > 0 && cmp.Or(strings.Compare(last.phrase, e.phrase), strings.Compare(last.target, e.target), cmp.Compare(records[i-1], records[i])) >= 0 {
			return nil, errDamaged
		}
		last = e
	}
	end := len(data) - len(r.text) - begin
	byRecord := make([]uint32, n)
	for i := range byRecord {
		entry := r.integer()
		if entry >= n || i > 0 && records[byRecord[i-1]] >= records[entry] {
			return nil, errDamaged
		}
		byRecord[i] = uint32(entry)
	}
	if r.bad || r.text != "" {
		return nil, errDamaged
	}
	if n == 0 {
		return new(Set), nil
	}
	seg := &segment{table: newTable(string(data[begin:begin+end]), append(offsets, end), records, byRecord)}
	s := &Set{segments: []*segment{seg}}
	for g := range seg.phrases() {
		if from, to := int(seg.groups[g]), int(seg.groups[g+1]); seg.entry(from).target != seg.entry(to-1).target {
			s.conflicts++
		}
	}
	return s, nil
}

// plain is the text of a phrase that was supplied in phrase form.
func plain(key string) string { return strings.ReplaceAll(key, separator, " ") }

func appendEntry(out []byte, record uint64, e *entry) []byte {
	out = binary.AppendUvarint(out, record)
	out = appendString(appendString(out, e.phrase), e.target)
	return appendText(appendText(out, e.phraseText, e.phrase), e.targetText, e.target)
}

func appendText(out []byte, text, key string) []byte {
	if text == plain(key) {
		text = ""
	}
	return appendString(out, strings.ToValidUTF8(text, "\uFFFD"))
}

func appendString(out []byte, s string) []byte {
	return append(binary.AppendUvarint(out, uint64(len(s))), s...)
}

// entry decodes one bridge. Texts that are their words are left empty: see texts.
func (t *table) entry(i int) entry {
	r := t.data[t.offsets[i]:t.offsets[i+1]]
	_, n := uvarint(r)
	r = r[n:]
	var e entry
	e.phrase, r = cutString(r)
	e.target, r = cutString(r)
	e.phraseText, r = cutString(r)
	e.targetText, _ = cutString(r)
	return e
}

// texts returns phrase and target of a bridge as supplied.
func (t *table) texts(i int) (phrase, target string) {
	e := t.entry(i)
	return cmp.Or(e.phraseText, plain(e.phrase)), cmp.Or(e.targetText, plain(e.target))
}

// cutString takes a string off data that has been checked.
func cutString(data string) (s, rest string) {
	size, n := uvarint(data)
	return data[n : n+int(size)], data[n+int(size):]
}

// reader takes checked values off text until one is bad, then zeros.
type reader struct {
	text string
	bad  bool
}

func (r *reader) integer() uint64 {
	x, n := uvarint(r.text)
	if n == 0 || n > 1 && r.text[n-1] == 0 {
		r.bad, r.text = true, ""
		return 0
	}
	r.text = r.text[n:]
	return x
}

func (r *reader) string() string {
	size := r.integer()
	if size > uint64(len(r.text)) {
		r.bad, r.text = true, ""
		return ""
	}
	s := r.text[:size]
	if !utf8.ValidString(s) {
		r.bad = true
	}
	r.text = r.text[size:]
	return s
}

// key takes a string of words off.
func (r *reader) key() string {
	s := r.string()
	if s == "" || s[0] == separator[0] || s[len(s)-1] == separator[0] || strings.Contains(s, separator+separator) {
		r.bad = true
	}
	return s
}
