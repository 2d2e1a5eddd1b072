package notes

import "slices"

// edit is an Index in the making. Views are copied when first changed.
type edit struct {
	*Index
	changes map[*view]*change
}

// change holds the counters of a view that was copied for this edit.
type change struct {
	stems, sessions, voices edited
}

// own returns the i-th view, copied so that it may be changed.
func (e *edit) own(i int) (*view, *change) {
	v := e.views[i]
	if c, mine := e.changes[v]; mine {
		return v, c
	}
	fresh := *v
	fresh.dead = make([]uint64, (len(v.records)+63)/64)
	copy(fresh.dead, v.dead)
	c := &change{edit32(v.deadStems), edit32(v.deadSessions), edit32(v.deadVoices)}
	if e.changes == nil {
		e.changes = make(map[*view]*change)
	}
	e.changes[&fresh] = c
	e.views[i] = &fresh
	return &fresh, c
}

// kill marks a record's document dead and takes it out of the statistics.
func (e *edit) kill(record uint64) {
	ref, ok := e.Find(record)
	if !ok {
		return
	}
	v, c := e.own(int(ref.Segment))
	doc := ref.Doc
	v.dead[doc/64] |= 1 << (doc % 64)
	v.live--
	for _, stem := range v.docStems(doc) {
		c.stems.increment(stem)
	}
	v.deadStems = c.stems.counts
	e.count(v, doc, -1)
	if session := v.sessions[doc]; session != None {
		c.sessions.increment(session)
		v.deadSessions = c.sessions.counts
		if !e.hasSession(v.sessionNames.at(session)) {
			e.stats.Sessions--
		}
	}
	if speaker := v.speakers[doc]; speaker != None {
		c.voices.increment(speaker)
		v.deadVoices = c.voices.counts
		if !e.hasSpeaker(v.speakerNames.at(speaker)) {
			e.stats.Speakers--
		}
	}
}

// docStems returns the distinct stems of a document, ascending.
func (s *segment) docStems(doc uint32) []uint32 {
	words := s.docWords(doc)
	stems := make([]uint32, len(words))
	for i, word := range words {
		stems[i] = s.stemOf[word]
	}
	slices.Sort(stems)
	return slices.Compact(stems)
}

// count adds one document to the statistics, or takes it away.
func (e *edit) count(v *view, doc uint32, by int) {
	s := &e.stats
	s.Docs += by
	s.Tokens += uint64(by * int(v.starts[doc+1]-v.starts[doc]))
	s.Lengths[v.lengths[doc]] += uint32(by)
	if v.flags[doc]&Claim != 0 {
		s.Claims += by
	}
	if v.flags[doc]&Question != 0 {
		s.Questions += by
	}
	if v.sessions[doc] != None {
		s.InSession += by
	}
	if v.speakers[doc] != None {
		s.WithSpeaker += by
	}
}

func (x *Index) hasSession(name string) bool {
	return slices.ContainsFunc(x.views, func(v *view) bool {
		session, ok := v.sessionNames.find(name)
		return ok && v.liveInSession(session) > 0
	})
}

func (x *Index) hasSpeaker(name string) bool {
	return slices.ContainsFunc(x.views, func(v *view) bool {
		speaker, ok := v.speakerNames.find(name)
		return ok && v.liveOfSpeaker(speaker) > 0
	})
}

// add appends a segment with new documents.
func (e *edit) add(docs []Doc) {
	if len(docs) == 0 {
		return
	}
	e.admit(whole(buildSegment(docs, e.language)))
}

// admit appends a view, all of whose documents are new, and counts them.
func (e *edit) admit(v *view) {
	for session := range uint32(v.sessionNames.len()) {
		if !e.hasSession(v.sessionNames.at(session)) {
			e.stats.Sessions++
		}
	}
	for speaker := range uint32(v.speakerNames.len()) {
		if !e.hasSpeaker(v.speakerNames.at(speaker)) {
			e.stats.Speakers++
		}
	}
	for doc := range v.records {
		e.count(v, uint32(doc), 1)
	}
	e.views = append(e.views, v)
}

// whole is a view of a segment in which everything lives.
func whole(s *segment) *view { return &view{segment: s, live: len(s.records)} }

// tidy rewrites segments with many dead documents, drops empty ones, and merges
// the last ones as long as the one before is at most twice as big as they are
// together.
func (e *edit) tidy() {
	for i, v := range e.views {
		if _, touched := e.changes[v]; touched && v.live > 0 && 3*(len(v.records)-v.live) > len(v.records) {
			e.views[i] = whole(mergeSegments([]*view{v}))
		}
	}
	e.views = slices.DeleteFunc(e.views, func(v *view) bool { return v.live == 0 })
	if len(e.views) == 0 {
		return
	}
	first := len(e.views) - 1
	size := e.views[first].live
	for first > 0 && e.views[first-1].live <= 2*size {
		first--
		size += e.views[first].live
	}
	if first < len(e.views)-1 {
		e.views = append(e.views[:first], whole(mergeSegments(e.views[first:])))
	}
}

func (e *edit) done() *Index { return e.Index }
