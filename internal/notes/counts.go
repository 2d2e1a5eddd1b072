package notes

import "slices"

const countsChunk = 512

// counts is an array of counters that copies only the chunks it changes: what
// the dead documents of a segment take away from its numbers. The zero value
// counts zero everywhere.
type counts struct {
	chunks [][]uint32
}

func (c *counts) at(i uint32) uint32 {
	if int(i/countsChunk) >= len(c.chunks) || c.chunks[i/countsChunk] == nil {
		return 0
	}
	return c.chunks[i/countsChunk][i%countsChunk]
}

// edited is a counts that may be changed: chunks are copied when first touched.
type edited struct {
	counts
	own map[uint32]struct{}
}

func edit32(c counts) edited {
	return edited{counts{slices.Clone(c.chunks)}, make(map[uint32]struct{})}
}

func (e *edited) increment(i uint32) {
	chunk := i / countsChunk
	if int(chunk) >= len(e.chunks) {
		e.chunks = append(e.chunks, make([][]uint32, int(chunk)+1-len(e.chunks))...)
	}
	if _, mine := e.own[chunk]; !mine {
		fresh := make([]uint32, countsChunk)
		copy(fresh, e.chunks[chunk])
		e.chunks[chunk] = fresh
		e.own[chunk] = struct{}{}
	}
	e.chunks[chunk][i%countsChunk]++
}
