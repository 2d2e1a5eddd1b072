package grounded

import (
	"errors"

	"github.com/go-json-experiment/json"
)

// decode reads a caller's JSON strictly into v.
func decode(data []byte, v any) error {
	err := json.Unmarshal(data, v, json.RejectUnknownMembers(true))
	var e *Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &e):
		return e
	default:
		return invalid("", "%v", err)
	}
}

// DecodeRequest reads one operation's arguments from JSON as every door does:
// unknown, duplicate and case-variant keys, trailing data, invalid UTF-8, lone
// surrogates and wrong types are InvalidArgument, with the place. Empty input
// is an empty object.
func DecodeRequest(data []byte, request any) error {
	if len(data) > MaxRequestBytes {
		return &Error{Code: TooLarge, Message: "the request is larger than the limit (see limits: request)"}
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
