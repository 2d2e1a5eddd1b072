package notes

import "slices"

// Segment gives access to one group of documents. All slices it returns are
// shared and must not be changed.
type Segment struct{ v *view }

// Docs returns the number of documents, dead ones included: documents are
// numbered from 0 up to it.
func (s Segment) Docs() int { return len(s.v.records) }

// AllLive says that no document is dead.
func (s Segment) AllLive() bool { return s.v.live == len(s.v.records) }

// Dead says whether a document was removed.
func (s Segment) Dead(doc uint32) bool { return s.v.isDead(doc) }

// Stem returns the id of a stem in this segment.
func (s Segment) Stem(stem string) (uint32, bool) { return s.v.stems.find(stem) }

// Frequency returns how many live documents hold a stem.
func (s Segment) Frequency(stem uint32) int {
	return int(s.v.postStarts[stem+1] - s.v.postStarts[stem] - s.v.deadStems.at(stem))
}

// Postings returns the documents that hold a stem, ascending, dead ones
// included, and how often they hold it (at most 255).
func (s Segment) Postings(stem uint32) (docs []uint32, frequencies []uint8) {
	return s.v.postings(stem)
}

// LengthCodes returns the length code of each document.
func (s Segment) LengthCodes() []uint8 { return s.v.lengths }

// Words returns a document's words: its speaker's name, its title, its text.
func (s Segment) Words(doc uint32) []uint32 { return s.v.docWords(doc) }

// VocabularySize returns the number of words: their ids are below it.
func (s Segment) VocabularySize() int { return s.v.words.len() }

// Word returns the text of a word.
func (s Segment) Word(word uint32) string { return s.v.words.at(word) }

// WordID returns the id of a word in this segment.
func (s Segment) WordID(word string) (uint32, bool) { return s.v.words.find(word) }

// StemOf returns the stem of a word.
func (s Segment) StemOf(word uint32) uint32 { return s.v.stemOf[word] }

// Stems returns the stem of each word, by the word's id.
func (s Segment) Stems() []uint32 { return s.v.stemOf }

// Record returns a document's record number.
func (s Segment) Record(doc uint32) uint64 { return s.v.records[doc] }

// Flags returns what was seen in a document's text.
func (s Segment) Flags(doc uint32) Flags { return s.v.flags[doc] }

// Day returns the day on which a document was said, in days since 1970, or NoDay.
func (s Segment) Day(doc uint32) int32 { return s.v.days[doc] }

// Session returns the id of a document's session in this segment, or None.
func (s Segment) Session(doc uint32) uint32 { return s.v.sessions[doc] }

// SessionName returns the name of a session.
func (s Segment) SessionName(session uint32) string { return s.v.sessionNames.at(session) }

// Speaker returns the id of a document's speaker in this segment, or None.
func (s Segment) Speaker(doc uint32) uint32 { return s.v.speakers[doc] }

// SpeakerName returns the name of a speaker.
func (s Segment) SpeakerName(speaker uint32) string { return s.v.speakerNames.at(speaker) }

// Named calls yield for each live speaker whose name has the word in it, with
// the number of distinct words of the name.
func (s Segment) Named(word uint32, yield func(speaker uint32, words int)) {
	from, _ := slices.BinarySearchFunc(s.v.names, nameWord{word, 0}, compareNames)
	for _, name := range s.v.names[from:] {
		if name.word != word {
			return
		}
		if s.v.liveOfSpeaker(name.speaker) > 0 {
			yield(name.speaker, int(s.v.nameLengths[name.speaker]))
		}
	}
}

// Next returns the live document that follows in the same session.
func (x *Index) Next(ref Ref) (Ref, bool) { return x.step(ref, true) }

// Previous returns the live document that precedes in the same session.
func (x *Index) Previous(ref Ref) (Ref, bool) { return x.step(ref, false) }

func (x *Index) step(ref Ref, forward bool) (Ref, bool) {
	v := x.views[ref.Segment]
	session := v.sessions[ref.Doc]
	if session == None {
		return Ref{}, false
	}
	record := v.records[ref.Doc]
	best, found := Ref{}, false
	var at uint64
	if doc, ok := v.nearest(session, record, forward); ok {
		best, found, at = Ref{ref.Segment, doc}, true, v.records[doc]
	}
	for i, other := range x.views {
		if i == int(ref.Segment) || found && !other.between(record, at) {
			continue
		}
		session, ok := other.sessionNames.find(v.sessionNames.at(session))
		if !ok {
			continue
		}
		doc, ok := other.nearest(session, record, forward)
		if ok && (!found || other.records[doc] < at == forward) {
			best, found, at = Ref{uint32(i), doc}, true, other.records[doc]
		}
	}
	return best, found
}

// between says whether a segment may have records between two others.
func (s *segment) between(a, b uint64) bool {
	return s.records[0] < max(a, b) && s.records[len(s.records)-1] > min(a, b)
}

// nearest returns the session's first live document after a record, or its
// last one before it.
func (v *view) nearest(session uint32, record uint64, forward bool) (uint32, bool) {
	docs := v.sessionDocs[v.sessionStarts[session]:v.sessionStarts[session+1]]
	i, own := slices.BinarySearchFunc(docs, record, func(doc uint32, record uint64) int {
		switch {
		case v.records[doc] < record:
			return -1
		case v.records[doc] > record:
			return 1
		}
		return 0
	})
	step := 1
	if !forward {
		step, i = -1, i-1
	} else if own {
		i++
	}
	for ; i >= 0 && i < len(docs); i += step {
		if !v.isDead(docs[i]) {
			return docs[i], true
		}
	}
	return 0, false
}
