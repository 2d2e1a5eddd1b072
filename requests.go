package grounded

import (
	"context"
	"time"
)

// RememberRequest supplies a claim: entity, predicate, value, and who says so.
// Without a cardinality, and under no declared relation, a claim is Single.
type RememberRequest struct {
	Entity         string      `json:"entity"`
	Predicate      string      `json:"predicate"`
	Value          string      `json:"value"`
	Source         string      `json:"source"`
	Cardinality    Cardinality `json:"cardinality,omitzero"`
	Modality       Modality    `json:"modality,omitzero"`
	TTL            TTL         `json:"ttl,omitzero"`
	ExpiresAt      time.Time   `json:"expires_at,omitzero"`
	IdempotencyKey string      `json:"idempotency_key,omitzero"`
}

// NoteRequest supplies free text, stored byte for byte. Notes of one
// conversation or document share a Session; their order is their writing order.
type NoteRequest struct {
	Text           string    `json:"text"`
	Source         string    `json:"source"`
	Title          string    `json:"title,omitzero"`
	Session        string    `json:"session,omitzero"`
	SaidAt         time.Time `json:"said_at,omitzero"`
	Speaker        string    `json:"speaker,omitzero"`
	TTL            TTL       `json:"ttl,omitzero"`
	ExpiresAt      time.Time `json:"expires_at,omitzero"`
	IdempotencyKey string    `json:"idempotency_key,omitzero"`
}

// DeclareRelationRequest declares a predicate: its canonical name, the aliases
// that mean the same, and whether a group of it holds one value or many.
type DeclareRelationRequest struct {
	Name           string      `json:"name"`
	Aliases        []string    `json:"aliases,omitempty"`
	Cardinality    Cardinality `json:"cardinality"`
	Source         string      `json:"source"`
	TTL            TTL         `json:"ttl,omitzero"`
	ExpiresAt      time.Time   `json:"expires_at,omitzero"`
	IdempotencyKey string      `json:"idempotency_key,omitzero"`
}

// RememberBridgeRequest permits one directed rewrite of a query phrase.
type RememberBridgeRequest struct {
	Phrase         string    `json:"phrase"`
	Target         string    `json:"target"`
	Source         string    `json:"source"`
	Modality       Modality  `json:"modality,omitzero"`
	TTL            TTL       `json:"ttl,omitzero"`
	ExpiresAt      time.Time `json:"expires_at,omitzero"`
	IdempotencyKey string    `json:"idempotency_key,omitzero"`
}

// CorrectRequest supersedes a record by a new one. Fields that are not given
// carry over; Source is always given anew. Value is for a claim, Text for a
// note, Target for a bridge, Aliases and Cardinality for a relation.
type CorrectRequest struct {
	ID             RecordID    `json:"id"`
	Value          *string     `json:"value,omitzero"`
	Text           *string     `json:"text,omitzero"`
	Target         *string     `json:"target,omitzero"`
	Aliases        *[]string   `json:"aliases,omitzero"`
	Cardinality    Cardinality `json:"cardinality,omitzero"`
	Source         string      `json:"source"`
	TTL            TTL         `json:"ttl,omitzero"`
	ExpiresAt      Expiry      `json:"expires_at,omitzero"`
	IdempotencyKey string      `json:"idempotency_key,omitzero"`
}

// ForgetRequest deletes a record for good.
type ForgetRequest struct {
	ID RecordID `json:"id"`
}

// WriteRequest is a list of writes that happen together or not at all.
type WriteRequest struct {
	Writes []WriteItem `json:"writes"`
}

// WriteItem is one write of a batch: exactly one of its fields is set. In JSON
// it is {"op":"note","args":{…}}.
type WriteItem struct {
	Remember        *RememberRequest
	Note            *NoteRequest
	DeclareRelation *DeclareRelationRequest
	RememberBridge  *RememberBridgeRequest
	Correct         *CorrectRequest
	Forget          *ForgetRequest
}

