package grounded

import (
	"errors"
	"fmt"

	"github.com/go-json-experiment/json"

	"github.com/grounded-memory/grounded/internal/canonical"
)

// decode reads a caller's JSON strictly into v.
func decode(data []byte, v any) error {
	err := canonical.Decode(data, v)
	if err == nil {
		return nil
	}
	place := ""
	var at *canonical.Error
	if errors.As(err, &at) {
		place, err = at.Place, at.Err
	}
	var e *Error
	if !errors.As(err, &e) {
		return invalid(place, "%v", err)
	}
	if place == "" {
		return e
	}
	return inField(place, e)
}

// DecodeRequest reads one operation's arguments from JSON as every door does:
// unknown, duplicate and case-variant keys, trailing data, invalid UTF-8, lone
// surrogates, wrong types, fractions, numbers over 2^53 and more than 64 levels
// are InvalidArgument, with the place. Empty input is an empty object.
func DecodeRequest(data []byte, request any) error {
	if len(data) > MaxRequestBytes {
		return &Error{Code: TooLarge, Message: fmt.Sprintf("%d bytes; a request holds at most %d", len(data), MaxRequestBytes)}
	}
	if len(data) == 0 {
		data = []byte("{}")
	}
	return decode(data, request)
}

// EncodeResult writes a request or a result as JSON, as every door does.
func EncodeResult(result any) ([]byte, error) {
	out, err := json.Marshal(result, json.Deterministic(true))
	if err != nil {
		return nil, &Error{Code: Internal, Message: "the result cannot be written", cause: err}
	}
	return out, nil
}
