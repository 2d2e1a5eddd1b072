package notes

import (
	"bytes"
	"fmt"
	"testing"
)

func Example() {
	x := Build([]Doc{{Record: 1, Text: "Running late", Session: "s"}, {Record: 2, Text: "Who runs?", Session: "s"}}, Options{})
	id, _ := x.Segment(0).Stem("run")
	docs, _ := x.Segment(0).Postings(id)
	next, ok := x.Next(Ref{0, 0})
	fmt.Println(docs, next, ok)
	// Output: [0 1] {0 1} true
}

func TestLengthCodes(t *testing.T) {
	last := -1
	for length := range 70_000 {
		code := LengthCode(length)
		if int(code) < last {
			t.Fatalf("the code of %d words goes back", length)
		}
		last = int(code)
		middle := CodeLength(code)
		if length < 2048 && (middle-length > length/16 || length-middle > length/16) {
			t.Fatalf("%d words are taken for %d", length, middle)
		}
	}
}

func TestEveryLanguage(t *testing.T) {
	for _, language := range Languages() {
		x := Build([]Doc{{Record: 1, Text: "houses maisons Häuser дома casas"}}, Options{Language: language})
		if x.Language() != language || x.Len() != 1 {
			t.Errorf("%s: %s, %d documents", language, x.Language(), x.Len())
		}
	}
}

// TestForgottenWordsLeaveTheSnapshot: a snapshot holds no word, session or
// speaker of a removed note.
func TestForgottenWordsLeaveTheSnapshot(t *testing.T) {
	x := Build([]Doc{
		{Record: 1, Text: "stays here", Session: "kept", Speaker: "Ada"},
		{Record: 2, Text: "secretword", Session: "secretsession", Speaker: "Secretperson", Title: "secrettitle"},
	}, Options{}).Apply(nil, []uint64{2})
	data := x.AppendBinary(nil)
	if !bytes.Contains(data, []byte("stays")) || bytes.Contains(bytes.ToLower(data), []byte("secret")) {
		t.Errorf("the snapshot is %q", data)
	}
}

// TestEveryByteOfASnapshot: a change is an error or another index, never a panic.
func TestEveryByteOfASnapshot(t *testing.T) {
	data := Build([]Doc{{Record: 1, Text: "one two", Session: "s", Speaker: "Ada"}, {Record: 5, Text: "two three", Claim: true, SaidAt: 86400}}, Options{}).AppendBinary(nil)
	for i := range data {
		for _, bit := range []byte{1, 0x80, 0xff} {
			data[i] ^= bit
			if x, err := Load(data); err == nil {
				x.Apply([]Doc{{Record: 9, Text: "one"}}, []uint64{1})
			}
			data[i] ^= bit
		}
	}
	for n := range data {
		if _, err := Load(data[:n]); err == nil {
			t.Fatalf("%d bytes of %d were read", n, len(data))
		}
	}
	if _, err := Load(append(data, 0)); err == nil {
		t.Error("a byte too many was read")
	}
}

func FuzzLoad(f *testing.F) {
	f.Add(Build([]Doc{{Record: 1, Text: "one two", Session: "s", Speaker: "Ada Bell"}}, Options{}).AppendBinary(nil))
	f.Add(Build(nil, Options{}).AppendBinary(nil))
	f.Fuzz(func(t *testing.T, data []byte) {
		x, err := Load(data)
		if err != nil {
			return
		}
		again, err := Load(x.AppendBinary(nil))
		if err != nil || *again.Stats() != *x.Stats() {
			t.Fatalf("what was read is written differently: %v", err)
		}
		x.Apply([]Doc{{Record: 3, Text: "one", Session: "s"}}, []uint64{1})
	})
}
