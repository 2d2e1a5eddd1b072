package index

import (
	"encoding/binary"
	"hash/crc32"

	"github.com/grounded-memory/grounded/internal/facts"
	"github.com/grounded-memory/grounded/internal/notes"
	"github.com/grounded-memory/grounded/internal/rewrite"
)

// Snapshot blobs let a new process start without reading every row. They are
// never needed for correctness: a frame that does not match is ignored.
//
// A frame is the format's name, a zero byte, the body, and the CRC-32C of all
// before it. The core's body is, in little-endian fixed-width integers: last
// sequence number, expired-through time, the digest state, one kind byte a
// record, the digests of the eligible ones, the expiring ones, and the
// relations as length-prefixed strings.
const (
	corePart   = "core"
	coreFormat = "grounded-core/1"
)

var (
	partNames   = map[Parts]string{Facts: "facts", Notes: "notes", Bridges: "bridges"}
	partFormats = map[Parts]string{Facts: "grounded-facts/1", Notes: "grounded-notes/1", Bridges: "grounded-bridges/1"}
	castagnoli  = crc32.MakeTable(crc32.Castagnoli)
)

// Blob is one snapshot blob to be stored.
type Blob struct {
	Part string
	Data []byte
}

// Snapshot returns the blobs of the core and of every loaded part, and the
// version that they belong to; ok is false if nothing is loaded.
func (x *Index) Snapshot() (blobs []Blob, version uint64, ok bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.view.digest == nil || x.view.Version == 0 {
		return nil, 0, false
	}
	blobs = append(blobs, Blob{corePart, frame(coreFormat, x.encodeCore())})
	if s := x.view.AllFacts; s != nil {
		blobs = append(blobs, Blob{partNames[Facts], frame(partFormats[Facts], s.AppendBinary(nil))})
	}
	if n := x.view.AllNotes; n != nil {
		blobs = append(blobs, Blob{partNames[Notes], frame(partFormats[Notes], n.AppendBinary(nil))})
	}
	if r := x.view.Rewrites; r != nil {
		blobs = append(blobs, Blob{partNames[Bridges], frame(partFormats[Bridges], r.AppendBinary(nil))})
	}
	return blobs, x.view.Version, true
}

// Behind returns how many log versions and records the stored core blob lacks,
// as far as this index knows: what a snapshot now would save the next process.
func (x *Index) Behind() (records int, behind uint64) {
	x.mu.Lock()
	defer x.mu.Unlock()
	total := 0
	for _, n := range x.view.counts {
		total += n
	}
	return total, x.view.Version - min(x.view.Version, x.baseVersion)
}

func frame(format string, body []byte) []byte {
	out := make([]byte, 0, len(format)+1+len(body)+4)
	out = append(append(append(out, format...), 0), body...)
	return binary.LittleEndian.AppendUint32(out, crc32.Checksum(out, castagnoli))
}

func unframe(format string, data []byte) ([]byte, bool) {
	head := len(format) + 1
	if len(data) < head+4 || string(data[:head-1]) != format || data[head-1] != 0 {
		return nil, false
	}
	end := len(data) - 4
	if crc32.Checksum(data[:end], castagnoli) != binary.LittleEndian.Uint32(data[end:]) {
		return nil, false
	}
	return data[head:end], true
}

func (x *Index) decodePart(part Parts, body []byte) bool {
	var err error
	switch part {
	case Facts:
		x.view.AllFacts, err = facts.Load(body)
	case Notes:
		x.view.AllNotes, err = notes.Load(body)
	case Bridges:
		x.view.Rewrites, err = rewrite.Load(body)
	}
	return err == nil
}

func (x *Index) encodeCore() []byte {
	le := binary.LittleEndian
	out := le.AppendUint64(nil, x.lastSeq)
	out = le.AppendUint64(out, uint64(x.view.expired))
	out = le.AppendUint64(out, uint64(x.view.lastExpiry))
	state, err := x.view.digest.MarshalBinary()
	if err != nil {
		return nil
	}
	out = append(le.AppendUint32(out, uint32(len(state))), state...)
	for seq := uint64(1); seq <= x.lastSeq; seq++ {
		out = append(out, byte(x.slot(seq).kind))
	}
	for seq := uint64(1); seq <= x.lastSeq; seq++ {
		if s := x.slot(seq); s.kind != None {
			out = append(out, s.digest[:]...)
		}
	}
	out = le.AppendUint32(out, uint32(len(x.expiring)))
	for _, e := range x.expiring {
		out = le.AppendUint64(le.AppendUint64(out, uint64(e.at)), e.seq)
	}
	out = le.AppendUint32(out, uint32(len(x.relations)))
	for seq, r := range x.relations {
		out = le.AppendUint64(out, seq)
		out = appendString(out, r.Name)
		single := byte(0)
		if r.Single {
			single = 1
		}
		out = append(out, single)
		out = le.AppendUint32(out, uint32(len(r.Aliases)))
		for _, a := range r.Aliases {
			out = appendString(out, a)
		}
	}
	return out
}

func appendString(out []byte, s string) []byte {
	return append(binary.LittleEndian.AppendUint32(out, uint32(len(s))), s...)
}

// reader reads fixed-width integers until it runs out, then only zeros.
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

func (r *reader) u64() uint64 {
	if b := r.take(8); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

func (r *reader) u32() uint32 {
	if b := r.take(4); b != nil {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}

func (r *reader) text() string { return string(r.take(uint64(r.u32()))) }

// decodeCore fills the core from a blob's body and reports whether it read well.
func (x *Index) decodeCore(body []byte, version uint64) bool {
	r := &reader{data: body}
	lastSeq := r.u64()
	x.view.expired = max(x.view.expired, int64(r.u64()))
	x.view.lastExpiry = int64(r.u64())
	if err := x.view.digest.UnmarshalBinary(r.take(uint64(r.u32()))); err != nil {
		return false
	}
	kinds := r.take(lastSeq)
	if r.bad {
		return false
	}
	if !x.decodeSlots(r, kinds) {
		return false
	}
	for n := r.u32(); n > 0 && !r.bad; n-- {
		x.expiring = append(x.expiring, expiry{int64(r.u64()), r.u64()})
	}
	for n := r.u32(); n > 0 && !r.bad; n-- {
		seq := r.u64()
		rel := facts.Relation{Name: r.text()}
		rel.Single = r.flag()
		for a := r.u32(); a > 0 && !r.bad; a-- {
			rel.Aliases = append(rel.Aliases, r.text())
		}
		x.relations[seq] = rel
	}
	if r.bad || len(r.data) != 0 {
		return false
	}
	x.view.Version, x.lastSeq = version, lastSeq
	x.baseVersion, x.baseSeq = version, lastSeq
	x.view.Relations = x.sortedRelations()
	if len(x.expiring) > 0 {
		x.view.nextExpiry = x.expiring[0].at
	}
	return true
}

func (x *Index) decodeSlots(r *reader, kinds []byte) bool {
	for i, k := range kinds {
		kind := Kind(k)
		if kind >= numKinds {
			return false
		}
		if kind == None {
			continue
		}
		s := x.slot(uint64(i) + 1)
		s.kind = kind
		copy(s.digest[:], r.take(32))
		x.view.counts[kind]++
		x.view.Highest = uint64(i) + 1
	}
	return !r.bad
}

func (r *reader) flag() bool {
	b := r.take(1)
	return len(b) == 1 && b[0] == 1
}
