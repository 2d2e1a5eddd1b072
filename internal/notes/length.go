package notes

import "math/bits"

// LengthCodes is the number of length codes.
const LengthCodes = 256

// exactLengths is the first length that shares its code with others.
const exactLengths = 64

// LengthCode maps a document's length in words to one byte: lengths below 64
// keep their value, longer ones share 32 codes an octave (so a code is at most
// 1/32 off), and from 2,048 words on 4 codes an octave.
func LengthCode(length int) uint8 {
	if length < exactLengths {
		return uint8(max(length, 0))
	}
	octave := bits.Len64(uint64(length)) - 1 // 6 for 64..127
	if octave < 11 {
		return uint8(exactLengths + (octave-6)*32 + (length>>(octave-5))&31)
	}
	return uint8(min(LengthCodes-1, exactLengths+5*32+(octave-11)*4+(length>>(octave-2))&3))
}

// CodeLength returns the middle of the lengths that share a code.
func CodeLength(code uint8) int {
	if code < exactLengths {
		return int(code)
	}
	if rest := int(code) - exactLengths; rest < 5*32 {
		octave := 6 + rest/32
		width := 1 << (octave - 5)
		return (32+rest%32)*width + width/2
	}
	rest := int(code) - exactLengths - 5*32
	octave := 11 + rest/4
	width := 1 << (octave - 2)
	return (4+rest%4)*width + width/2
}
