package grounded

import (
	"encoding/hex"
	"fmt"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Digest is a SHA-256, written as 64 hexadecimal digits.
type Digest [32]byte

// String returns the digest in hexadecimal.
func (d Digest) String() string { return hex.EncodeToString(d[:]) }

// MarshalText writes the digest in lower-case hexadecimal.
func (d Digest) MarshalText() ([]byte, error) { return hex.AppendEncode(nil, d[:]), nil }

// UnmarshalText reads what MarshalText writes, and nothing else.
func (d *Digest) UnmarshalText(text []byte) error {
	var out Digest
	if len(text) == hex.EncodedLen(len(out)) { // longer text would be written past the end
		if _, err := hex.Decode(out[:], text); err == nil && out.String() == string(text) {
			*d = out
			return nil
		}
	}
	return fmt.Errorf("a digest is 64 lower-case hexadecimal digits")
}

// Expiry is an expiry as Correct takes it: not given (it carries over), null
// (none any more), or a time.
type Expiry struct {
	Given bool
	At    time.Time // zero: none
}

// IsZero reports that no expiry was given.
func (e Expiry) IsZero() bool { return !e.Given }

// MarshalJSON writes null or the time.
func (e Expiry) MarshalJSON() ([]byte, error) {
	if e.At.IsZero() {
		return []byte("null"), nil
	}
	return json.Marshal(e.At)
}

// UnmarshalJSON reads null or a time.
func (e *Expiry) UnmarshalJSON(data []byte) error {
	*e = Expiry{Given: true}
	if string(data) == "null" {
		return nil
	}
	if err := json.Unmarshal(data, &e.At); err != nil {
		return invalid("", "want null or an RFC 3339 time such as 2026-01-01T00:00:00Z")
	}
	return nil
}

// writeOps maps an operation's name to the field of a WriteItem that holds it.
func (w *WriteItem) target(op string) any {
	switch op {
	case "remember":
		w.Remember = new(RememberRequest)
		return w.Remember
	case "note":
		w.Note = new(NoteRequest)
		return w.Note
	case "declare_relation":
		w.DeclareRelation = new(DeclareRelationRequest)
		return w.DeclareRelation
	case "remember_bridge":
		w.RememberBridge = new(RememberBridgeRequest)
		return w.RememberBridge
	case "correct":
		w.Correct = new(CorrectRequest)
		return w.Correct
	case "forget":
		w.Forget = new(ForgetRequest)
		return w.Forget
	}
	return nil
}

// operation returns the name and the request of the one write that is set.
func (w *WriteItem) operation() (string, any) {
	switch {
	case w.Remember != nil:
		return "remember", w.Remember
	case w.Note != nil:
		return "note", w.Note
	case w.DeclareRelation != nil:
		return "declare_relation", w.DeclareRelation
	case w.RememberBridge != nil:
		return "remember_bridge", w.RememberBridge
	case w.Correct != nil:
		return "correct", w.Correct
	case w.Forget != nil:
		return "forget", w.Forget
	}
	return "", nil
}

// wireItem is a WriteItem's JSON.
type wireItem struct {
	Op   string         `json:"op"`
	Args jsontext.Value `json:"args"`
}

// MarshalJSON writes {"op":…,"args":{…}}.
func (w WriteItem) MarshalJSON() ([]byte, error) {
	op, request := w.operation()
	if request == nil {
		return nil, invalid("", "a write with no operation")
	}
	args, err := json.Marshal(request)
	if err != nil {
		return nil, err
	}
	return json.Marshal(wireItem{op, args})
}

// UnmarshalJSON reads {"op":…,"args":{…}} of a write operation.
func (w *WriteItem) UnmarshalJSON(data []byte) error {
	var wire wireItem
	if err := json.Unmarshal(data, &wire, json.RejectUnknownMembers(true)); err != nil {
		return invalid("", `a write is {"op":"…","args":{…}}`)
	}
	*w = WriteItem{}
	target := w.target(wire.Op)
	if target == nil {
		return invalid("op", "%q is no write operation", clip(wire.Op))
	}
	if len(wire.Args) == 0 {
		return invalid("args", "missing")
	}
	return inField("args", decode(wire.Args, target))
}
