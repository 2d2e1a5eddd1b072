package grounded

import (
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Term stands at the entity or value place of an Atom: a constant or a variable.
// In JSON a variable is "?name", a constant any other string, and a constant
// that starts with a question mark {"literal":"?text"}.
type Term struct {
	text     string
	variable bool
}

// Var is a variable; the name may be given with or without its question mark.
func Var(name string) Term {
	return Term{text: "?" + strings.TrimPrefix(name, "?"), variable: true}
}

// Const is a constant, whatever it starts with.
func Const(text string) Term { return Term{text: text} }

// IsVar says whether the term is a variable.
func (t Term) IsVar() bool { return t.variable }

// String returns a variable's name with its question mark, or a constant's text.
func (t Term) String() string { return t.text }

// MarshalJSON writes the term as the contract does.
func (t Term) MarshalJSON() ([]byte, error) {
	if !t.variable && strings.HasPrefix(t.text, "?") {
		return json.Marshal(struct {
			Literal string `json:"literal"`
		}{t.text})
	}
	return json.Marshal(t.text)
}

// UnmarshalJSON reads what the contract allows.
func (t *Term) UnmarshalJSON(data []byte) error {
	switch jsontext.Value(data).Kind() {
	case '"':
		var text string
		if err := json.Unmarshal(data, &text); err != nil {
			return invalid("", "%v", err)
		}
		if !strings.HasPrefix(text, "?") {
			*t = Const(text)
			return nil
		}
		if !isVariable(text) {
			return invalid("", `%q starts with ? and is no variable name; a constant is written {"literal":%q}`, clip(text), clip(text))
		}
		*t = Var(text)
		return nil
	case '{':
		var literal struct {
			Literal *string `json:"literal"`
		}
		if err := json.Unmarshal(data, &literal, json.RejectUnknownMembers(true)); err != nil || literal.Literal == nil {
			return invalid("", `an object here must be {"literal":"text"}`)
		}
		*t = Const(*literal.Literal)
		return nil
	}
	return invalid("", `want a string, a variable "?name" or {"literal":"text"}`)
}

// isVariable reports whether text is "?", then a letter or _, then letters,
// digits and _ (ASCII, so that a name has one spelling).
func isVariable(text string) bool {
	if len(text) < 2 || len(text) > MaxPredicateBytes || text[0] != '?' {
		return false
	}
	for i, c := range []byte(text[1:]) {
		letter := c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return true
}

// Atom is one fact pattern of a query: entity, predicate, value. The predicate
// is always a constant.
type Atom struct {
	Entity    Term
	Predicate string
	Value     Term
}

// NewAtom builds an atom, e.g. NewAtom(Var("who"), "manages", Const("Bob")).
func NewAtom(entity Term, predicate string, value Term) Atom {
	return Atom{Entity: entity, Predicate: predicate, Value: value}
}

// MarshalJSON writes the atom as a list of three.
func (a Atom) MarshalJSON() ([]byte, error) {
	return json.Marshal([]any{a.Entity, a.Predicate, a.Value})
}

// UnmarshalJSON reads a list of three.
func (a *Atom) UnmarshalJSON(data []byte) error {
	var parts []jsontext.Value
	if err := json.Unmarshal(data, &parts); err != nil || len(parts) != 3 {
		return invalid("", "an atom is a list of three: entity, predicate, value")
	}
	if err := a.Entity.UnmarshalJSON(parts[0]); err != nil {
		return inField("[0]", err)
	}
	if parts[1].Kind() != '"' {
		return invalid("[1]", "a predicate is a constant string")
	}
	if err := json.Unmarshal(parts[1], &a.Predicate); err != nil {
		return invalid("[1]", "%v", err)
	}
	if strings.HasPrefix(a.Predicate, "?") {
		return invalid("[1]", "a predicate cannot be a variable: name it")
	}
	if err := a.Value.UnmarshalJSON(parts[2]); err != nil {
		return inField("[2]", err)
	}
	return nil
}