// WriteResult is what one write did. Only the fields of its operation are set.
type WriteResult struct {
	ID              RecordID   `json:"id"`
	Existing        bool       `json:"existing,omitzero"`         // an equal eligible record was there; nothing was written
	Contradicts     []RecordID `json:"contradicts,omitzero"`      // claims and bridges: always present, may be empty
	Corrects        RecordID   `json:"corrects,omitzero"`         // correct: the predecessor
	Forgotten       bool       `json:"forgotten,omitzero"`        // forget
	InstructionLike string     `json:"instruction_like,omitzero"` // why the text was flagged; such a record is never eligible
}

// WriteResults is what a batch did, one result a write, in order.
type WriteResults struct {
	Results []WriteResult `json:"results"`
}

// GetRequest asks for one record.
type GetRequest struct {
	ID RecordID `json:"id"`
}

// GetResult is a record and where it is in its life.
type GetResult struct {
	Record      Record   `json:"record"`
	State       State    `json:"state"`
	Corrects    RecordID `json:"corrects,omitzero"`
	CorrectedBy RecordID `json:"corrected_by,omitzero"`
}

// ListRequest filters records; a zero field does not filter. Entity also
// matches a bridge's phrase, Predicate a relation's name.
type ListRequest struct {
	Kind      Kind     `json:"kind,omitzero"`
	Entity    string   `json:"entity,omitzero"`
	Predicate string   `json:"predicate,omitzero"`
	State     State    `json:"state,omitzero"`
	Source    string   `json:"source,omitzero"`
	Session   string   `json:"session,omitzero"`
	After     RecordID `json:"after,omitzero"` // ids greater than this one
	Limit     int      `json:"limit,omitzero"` // default DefaultListLimit
}

// ListResult is one page, by id. Next, if set, is the After of the next page.
type ListResult struct {
	Records []Record `json:"records"`
	Next    RecordID `json:"next,omitzero"`
}

// HistoryRequest asks for the chain of corrections that a record belongs to.
type HistoryRequest struct {
	ID RecordID `json:"id"`
}

// HistoryResult is the chain, oldest first.
type HistoryResult struct {
	Chain []HistoryEntry `json:"chain"`
}

// HistoryEntry is one link of a chain. A forgotten one has no record.
type HistoryEntry struct {
	ID     RecordID `json:"id"`
	State  State    `json:"state"`
	Record *Record  `json:"record,omitzero"`
}

// StatsRequest asks for a scope's figures.
type StatsRequest struct{}

// StatsResult holds a scope's figures at one snapshot.
type StatsResult struct {
	Tenant         string         `json:"tenant"`
	Namespace      string         `json:"namespace"`
	Eligible       EligibleCounts `json:"eligible"`
	ScopeDigest    Digest         `json:"scope_digest"`
	AsOf           time.Time      `json:"as_of"`
	Contradictions int            `json:"contradictions"` // groups of claims, and bridge phrases, that contradict themselves
}

// EligibleCounts counts eligible records by kind.
type EligibleCounts struct {
	Claim    int `json:"claim"`
	Note     int `json:"note"`
	Bridge   int `json:"bridge"`
	Relation int `json:"relation"`
}

// RecallRequest asks in a few words: "what is X's P", "P of X", …
type RecallRequest struct {
	Text string       `json:"text"`
	K    int          `json:"k,omitzero"`
	Pack *PackOptions `json:"pack,omitzero"`
}

// RecallResult is answered from asserted claims with evidence, or a conflict,
// or related records, or no_matches.
type RecallResult struct {
	Status      Status          `json:"status"`
	Answers     []string        `json:"answers,omitzero"`
	Evidence    []Record        `json:"evidence,omitzero"`
	Conflicts   []ClaimConflict `json:"conflicts,omitzero"`
	Variants    []Variant       `json:"variants,omitzero"`
	Results     []Match         `json:"results,omitzero"`
	Certificate *Certificate    `json:"certificate,omitzero"`
	Packed      *PackResult     `json:"packed,omitzero"`
}

// ClaimConflict is a group of claims of one (entity, predicate) that contradict each other.
type ClaimConflict struct {
	Entity    string   `json:"entity"`
	Predicate string   `json:"predicate"`
	Records   []Record `json:"records"`
}

