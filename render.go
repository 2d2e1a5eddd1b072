package grounded

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/grounded-memory/grounded/internal/canonical"
)

// A packet is lines: a header that says what was asked, of when, and how it
// ended; then one line for each item of evidence. Every line ends in a line
// feed and the next begins with a character that is neither space nor "/", so
// that the counts of tokenizers which split at line ends add up. Record text
// stands in a line only as one JSON string beside its source, so no text can
// look like a line of the packet.

// renderer writes a packet's lines in one format. Each method gives one whole
// line with its line feed.
type renderer interface {
	header(*outcome, time.Time) (string, error)
	answer(bind map[string]string, proof []RecordID) (string, error)
	record(*Record) (string, error)
	match(*Match) (string, error)
	conflict(field, name string, records []Record) (string, error)
}

func rendererFor(format string) renderer {
	if format == formatText {
		return textRenderer{}
	}
	return jsonRenderer{}
}

// The packet formats.
const (
	formatJSON = "json"
	formatText = "text"
)

// jsonRenderer writes each line as one object of canonical JSON.
type jsonRenderer struct{}

func jsonLine(v any) (string, error) {
	data, err := canonical.Marshal(v)
	return string(data) + "\n", err
}

func (jsonRenderer) header(o *outcome, asOf time.Time) (string, error) {
	h := struct {
		AsOf    time.Time `json:"as_of"`
		Status  Status    `json:"status"`
		Bound   string    `json:"bound,omitzero"`
		Where   []Atom    `json:"where,omitzero"`
		Query   string    `json:"query,omitzero"`
		Answers []string  `json:"answers,omitzero"`
	}{AsOf: asOf, Status: o.status}
	switch {
	case o.query != nil:
		h.Where, h.Bound = o.plan.Query.Where, o.query.Bound
	case o.recall != nil:
		h.Query, h.Answers = o.plan.Recall.Text, o.recall.Answers
	default:
		h.Query, h.Bound = o.plan.RecallGrounded.Query, o.grounded.Bound
	}
	return jsonLine(h)
}

func (jsonRenderer) answer(bind map[string]string, proof []RecordID) (string, error) {
	return jsonLine(struct {
		Answer map[string]string `json:"answer"`
		Proof  []RecordID        `json:"proof"`
	}{bind, proof})
}

func (jsonRenderer) record(r *Record) (string, error) {
	type line struct {
		ID        RecordID  `json:"id"`
		Entity    string    `json:"entity,omitzero"`
		Predicate string    `json:"predicate,omitzero"`
		Value     string    `json:"value,omitzero"`
		Text      string    `json:"text,omitzero"`
		Title     string    `json:"title,omitzero"`
		Speaker   string    `json:"speaker,omitzero"`
		SaidAt    time.Time `json:"said_at,omitzero"`
		Phrase    string    `json:"phrase,omitzero"`
		Target    string    `json:"target,omitzero"`
		Modality  Modality  `json:"modality,omitzero"`
		Source    string    `json:"source"`
	}
	l := line{
		ID: r.ID, Entity: r.Entity, Predicate: r.Predicate, Value: r.Value, Text: r.Text, Title: r.Title,
		Speaker: r.Speaker, SaidAt: r.SaidAt, Phrase: r.Phrase, Target: r.Target, Source: r.Source,
	}
	if r.Modality != Asserted {
		l.Modality = r.Modality
	}
	return jsonLine(l)
}

func (jsonRenderer) match(m *Match) (string, error) {
	type step struct {
		Bridge RecordID `json:"bridge"`
		At     int      `json:"at"`
	}
	type line struct {
		ID       RecordID  `json:"id"`
		Text     string    `json:"text"`
		Title    string    `json:"title,omitzero"`
		Session  string    `json:"session,omitzero"`
		Speaker  string    `json:"speaker,omitzero"`
		SaidAt   time.Time `json:"said_at,omitzero"`
		Modality Modality  `json:"modality,omitzero"`
		Source   string    `json:"source"`
		Rewrites []step    `json:"rewrites,omitempty"`
	}
	l := line{
		ID: m.ID, Text: m.Text, Title: m.Title, Session: m.Session, Speaker: m.Speaker,
		SaidAt: m.SaidAt, Modality: m.Modality, Source: m.Source,
	}
	for _, r := range m.Rewrites {
		l.Rewrites = append(l.Rewrites, step{r.Bridge, r.At})
	}
	return jsonLine(l)
}

