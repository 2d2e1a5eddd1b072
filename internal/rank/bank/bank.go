// Package bank holds the two frozen banks of ranking policies and their strict
// reader.
//
// # Format
//
// A bank is 6,064 bytes: a header of 64 and twelve policies of 500. All numbers
// are little-endian; reserved bytes are zero.
//
//	header   0  4  "GMPB"
//	         4  2  format version, 1
//	         6  2  number of policies, 12
//	         8  2  feature-set version
//	        10  2  reserved
//	        12 12  name of the bank, padded with zero bytes
//	        24  8  first bytes of the SHA-256 of the feature set's description
//	        32 32  SHA-256 of the 6,000 bytes that follow
//
//	policy   0  1  purpose, 0 to 2
//	         1  1  member, 0 to 3
//	         2  1  inputs in use, at most 32
//	         3  1  hidden units in use, at most 12
//	         4  1  right shift of a hidden unit's sum
//	         5  1  right shift of the output
//	         6  2  greatest size of the correction
//	         8 32  right shift of each input
//	        40 384 weights of the hidden units, 32 to each, 8 bits signed
//	       424 24  biases of the hidden units, 16 bits signed
//	       448 12  weights of the output, 8 bits signed
//	       460  2  bias of the output, 16 bits signed
//	       462 38  reserved
//
// # What a policy computes
//
//	x[i] = feature[i] >> inputShift[i], kept to -127 … 127
//	h[j] = (bias[j] + Σ weight[j][i]·x[i]) >> hiddenShift, kept to 0 … 255
//	c    = (outputBias + Σ outputWeight[j]·h[j]) >> outputShift, kept to -limit … limit
//
// c is a bounded correction of BM25: what it is added to is for package rank to
// say. Sums fit into 32 bits for every bank that the reader accepts. There is
// no floating point, so every machine computes the same.
package bank

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
)

// Sizes in bytes.
const (
	HeaderSize = 64
	PolicySize = 500
	Size       = HeaderSize + Policies*PolicySize
)

// Counts.
const (
	Policies   = Purposes * Members
	Purposes   = 3 // of a bank
	Members    = 4 // of a purpose
	MaxInputs  = 32
	MaxHidden  = 12
	maxShift   = 24
	magic      = "GMPB"
	version    = 1
	nameLength = 12
)

// Policy is one small network of whole numbers.
type Policy struct {
	Purpose, Member int
	Inputs, Hidden  int
	HiddenShift     int
	OutputShift     int
	Limit           int32
	InputShift      [MaxInputs]uint8
	Weights         [MaxHidden][MaxInputs]int8
	Biases          [MaxHidden]int16
	OutputWeights   [MaxHidden]int8
	OutputBias      int16
}

// Bank is twelve policies: three purposes of four members each, in that order.
type Bank struct {
	Name           string
	FeatureVersion int
	FeatureDigest  [8]byte
	Policies       [Policies]Policy
	Digest         [32]byte // SHA-256 of the whole bank
}

// Error says which byte of a bank is wrong.
type Error struct {
	Offset int
	Reason string
}

// Error returns the place and the reason.
func (e *Error) Error() string {
	return fmt.Sprintf("policy bank: byte %d: %s", e.Offset, e.Reason)
}

func wrong(offset int, format string, args ...any) error {
	return &Error{offset, fmt.Sprintf(format, args...)}
}

// Parse reads a bank. It accepts nothing that [Bank.Encode] would not write.
func Parse(data []byte) (*Bank, error) {
	if len(data) != Size {
		return nil, wrong(min(len(data), Size), "a bank has %d bytes, this has %d", Size, len(data))
	}
	b := &Bank{Digest: sha256.Sum256(data)}
	if err := b.header(data[:HeaderSize]); err != nil {
		return nil, err
	}
	for i := range b.Policies {
		at := HeaderSize + i*PolicySize
		if err := b.Policies[i].parse(data[at:at+PolicySize], at); err != nil {
			return nil, err
		}
		if p := &b.Policies[i]; p.Purpose != i/Members || p.Member != i%Members {
			return nil, wrong(at, "policy %d says that it is member %d of purpose %d", i, p.Member, p.Purpose)
		}
	}
	if sum := sha256.Sum256(data[HeaderSize:]); !bytes.Equal(sum[:], data[32:64]) {
		return nil, wrong(32, "the policies do not match the digest of the header")
	}
	return b, nil
}

func (b *Bank) header(h []byte) error {
	number := func(at int) int { return int(binary.LittleEndian.Uint16(h[at:])) }
	switch {
	case string(h[:4]) != magic:
		return wrong(0, "not a policy bank")
	case number(4) != version:
		return wrong(4, "format version %d; this program reads %d", number(4), version)
	case number(6) != Policies:
		return wrong(6, "%d policies; a bank has %d", number(6), Policies)
	case number(10) != 0:
		return wrong(10, "a reserved byte is not zero")
	}
	b.FeatureVersion = number(8)
	name := bytes.TrimRight(h[12:12+nameLength], "\x00")
	for i, c := range name {
		if c < 'a' || c > 'z' {
			return wrong(12+i, "a bank's name has small letters only")
		}
	}
	if len(name) == 0 {
		return wrong(12, "the bank has no name")
	}
	b.Name = string(name)
	copy(b.FeatureDigest[:], h[24:32])
	return nil
}

