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

// hand is a rule of three weights: BM25 in parts of the best candidate's, what
// note and neighbours in the session cover of the question, and whether the
// question names the note's speaker or others. The weights are those of a rule
// that was measured before this program was written, untuned.
type hand struct{}

// NeedsFeatures returns true.
func (hand) NeedsFeatures() bool { return true }

// Score adds 0.4 of the window's coverage and 0.15 for the speaker (less as much
// if others are named) to BM25.
func (hand) Score(f *Features) int64 {
	return 20*int64(f[BM25ToBest]) + 8*int64(f[WindowCoverage]) + 3*int64(f[SpeakerNamed]) - 3*int64(f[OtherNamed])
}
