package grounded

import (
	"bufio"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/grounded-memory/grounded/internal/canonical"
	"github.com/grounded-memory/grounded/internal/sqlite"
)

// ExportFormat names the layout of exports. An export is JSON lines: a header,
// one line a record (its content with the salt of its digest, or its
// tombstone), one line an idempotency key, and a last line that says how many
// records there were, so that a cut file is noticed.
const ExportFormat = "grounded-export/1"

// exportLine is any line of an export; the fields of its kind are set.
type exportLine struct {
	Format    string    `json:"format,omitzero"` // header
	Tenant    string    `json:"tenant,omitzero"`
	Namespace string    `json:"namespace,omitzero"`
	Time      time.Time `json:"time,omitzero"` // the greatest time that the scope has recorded

	Record      jsontext.Value `json:"record,omitzero"` // record
	Salt        string         `json:"salt,omitzero"`
	CorrectedBy RecordID       `json:"corrected_by,omitzero"`

	Tombstone   RecordID  `json:"tombstone,omitzero"` // tombstone
	Kind        Kind      `json:"kind,omitzero"`
	Corrects    RecordID  `json:"corrects,omitzero"`
	ForgottenAt time.Time `json:"forgotten_at,omitzero"`

	KeySHA256 string         `json:"idempotency_key_sha256,omitzero"` // idempotency key
	Result    jsontext.Value `json:"result,omitzero"`

	End *int `json:"end,omitzero"` // last line: the number of records and tombstones
}

// Export writes the whole scope, eligible or not, as JSON lines: ids,
// tombstones, chains, salts and idempotency keys included, so that an imported
// copy has the same scope digest and gives the same certificates. It returns
// the number of records and tombstones.
func (m *Memory) Export(ctx context.Context, w io.Writer) (int, error) {
	out := bufio.NewWriterSize(w, 256<<10)
	n := 0
	line := func(l exportLine) error {
		data, err := canonical.Marshal(l)
		if err == nil {
			_, err = out.Write(append(data, '\n'))
		}
		return err
	}
	err := m.rows(ctx, "export", func(tx *sqlite.ReadTx, _ int64) error {
		state, err := tx.State()
		if err != nil {
			return err
		}
		header := exportLine{Format: ExportFormat, Tenant: m.scope.Tenant, Namespace: m.scope.Namespace, Time: time.UnixMicro(state.Time).UTC()}
		if err := line(header); err != nil {
			return err
		}
		err = tx.Rows(0, func(row *sqlite.Row) error {
			if n++; n%1024 == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			return line(exportRow(row))
		})
		if err != nil {
			return err
		}
		err = tx.IdempotencyKeys(func(key [32]byte, result []byte) error {
			return line(exportLine{KeySHA256: hex.EncodeToString(key[:]), Result: result})
		})
		if err != nil {
			return err
		}
		return line(exportLine{End: &n})
	})
	if err != nil {
		return 0, err
	}
	return n, out.Flush()
}

func exportRow(row *sqlite.Row) exportLine {
	if row.ForgottenAt != 0 {
		return exportLine{
			Tombstone: RecordID(row.Seq), Kind: kindName(row.Kind), Corrects: RecordID(row.Corrects),
			CorrectedBy: RecordID(row.CorrectedBy), ForgottenAt: time.UnixMicro(row.ForgottenAt).UTC(),
		}
	}
	return exportLine{
		Record: append(jsontext.Value(nil), row.Body...), Salt: hex.EncodeToString(row.Salt[:]),
		CorrectedBy: RecordID(row.CorrectedBy),
	}
}

// Import reads an export into this scope, which must never have been written
// to: what was forgotten here can so never come back from an older copy. All
// lines are read or nothing is. It returns the number of records and tombstones.
func (m *Memory) Import(ctx context.Context, r io.Reader) (int, error) {
	n := 0
	err := m.store.db.Update(ctx, m.scope, func(tx *sqlite.WriteTx) error {
		state, err := tx.State()
		if err != nil {
			return err
		}
		if state.LastSeq != 0 {
			return invalid("", "the scope holds %d records already; an export goes into an empty scope only, so that nothing forgotten comes back", state.LastSeq)
		}
		im := &importer{tx: tx, key: state.Key}
		if err := im.run(ctx, r); err != nil {
			return err
		}
		n = im.records
		return nil
	})
	if err != nil {
		return 0, storeError("import", err)
	}
	return n, nil
}

// importer reads the lines of an export into a transaction.
type importer struct {
	tx      *sqlite.WriteTx
	key     [16]byte
	line    int
	records int
	last    RecordID
	ended   bool
}

func (im *importer) run(ctx context.Context, r io.Reader) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 0, 64<<10), MaxRequestBytes)
	for lines.Scan() {
		if im.line++; im.line%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		var l exportLine
		err := decode(lines.Bytes(), &l)
		if err == nil {
			err = im.read(&l)
		}
		if err != nil {
			return inField(fmt.Sprintf("line %d", im.line), err)
		}
	}
	switch err := lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return &Error{Code: TooLarge, Field: fmt.Sprintf("line %d", im.line+1), Message: "a line is longer than a request may be"}
	case err != nil:
		return err
	case !im.ended:
		return invalid(fmt.Sprintf("line %d", im.line+1), "the export ends before its last line: it was cut off")
	}
	return nil
}

