package grounded

import (
	"context"
	"errors"
	"fmt"
)

// Code names what went wrong, in the words of the JSON contract. A Code is
// itself an error value, so a caller can write errors.Is(err, grounded.NotFound).
type Code string

// The codes of the contract. The list is closed: whatever has no code of its
// own is Internal, is logged whole and shown as one line.
const (
	InvalidArgument  Code = "invalid_argument"  // the request is malformed or over a limit
	NotFound         Code = "not_found"         // no record of that id in this scope
	AlreadyCorrected Code = "already_corrected" // the record has a successor; Error.Current names the one in force
	AlreadyForgotten Code = "already_forgotten" // the record was deleted for good
	Expired          Code = "expired"           // the record's time is over
	Unauthenticated  Code = "unauthenticated"   // no bearer token, or not a valid one
	PermissionDenied Code = "permission_denied" // the token's role does not cover the operation
	TooLarge         Code = "too_large"         // the request is larger than any may be
	RateLimited      Code = "rate_limited"      // too many requests
	Unavailable      Code = "unavailable"       // closed, busy or cancelled; the same call may work later
	StorageFull      Code = "storage_full"      // the disk is full; nothing was written
	Damaged          Code = "damaged"           // the file is damaged, foreign or of a newer format
	Internal         Code = "internal"          // a fault of this program
)

// Codes lists every code, in the order of the contract.
func Codes() []Code {
	return []Code{
		InvalidArgument, NotFound, AlreadyCorrected, AlreadyForgotten, Expired, Unauthenticated, PermissionDenied,
		TooLarge, RateLimited, Unavailable, StorageFull, Damaged, Internal,
	}
}

// Error makes a Code usable as an error value.
func (c Code) Error() string { return string(c) }

// Error is how every operation fails: a code for programs, a message for
// people, and where it applies the field at fault or the id in force.
type Error struct {
	Code    Code     `json:"code"`
	Message string   `json:"message"`
	Field   string   `json:"field,omitzero"`   // the place in the request, e.g. "where[0][1]"
	Current RecordID `json:"current,omitzero"` // for AlreadyCorrected: the record in force, if one is

	cause error
}

// Error returns the message, led by the code.
func (e *Error) Error() string {
	if e.Field != "" {
		return fmt.Sprintf("%s: %s: %s", e.Code, e.Field, e.Message)
	}
	return fmt.Sprintf("%s: %s", e.Code, e.Message)
}

// Unwrap gives the code and, if there is one, the cause.
func (e *Error) Unwrap() []error {
	if e.cause == nil {
		return []error{e.Code}
	}
	return []error{e.Code, e.cause}
}

// AsError returns err as an *Error. An error without a code becomes Internal
// (or Unavailable, where a context ended); nil stays nil.
func AsError(err error) *Error {
	if err == nil {
		return nil
	}
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return &Error{Code: Unavailable, Message: "the call was cancelled or ran out of time: " + err.Error(), cause: err}
	}
	return &Error{Code: Internal, Message: "internal error", cause: err}
}

func invalid(field, format string, args ...any) *Error {
	return &Error{Code: InvalidArgument, Field: field, Message: fmt.Sprintf(format, args...)}
}

// inField puts err's field below prefix, so that an error inside a batch names
// the whole place.
func inField(prefix string, err error) error {
	var e *Error
	if !errors.As(err, &e) {
		return err
	}
	inner := *e
	switch {
	case inner.Field == "":
		inner.Field = prefix
	case inner.Field[0] == '[':
		inner.Field = prefix + inner.Field
	default:
		inner.Field = prefix + "." + inner.Field
	}
	return &inner
}
