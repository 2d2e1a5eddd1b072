package facts

import (
	"encoding/binary"
	"errors"
)

// The binary form of a set is, in little-endian integers:
//
//	terms, records, relations  uint32 each
//	the end of each term's text in all texts, then all texts
//	record ids                 uint64 each, ascending
//	written predicates         uint32 each, a term; the top bit: written as single
//	entities, values           uint32 each, a term
//	relations                  name, 1 if single else 0 (one byte), uint32 number
//	                           of aliases, aliases; a string is a uint32 length
//	                           and its bytes
//
// Terms are those that records use, by ascending bytes, so that equal sets have
// equal forms.
const headerBytes = 12

// ErrFormat says that data are not the binary form of a set.
var ErrFormat = errors.New("facts: malformed data")

// AppendBinary appends the binary form of the set, which [Load] reads. Texts of
// removed records are not in it.
func (s *Set) AppendBinary(out []byte) []byte {
	terms, numbers := s.used()
	le := binary.LittleEndian
	size := headerBytes + 4*len(terms) + 20*s.records.rows
	for _, t := range terms {
		size += len(s.terms.text(t))
	}
	if cap(out)-len(out) < size {
		out = append(make([]byte, 0, len(out)+size+256), out...)
	}
	out = le.AppendUint32(out, uint32(len(terms)))
	out = le.AppendUint32(out, uint32(s.records.rows))
	out = le.AppendUint32(out, uint32(len(s.relations)))
	end := 0
	for _, t := range terms {
		end += len(s.terms.text(t))
		out = le.AppendUint32(out, uint32(end))
	}
	for _, t := range terms {
		out = append(out, s.terms.text(t)...)
	}
	for _, c := range s.records.chunks {
		for _, record := range c.keys {
			out = le.AppendUint64(out, record)
		}
	}
	column := func(of func(r row) uint32) {
		for _, c := range s.records.chunks {
			for _, r := range c.values {
				out = le.AppendUint32(out, of(r))
			}
		}
	}
	column(func(r row) uint32 { return numbers[r.name()] | r.predicate&rowSingle })
	column(func(r row) uint32 { return numbers[r.entity] })
	column(func(r row) uint32 { return numbers[r.value] })
	for i := range s.relations {
		out = appendRelation(out, &s.relations[i])
	}
	return out
}

// used returns the terms that records use, by text, and the new number of each.
func (s *Set) used() (terms, numbers []uint32) {
	numbers = make([]uint32, s.terms.count)
	for _, c := range s.records.chunks {
		for _, r := range c.values {
			numbers[r.name()], numbers[r.entity], numbers[r.value] = 1, 1, 1
		}
	}
	base := s.terms.base
	terms = make([]uint32, 0, len(numbers))
	rest := s.terms.added
	flush := func(before uint32, all bool) {
		for len(rest) > 0 {
			if !all && s.terms.compare(rest[0][0], before) > 0 {
				return
			}
			if t := rest[0][0]; numbers[t] != 0 {
				terms = append(terms, t)
			}
			if rest[0] = rest[0][1:]; len(rest[0]) == 0 {
				rest = rest[1:]
			}
		}
	}
	rest = append([][]uint32(nil), rest...)
	for t := range base {
		flush(t, false)
		if numbers[t] != 0 {
			terms = append(terms, t)
		}
	}
	flush(0, true)
	for i, t := range terms {
		numbers[t] = uint32(i)
	}
	return terms, numbers
}

func appendRelation(out []byte, r *Relation) []byte {
	out = appendString(out, r.Name)
	out = append(out, byte(bit(r.Single)))
	out = binary.LittleEndian.AppendUint32(out, uint32(len(r.Aliases)))
	for _, alias := range r.Aliases {
		out = appendString(out, alias)
	}
	return out
}

func appendString(out []byte, s string) []byte {
	return append(binary.LittleEndian.AppendUint32(out, uint32(len(s))), s...)
}

// reader reads until the data run out, then only zeros.
type reader struct {
	data []byte
	bad  bool
}

func (r *reader) take(n uint64) []byte {
	if r.bad || n > uint64(len(r.data)) {
		r.bad = true
		return nil
	}
	out := r.data[:n]
	r.data = r.data[n:]
	return out
}

func (r *reader) number() uint32 {
	if b := r.take(4); b != nil {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}

func (r *reader) text() string { return string(r.take(uint64(r.number()))) }

// Load reads what AppendBinary wrote, and nothing else: any other data give
// ErrFormat. It keeps nothing of data.
func Load(data []byte) (*Set, error) {
	r := &reader{data: data}
	terms, records, relations := uint64(r.number()), uint64(r.number()), uint64(r.number())
	ends := r.take(4 * terms)
	if r.bad || terms > rowSingle {
		return nil, ErrFormat
	}
	size := uint32(0)
	if terms > 0 {
		size = binary.LittleEndian.Uint32(ends[4*(terms-1):])
	}
	texts, ok := loadTexts(ends, r.take(uint64(size)))
	ids, columns := r.take(8*records), r.take(12*records)
	if !ok || r.bad {
		return nil, ErrFormat
	}
	keys, rows, ok := loadRows(ids, columns, len(texts))
	if !ok {
		return nil, ErrFormat
	}
	declared := r.relations(relations)
	if r.bad || len(r.data) > 0 {
		return nil, ErrFormat
	}
	return assemble(declared, texts, keys, rows), nil
}

// loadTexts cuts the texts of terms, which must ascend.
func loadTexts(ends, data []byte) ([]string, bool) {
	all := string(data)
	texts := make([]string, len(ends)/4)
	low := uint32(0)
	for i := range texts {
		high := binary.LittleEndian.Uint32(ends[4*i:])
		if high < low || int64(high) > int64(len(all)) {
			return nil, false
		}
		texts[i] = all[low:high]
		if i > 0 && texts[i-1] >= texts[i] {
			return nil, false
		}
		low = high
	}
	return texts, true
}

// loadRows reads the columns of records. Ids must ascend and every term be used.
func loadRows(ids, columns []byte, terms int) ([]uint64, []row, bool) {
	le := binary.LittleEndian
	n := len(ids) / 8
	keys, rows := make([]uint64, n), make([]row, n)
	used := make([]bool, terms)
	unused := terms
	use := func(t uint32) bool {
		if int64(t) >= int64(terms) {
			return false
		}
		if !used[t] {
			used[t] = true
			unused--
		}
		return true
	}
	for i := range keys {
		keys[i] = le.Uint64(ids[8*i:])
		if keys[i] > recordMask || i > 0 && keys[i-1] >= keys[i] {
			return nil, nil, false
		}
		r := row{le.Uint32(columns[4*i:]), le.Uint32(columns[4*(n+i):]), le.Uint32(columns[4*(2*n+i):])}
		if !use(r.name()) || !use(r.entity) || !use(r.value) {
			return nil, nil, false
		}
		rows[i] = r
	}
	return keys, rows, unused == 0
}

func (r *reader) relations(n uint64) []Relation {
	var out []Relation
	for ; n > 0 && !r.bad; n-- {
		rel := Relation{Name: r.text()}
		flag := r.take(1)
		if r.bad || flag[0] > 1 {
			r.bad = true
			return nil
		}
		rel.Single = flag[0] == 1
		for aliases := r.number(); aliases > 0 && !r.bad; aliases-- {
			rel.Aliases = append(rel.Aliases, r.text())
		}
		out = append(out, rel)
	}
	return out
}