func (im *importer) read(l *exportLine) error {
	switch {
	case im.ended:
		return invalid("", "a line after the last one")
	case im.line == 1:
		if l.Format != ExportFormat {
			return invalid("format", "not a %s file", ExportFormat)
		}
		return im.tx.AdvanceTime(l.Time.UnixMicro())
	case l.Record != nil:
		return im.record(l)
	case l.Tombstone != 0:
		return im.tombstone(l)
	case l.KeySHA256 != "":
		return im.idempotencyKey(l)
	case l.End != nil:
		if *l.End != im.records {
			return invalid("end", "%d records were announced, %d are there", *l.End, im.records)
		}
		im.ended = true
		return nil
	}
	return invalid("", "neither a record, a tombstone, an idempotency key nor the end")
}

// next checks that ids ascend.
func (im *importer) next(id RecordID) error {
	if id <= im.last {
		return invalid("", "%s does not follow %s: ids must ascend", id, im.last)
	}
	im.last = id
	im.records++
	return nil
}

func (im *importer) record(l *exportLine) error {
	var r Record
	if err := decode(l.Record, &r); err != nil {
		return inField("record", err)
	}
	if err := im.next(r.ID); err != nil {
		return err
	}
	if err := checkImported(&r); err != nil {
		return inField("record", err)
	}
	var salt [16]byte
	if n, err := hex.Decode(salt[:], []byte(l.Salt)); err != nil || n != len(salt) {
		return invalid("salt", "want 32 hexadecimal digits")
	}
	row, err := newRow(im.key, &r, (&writer{key: im.key}).sameKey(&r), salt)
	if err != nil {
		return err
	}
	row.CorrectedBy = uint64(l.CorrectedBy)
	return im.tx.InsertAt(row)
}

// checkImported puts an imported record through the checks of a write: what no
// write could have stored is refused.
func checkImported(r *Record) error {
	given := *r
	var item WriteItem
	switch r.Kind {
	case KindClaim:
		item.Remember = &RememberRequest{Entity: r.Entity, Predicate: r.Predicate, Value: r.Value, Source: r.Source, Cardinality: r.Cardinality, Modality: r.Modality, ExpiresAt: r.ExpiresAt}
	case KindNote:
		item.Note = &NoteRequest{Text: r.Text, Source: r.Source, Title: r.Title, Session: r.Session, SaidAt: r.SaidAt, Speaker: r.Speaker, ExpiresAt: r.ExpiresAt}
	case KindBridge:
		item.RememberBridge = &RememberBridgeRequest{Phrase: r.Phrase, Target: r.Target, Source: r.Source, Modality: r.Modality, ExpiresAt: r.ExpiresAt}
	case KindRelation:
		item.DeclareRelation = &DeclareRelationRequest{Name: r.Name, Aliases: r.Aliases, Cardinality: r.Cardinality, Source: r.Source, ExpiresAt: r.ExpiresAt}
	default:
		return invalid("kind", "%q is no kind of record", clip(string(r.Kind)))
	}
	p, err := prepare(item)
	if err != nil {
		return err
	}
	want := p.record
	want.ID, want.CreatedAt, want.Corrects = given.ID, given.CreatedAt, given.Corrects
	// The flag stays as it was given: the screen may have been another version then.
	want.InstructionLike = given.InstructionLike
	a, errA := canonical.Marshal(want)
	b, errB := canonical.Marshal(given)
	if errA != nil || errB != nil || string(a) != string(b) {
		return invalid("", "is not in the form in which a write would have stored it")
	}
	return nil
}

func (im *importer) tombstone(l *exportLine) error {
	if err := im.next(l.Tombstone); err != nil {
		return err
	}
	code, ok := kindCodes[l.Kind]
	if !ok || l.ForgottenAt.IsZero() {
		return invalid("", "a tombstone has a kind and a time")
	}
	return im.tx.InsertAt(&sqlite.Row{
		Seq: uint64(l.Tombstone), Kind: uint8(code), Corrects: uint64(l.Corrects), CorrectedBy: uint64(l.CorrectedBy),
		ForgottenAt: l.ForgottenAt.UnixMicro(),
	})
}

func (im *importer) idempotencyKey(l *exportLine) error {
	var key [32]byte
	if n, err := hex.Decode(key[:], []byte(l.KeySHA256)); err != nil || n != len(key) {
		return invalid("idempotency_key_sha256", "want 64 hexadecimal digits")
	}
	var result WriteResult
	if err := decode(l.Result, &result); err != nil {
		return inField("result", err)
	}
	stored, err := canonical.Marshal(result)
	if err != nil {
		return err
	}
	return im.tx.PutIdempotent(key, stored)
}
