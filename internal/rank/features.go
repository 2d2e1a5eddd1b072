package rank

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/grounded-memory/grounded/internal/notes"
)

// FeatureVersion names the features' meaning. It changes when any of them could
// take another value.
const FeatureVersion = 1

// Features are what a policy looks at, each from 0 to Full, computed from the
// index alone for the variant that won the candidate. A term is a distinct stem
// of the variant; its weight is its inverse document frequency; coverage is the
// share of the variant's weight whose terms a note holds.
type Features [FeatureCount]int32

// The features.
const (
	BM25              = iota // BM25 in parts of what the variant's words could give
	BM25ToBest               // BM25 in parts of the best candidate's
	Coverage                 // coverage of the note
	ExactCoverage            // the same, over words as written instead of stems
	TermShare                // share of the terms that the note holds, without weights
	RarestTerm               // Full if the note holds the variant's rarest known term
	PreviousCoverage         // coverage of the note before in the session
	NextCoverage             // coverage of the note after
	SecondPrevious           // coverage of the note two before
	SecondNext               // coverage of the note two after
	WindowCoverage           // coverage of note, previous and next together
	NewFromNeighbours        // WindowCoverage less Coverage
	PreviousBM25             // BM25 of the note before, if it is a candidate
	NextBM25                 // BM25 of the note after, if it is a candidate
	SessionBest              // the best BM25 of the note's session
	SessionShare             // share of the first 50 candidates that are of the session
	SpeakerNamed             // Full if the question names the note's speaker
	OtherNamed               // Full if it names speakers, and not the note's
	Pairs                    // share of the variant's neighbouring words that stand so in the note
	Closeness                // matched terms by the width of the narrowest window that holds them all
	AsksQuestion             // Full if the note ends in a question mark
	PreviousAsks             // Full if the note before does
	HoldsName                // Full if a capitalised word stands inside a sentence
	NumberWanted             // Full if the question asks how many or when and the note holds a number
	TimeWanted               // Full if it asks when and the note holds a word of time
	FirstPerson              // Full if both question and note speak in the first person
	PersonSpeaks             // Full if the question does and the speaker is "user"
	Rank                     // Full/(1+r), r the candidate's place by BM25 from 0
	FeatureCount
)

// FeatureNames lists the features' names.
func FeatureNames() []string {
	return []string{
		"bm25", "bm25_to_best", "coverage", "exact_coverage", "term_share", "rarest_term", "previous_coverage", "next_coverage",
		"second_previous", "second_next", "window_coverage", "new_from_neighbours", "previous_bm25", "next_bm25", "session_best",
		"session_share", "speaker_named", "other_named", "pairs", "closeness", "asks_question", "previous_asks", "holds_name",
		"number_wanted", "time_wanted", "first_person", "person_speaks", "rank",
	}
}

// FeatureDigest is the first eight bytes of the SHA-256 of the features' version
// and names, by which a bank says what it was trained on.
func FeatureDigest() (out [8]byte) {
	sum := sha256.Sum256([]byte(fmt.Sprintf("grounded-features/%d %s", FeatureVersion, strings.Join(FeatureNames(), " "))))
	copy(out[:], sum[:])
	return out
}

// seen is what a note's words say about a variant.
type seen struct {
	matched  []bool
	coverage int32
	first    bool // first person
	number   bool
	time     bool
}

// meter measures the candidates of a pool.
type meter struct {
	*pool
	tables   map[[2]int]*stemTable // by variant and segment
	notes    map[noteKey]*seen
	asks     []asked
	sessions map[string]*session
}

type noteKey struct {
	ref     notes.Ref
	variant int
}

// asked is what a variant's words ask for.
type asked struct {
	number, when, first bool
	names               map[string]bool // speakers named, folded
}

type session struct {
	best  int32
	count int32
}

// measure adds the neighbours of the best candidates and computes all features.
func (p *pool) measure(ctx interface{ Err() error }) error {
	m := &meter{pool: p, tables: map[[2]int]*stemTable{}, notes: map[noteKey]*seen{}, sessions: map[string]*session{}}
	m.expand()
	for v := range p.variants {
		m.asks = append(m.asks, m.ask(v))
	}
	m.findSessions()
	for i := range p.best {
		if i%64 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		m.candidate(i)
	}
	return nil
}

// expand makes candidates of the neighbours of the best ones.
func (m *meter) expand() {
	for i, n := 0, min(Expanded, len(m.best)); i < n; i++ {
		c := m.best[i]
		for _, step := range []func(notes.Ref) (notes.Ref, bool){m.index.Previous, m.index.Next} {
			ref, ok := step(c.ref)
			if !ok {
				continue
			}
			if _, there := m.place[ref]; !there {
				m.place[ref] = -1
				m.best = append(m.best, candidate{scored: scored{ref, m.index.Segment(int(ref.Segment)).Record(ref.Doc), 0}, variant: c.variant})
			}
		}
	}
	for i := range m.best {
		m.place[m.best[i].ref] = i
	}
}

