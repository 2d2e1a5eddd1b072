package grounded

import (
	"context"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/grounded-memory/grounded/internal/screen"
	"github.com/grounded-memory/grounded/internal/textform"
)

// Remember stores a claim. An equal eligible claim is not written again: the
// result names it, with Existing. Contradicts lists the eligible claims of the
// same single-valued group that say something else; nothing is retired unless
// Correct says so.
func (m *Memory) Remember(ctx context.Context, req *RememberRequest) (*WriteResult, error) {
	return m.writeOne(ctx, "remember", req == nil, WriteItem{Remember: req})
}

// Note stores free text. Notes are always written: people repeat themselves.
func (m *Memory) Note(ctx context.Context, req *NoteRequest) (*WriteResult, error) {
	return m.writeOne(ctx, "note", req == nil, WriteItem{Note: req})
}

// DeclareRelation declares a predicate. A name or alias that is already
// declared in the scope is refused, naming the record: correct that one.
func (m *Memory) DeclareRelation(ctx context.Context, req *DeclareRelationRequest) (*WriteResult, error) {
	return m.writeOne(ctx, "declare_relation", req == nil, WriteItem{DeclareRelation: req})
}

// RememberBridge stores a bridge: a directed permission to rewrite a query
// phrase. It never merges entities or values, and no query ever sees it.
func (m *Memory) RememberBridge(ctx context.Context, req *RememberBridgeRequest) (*WriteResult, error) {
	return m.writeOne(ctx, "remember_bridge", req == nil, WriteItem{RememberBridge: req})
}

func (m *Memory) writeOne(ctx context.Context, doing string, missing bool, item WriteItem) (*WriteResult, error) {
	if missing {
		return nil, invalid("", "a %s without a request", doing)
	}
	p, err := prepare(item)
	if err != nil {
		return nil, err
	}
	results, err := m.apply(ctx, doing, []*prepared{p}, nil)
	if err != nil {
		return nil, err
	}
	return &results[0], nil
}

// Write runs a list of writes in one transaction: all of them, or none. An
// error names the write at fault.
func (m *Memory) Write(ctx context.Context, req *WriteRequest) (*WriteResults, error) {
	if req == nil {
		return nil, invalid("", "a write without a request")
	}
	if len(req.Writes) > MaxBatchWrites {
		return nil, invalid("writes", "%d writes; at most %d fit in a batch", len(req.Writes), MaxBatchWrites)
	}
	if len(req.Writes) == 0 {
		return &WriteResults{Results: []WriteResult{}}, nil
	}
	writes := make([]*prepared, len(req.Writes))
	for i, item := range req.Writes {
		var err error
		if writes[i], err = prepare(item); err != nil {
			return nil, inField(batchField(i), err)
		}
	}
	results, err := m.apply(ctx, "write", writes, batchField)
	if err != nil {
		return nil, err
	}
	return &WriteResults{Results: results}, nil
}

// prepared is a write that has been checked as far as that goes without the
// store: every text in its form, limits kept, instruction-like text flagged.
type prepared struct {
	record  Record // a new record, or for a correction what changes
	ttl     time.Duration
	key     string // idempotency key
	correct *CorrectRequest
	forget  RecordID
}

func prepare(item WriteItem) (*prepared, error) {
	set := 0
	for _, there := range []bool{
		item.Remember != nil, item.Note != nil, item.DeclareRelation != nil,
		item.RememberBridge != nil, item.Correct != nil, item.Forget != nil,
	} {
		if there {
			set++
		}
	}
	if set != 1 {
		return nil, invalid("", "a write holds exactly one operation")
	}
	switch {
	case item.Remember != nil:
		return prepareClaim(item.Remember)
	case item.Note != nil:
		return prepareNote(item.Note)
	case item.DeclareRelation != nil:
		return prepareRelation(item.DeclareRelation)
	case item.RememberBridge != nil:
		return prepareBridge(item.RememberBridge)
	case item.Correct != nil:
		return prepareCorrection(item.Correct)
	}
	if item.Forget.ID == 0 {
		return nil, invalid("id", "missing")
	}
	return &prepared{forget: item.Forget.ID}, nil
}

func prepareClaim(req *RememberRequest) (*prepared, error) {
	c := checker{}
	r := Record{Kind: KindClaim}
	r.Entity = c.term("entity", req.Entity)
	r.Predicate = c.predicate("predicate", req.Predicate)
	r.Value = c.term("value", req.Value)
	r.Source = c.term("source", req.Source)
	r.Cardinality = c.cardinality(req.Cardinality)
	r.Modality = c.modality(req.Modality)
	return c.prepared(r, req.TTL, req.ExpiresAt, req.IdempotencyKey)
}

func prepareNote(req *NoteRequest) (*prepared, error) {
	c := checker{}
	r := Record{Kind: KindNote, Modality: Asserted, SaidAt: req.SaidAt.UTC()}
	r.Text = c.noteText("text", req.Text)
	r.Source = c.term("source", req.Source)
	r.Title = c.optionalTerm("title", req.Title)
	r.Session = c.optionalTerm("session", req.Session)
	r.Speaker = c.optionalTerm("speaker", req.Speaker)
	return c.prepared(r, req.TTL, req.ExpiresAt, req.IdempotencyKey)
}

func prepareRelation(req *DeclareRelationRequest) (*prepared, error) {
	c := checker{}
	r := Record{Kind: KindRelation, Modality: Asserted}
	r.Name = c.predicate("name", req.Name)
	r.Aliases = c.aliases(req.Aliases, r.Name)
	if r.Cardinality = c.cardinality(req.Cardinality); r.Cardinality == "" {
		c.fail("cardinality", "missing: single or multi")
	}
	r.Source = c.term("source", req.Source)
	return c.prepared(r, req.TTL, req.ExpiresAt, req.IdempotencyKey)
}

