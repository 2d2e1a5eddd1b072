package bank

import (
	"bytes"
	"errors"
	"testing"

	"pgregory.net/rapid"
)

// drawn is a bank of random policies.
func drawn(t *rapid.T) *Bank {
	b := &Bank{Name: rapid.StringMatching(`[a-z]{1,12}`).Draw(t, "name"), FeatureVersion: rapid.IntRange(0, 65535).Draw(t, "version")}
	for i := range b.Policies {
		p := &b.Policies[i]
		p.Purpose, p.Member = i/Members, i%Members
		p.Inputs, p.Hidden = rapid.IntRange(1, MaxInputs).Draw(t, "inputs"), rapid.IntRange(1, MaxHidden).Draw(t, "hidden")
		p.HiddenShift, p.OutputShift = rapid.IntRange(0, maxShift).Draw(t, "shift"), rapid.IntRange(0, maxShift).Draw(t, "shift")
		p.Limit = rapid.Int32Range(1, 1<<15).Draw(t, "limit")
		p.OutputBias = rapid.Int16().Draw(t, "bias")
		for i := range p.Inputs {
			p.InputShift[i] = rapid.Uint8Range(0, maxShift).Draw(t, "shift")
		}
		for j := range p.Hidden {
			p.Biases[j], p.OutputWeights[j] = rapid.Int16().Draw(t, "bias"), rapid.Int8().Draw(t, "weight")
			for i := range p.Inputs {
				p.Weights[j][i] = rapid.Int8Range(-127, 127).Draw(t, "weight")
			}
		}
	}
	return b
}

func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := drawn(t)
		data := b.Encode()
		back, err := Parse(data)
		if err != nil {
			t.Fatal(err)
		}
		if *back != *b {
			t.Fatal("the bank that was read differs")
		}
		if again := back.Encode(); !bytes.Equal(again, data) {
			t.Fatal("written again it differs")
		}
	})
}

// TestEveryByte: a change of any byte of a bank is an error that names a place,
// or at least another digest where the header's own free fields are concerned.
func TestEveryByte(t *testing.T) {
	b := &Bank{Name: "dialogue", FeatureVersion: 1}
	for i := range b.Policies {
		b.Policies[i] = Policy{Purpose: i / Members, Member: i % Members, Inputs: 3, Hidden: 2, Limit: 100}
	}
	data := b.Encode()
	for i := range data {
		for _, bit := range []byte{1, 0x80} {
			data[i] ^= bit
			changed, err := Parse(data)
			var at *Error
			if err == nil && (i < 8 || i >= 32 || changed.Digest == b.Digest) || err != nil && !errors.As(err, &at) {
				t.Fatalf("byte %d changed: %v", i, err)
			}
			data[i] ^= bit
		}
	}
	for _, n := range []int{0, 1, Size - 1} {
		if _, err := Parse(data[:n]); err == nil {
			t.Errorf("%d bytes were read", n)
		}
	}
	if _, err := Parse(append(data, 0)); err == nil {
		t.Error("a byte too many was read")
	}
}

// TestNoOverflow: whatever bank the reader accepts, sums stay in 32 bits: the
// same numbers in 64 bits give the same correction.
func TestNoOverflow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := drawn(t)
		features := rapid.SliceOfN(rapid.Int32(), 0, MaxInputs).Draw(t, "features")
		for i := range b.Policies {
			p := &b.Policies[i]
			if got, want := p.Correct(features), wide(p, features); int64(got) != want {
				t.Fatalf("%d in 32 bits, %d in 64", got, want)
			}
		}
	})
}

func wide(p *Policy, features []int32) int64 {
	out := int64(p.OutputBias)
	for j := range p.Hidden {
		sum := int64(p.Biases[j])
		for i := range min(p.Inputs, len(features)) {
			sum += int64(p.Weights[j][i]) * max(-127, min(127, int64(features[i])>>p.InputShift[i]))
		}
		out += int64(p.OutputWeights[j]) * max(0, min(255, sum>>p.HiddenShift))
	}
	return max(-int64(p.Limit), min(int64(p.Limit), out>>p.OutputShift))
}

func FuzzParse(f *testing.F) {
	b := &Bank{Name: "passage"}
	for i := range b.Policies {
		b.Policies[i] = Policy{Purpose: i / Members, Member: i % Members, Inputs: 1, Hidden: 1, Limit: 1}
	}
	f.Add(b.Encode())
	f.Fuzz(func(t *testing.T, data []byte) {
		if b, err := Parse(data); err == nil && !bytes.Equal(b.Encode(), data) {
			t.Fatal("a bank was read that would be written differently")
		}
	})
}