func (m *meter) sessionOf(ref notes.Ref) string {
	s := m.index.Segment(int(ref.Segment))
	if id := s.Session(ref.Doc); id != notes.None {
		return s.SessionName(id)
	}
	return ""
}

const sessionWindow = 50

func (m *meter) findSessions() {
	for i := range m.best {
		name := m.sessionOf(m.best[i].ref)
		if name == "" {
			continue
		}
		s := m.sessions[name]
		if s == nil {
			s = &session{}
			m.sessions[name] = s
		}
		s.best = max(s.best, m.best[i].relative)
		if i < sessionWindow {
			s.count++
		}
	}
}

// ask finds out what a variant asks for.
func (m *meter) ask(v int) asked {
	a := asked{names: map[string]bool{}}
	words := m.variants[v].Words
	for i, w := range words {
		switch w {
		case "when":
			a.when, a.number = true, true
		case "many", "much", "long", "old", "often":
			a.number = a.number || i > 0 && words[i-1] == "how"
		case "date", "day", "year", "month", "time":
			a.when = a.when || i > 0 && (words[i-1] == "what" || words[i-1] == "which")
		}
		a.first = a.first || isFirstPerson(w)
	}
	for i := range m.index.Segments() {
		segment := m.index.Segment(i)
		for speaker, hits := range m.namesIn(segment, words) {
			if hits {
				a.names[strings.ToLower(segment.SpeakerName(speaker))] = true
			}
		}
	}
	return a
}

// namesIn finds the speakers whose names' words all stand in the question, or
// whose first name does.
func (m *meter) namesIn(segment notes.Segment, words []string) map[uint32]bool {
	out := map[uint32]bool{}
	for _, w := range words {
		w = strings.TrimSuffix(strings.TrimSuffix(w, "'s"), "’s")
		if id, ok := segment.WordID(w); ok {
			segment.Named(id, func(speaker uint32, _ int) { out[speaker] = true })
		}
	}
	return out
}

func isFirstPerson(w string) bool {
	switch w {
	case "i", "my", "me", "mine", "i'm", "i've", "i'd", "i'll", "we", "our", "us":
		return true
	}
	return false
}

// IsTimeWord says that a word, in phrase form, is one of some English words of time.
func IsTimeWord(w string) bool {
	switch w {
	case "yesterday", "today", "tomorrow", "tonight", "week", "weekend", "month", "year", "ago", "last", "next", "morning", "evening",
		"january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december",
		"monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday":
		return true
	}
	return false
}

// look reads a note's words for a variant, once.
func (m *meter) look(ref notes.Ref, v int) *seen {
	key := noteKey{ref, v}
	if s, ok := m.notes[key]; ok {
		return s
	}
	q := m.questions[v]
	segment := m.index.Segment(int(ref.Segment))
	table := m.table(v, int(ref.Segment))
	s := &seen{matched: make([]bool, len(q.terms))}
	sum := uint64(0)
	stems := segment.Stems()
	for _, word := range segment.Words(ref.Doc) {
		if i, ok := table.find(stems[word]); ok && !s.matched[i] {
			s.matched[i] = true
			sum += uint64(q.terms[i].idf)
		}
	}
	s.coverage = share(sum, q.idf)
	if a := &m.asks[v]; a.first || a.when || a.number {
		s.read(segment, ref.Doc)
	}
	m.notes[key] = s
	return s
}

// read looks for the kinds of words that a question may ask for.
func (s *seen) read(segment notes.Segment, doc uint32) {
	for _, word := range segment.Words(doc) {
		text := segment.Word(word)
		s.first = s.first || isFirstPerson(text)
		s.time = s.time || IsTimeWord(text)
		s.number = s.number || strings.ContainsFunc(text, unicode.IsDigit)
	}
}

func share(part, whole uint64) int32 { return int32(min(Full, part*Full/max(1, whole))) }

func (m *meter) table(v, segment int) *stemTable {
	key := [2]int{v, segment}
	t := m.tables[key]
	if t == nil {
		t = newStemTable(m.questions[v].terms, segment)
		m.tables[key] = t
	}
	return t
}

func flag(on bool) int32 {
	if on {
		return Full
	}
	return 0
}

// candidate computes the features of the i-th candidate.
func (m *meter) candidate(i int) {
	c := &m.best[i]
	f := &c.features
	v := c.variant
	q := m.questions[v]
	own := m.look(c.ref, v)
	f[BM25] = c.relative
	f[BM25ToBest] = share(uint64(c.relative), uint64(m.best[0].relative))
	f[Coverage] = own.coverage
	matched := 0
	for _, hit := range own.matched {
		if hit {
			matched++
		}
	}
	f[TermShare] = share(uint64(matched), uint64(len(q.terms)))
	f[RarestTerm] = flag(m.hasRarest(own, q))
	f[Rank] = int32(Full / (1 + i))
	m.neighbours(c, own)
	m.session(c)
	m.speaker(c)
	m.places(c, own)
	segment := m.index.Segment(int(c.ref.Segment))
	flags := segment.Flags(c.ref.Doc)
	f[AsksQuestion] = flag(flags&notes.Question != 0)
	f[HoldsName] = flag(flags&notes.Name != 0)
	a := &m.asks[v]
	f[NumberWanted] = flag(a.number && own.number)
	f[TimeWanted] = flag(a.when && own.time)
	f[FirstPerson] = flag(a.first && own.first)
}