func prepareBridge(req *RememberBridgeRequest) (*prepared, error) {
	c := checker{}
	r := Record{Kind: KindBridge}
	r.Phrase = c.phrase("phrase", req.Phrase)
	r.Target = c.phrase("target", req.Target)
	r.Source = c.term("source", req.Source)
	r.Modality = c.modality(req.Modality)
	return c.prepared(r, req.TTL, req.ExpiresAt, req.IdempotencyKey)
}

func prepareCorrection(req *CorrectRequest) (*prepared, error) {
	c := checker{}
	var r Record
	if req.ID == 0 {
		c.fail("id", "missing")
	}
	if req.Value != nil {
		r.Value = c.term("value", *req.Value)
	}
	if req.Text != nil {
		r.Text = c.noteText("text", *req.Text)
	}
	if req.Target != nil {
		r.Target = c.phrase("target", *req.Target)
	}
	if req.Aliases != nil {
		r.Aliases = c.aliases(*req.Aliases, "")
	}
	r.Cardinality = c.cardinality(req.Cardinality)
	r.Source = c.term("source", req.Source)
	expires := req.ExpiresAt.At
	if req.TTL != 0 && req.ExpiresAt.Given {
		c.fail("ttl", "give ttl or expires_at, not both")
	}
	p, err := c.prepared(r, req.TTL, expires, req.IdempotencyKey)
	if err != nil {
		return nil, err
	}
	p.correct = req
	return p, nil
}

// flag screens every text that a reader of the record could see.
func flag(r *Record) string {
	texts := make([]string, 0, 8)
	switch r.Kind {
	case KindClaim:
		texts = append(texts, claimText(r))
	case KindNote:
		texts = append(texts, r.Text, r.Title, r.Session, r.Speaker)
	case KindBridge:
		texts = append(texts, r.Phrase, r.Target)
	case KindRelation:
		texts = append(append(texts, r.Name), r.Aliases...)
	}
	return screen.Check(strings.Join(append(texts, r.Source), "\n"))
}

// checker normalises fields and keeps the first error.
type checker struct{ err error }

func (c *checker) fail(field, format string, args ...any) {
	if c.err == nil {
		c.err = invalid(field, format, args...)
	}
}

func (c *checker) term(field, text string) string {
	if text == "" {
		c.fail(field, "missing")
		return ""
	}
	out, err := textform.Term(text)
	if err != nil {
		c.fail(field, "%v", err)
	}
	return out
}

func (c *checker) optionalTerm(field, text string) string {
	if text == "" {
		return ""
	}
	return c.term(field, text)
}

func (c *checker) predicate(field, text string) string {
	if text == "" {
		c.fail(field, "missing")
		return ""
	}
	if textform.Reserved(text) {
		c.fail(field, "names that start with __ are reserved")
		return ""
	}
	out, err := textform.Predicate(text)
	if err != nil {
		c.fail(field, "%v", err)
	}
	return out
}

// aliases returns the aliases in predicate form, sorted, each once,
// without the name itself.
func (c *checker) aliases(given []string, name string) []string {
	if len(given) > MaxAliases {
		c.fail("aliases", "%d aliases; at most %d", len(given), MaxAliases)
		return nil
	}
	var out []string
	for _, a := range given {
		if p := c.predicate("aliases", a); p != name && !slices.Contains(out, p) {
			out = append(out, p)
		}
	}
	slices.Sort(out)
	return out
}

func (c *checker) phrase(field, text string) string {
	out := c.term(field, text)
	if c.err == nil && len(textform.Words(out)) == 0 {
		c.fail(field, "has no word: no letter, digit, symbol or emoji")
	}
	return out
}

func (c *checker) noteText(field, text string) string {
	switch {
	case strings.TrimSpace(text) == "":
		c.fail(field, "missing")
	case len(text) > MaxNoteBytes:
		c.fail(field, "%d bytes; a note holds at most %d: split it, with a common session", len(text), MaxNoteBytes)
	case !utf8.ValidString(text):
		c.fail(field, "not valid UTF-8")
	}
	return text
}

func (c *checker) cardinality(v Cardinality) Cardinality {
	if v != "" && v != Single && v != Multi {
		c.fail("cardinality", "%q is neither single nor multi", clip(string(v)))
	}
	return v
}

func (c *checker) modality(v Modality) Modality {
	switch v {
	case "":
		return Asserted
	case Asserted, Quoted, Hypothesized:
		return v
	}
	c.fail("modality", "%q is none of asserted, quoted, hypothesized", clip(string(v)))
	return v
}

func (c *checker) prepared(r Record, ttl TTL, expires time.Time, key string) (*prepared, error) {
	if ttl < 0 {
		c.fail("ttl", "must be greater than zero")
	}
	if ttl != 0 && !expires.IsZero() {
		c.fail("ttl", "give ttl or expires_at, not both")
	}
	if len(key) > MaxIdempotencyKeyBytes {
		c.fail("idempotency_key", "%d bytes; at most %d", len(key), MaxIdempotencyKeyBytes)
	}
	if !utf8.ValidString(key) {
		c.fail("idempotency_key", "not valid UTF-8")
	}
	if c.err != nil {
		return nil, c.err
	}
	r.ExpiresAt = wholeMicros(expires)
	r.SaidAt = wholeMicros(r.SaidAt)
	r.InstructionLike = flag(&r)
	return &prepared{record: r, ttl: time.Duration(ttl), key: key}, nil
}

// wholeMicros cuts a time to the product's resolution, in UTC.
func wholeMicros(t time.Time) time.Time {
	if t.IsZero() {
		return time.Time{}
	}
	return time.UnixMicro(t.UnixMicro()).UTC()
}
