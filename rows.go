package grounded

import (
	"crypto/sha256"
	"encoding/binary"
	"strings"
	"time"

	"github.com/grounded-memory/grounded/internal/canonical"
	"github.com/grounded-memory/grounded/internal/facts"
	"github.com/grounded-memory/grounded/internal/index"
	"github.com/grounded-memory/grounded/internal/notes"
	"github.com/grounded-memory/grounded/internal/rewrite"
	"github.com/grounded-memory/grounded/internal/scopedigest"
	"github.com/grounded-memory/grounded/internal/sqlite"
	"github.com/grounded-memory/grounded/internal/textform"
)

// A row's body is the record's canonical JSON: what a reader sees is what the
// digest binds.

var kindCodes = map[Kind]index.Kind{
	KindClaim: index.Claim, KindNote: index.Note, KindBridge: index.Bridge, KindRelation: index.Relation,
}

var kindNames = [...]Kind{index.Claim: KindClaim, index.Note: KindNote, index.Bridge: KindBridge, index.Relation: KindRelation}

func kindName(code uint8) Kind {
	if int(code) < len(kindNames) {
		return kindNames[code]
	}
	return ""
}

// recordOf decodes a row; a forgotten one gives its id and kind.
func recordOf(row *sqlite.Row) (*Record, error) {
	if row.ForgottenAt != 0 || len(row.Body) == 0 {
		return &Record{ID: RecordID(row.Seq), Kind: kindName(row.Kind)}, nil
	}
	r := new(Record)
	if err := canonical.Decode(row.Body, r); err != nil {
		return nil, &Error{Code: Damaged, Message: "record " + RecordID(row.Seq).String() + " cannot be read; run grounded doctor", cause: err}
	}
	return r, nil
}

// stateOf says where a row's record is in its life at a time.
func stateOf(row *sqlite.Row, asOf int64) State {
	switch {
	case row.ForgottenAt != 0:
		return StateForgotten
	case row.CorrectedBy != 0:
		return StateCorrected
	case row.ExpiresAt != 0 && row.ExpiresAt <= asOf:
		return StateExpired
	case row.Flag != "":
		return StateInstructionLike
	}
	return StateEligible
}

// expiryMicros is a record's expiry as the store keeps it; 0 means never.
func expiryMicros(r *Record) int64 {
	if r.ExpiresAt.IsZero() {
		return 0
	}
	if us := r.ExpiresAt.UnixMicro(); us != 0 {
		return us
	}
	return -1 // the epoch itself: one microsecond early, rather than never
}

// rowKey is a keyed 64-bit digest of some texts. Secondary indexes hold such
// digests, never text: a deleted index cell tells nothing without the key.
// Whoever looks a key up compares the records' own fields as well.
func rowKey(key [16]byte, parts ...string) int64 {
	h := sha256.New()
	h.Write(key[:])
	var n [8]byte
	for _, p := range parts {
		binary.LittleEndian.PutUint64(n[:], uint64(len(p)))
		h.Write(n[:])
		h.Write([]byte(p))
	}
	return int64(binary.LittleEndian.Uint64(h.Sum(nil)))
}

// claimGroup is the key of the claims of one entity and predicate as written.
func claimGroup(key [16]byte, entity, predicate string) int64 {
	return rowKey(key, "claim", entity, predicate)
}

// bridgeGroup is the key of the bridges of one phrase.
func bridgeGroup(key [16]byte, phrase string) int64 {
	return rowKey(key, "bridge", textform.Phrase(phrase))
}

// newRow makes the row of a record that has its id.
func newRow(key [16]byte, r *Record, same int64, salt [16]byte) (*sqlite.Row, error) {
	body, err := canonical.Marshal(r)
	if err != nil {
		return nil, invalid("", "the record has no canonical form: %v", err)
	}
	row := &sqlite.Row{
		Seq: uint64(r.ID), Kind: uint8(kindCodes[r.Kind]), Body: body, Salt: salt,
		Digest:    scopedigest.RecordDigest(salt, body),
		SameKey:   same,
		CreatedAt: r.CreatedAt.UnixMicro(), ExpiresAt: expiryMicros(r),
		Corrects: uint64(r.Corrects), Flag: r.InstructionLike,
	}
	switch r.Kind {
	case KindClaim:
		row.GroupKey = claimGroup(key, r.Entity, r.Predicate)
		row.Single = r.Cardinality == Single && r.Modality == Asserted && r.InstructionLike == ""
	case KindBridge:
		row.GroupKey = bridgeGroup(key, r.Phrase)
	}
	return row, nil
}