func (m *meter) hasRarest(own *seen, q *question) bool {
	for i := range q.terms {
		if q.terms[i].known {
			return own.matched[i]
		}
	}
	return false
}

func (m *meter) neighbours(c *candidate, own *seen) {
	f := &c.features
	q := m.questions[c.variant]
	window := slices.Clone(own.matched)
	for _, side := range []struct {
		step                 func(notes.Ref) (notes.Ref, bool)
		coverage, far, score int
	}{
		{m.index.Previous, PreviousCoverage, SecondPrevious, PreviousBM25},
		{m.index.Next, NextCoverage, SecondNext, NextBM25},
	} {
		near, ok := side.step(c.ref)
		if !ok {
			continue
		}
		s := m.look(near, c.variant)
		f[side.coverage] = s.coverage
		for i, hit := range s.matched {
			window[i] = window[i] || hit
		}
		if i, ok := m.place[near]; ok {
			f[side.score] = m.best[i].relative
		}
		if side.coverage == PreviousCoverage {
			f[PreviousAsks] = flag(m.index.Segment(int(near.Segment)).Flags(near.Doc)&notes.Question != 0)
		}
		if far, ok := side.step(near); ok {
			f[side.far] = m.look(far, c.variant).coverage
		}
	}
	sum := uint64(0)
	for i, hit := range window {
		if hit {
			sum += uint64(q.terms[i].idf)
		}
	}
	f[WindowCoverage] = share(sum, q.idf)
	f[NewFromNeighbours] = f[WindowCoverage] - f[Coverage]
}

func (m *meter) session(c *candidate) {
	if s := m.sessions[m.sessionOf(c.ref)]; s != nil {
		c.features[SessionBest] = s.best
		c.features[SessionShare] = share(uint64(s.count), sessionWindow)
	}
}

func (m *meter) speaker(c *candidate) {
	segment := m.index.Segment(int(c.ref.Segment))
	id := segment.Speaker(c.ref.Doc)
	a := &m.asks[c.variant]
	if id == notes.None {
		return
	}
	name := strings.ToLower(segment.SpeakerName(id))
	c.features[SpeakerNamed] = flag(a.names[name])
	c.features[OtherNamed] = flag(len(a.names) > 0 && !a.names[name])
	c.features[PersonSpeaks] = flag(a.first && name == "user")
}

// places looks at where the variant's words stand in the note.
func (m *meter) places(c *candidate, own *seen) {
	q := m.questions[c.variant]
	segment := m.index.Segment(int(c.ref.Segment))
	table := m.table(c.variant, int(c.ref.Segment))
	var at []int // terms in the order of the note, -1 for other words
	exact := make([]bool, len(q.terms))
	stems := segment.Stems()
	for _, word := range segment.Words(c.ref.Doc) {
		i, ok := table.find(stems[word])
		if !ok {
			at = append(at, -1)
			continue
		}
		at = append(at, i)
		exact[i] = exact[i] || slices.Contains(q.terms[i].words, segment.Word(word))
	}
	sum := uint64(0)
	for i, hit := range exact {
		if hit {
			sum += uint64(q.terms[i].idf)
		}
	}
	c.features[ExactCoverage] = share(sum, q.idf)
	c.features[Pairs] = pairShare(q.order, at)
	c.features[Closeness] = closeness(at, own.matched)
}

// pairShare is the share of neighbouring words of a question that are
// neighbours in a note, in that order.
func pairShare(order, at []int) int32 {
	if len(order) < 2 {
		return 0
	}
	found := 0
	for i := 1; i < len(order); i++ {
		for j := 1; j < len(at); j++ {
			if at[j-1] == order[i-1] && at[j] == order[i] {
				found++
				break
			}
		}
	}
	return share(uint64(found), uint64(len(order)-1))
}

// closeness is the number of matched terms by the width of the narrowest window
// of the note that holds each of them; 0 if fewer than two match.
func closeness(at []int, matched []bool) int32 {
	wanted := 0
	for _, hit := range matched {
		if hit {
			wanted++
		}
	}
	if wanted < 2 {
		return 0
	}
	counts := make([]int, len(matched))
	have, left, narrowest := 0, 0, len(at)
	for right, term := range at {
		if term >= 0 {
			if counts[term]++; counts[term] == 1 {
				have++
			}
		}
		for have == wanted {
			narrowest = min(narrowest, right-left+1)
			if term := at[left]; term >= 0 {
				if counts[term]--; counts[term] == 0 {
					have--
				}
			}
			left++
		}
	}
	return share(uint64(wanted), uint64(narrowest))
}
