package scopedigest

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func Example() {
	a, b := sha256.Sum256([]byte("a")), sha256.Sum256([]byte("b"))
	one, two := New(), New()
	one.Add(a)
	one.Add(b)
	two.Add(b)
	two.Add(a)
	fmt.Println(one.Equal(two))
	two.Remove(a)
	fmt.Println(one.Equal(two))
	// Output:
	// true
	// false
}

// TestGolden holds the format: the same bytes on every machine and for ever.
func TestGolden(t *testing.T) {
	s := New()
	s.Add(RecordDigest([16]byte{1, 2, 3}, []byte(`{"entity":"Ada"}`)))
	digest := Published("grounded-scope/1", "acme", "team", s)
	const want = "3d8d92fdd9cad7dd6e27b52c89caf96f5c8e5090fe20de99927698e0c870cb36"
	if got := hex.EncodeToString(digest[:]); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestEqualSetsEqualDigests: equal multisets, and only they, give equal states,
// in whatever order and detours they were reached.
func TestEqualSetsEqualDigests(t *testing.T) {
	digest := func(i int) [32]byte { return sha256.Sum256([]byte{byte(i)}) }
	rapid.Check(t, func(t *rapid.T) {
		set := rapid.SliceOfN(rapid.IntRange(0, 6), 0, 8)
		a, b := set.Draw(t, "a"), set.Draw(t, "b")
		build := func(ids []int, detour []int) *State {
			s := New()
			for _, i := range detour {
				s.Add(digest(i))
			}
			for _, i := range rapid.Permutation(ids).Draw(t, "order") {
				s.Add(digest(i))
			}
			for _, i := range detour {
				s.Remove(digest(i))
			}
			return s
		}
		x := build(a, rapid.SliceOfN(rapid.IntRange(0, 9), 0, 4).Draw(t, "detour"))
		y := build(b, nil)
		slices.Sort(a)
		slices.Sort(b)
		if x.Equal(y) != slices.Equal(a, b) {
			t.Fatalf("%v and %v: equal states %v", a, b, x.Equal(y))
		}
		if (Published("v", "t", "n", x) == Published("v", "t", "n", y)) != slices.Equal(a, b) {
			t.Fatal("published digests disagree with the states")
		}
	})
}

func TestPublishedBindsItsScope(t *testing.T) {
	seen := map[[32]byte]string{}
	for _, c := range [][3]string{{"v", "a", "bc"}, {"v", "ab", "c"}, {"va", "", "bc"}, {"v", "", "abc"}, {"w", "a", "bc"}} {
		d := Published(c[0], c[1], c[2], New())
		if other, ok := seen[d]; ok {
			t.Errorf("%v and %s share a digest", c, other)
		}
		seen[d] = fmt.Sprint(c)
	}
}

func TestBinary(t *testing.T) {
	s := New()
	s.Add([32]byte{1})
	data, _ := s.MarshalBinary()
	back := New()
	if err := back.UnmarshalBinary(data); err != nil || !back.Equal(s) {
		t.Errorf("round trip: %v", err)
	}
	for i := range data {
		data[i] ^= 1
		if err := back.UnmarshalBinary(data); err != nil || back.Equal(s) {
			t.Fatalf("a change of byte %d went unseen (%v)", i, err)
		}
		data[i] ^= 1
	}
	if back.UnmarshalBinary(data[:10]) == nil || back.UnmarshalBinary(append(data, 0)) == nil {
		t.Error("wrong lengths were read")
	}
	if c := s.Clone(); !c.Equal(s) {
		t.Error("a clone differs")
	} else if c.Add([32]byte{2}); c.Equal(s) {
		t.Error("a clone is shared")
	}
}

func BenchmarkAdd(b *testing.B) {
	s := New()
	for i := range b.N {
		s.Add([32]byte{byte(i)})
	}
}
