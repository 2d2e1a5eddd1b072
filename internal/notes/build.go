package notes

import (
	"cmp"
	"slices"
)

// buildSegment indexes documents. Of two with one record the later one counts.
func buildSegment(docs []Doc, language *analyzer) *segment {
	order := make([]int, len(docs))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(docs[a].Record, docs[b].Record) })
	s := newSegment(len(docs))
	var words, sessions, speakers interned
	for i, at := range order {
		if i+1 < len(order) && docs[order[i+1]].Record == docs[at].Record {
			continue
		}
		doc := &docs[at]
		for _, text := range []string{doc.Speaker, doc.Title, doc.Text} {
			for _, token := range Tokens(text) {
				s.seq = append(s.seq, words.id(token))
			}
		}
		s.append(doc.Record, flagsOf(doc), dayOf(doc.SaidAt), nameID(&sessions, doc.Session), nameID(&speakers, doc.Speaker))
	}
	s.seq = slices.Clip(s.seq)
	s.finish(&words, &sessions, &speakers, language)
	return s
}

// nameID interns a session's or speaker's name.
func nameID(names *interned, name string) uint32 {
	if name == "" {
		return None
	}
	return names.id(name)
}

func newSegment(docs int) *segment {
	return &segment{
		records:  make([]uint64, 0, docs),
		flags:    make([]Flags, 0, docs),
		days:     make([]int32, 0, docs),
		sessions: make([]uint32, 0, docs),
		speakers: make([]uint32, 0, docs),
		starts:   make([]uint32, 1, docs+1),
	}
}

// append ends a document, whose words stand at the end of seq already.
func (s *segment) append(record uint64, flags Flags, day int32, session, speaker uint32) {
	s.records = append(s.records, record)
	s.flags = append(s.flags, flags)
	s.days = append(s.days, day)
	s.sessions = append(s.sessions, session)
	s.speakers = append(s.speakers, speaker)
	s.starts = append(s.starts, uint32(len(s.seq)))
}

// finish sorts the tables of a segment that was built with ids in order of
// first appearance, stems its words, and derives the rest.
func (s *segment) finish(words, sessions, speakers *interned, language *analyzer) {
	var where []uint32
	s.words, where = words.sorted()
	renumber(s.seq, where)
	s.sessionNames, where = sessions.sorted()
	renumber(s.sessions, where)
	s.speakerNames, where = speakers.sorted()
	renumber(s.speakers, where)

	var stems interned
	s.stemOf = make([]uint32, s.words.len())
	for word := range s.stemOf {
		s.stemOf[word] = stems.id(language.stem(s.words.at(uint32(word))))
	}
	s.stems, where = stems.sorted()
	renumber(s.stemOf, where)
	s.derive()
}

// renumber replaces ids, leaving None alone.
func renumber(ids, where []uint32) {
	for i, id := range ids {
		if id != None {
			ids[i] = where[id]
		}
	}
}

// mergeSegments writes the live documents of several views into one segment,
// which holds nothing of the dead ones.
func mergeSegments(views []*view) *segment {
	m := newMerger(views)
	s := newSegment(m.docs)
	s.seq = make([]uint32, 0, m.tokens)
	for ref := range m.inOrder() {
		v := views[ref.Segment]
		for _, word := range v.docWords(ref.Doc) {
			s.seq = append(s.seq, m.words[ref.Segment][word])
		}
		s.append(v.records[ref.Doc], v.flags[ref.Doc], v.days[ref.Doc],
			mapped(m.sessions[ref.Segment], v.sessions[ref.Doc]), mapped(m.speakers[ref.Segment], v.speakers[ref.Doc]))
	}
	s.words, s.stems, s.stemOf = m.wordTable, m.stemTable, m.stemOf
	s.sessionNames, s.speakerNames = m.sessionTable, m.speakerTable
	s.derive()
	return s
}

func mapped(where []uint32, id uint32) uint32 {
	if id == None {
		return None
	}
	return where[id]
}
