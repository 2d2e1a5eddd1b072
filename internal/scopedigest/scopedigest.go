// Package scopedigest computes a digest of a set of records that is kept up to
// date at the cost of the change, not of the set.
//
// Each record has a 32-byte digest of its own, salted with random bytes that
// are erased with it ([RecordDigest]). A [State] is the sum of one element for
// each record: 1,024 lanes of 16 bits, the bytes that BLAKE3 in its extendable
// mode gives for the record's digest, added lane by lane modulo 2^16. That is
// the multiset hash LtHash16 (Bellare and Micciancio, "A New Paradigm for
// Collision-Free Hashing", 1997; Lewi and others, "Securing Update Propagation
// with Homomorphic Hashing", 2019, with more than 200 bits of security for
// these sizes). Adding and removing commute, so every order of writing gives
// one state, and a record leaves with its stored digest alone: its erased text
// need not be kept. [Published] hashes the state with its scope and its format.
package scopedigest

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"

	"github.com/zeebo/blake3"
)

const (
	lanes     = 1024
	laneBytes = 2 * lanes
)

// State is the digest state of a set of records. The zero State is not valid;
// use New. It is not safe for concurrent use.
type State struct {
	lanes [lanes]uint16
	count uint64
}

// New returns the state of the empty set.
func New() *State { return new(State) }

// RecordDigest is the digest of one record's canonical body under its salt:
// SHA-256 of the salt and the body.
func RecordDigest(salt [16]byte, body []byte) [32]byte {
	h := sha256.New()
	h.Write(salt[:])
	h.Write(body)
	return [32]byte(h.Sum(nil))
}

// element is what a record's digest stands for in the sum.
func element(digest *[32]byte) *[laneBytes]byte {
	h := blake3.New()
	_, _ = h.Write(digest[:]) // documented never to fail
	out := new([laneBytes]byte)
	_, _ = h.Digest().Read(out[:]) // documented never to fail
	return out
}

// Add puts a record into the set.
func (s *State) Add(digest [32]byte) {
	e := element(&digest)
	for i := range s.lanes {
		s.lanes[i] += binary.LittleEndian.Uint16(e[2*i:])
	}
	s.count++
}

// Remove takes out a record that was added before.
func (s *State) Remove(digest [32]byte) {
	e := element(&digest)
	for i := range s.lanes {
		s.lanes[i] -= binary.LittleEndian.Uint16(e[2*i:])
	}
	s.count--
}

// Clone returns a copy.
func (s *State) Clone() *State {
	c := *s
	return &c
}

// Equal says whether two states are those of equal sets.
func (s *State) Equal(other *State) bool { return *s == *other }

// MarshalBinary returns the count and the lanes, 2,056 bytes, little-endian.
func (s *State) MarshalBinary() ([]byte, error) {
	out := make([]byte, 8, 8+laneBytes)
	binary.LittleEndian.PutUint64(out, s.count)
	for _, lane := range s.lanes {
		out = binary.LittleEndian.AppendUint16(out, lane)
	}
	return out, nil
}

// UnmarshalBinary reads what MarshalBinary writes.
func (s *State) UnmarshalBinary(data []byte) error {
	if len(data) != 8+laneBytes {
		return errors.New("scopedigest: a state has 2,056 bytes")
	}
	s.count = binary.LittleEndian.Uint64(data)
	for i := range s.lanes {
		s.lanes[i] = binary.LittleEndian.Uint16(data[8+2*i:])
	}
	return nil
}

// Published returns the digest of a set in a scope: SHA-256 over the format's
// version, the scope's names (each led by its length, eight bytes
// little-endian), and the state's bytes.
func Published(version, tenant, namespace string, s *State) [32]byte {
	h := sha256.New()
	var n [8]byte
	for _, text := range []string{version, tenant, namespace} {
		binary.LittleEndian.PutUint64(n[:], uint64(len(text)))
		h.Write(n[:])
		h.Write([]byte(text))
	}
	state, _ := s.MarshalBinary() // never fails
	h.Write(state)
	return [32]byte(h.Sum(nil))
}
