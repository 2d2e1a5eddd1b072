package canonical

import (
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"pgregory.net/rapid"
)

func ExampleMarshal() {
	data, _ := Marshal(map[string]any{"b": 1, "a": []string{"\u20ac", "\x01"}})
	fmt.Println(string(data))
	// Output: {"a":["€","\u0001"],"b":1}
}

type sample struct {
	Name  string            `json:"name"`
	Zeta  int64             `json:"zeta,omitzero"`
	Alpha []string          `json:"alpha"`
	When  time.Time         `json:"when,omitzero"`
	Map   map[string]string `json:"map,omitzero"`
	Inner *sample           `json:"inner,omitzero"`
}

func TestMarshalStruct(t *testing.T) {
	got, err := Marshal(sample{Name: "n", Zeta: 3, When: time.Date(2026, 1, 2, 3, 4, 5, 6000, time.UTC), Map: map[string]string{"\U0001f600": "x", "\ufb33": "y"}})
	want := `{"alpha":[],"map":{"😀":"x","` + "\ufb33" + `":"y"},"name":"n","when":"2026-01-02T03:04:05.000006Z","zeta":3}`
	if err != nil || string(got) != want {
		t.Errorf("got %s, %v\nwant %s", got, err, want)
	}
}

func TestMarshalRefusesWhatMachinesWriteDifferently(t *testing.T) {
	for _, v := range []any{1.5, 1e300, map[string]any{"a": []any{0.25}}, int64(1<<53 + 1), uint64(1 << 63), []any{-(int64(1)<<53 + 1)}} {
		if got, err := Marshal(v); !errors.Is(err, ErrNumber) {
			t.Errorf("Marshal(%v) = %s, %v", v, got, err)
		}
	}
	for _, v := range []any{int64(1 << 53), -int64(1 << 53), 0, true, nil, ""} {
		if _, err := Marshal(v); err != nil {
			t.Errorf("Marshal(%v): %v", v, err)
		}
	}
}

// anyValue draws JSON values of the kinds that this package writes.
func anyValue(depth int) *rapid.Generator[any] {
	text := rapid.Custom(func(t *rapid.T) string {
		odd := []rune("ab\"\\/\x00\x1f\x7f\u2028\ud7ff\ue000\ufb33\uffff\U00010000\U0001f600é<>&")
		return string(rapid.SliceOfN(rapid.SampledFrom(odd), 0, 8).Draw(t, "text"))
	})
	return rapid.Custom(func(t *rapid.T) any {
		kinds := 6
		if depth == 0 {
			kinds = 4
		}
		switch rapid.IntRange(0, kinds-1).Draw(t, "kind") {
		case 0:
			return text.Draw(t, "string")
		case 1:
			return rapid.Int64Range(-MaxInteger, MaxInteger).Draw(t, "number")
		case 2:
			return rapid.Bool().Draw(t, "bool")
		case 3:
			return nil
		case 4:
			return rapid.SliceOfN(anyValue(depth-1), 0, 5).Draw(t, "list")
		}
		return rapid.MapOfN(text, anyValue(depth-1), 0, 6).Draw(t, "object")
	})
}

// TestAgainstLibrary compares with the canonicaliser of the JSON library.
func TestAgainstLibrary(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := anyValue(3).Draw(t, "value")
		got, err := Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		want, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		if err := (*jsontext.Value)(&want).Canonicalize(); err != nil {
			t.Fatal(err)
		}
		if string(got) != string(want) {
			t.Fatalf("got  %s\nwant %s", got, want)
		}
	})
}

func TestDecodeRefuses(t *testing.T) {
	deep := strings.Repeat(`{"inner":`, MaxDepth+1) + `{}` + strings.Repeat("}", MaxDepth+1)
	for name, text := range map[string]string{
		"unknown": `{"name":"x","other":1}`, "case": `{"Name":"x"}`, "U+017F": `{"n\u017Fame":"x"}`,
		"duplicate": `{"name":"x","name":"y"}`, "escaped duplicate": `{"name":"x","n\u0061me":"y"}`,
		"trailing": `{"name":"x"} {}`, "trailing text": `{"name":"x"}x`, "nothing": ``, "cut": `{"name":`,
		"bad UTF-8": "{\"name\":\"\xff\"}", "surrogate": `{"name":"\ud800"}`, "low surrogate": `{"name":"\udc00"}`,
		"wrong type": `{"name":1}`, "wrong list": `{"alpha":"x"}`, "fraction": `{"zeta":1.0}`, "exponent": `{"zeta":1e3}`,
		"large": `{"zeta":9007199254740993}`, "larger": `{"zeta":99999999999999999999}`, "deep": deep,
		"deep list": strings.Repeat("[", 100000), "NUL name": `{"na\u0000me":"x"}`, "raw NUL name": "{\"\x00\":1}",
		"NUL after": "{\"name\":\"x\"}\x00", "comment": `{"name":"x"/**/}`, "single": `{'name':'x'}`, "BOM": "\ufeff{}",
		"trailing comma": `{"name":"x",}`, "NaN": `{"zeta":NaN}`, "plus": `{"zeta":+1}`, "zeros": `{"zeta":01}`, "minus zero": `{"zeta":-0}`,
		"map number": `{"map":{"a":1}}`,
	} {
		var s sample
		err := Decode([]byte(text), &s)
		var e *Error
		if !errors.As(err, &e) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestDecodePlaces(t *testing.T) {
	for text, place := range map[string]string{
		`{"inner":{"alpha":["a",1]}}`: "inner.alpha[1]",
		`{"inner":{"bogus":1}}`:       "inner.bogus",
		`{"inner":{"name":"\ud800"}}`: "inner.name",
	} {
		var e *Error
		if err := Decode([]byte(text), new(sample)); !errors.As(err, &e) || e.Place != place {
			t.Errorf("%s: %v; want the place %s", text, err, place)
		}
	}
}

func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		data, err := Marshal(anyValue(3).Draw(t, "value"))
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(data), `\u0000`) {
			t.Skip("names with a NUL are not read")
		}
		var back any
		if err := Decode(data, &back); err != nil {
			t.Fatalf("%s: %v", data, err)
		}
	})
}

// FuzzDecode holds that whatever is read is written canonically and reads back.
func FuzzDecode(f *testing.F) {
	for _, s := range []string{`{}`, `{"name":"x","alpha":["\u20ac"],"zeta":-5}`, `{"inner":{"map":{"b":"1","a":"2"}}}`, `[[[`, `"\ud83d\ude00"`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var s sample
		if Decode(data, &s) != nil {
			return
		}
		once, err := Marshal(s)
		if err != nil {
			return // a time that cannot be written again
		}
		var again sample
		if err := Decode(once, &again); err != nil {
			t.Fatalf("%s: %v", once, err)
		}
		twice, err := Marshal(again)
		if err != nil || string(once) != string(twice) {
			t.Fatalf("%s\n%s %v\n%s", once, twice, err, hex.Dump(data))
		}
	})
}