// RecallGroundedRequest asks for related records under supplied rewrites.
// A nil MaxSteps is the default; zero steps means no rewriting.
type RecallGroundedRequest struct {
	Query       string       `json:"query"`
	K           int          `json:"k,omitzero"`
	Policy      string       `json:"policy,omitzero"`
	MaxVariants int          `json:"max_variants,omitzero"`
	MaxSteps    *int         `json:"max_steps,omitzero"`
	Pack        *PackOptions `json:"pack,omitzero"`
}

// RecallGroundedResult holds the variants that were searched and the records found.
type RecallGroundedResult struct {
	Status      Status           `json:"status"`
	Policy      string           `json:"policy,omitzero"` // the policy that ranked, after auto was resolved
	Variants    []Variant        `json:"variants,omitzero"`
	Results     []Match          `json:"results,omitzero"`
	Conflicts   []BridgeConflict `json:"conflicts,omitzero"`
	Bound       string           `json:"bound,omitzero"` // budget_exceeded: "variants" or "steps"
	Certificate *Certificate     `json:"certificate,omitzero"`
	Packed      *PackResult      `json:"packed,omitzero"`
}

// Variant is one form of the question: its words, and the supplied rewrites that led to it.
type Variant struct {
	Text     string    `json:"text"`
	Rewrites []Rewrite `json:"rewrites"`
}

// Rewrite is one use of a bridge: the phrase at word At of the variant that
// was rewritten became the target.
type Rewrite struct {
	Bridge RecordID `json:"bridge"`
	Phrase string   `json:"phrase"`
	Target string   `json:"target"`
	At     int      `json:"at"`
}

// Match is one record that bears on a question, with the chain of rewrites
// of the variant that won it. It never holds an inferred value.
type Match struct {
	ID        RecordID  `json:"id"`
	Kind      Kind      `json:"kind"`
	Text      string    `json:"text"` // a note's text; a claim's entity, predicate and value
	Source    string    `json:"source"`
	Score     int64     `json:"score"`
	Variant   int       `json:"variant"`
	Rewrites  []Rewrite `json:"rewrites"`
	Entity    string    `json:"entity,omitzero"`
	Predicate string    `json:"predicate,omitzero"`
	Value     string    `json:"value,omitzero"`
	Title     string    `json:"title,omitzero"`
	Session   string    `json:"session,omitzero"`
	SaidAt    time.Time `json:"said_at,omitzero"`
	Speaker   string    `json:"speaker,omitzero"`
	Modality  Modality  `json:"modality,omitzero"` // set when it is not asserted
}

// BridgeConflict is a phrase with two or more different supplied targets.
type BridgeConflict struct {
	Phrase  string   `json:"phrase"`
	Records []Record `json:"records"`
}

// QueryRequest joins up to MaxAtoms supplied fact patterns. A nil Select
// returns every variable in order of first use, an empty one asks only whether
// a match exists.
type QueryRequest struct {
	Where  []Atom       `json:"where"`
	Select []string     `json:"select,omitzero"`
	Limits QueryLimits  `json:"limits,omitzero"`
	Pack   *PackOptions `json:"pack,omitzero"`
}

// QueryLimits bounds the work of a query; a zero field is the default.
type QueryLimits struct {
	Examinations int `json:"examinations,omitzero"`
	States       int `json:"states,omitzero"`
	Alternatives int `json:"alternatives,omitzero"`
}

// QueryResult holds every answer with its complete proofs, or says why there are none.
type QueryResult struct {
	Status               Status            `json:"status"`
	Answers              []Answer          `json:"answers,omitzero"`
	AlternativesComplete *bool             `json:"alternatives_complete,omitzero"`
	Conflicts            []ClaimConflict   `json:"conflicts,omitzero"`
	Bound                string            `json:"bound,omitzero"` // budget_exceeded: "examinations", "states" or "answers"
	Plan                 []PlanStep        `json:"plan,omitzero"`
	Work                 QueryWork         `json:"work"`
	Diagnostics          *QueryDiagnostics `json:"diagnostics,omitzero"`
	Certificate          *Certificate      `json:"certificate,omitzero"`
	Packed               *PackResult       `json:"packed,omitzero"`
}