func (jsonRenderer) conflict(field, name string, records []Record) (string, error) {
	return jsonLine(map[string]any{"conflict": map[string]any{field: name, "records": idsOf(records)}})
}

func idsOf(records []Record) []RecordID {
	out := make([]RecordID, len(records))
	for i := range records {
		out[i] = records[i].ID
	}
	return out
}

// textRenderer writes lines that people read, with every supplied text quoted
// as a JSON string.
type textRenderer struct{}

// quoted is a text as one JSON string, on one line.
func quoted(text string) string {
	data, err := canonical.Marshal(text)
	if err != nil {
		return `""`
	}
	return string(data)
}

func (textRenderer) header(o *outcome, asOf time.Time) (string, error) {
	var asked strings.Builder
	switch {
	case o.query != nil:
		for i, a := range o.plan.Query.Where {
			if i > 0 {
				asked.WriteString(" and ")
			}
			fmt.Fprintf(&asked, "%s %s %s", textTerm(a.Entity), a.Predicate, textTerm(a.Value))
		}
	case o.recall != nil:
		asked.WriteString(quoted(o.plan.Recall.Text))
		for _, a := range o.recall.Answers {
			fmt.Fprintf(&asked, "; answer %s", quoted(a))
		}
	default:
		asked.WriteString(quoted(o.plan.RecallGrounded.Query))
	}
	return fmt.Sprintf("Memory (%s, as of %s): %s\n", o.status, asOf.Format(timeFormat), asked.String()), nil
}

func textTerm(t Term) string {
	if t.variable {
		return t.text
	}
	return quoted(t.text)
}

func (textRenderer) answer(bind map[string]string, proof []RecordID) (string, error) {
	var b strings.Builder
	b.WriteString("Answer:")
	names := make([]string, 0, len(bind))
	for name := range bind {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		fmt.Fprintf(&b, " %s = %s", name, quoted(bind[name]))
	}
	if len(names) == 0 {
		b.WriteString(" yes")
	}
	fmt.Fprintf(&b, " (proof: %s)\n", joinIDs(proof))
	return b.String(), nil
}

func joinIDs(ids []RecordID) string {
	texts := make([]string, len(ids))
	for i, id := range ids {
		texts[i] = id.String()
	}
	return strings.Join(texts, ", ")
}

func (textRenderer) record(r *Record) (string, error) {
	var said string
	switch r.Kind {
	case KindClaim:
		said = fmt.Sprintf("%s %s %s", quoted(r.Entity), r.Predicate, quoted(r.Value))
	case KindBridge:
		said = fmt.Sprintf("%s may be read as %s", quoted(r.Phrase), quoted(r.Target))
	default:
		said = quoted(r.Text)
	}
	return fmt.Sprintf("%s: %s (%ssource %s)\n", r.ID, said, textModality(r.Modality), quoted(r.Source)), nil
}

func textModality(m Modality) string {
	if m == Asserted || m == "" {
		return ""
	}
	return string(m) + ", "
}

func (textRenderer) match(m *Match) (string, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s (%s", m.ID, quoted(m.Text), textModality(m.Modality))
	if m.Speaker != "" {
		fmt.Fprintf(&b, "said by %s, ", quoted(m.Speaker))
	}
	if !m.SaidAt.IsZero() {
		fmt.Fprintf(&b, "at %s, ", m.SaidAt.Format(timeFormat))
	}
	fmt.Fprintf(&b, "source %s", quoted(m.Source))
	for _, r := range m.Rewrites {
		b.WriteString(", by " + r.Bridge.String() + " at word " + strconv.Itoa(r.At))
	}
	b.WriteString(")\n")
	return b.String(), nil
}

func (textRenderer) conflict(field, name string, records []Record) (string, error) {
	return fmt.Sprintf("Conflict: %s %s: %s disagree\n", field, quoted(name), joinIDs(idsOf(records))), nil
}
