package rank

// Policy turns a candidate's features into a score; the greater the better.
type Policy interface {
	// NeedsFeatures says that Score looks at more than the BM25 feature.
	NeedsFeatures() bool
	// Score must depend on nothing but the features.
	Score(*Features) int64
}

// Conventional returns a policy that needs no training, nil if there is none of
// that name: "bm25" and "context".
func Conventional(name string) Policy {
	switch name {
	case "bm25":
		return plain{}
	case "context":
		return hand{}
	}
	return nil
}

// plain is BM25 alone.
type plain struct{}

// NeedsFeatures returns false.
func (plain) NeedsFeatures() bool { return false }

// Score returns the BM25 feature.
func (plain) Score(f *Features) int64 { return int64(f[BM25]) }

// hand is a rule of three weights: BM25, what the neighbours in the session
// cover of the question, and whether the question names the speaker.
type hand struct{}

// NeedsFeatures returns true.
func (hand) NeedsFeatures() bool { return true }

// Score adds 3/16 of the neighbours' coverage and 1/8 for the speaker to BM25.
func (hand) Score(f *Features) int64 {
	neighbours := int64(f[PreviousCoverage]) + int64(f[NextCoverage])
	return 16*int64(f[BM25]) + 3*neighbours/2 + 2*int64(f[SpeakerNamed])
}
