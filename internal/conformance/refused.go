package conformance

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/grounded-memory/grounded"
	"github.com/grounded-memory/grounded/internal/operation"
)

// validArguments are, for each operation, arguments that are well formed. The
// malformed ones are made from them.
func validArguments() map[string]string {
	return map[string]string{
		"remember":         `{"entity":"Ada","predicate":"manages","value":"Bob","source":"s"}`,
		"note":             `{"text":"a note","source":"s"}`,
		"declare_relation": `{"name":"manages","cardinality":"multi","source":"s"}`,
		"remember_bridge":  `{"phrase":"k8s","target":"kubernetes","source":"s"}`,
		"correct":          `{"source":"s","id":"r1","value":"Bob"}`,
		"forget":           `{"id":"r1"}`,
		"write":            `{"writes":[{"op":"note","args":{"text":"a note","source":"s"}}]}`,
		"get":              `{"id":"r1"}`,
		"list":             `{"source":"s","limit":1}`,
		"history":          `{"id":"r1"}`,
		"recall":           `{"text":"who is Bob's manager","k":1}`,
		"recall_grounded":  `{"query":"k8s outage","k":1,"max_steps":1}`,
		"query":            `{"where":[["?x","manages","Bob"]],"select":["?x"],"limits":{"states":1}}`,
		"pack":             `{"certificate":{},"budget":1}`,
		"verify":           `{"certificate":{}}`,
		"stats":            `{}`,
	}
}

// Malformed is one malformed text of arguments.
type Malformed struct {
	Operation string
	Kind      string // what is wrong
	Args      []byte
}

// AllMalformed returns malformed arguments for every operation. Each must be
// refused with invalid_argument on every door, and nothing be written.
func AllMalformed() []Malformed {
	var all []Malformed
	for _, op := range operation.All() {
		add := func(kind, args string) { all = append(all, Malformed{op.Name, kind, []byte(args)}) }
		valid := validArguments()[op.Name]
		malformedFrames(valid, add)
		malformedMembers(valid, add)
		malformedNumbers(valid, add)
	}
	return all
}

// malformedFrames are texts that are wrong as a whole.
func malformedFrames(valid string, add func(kind, args string)) {
	inner := strings.TrimSuffix(strings.TrimPrefix(valid, "{"), "}")
	comma := ","
	if inner == "" {
		comma = ""
	}
	for _, text := range []string{"[]", `"x"`, "1", "true", "{", "}", "", "nul"} {
		if text != "" {
			add("no object: "+text, text)
		}
	}
	add("cut off", valid[:len(valid)-1])
	add("a second value after it", valid+" {}")
	add("text after it", valid+"x")
	add("a bracket after it", valid+"}")
	add("a NUL after it", valid+"\x00")
	add("a byte order mark before it", "\ufeff"+valid)
	add("a comment", "/**/"+valid)
	add("a comma before the end", "{"+inner+",}")
	add("single quotes", "{'a':1"+comma+inner+"}")
	add("depth over 64", `{"a":`+strings.Repeat("[", 64)+strings.Repeat("]", 64)+comma+inner+"}")
	add("depth over 64, never closed", `{"a":`+strings.Repeat("[", 100_000))
	add("unknown field", `{"no_such_field":1`+comma+inner+"}")
	add("unknown field null", `{"no_such_field":null`+comma+inner+"}")
	add("empty name", `{"":1`+comma+inner+"}")
	add("another scope", `{"tenant":"other"`+comma+inner+"}")
	add("__proto__", `{"__proto__":{}`+comma+inner+"}")
}

// malformedMembers spoil the first member of valid arguments.
func malformedMembers(valid string, add func(kind, args string)) {
	name, rest, ok := strings.Cut(strings.TrimPrefix(valid, `{"`), `"`)
	if !ok {
		return
	}
	with := func(first string) string { return `{"` + first + `"` + rest }
	inner := strings.TrimPrefix(strings.TrimSuffix(valid, "}"), "{")
	add("duplicate", "{"+inner+","+inner+"}")
	add("duplicate, null first", `{"`+name+`":null,`+inner+"}")
	add("duplicate by an escape", fmt.Sprintf(`{"\u%04x%s":null,`, name[0], name[1:])+inner+"}")
	add("case variant", with(strings.ToUpper(name[:1])+name[1:]))
	add("case variant beside it", `{"`+strings.ToUpper(name)+`":null,`+inner+"}")
	add("NUL in the name", with(name+`\u0000`))
	add("NUL in the name, raw", with(name+"\x00"))
	add("space in the name", with(name+" "))
	if folded := strings.NewReplacer("s", "ſ", "k", "K").Replace(name); folded != name {
		add("U+017F or U+212A in the name", with(folded))
		add("U+017F or U+212A beside it", `{"`+folded+`":null,`+inner+"}")
	}
	add("invalid UTF-8", `{"`+name+"\":\"\xff\xfe\"}")
	add("overlong UTF-8", `{"`+name+"\":\"\xc0\xaf\"}")
	add("lone surrogate", `{"`+name+`":"\ud800"}`)
	add("reversed surrogates", `{"`+name+`":"\udc00\ud800"}`)
	add("control character", `{"`+name+"\":\"a\nb\"}")
	if name != "certificate" { // whatever stands there is read, and called malformed by verify
		add("wrong type", `{"`+name+`":true}`)
	}
}

// malformedNumbers spoil a number of valid arguments, if there is one.
func malformedNumbers(valid string, add func(kind, args string)) {
	at := strings.LastIndex(valid, ":1")
	if at < 0 {
		return
	}
	for _, number := range []string{
		"9007199254740993", "-9007199254740993", "18446744073709551616", "1e400", "1.5", "1e2", "-0", "01", "+1", ".5", "1.", "0x1", "NaN", "Infinity", `"1"`,
	} {
		add("number "+number, valid[:at+1]+number+valid[at+2:])
	}
}

// Refused checks that a door refuses every malformed text, and that none of
// them changes anything.
func Refused(t *testing.T, newDoor func(t *testing.T, s grounded.Service) Door) {
	memory, _ := Open(t)
	door := newDoor(t, memory)
	before := eligible(t, door)
	for _, m := range AllMalformed() {
		result, err := door(t.Context(), m.Operation, m.Args)
		if err == nil {
			t.Errorf("%s, %s: accepted: %s", m.Operation, m.Kind, result)
			continue
		}
		if !errors.Is(err, grounded.InvalidArgument) {
			t.Errorf("%s, %s: %v, want invalid_argument", m.Operation, m.Kind, err)
		}
	}
	if after := eligible(t, door); after != before {
		t.Errorf("the scope was %s and is %s", before, after)
	}
	// The control: what the malformed texts were made from is well formed.
	for op, args := range validArguments() {
		memory, _ := Open(t)
		_, err := newDoor(t, memory)(t.Context(), op, []byte(args))
		if errors.Is(err, grounded.InvalidArgument) {
			t.Errorf("%s: valid arguments are refused: %v", op, err)
		}
	}
}

// eligible returns the scope's digest and counts.
func eligible(t *testing.T, door Door) string {
	t.Helper()
	data, err := door(t.Context(), "stats", []byte("{}"))
	if err != nil {
		t.Fatal(err)
	}
	var stats grounded.StatsResult
	if err := json.Unmarshal(data, &stats); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(stats.ScopeDigest, stats.Eligible)
}
