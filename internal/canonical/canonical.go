// Package canonical is JSON with one way to write each value and one way to
// read it.
//
// [Marshal] writes the canonical form of RFC 8785 (the JSON Canonicalization
// Scheme): no white space, members sorted by the UTF-16 code units of their
// names, the shortest escapes. Values are objects, lists, strings, booleans,
// null and whole numbers of at most 2^53 in size; a fraction or an exponent is
// refused, for two machines may write one differently.
//
// [Decode] reads strictly: members that the type does not have (a name that
// differs only in case is such a one), members given twice, invalid UTF-8,
// lone surrogates, anything after the value, more than 64 levels, numbers that
// Marshal would not write and names with a NUL are errors that say where.
package canonical

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// MaxDepth is how deep lists and objects may be nested.
const MaxDepth = 64

// MaxInteger is the greatest size of a number, 2^53.
const MaxInteger = 1 << 53

// Error is a value that cannot be read, and where.
type Error struct {
	Place string // such as "writes[0].args.entity"; empty for the whole
	Err   error
}

// Error returns the reason, led by the place.
func (e *Error) Error() string {
	if e.Place == "" {
		return e.Err.Error()
	}
	return e.Place + ": " + e.Err.Error()
}

// Unwrap returns the reason.
func (e *Error) Unwrap() error { return e.Err }

// What a text that is JSON may still not hold.
var (
	ErrDepth   = fmt.Errorf("nested more than %d deep", MaxDepth)
	ErrNumber  = errors.New("a number must be whole and between -2^53 and 2^53")
	ErrName    = errors.New("a name holds a NUL")
	ErrUnknown = errors.New("unknown field")
	ErrTwice   = errors.New("given twice")
)

// Marshal returns v's canonical JSON. Types may bring their own MarshalJSON or
// MarshalText.
func Marshal(v any) ([]byte, error) {
	data, err := json.Marshal(v, json.FormatNilSliceAsNull(false))
	if err != nil {
		return nil, err
	}
	w := writer{data: data}
	if err := w.value(0); err != nil {
		return nil, err
	}
	return data, nil
}

// writer sorts the members of compact, valid JSON in place: every object keeps
// its length, so its members are only moved.
type writer struct {
	data []byte
	at   int
}

type member struct {
	name string
	text []byte // name, colon and value
}

// value passes over one value, sorting the objects in it.
func (w *writer) value(depth int) error {
	if depth > MaxDepth {
		return ErrDepth
	}
	switch c := w.data[w.at]; c {
	case '{':
		return w.object(depth)
	case '[':
		w.at++
		for w.data[w.at] != ']' {
			if err := w.value(depth + 1); err != nil {
				return err
			}
			if w.data[w.at] == ',' {
				w.at++
			}
		}
		w.at++
		return nil
	case '"':
		w.at += stringLength(w.data[w.at:])
		return nil
	default:
		start := w.at
		for w.at < len(w.data) && !strings.ContainsRune(",]}", rune(w.data[w.at])) {
			w.at++
		}
		if c == '-' || '0' <= c && c <= '9' {
			return checkNumber(w.data[start:w.at])
		}
		return nil
	}
}

func (w *writer) object(depth int) error {
	w.at++
	start := w.at
	var members []member
	sorted := true
	for w.data[w.at] != '}' {
		from := w.at
		w.at += stringLength(w.data[w.at:])
		name, err := nameOf(w.data[from:w.at])
		if err != nil {
			return err
		}
		w.at++ // the colon
		if err := w.value(depth + 1); err != nil {
			return err
		}
		if n := len(members); n > 0 && compareNames(members[n-1].name, name) > 0 {
			sorted = false
		}
		members = append(members, member{name, w.data[from:w.at]})
		if w.data[w.at] == ',' {
			w.at++
		}
	}
	if !sorted {
		w.reorder(start, members)
	}
	w.at++
	return nil
}

func (w *writer) reorder(start int, members []member) {
	slices.SortFunc(members, func(a, b member) int { return compareNames(a.name, b.name) })
	moved := make([]byte, 0, w.at-start)
	for i, m := range members {
		if i > 0 {
			moved = append(moved, ',')
		}
		moved = append(moved, m.text...)
	}
	copy(w.data[start:], moved)
}

func nameOf(quoted []byte) (string, error) {
	if !slices.Contains(quoted, '\\') {
		return string(quoted[1 : len(quoted)-1]), nil
	}
	name, err := jsontext.AppendUnquote(nil, quoted)
	return string(name), err
}

