package notes

import "slices"

// NoDay stands for a document that does not say when it was said.
const NoDay = int32(-1 << 31)

// None stands for no session or no speaker.
const None = ^uint32(0)

// segment is an unchanging group of documents. Slices indexed by document have
// one entry for each; starts slices have one more.
type segment struct {
	records  []uint64 // ascending
	flags    []Flags
	days     []int32
	sessions []uint32 // of each document, None if it stands alone
	speakers []uint32
	starts   []uint32 // where a document's words begin in seq
	seq      []uint32 // word ids

	words, stems, sessionNames, speakerNames table

	stemOf []uint32 // of each word

	// Derived from the above by derive.
	lengths       []uint8  // codes
	postStarts    []uint32 // by stem
	posts         []uint32 // documents
	freqs         []uint8
	sessionStarts []uint32 // by session
	sessionDocs   []uint32
	names         []nameWord // by word, then speaker
	nameLengths   []uint8    // distinct words in each speaker's name
	voices        []uint32   // documents of each speaker
}

// nameWord says that a word is part of a speaker's name.
type nameWord struct{ word, speaker uint32 }

func (s *segment) docWords(doc uint32) []uint32 { return s.seq[s.starts[doc]:s.starts[doc+1]] }

func (s *segment) postings(stem uint32) ([]uint32, []uint8) {
	from, to := s.postStarts[stem], s.postStarts[stem+1]
	return s.posts[from:to], s.freqs[from:to]
}

// derive computes what follows from the word sequences.
func (s *segment) derive() {
	s.deriveLengths()
	s.derivePostings()
	s.deriveSessions()
	s.deriveNames()
}

func (s *segment) deriveLengths() {
	s.lengths = make([]uint8, len(s.records))
	for doc := range s.lengths {
		s.lengths[doc] = LengthCode(int(s.starts[doc+1] - s.starts[doc]))
	}
}

// derivePostings is a counting sort of the sequences by stem.
func (s *segment) derivePostings() {
	seen := make([]uint32, s.stems.len()) // last document + 1 that had the stem
	s.postStarts = make([]uint32, s.stems.len()+1)
	for doc := range uint32(len(s.records)) {
		for _, word := range s.docWords(doc) {
			if stem := s.stemOf[word]; seen[stem] != doc+1 {
				seen[stem] = doc + 1
				s.postStarts[stem+1]++
			}
		}
	}
	for i := 1; i < len(s.postStarts); i++ {
		s.postStarts[i] += s.postStarts[i-1]
	}
	total := s.postStarts[len(s.postStarts)-1]
	s.posts, s.freqs = make([]uint32, total), make([]uint8, total)
	clear(seen)
	next := slices.Clone(s.postStarts)
	for doc := range uint32(len(s.records)) {
		for _, word := range s.docWords(doc) {
			stem := s.stemOf[word]
			if seen[stem] != doc+1 {
				seen[stem] = doc + 1
				s.posts[next[stem]] = doc
				next[stem]++
			}
			if f := &s.freqs[next[stem]-1]; *f < 255 {
				*f++
			}
		}
	}
}

func (s *segment) deriveSessions() {
	s.sessionStarts = make([]uint32, s.sessionNames.len()+1)
	for _, session := range s.sessions {
		if session != None {
			s.sessionStarts[session+1]++
		}
	}
	for i := 1; i < len(s.sessionStarts); i++ {
		s.sessionStarts[i] += s.sessionStarts[i-1]
	}
	s.sessionDocs = make([]uint32, s.sessionStarts[len(s.sessionStarts)-1])
	next := slices.Clone(s.sessionStarts)
	for doc, session := range s.sessions {
		if session != None {
			s.sessionDocs[next[session]] = uint32(doc)
			next[session]++
		}
	}
}

// deriveNames takes speakers' names apart: a document's words begin with its
// speaker's name, but how many they are is known only to the analyzer, so the
// names are tokenised again and looked up.
func (s *segment) deriveNames() {
	s.names = nil
	s.nameLengths = make([]uint8, s.speakerNames.len())
	s.voices = make([]uint32, s.speakerNames.len())
	for _, speaker := range s.speakers {
		if speaker != None {
			s.voices[speaker]++
		}
	}
	for speaker := range uint32(s.speakerNames.len()) {
		first := len(s.names)
		for _, token := range Tokens(s.speakerNames.at(speaker)) {
			if word, ok := s.words.find(token); ok {
				s.names = append(s.names, nameWord{word, speaker})
			}
		}
		s.names = s.names[:first+len(dedupe(s.names[first:]))]
		s.nameLengths[speaker] = uint8(min(255, len(s.names)-first))
	}
	slices.SortFunc(s.names, compareNames)
}

func compareNames(a, b nameWord) int {
	if a.word != b.word {
		return int(int64(a.word) - int64(b.word))
	}
	return int(int64(a.speaker) - int64(b.speaker))
}

func dedupe(names []nameWord) []nameWord {
	slices.SortFunc(names, compareNames)
	return slices.Compact(names)
}

// view is a segment as one Index sees it: some documents may be dead.
type view struct {
	*segment
	dead                                []uint64 // bits; nil: all live
	live                                int
	deadStems, deadSessions, deadVoices counts
}

func (v *view) isDead(doc uint32) bool {
	return v.dead != nil && v.dead[doc/64]>>(doc%64)&1 != 0
}

// find returns the live document of a record.
func (v *view) find(record uint64) (uint32, bool) {
	doc, ok := slices.BinarySearch(v.records, record)
	return uint32(doc), ok && !v.isDead(uint32(doc))
}

// liveInSession returns how many live documents a session has here.
func (v *view) liveInSession(session uint32) uint32 {
	return v.sessionStarts[session+1] - v.sessionStarts[session] - v.deadSessions.at(session)
}

// liveOfSpeaker returns how many live documents a speaker has here.
func (v *view) liveOfSpeaker(speaker uint32) uint32 {
	return v.voices[speaker] - v.deadVoices.at(speaker)
}