// Answer is one set of values with all of its minimal proofs: sets of record
// ids, each of which proves the answer, sorted by size, then by ids.
type Answer struct {
	Bind   map[string]string `json:"bind"`
	Proofs [][]RecordID      `json:"proofs"`
}

// PlanStep says which atom (as written, from 0) was joined when, and by which index.
type PlanStep struct {
	Atom int    `json:"atom"`
	By   string `json:"by"`
}

// QueryWork counts what a query did; the same on every run, store and machine.
type QueryWork struct {
	Examinations int `json:"examinations"`
	States       int `json:"states"`
}

// QueryDiagnostics reports what was seen beside the answers.
type QueryDiagnostics struct {
	ContradictionsExamined int `json:"contradictions_examined"`
}

// PackOptions says how a packet is built; a zero field is the default.
type PackOptions struct {
	Budget          int    `json:"budget,omitzero"`           // none: the smallest packet, whatever its size
	Tokenizer       string `json:"tokenizer,omitzero"`        // default "bytes"
	Format          string `json:"format,omitzero"`           // "json" (default) or "text"
	MaxCombinations int    `json:"max_combinations,omitzero"` // default DefaultCombinations
}

// PackRequest turns a certificate into a packet for a reader.
type PackRequest struct {
	Certificate *Certificate `json:"certificate"`
	PackOptions
}

// PackResult is a packet, or why there is none.
type PackResult struct {
	Status       Status        `json:"status"`
	Packet       string        `json:"packet,omitzero"`
	Size         int           `json:"size,omitzero"`
	Tokenizer    string        `json:"tokenizer,omitzero"`
	Optimal      *bool         `json:"optimal,omitzero"`
	Method       string        `json:"method,omitzero"` // "exhaustive", or "bounded": the rest was soundly excluded
	Combinations *Combinations `json:"combinations,omitzero"`
	Records      []RecordID    `json:"records,omitzero"`
	LeftOut      *int          `json:"left_out,omitzero"`
	Smallest     int           `json:"smallest,omitzero"` // the least size seen, when nothing fits
	Reasons      []Reason      `json:"reasons,omitzero"`  // stale
}

// Combinations counts the choices of one proof per answer.
type Combinations struct {
	Tried int64 `json:"tried"`
	Total int64 `json:"total"` // at most 2^53-1, which then means "at least"
}

// VerifyRequest asks whether a certificate still holds.
type VerifyRequest struct {
	Certificate *Certificate `json:"certificate"`
}

// VerifyResult is valid, or invalid with reasons. EvidenceUnchanged says
// whether the evidence is still the same although the scope changed.
type VerifyResult struct {
	Status            Status   `json:"status"`
	Reasons           []Reason `json:"reasons,omitzero"`
	EvidenceUnchanged *bool    `json:"evidence_unchanged,omitzero"`
}

// Service is the operations of one scope: what *Memory does here, and
// *client.Client over HTTP.
type Service interface {
	Remember(context.Context, *RememberRequest) (*WriteResult, error)
	Note(context.Context, *NoteRequest) (*WriteResult, error)
	DeclareRelation(context.Context, *DeclareRelationRequest) (*WriteResult, error)
	RememberBridge(context.Context, *RememberBridgeRequest) (*WriteResult, error)
	Correct(context.Context, *CorrectRequest) (*WriteResult, error)
	Forget(context.Context, *ForgetRequest) (*WriteResult, error)
	Write(context.Context, *WriteRequest) (*WriteResults, error)
	Get(context.Context, *GetRequest) (*GetResult, error)
	List(context.Context, *ListRequest) (*ListResult, error)
	History(context.Context, *HistoryRequest) (*HistoryResult, error)
	Recall(context.Context, *RecallRequest) (*RecallResult, error)
	RecallGrounded(context.Context, *RecallGroundedRequest) (*RecallGroundedResult, error)
	Query(context.Context, *QueryRequest) (*QueryResult, error)
	Pack(context.Context, *PackRequest) (*PackResult, error)
	Verify(context.Context, *VerifyRequest) (*VerifyResult, error)
	Stats(context.Context, *StatsRequest) (*StatsResult, error)
}