// compareNames orders names by their UTF-16 code units. That is the order of
// their bytes but for the characters from U+E000 to U+FFFF, which come after
// those beyond them.
func compareNames(a, b string) int {
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	if i == len(a) || i == len(b) {
		return len(a) - len(b)
	}
	x, y := a[i], b[i]
	if x >= 0xEE && y >= 0xEE { // both from U+E000 on
		switch beyondX, beyondY := x >= 0xF0, y >= 0xF0; {
		case beyondX && !beyondY:
			return -1
		case beyondY && !beyondX:
			return 1
		}
	}
	return int(x) - int(y)
}

// stringLength is the length of the JSON string at the start of data, its
// quotation marks included, or what is there of it.
func stringLength(data []byte) int {
	for i := 1; i < len(data); i++ {
		switch data[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(data)
}

func checkNumber(text []byte) error {
	n, err := strconv.ParseInt(string(text), 10, 64)
	if err != nil || n > MaxInteger || n < -MaxInteger || string(text) == "-0" {
		return ErrNumber
	}
	return nil
}

// Decode reads data strictly into v. Its errors are of type *Error; an error
// that a type's own UnmarshalJSON returned stays within reach of errors.As.
func Decode(data []byte, v any) error {
	if err := scan(data); err != nil {
		return err
	}
	err := json.Unmarshal(data, v, json.RejectUnknownMembers(true))
	if err == nil {
		return nil
	}
	var semantic *json.SemanticError
	if errors.As(err, &semantic) {
		return semanticError(semantic)
	}
	var syntactic *jsontext.SyntacticError
	if errors.As(err, &syntactic) {
		reason := syntactic.Err
		if errors.Is(err, jsontext.ErrDuplicateName) {
			reason = ErrTwice
		}
		return &Error{place(syntactic.JSONPointer), fmt.Errorf("byte %d: %w", syntactic.ByteOffset, reason)}
	}
	return &Error{"", err}
}

func semanticError(e *json.SemanticError) error {
	where := place(e.JSONPointer)
	switch {
	case errors.Is(e.Err, json.ErrUnknownName):
		return &Error{where, ErrUnknown}
	case e.Err != nil:
		return &Error{where, e.Err}
	case e.GoType != nil:
		return &Error{where, fmt.Errorf("wrong type: %s", kindName(e.JSONKind))}
	}
	return &Error{where, errors.New("cannot be read")}
}

func kindName(kind jsontext.Kind) string {
	switch kind {
	case 'n':
		return "null"
	case 't', 'f':
		return "a boolean"
	case '"':
		return "a string"
	case '0':
		return "a number"
	case '{':
		return "an object"
	case '[':
		return "a list"
	}
	return "another kind of value"
}

// place writes a JSON pointer as people write paths: writes[0].args.
func place(pointer jsontext.Pointer) string {
	var b strings.Builder
	for token := range pointer.Tokens() {
		if _, err := strconv.ParseUint(token, 10, 32); err == nil {
			b.WriteString("[" + token + "]")
			continue
		}
		if b.Len() > 0 {
			b.WriteByte('.')
		}
		b.WriteString(clip(token))
	}
	return b.String()
}

// clip shortens a name that may be anything for a message.
func clip(s string) string {
	const most = 64
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}

// scan finds what the JSON reader itself would let pass. It expects no valid
// JSON: what is not is left to the reader.
func scan(data []byte) error {
	depth := 0
	for i := 0; i < len(data); {
		switch c := data[i]; {
		case c == '"':
			n := stringLength(data[i:])
			if hasNUL(data[i:i+n]) && isName(data[i+n:]) {
				return &Error{"", fmt.Errorf("byte %d: %w", i, ErrName)}
			}
			i += n
		case c == '{' || c == '[':
			if depth++; depth > MaxDepth {
				return &Error{"", fmt.Errorf("byte %d: %w", i, ErrDepth)}
			}
			i++
		case c == '}' || c == ']':
			depth--
			i++
		case c == '-' || '0' <= c && c <= '9':
			n := 1
			for i+n < len(data) && strings.IndexByte("0123456789+-.eE", data[i+n]) >= 0 {
				n++
			}
			if err := checkNumber(data[i : i+n]); err != nil {
				return &Error{"", fmt.Errorf("byte %d: %w", i, err)}
			}
			i += n
		default:
			i++
		}
	}
	return nil
}

func hasNUL(quoted []byte) bool {
	for i := 0; i < len(quoted); i++ {
		if quoted[i] == 0 {
			return true
		}
		if quoted[i] == '\\' {
			if strings.HasPrefix(string(quoted[i:min(len(quoted), i+6)]), `\u0000`) {
				return true
			}
			i++
		}
	}
	return false
}

func isName(after []byte) bool {
	rest := strings.TrimLeft(string(after[:min(len(after), 64)]), " \t\r\n")
	return strings.HasPrefix(rest, ":")
}
