package grounded

import (
	"fmt"
	"strconv"
	"time"
)

// RecordID names a record within its scope: the scope's write sequence number,
// written "r17". Ids are never reused. Zero is no record.
type RecordID uint64

// maxRecordID keeps ids exact in every JSON reader (2^53).
const maxRecordID = 1 << 53

// String returns the id as it is written everywhere, e.g. "r17".
func (id RecordID) String() string { return "r" + strconv.FormatUint(uint64(id), 10) }

// MarshalText writes the id as String does.
func (id RecordID) MarshalText() ([]byte, error) { return []byte(id.String()), nil }

// UnmarshalText reads what MarshalText writes.
func (id *RecordID) UnmarshalText(text []byte) (err error) {
	*id, err = ParseRecordID(string(text))
	return err
}

// ParseRecordID reads an id such as "r17". Anything else is InvalidArgument.
func ParseRecordID(text string) (RecordID, error) {
	if len(text) < 2 || text[0] != 'r' || text[1] < '1' || text[1] > '9' {
		return 0, invalid("", "%q is no record id; one looks like r17", clip(text))
	}
	n, err := strconv.ParseUint(text[1:], 10, 64)
	if err != nil || n > maxRecordID {
		return 0, invalid("", "%q is no record id; one looks like r17", clip(text))
	}
	return RecordID(n), nil
}

// Record is one supplied, immutable statement. The fields of its kind are set,
// the others are zero. A forgotten record has only ID and Kind.
type Record struct {
	ID        RecordID  `json:"id"`
	Kind      Kind      `json:"kind"`
	Source    string    `json:"source,omitzero"`
	Modality  Modality  `json:"modality,omitzero"`
	CreatedAt time.Time `json:"created_at,omitzero"`
	ExpiresAt time.Time `json:"expires_at,omitzero"`
	Corrects  RecordID  `json:"corrects,omitzero"` // the predecessor that it superseded

	Entity    string `json:"entity,omitzero"` // claim
	Predicate string `json:"predicate,omitzero"`
	Value     string `json:"value,omitzero"`

	Text    string    `json:"text,omitzero"` // note
	Title   string    `json:"title,omitzero"`
	Session string    `json:"session,omitzero"`
	SaidAt  time.Time `json:"said_at,omitzero"`
	Speaker string    `json:"speaker,omitzero"`

	Phrase string `json:"phrase,omitzero"` // bridge
	Target string `json:"target,omitzero"`

	Name    string   `json:"name,omitzero"` // relation
	Aliases []string `json:"aliases,omitempty"`

	Cardinality     Cardinality `json:"cardinality,omitzero"`      // claim, relation
	InstructionLike string      `json:"instruction_like,omitzero"` // why the text was flagged
	State           State       `json:"state,omitzero"`            // set in listings only
}

// fromMicros is a time as the store keeps it, in microseconds; 0 is none.
func fromMicros(us int64) time.Time {
	if us == 0 {
		return time.Time{}
	}
	return time.UnixMicro(us).UTC()
}

// TTL is a time to live, written as a Go duration ("90s", "720h").
type TTL time.Duration

// MarshalText writes the duration as Go does.
func (d TTL) MarshalText() ([]byte, error) { return []byte(time.Duration(d).String()), nil }

// UnmarshalText reads a positive Go duration.
func (d *TTL) UnmarshalText(text []byte) error {
	v, err := time.ParseDuration(string(text))
	if err != nil {
		return fmt.Errorf("%q is no duration such as 90s or 720h", clip(string(text)))
	}
	if v <= 0 {
		return fmt.Errorf("a time to live must be greater than zero")
	}
	*d = TTL(v)
	return nil
}

// clip shortens text for an error message.
func clip(s string) string {
	const most = 80
	if len(s) <= most {
		return s
	}
	cut := most
	for cut > 0 && s[cut]&0xC0 == 0x80 {
		cut--
	}
	return s[:cut] + "…"
}