// source shows a read transaction to the index.
type source struct {
	tx    *sqlite.ReadTx
	state sqlite.ScopeState
	entry index.Entry
}

func (s *source) State() (version, lastSeq uint64, err error) {
	return s.state.Version, s.state.LastSeq, nil
}

func (s *source) Changes(after uint64, yield func(index.Change) error) error {
	return s.tx.Changes(after, func(c sqlite.Change) error {
		op := index.Retired
		if c.Op == sqlite.OpAdded {
			op = index.Added
		}
		return yield(index.Change{Version: c.Version, Seq: c.Seq, Op: op})
	})
}

func (s *source) Blob(part string) ([]byte, uint64, bool, error) { return s.tx.Blob(part) }

func (s *source) Entry(seq uint64, parts index.Parts) (*index.Entry, error) {
	row, ok, err := s.tx.Row(seq)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, &Error{Code: Damaged, Message: "the change log names " + RecordID(seq).String() + ", which is not there; run grounded doctor"}
	}
	return s.fill(&row, parts)
}

func (s *source) Entries(after uint64, parts index.Parts, yield func(*index.Entry) error) error {
	return s.tx.Rows(after, func(row *sqlite.Row) error {
		e, err := s.fill(row, parts)
		if err != nil {
			return err
		}
		return yield(e)
	})
}

// fill makes an entry of a row, decoding its content only where a part needs it.
func (s *source) fill(row *sqlite.Row, parts index.Parts) (*index.Entry, error) {
	e := &s.entry
	*e = index.Entry{
		Seq: row.Seq, Kind: index.Kind(row.Kind), Digest: row.Digest, ExpiresAt: row.ExpiresAt,
		Current: row.ForgottenAt == 0 && row.CorrectedBy == 0 && row.Flag == "",
	}
	if !e.Current || !needsContent(e.Kind, parts) {
		return e, nil
	}
	r, err := recordOf(row)
	if err != nil {
		return nil, err
	}
	e.Asserted = r.Modality == Asserted
	switch r.Kind {
	case KindClaim:
		e.Fact = facts.Fact{Record: row.Seq, Entity: r.Entity, Predicate: r.Predicate, Value: r.Value, Single: r.Cardinality == Single}
		e.Doc = notes.Doc{Record: row.Seq, Text: claimText(r), Claim: true}
	case KindNote:
		e.Doc = notes.Doc{Record: row.Seq, Text: r.Text, Title: r.Title, Session: r.Session, Speaker: r.Speaker, SaidAt: secondsOf(r.SaidAt)}
	case KindBridge:
		e.Bridge = rewrite.Bridge{
			Record: row.Seq, PhraseText: r.Phrase, TargetText: r.Target,
			Phrase: textform.Words(r.Phrase), Target: textform.Words(r.Target),
		}
	case KindRelation:
		e.Relation = facts.Relation{Name: r.Name, Aliases: r.Aliases, Single: r.Cardinality == Single}
	}
	return e, nil
}

func needsContent(kind index.Kind, parts index.Parts) bool {
	switch kind {
	case index.Claim:
		return parts&(index.Facts|index.Notes) != 0
	case index.Note:
		return parts&index.Notes != 0
	case index.Bridge:
		return parts&index.Bridges != 0
	}
	return true
}

// claimText is a claim as words: entity, predicate with its joints opened, value.
func claimText(r *Record) string {
	return r.Entity + " " + strings.ReplaceAll(r.Predicate, "_", " ") + " " + r.Value
}

// secondsOf is a time as the text index wants it; 0 if it is not known.
func secondsOf(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.Unix()
}
