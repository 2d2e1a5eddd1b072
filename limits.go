package grounded

// Limit is one bound of the product: its default, and the hard maximum that a
// request may ask for. A limit that cannot be set has the same value twice.
type Limit struct {
	Name    string `json:"name"`
	Default int    `json:"default"`
	Max     int    `json:"max"`
	Unit    string `json:"unit"`
	Of      string `json:"of"` // what it bounds
}

// The bounds, each in one place. Sources: the specification, sections 1, 4, 5 and 7.
const (
	MaxScopeNameBytes      = 128
	MaxTermBytes           = 1024
	MaxPredicateBytes      = 128
	MaxNoteBytes           = 64 << 10
	MaxQueryTextBytes      = 8 << 10
	MaxIdempotencyKeyBytes = 256
	MaxAliases             = 256
	MaxBatchWrites         = 10_000
	MaxRequestBytes        = 8 << 20

	MaxAtoms            = 6
	DefaultExaminations = 50_000
	MaxExaminations     = 5_000_000
	DefaultStates       = 512
	MaxStates           = 65_536
	DefaultAlternatives = 128
	MaxAlternatives     = 65_536

	DefaultK        = 5
	MaxK            = 100
	DefaultVariants = 16
	MaxVariants     = 32
	DefaultSteps    = 3
	MaxSteps        = 4

	DefaultCombinations = 4_096
	MaxCombinations     = 65_536

	DefaultListLimit = 100
	MaxListLimit     = 1_000
)

// Limits lists every bound, for `grounded limits` and the documentation.
func Limits() []Limit {
	return []Limit{
		{"tenant, namespace", MaxScopeNameBytes, MaxScopeNameBytes, "bytes", "a scope's names"},
		{"entity, value, source", MaxTermBytes, MaxTermBytes, "bytes", "a term after normalising"},
		{"predicate", MaxPredicateBytes, MaxPredicateBytes, "bytes", "a predicate after normalising"},
		{"note text", MaxNoteBytes, MaxNoteBytes, "bytes", "one note"},
		{"query text", MaxQueryTextBytes, MaxQueryTextBytes, "bytes", "the text of recall and recall_grounded"},
		{"idempotency_key", MaxIdempotencyKeyBytes, MaxIdempotencyKeyBytes, "bytes", "one key"},
		{"aliases", MaxAliases, MaxAliases, "names", "one relation"},
		{"writes", MaxBatchWrites, MaxBatchWrites, "writes", "one batch"},
		{"request", MaxRequestBytes, MaxRequestBytes, "bytes", "one request's JSON"},
		{"atoms", MaxAtoms, MaxAtoms, "atoms", "one query"},
		{"examinations", DefaultExaminations, MaxExaminations, "candidate facts", "one query"},
		{"states", DefaultStates, MaxStates, "partial bindings", "alive after an atom has been joined"},
		{"alternatives", DefaultAlternatives, MaxAlternatives, "proofs", "one query's whole result"},
		{"k", DefaultK, MaxK, "records", "one recall"},
		{"max_variants", DefaultVariants, MaxVariants, "variants", "one recall_grounded"},
		{"max_steps", DefaultSteps, MaxSteps, "rewrites", "one variant"},
		{"max_combinations", DefaultCombinations, MaxCombinations, "combinations", "one pack"},
		{"limit", DefaultListLimit, MaxListLimit, "records", "one page of list"},
	}
}
