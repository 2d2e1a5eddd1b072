package grounded

// Status says how a read ended. A status is a result, never an error.
type Status string

// The statuses of reads, of Pack and of Verify.
const (
	Answered        Status = "answered"         // answers with complete proofs
	Related         Status = "related"          // records that bear on the question; no inferred value
	NoMatches       Status = "no_matches"       // nothing in this snapshot; says nothing about the world
	Conflict        Status = "conflict"         // supplied records contradict each other; both sides are shown
	BudgetExceeded  Status = "budget_exceeded"  // a bound was reached; no partial answer is given
	Packed          Status = "packed"           // a packet was made
	SearchExhausted Status = "search_exhausted" // the combination bound was reached before a packet that fits was found
	Stale           Status = "stale"            // the certificate is not valid now, so nothing was packed
	Valid           Status = "valid"            // the certificate's plan gives the same result now
	Invalid         Status = "invalid"          // it does not; see the reasons
)

// Reason says why a certificate is not valid.
type Reason string

// The reasons that Verify gives, in the order in which it checks.
const (
	ReasonMalformed       Reason = "malformed"        // not a certificate
	ReasonChecksum        Reason = "checksum"         // the content does not match its checksum
	ReasonScopeMismatch   Reason = "scope_mismatch"   // made in another scope
	ReasonEngineVersion   Reason = "engine_version"   // made by an engine, heuristic or bank that is not this one
	ReasonScopeChanged    Reason = "scope_changed"    // an eligible record was added, corrected, forgotten or expired since
	ReasonEvidenceChanged Reason = "evidence_changed" // the plan selects other records now, or they say something else
)

// State says where a record is in its life.
type State string

// The states of a record. Only Eligible records take part in reads.
const (
	StateEligible        State = "eligible"
	StateCorrected       State = "corrected"
	StateForgotten       State = "forgotten"
	StateExpired         State = "expired"
	StateInstructionLike State = "instruction_like"
)

// Kind is the kind of a record.
type Kind string

// The four kinds of records.
const (
	KindClaim    Kind = "claim"
	KindNote     Kind = "note"
	KindBridge   Kind = "bridge"
	KindRelation Kind = "relation"
)

// Cardinality says whether an (entity, predicate) group holds one value or many.
type Cardinality string

// The two cardinalities.
const (
	Single Cardinality = "single"
	Multi  Cardinality = "multi"
)

// Modality says how a record's source stands to it. Only asserted claims and
// bridges are used in inference and rewriting.
type Modality string

// The three modalities.
const (
	Asserted     Modality = "asserted"
	Quoted       Modality = "quoted"
	Hypothesized Modality = "hypothesized"
)