func (p *Policy) parse(d []byte, at int) error {
	p.Purpose, p.Member, p.Inputs, p.Hidden = int(d[0]), int(d[1]), int(d[2]), int(d[3])
	p.HiddenShift, p.OutputShift = int(d[4]), int(d[5])
	p.Limit = int32(binary.LittleEndian.Uint16(d[6:]))
	switch {
	case p.Inputs < 1 || p.Inputs > MaxInputs:
		return wrong(at+2, "%d inputs; at most %d", p.Inputs, MaxInputs)
	case p.Hidden < 1 || p.Hidden > MaxHidden:
		return wrong(at+3, "%d hidden units; at most %d", p.Hidden, MaxHidden)
	case p.HiddenShift > maxShift:
		return wrong(at+4, "a shift of %d; at most %d", p.HiddenShift, maxShift)
	case p.OutputShift > maxShift:
		return wrong(at+5, "a shift of %d; at most %d", p.OutputShift, maxShift)
	case p.Limit == 0 || p.Limit > 1<<15:
		return wrong(at+6, "a correction of up to %d; from 1 to %d", p.Limit, 1<<15)
	}
	copy(p.InputShift[:], d[8:40])
	for i, shift := range p.InputShift {
		if shift > maxShift || i >= p.Inputs && shift != 0 {
			return wrong(at+8+i, "the shift of input %d is %d", i, shift)
		}
	}
	for j := range p.Weights {
		for i := range p.Weights[j] {
			w := int8(d[40+j*MaxInputs+i])
			if w != 0 && (i >= p.Inputs || j >= p.Hidden) || w == -128 {
				return wrong(at+40+j*MaxInputs+i, "the weight %d of input %d to hidden unit %d", w, i, j)
			}
			p.Weights[j][i] = w
		}
		p.Biases[j] = int16(binary.LittleEndian.Uint16(d[424+2*j:]))
		p.OutputWeights[j] = int8(d[448+j])
		if j >= p.Hidden && (p.Biases[j] != 0 || p.OutputWeights[j] != 0) {
			return wrong(at+424+2*j, "hidden unit %d is not in use and has weights", j)
		}
	}
	p.OutputBias = int16(binary.LittleEndian.Uint16(d[460:]))
	for i, c := range d[462:] {
		if c != 0 {
			return wrong(at+462+i, "a reserved byte is not zero")
		}
	}
	return nil
}

// Encode writes a bank and sets its digest.
func (b *Bank) Encode() []byte {
	out := make([]byte, Size)
	copy(out, magic)
	binary.LittleEndian.PutUint16(out[4:], version)
	binary.LittleEndian.PutUint16(out[6:], Policies)
	binary.LittleEndian.PutUint16(out[8:], uint16(b.FeatureVersion))
	copy(out[12:12+nameLength], b.Name)
	copy(out[24:32], b.FeatureDigest[:])
	for i := range b.Policies {
		b.Policies[i].encode(out[HeaderSize+i*PolicySize:])
	}
	sum := sha256.Sum256(out[HeaderSize:])
	copy(out[32:64], sum[:])
	b.Digest = sha256.Sum256(out)
	return out
}

func (p *Policy) encode(d []byte) {
	d[0], d[1], d[2], d[3] = byte(p.Purpose), byte(p.Member), byte(p.Inputs), byte(p.Hidden)
	d[4], d[5] = byte(p.HiddenShift), byte(p.OutputShift)
	binary.LittleEndian.PutUint16(d[6:], uint16(p.Limit))
	copy(d[8:40], p.InputShift[:])
	for j := range p.Weights {
		for i, w := range p.Weights[j] {
			d[40+j*MaxInputs+i] = byte(w)
		}
		binary.LittleEndian.PutUint16(d[424+2*j:], uint16(p.Biases[j]))
		d[448+j] = byte(p.OutputWeights[j])
	}
	binary.LittleEndian.PutUint16(d[460:], uint16(p.OutputBias))
}

// Correct computes the policy's correction for features. Features that are not
// given count as zero.
func (p *Policy) Correct(features []int32) int32 {
	var x [MaxInputs]int32
	for i := range min(p.Inputs, len(features)) {
		x[i] = max(-127, min(127, features[i]>>p.InputShift[i]))
	}
	out := int32(p.OutputBias)
	for j := range p.Hidden {
		sum := int32(p.Biases[j])
		for i, w := range p.Weights[j][:p.Inputs] {
			sum += int32(w) * x[i]
		}
		out += int32(p.OutputWeights[j]) * max(0, min(255, sum>>p.HiddenShift))
	}
	return max(-p.Limit, min(p.Limit, out>>p.OutputShift))
}
