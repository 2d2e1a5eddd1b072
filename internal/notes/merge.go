package notes

import "iter"

// merger joins the tables of views, leaving out what only dead documents use.
type merger struct {
	views        []*view
	docs, tokens int

	wordTable, stemTable, sessionTable, speakerTable table
	words, stems, sessions, speakers                 [][]uint32 // by view: where an id went
	stemOf                                           []uint32   // of the merged words
}

func newMerger(views []*view) *merger {
	m := &merger{views: views}
	usedWords, usedStems := make([][]bool, len(views)), make([][]bool, len(views))
	usedSessions, usedSpeakers := make([][]bool, len(views)), make([][]bool, len(views))
	for i, v := range views {
		m.docs += v.live
		usedWords[i], usedStems[i] = m.usedWords(v)
		usedSessions[i] = usedNames(v, v.sessions, v.sessionNames.len())
		usedSpeakers[i] = usedNames(v, v.speakers, v.speakerNames.len())
	}
	m.wordTable, m.words = mergeTables(m.tables(func(v *view) *table { return &v.words }), usedWords)
	m.stemTable, m.stems = mergeTables(m.tables(func(v *view) *table { return &v.stems }), usedStems)
	m.sessionTable, m.sessions = mergeTables(m.tables(func(v *view) *table { return &v.sessionNames }), usedSessions)
	m.speakerTable, m.speakers = mergeTables(m.tables(func(v *view) *table { return &v.speakerNames }), usedSpeakers)
	m.stemOf = make([]uint32, m.wordTable.len())
	for i, v := range views {
		for word, stem := range v.stemOf {
			if usedWords[i][word] {
				m.stemOf[m.words[i][word]] = m.stems[i][stem]
			}
		}
	}
	return m
}

func (m *merger) tables(of func(*view) *table) []*table {
	tables := make([]*table, len(m.views))
	for i, v := range m.views {
		tables[i] = of(v)
	}
	return tables
}

// usedWords marks the words and stems of live documents, and counts the words.
func (m *merger) usedWords(v *view) (words, stems []bool) {
	words, stems = make([]bool, v.words.len()), make([]bool, v.stems.len())
	for doc := range uint32(len(v.records)) {
		if v.isDead(doc) {
			continue
		}
		seq := v.docWords(doc)
		m.tokens += len(seq)
		for _, word := range seq {
			words[word] = true
		}
	}
	for word, used := range words {
		if used {
			stems[v.stemOf[word]] = true
		}
	}
	return words, stems
}

func usedNames(v *view, of []uint32, n int) []bool {
	used := make([]bool, n)
	for doc, id := range of {
		if id != None && !v.isDead(uint32(doc)) {
			used[id] = true
		}
	}
	return used
}

// inOrder yields the live documents of all views in ascending record order.
func (m *merger) inOrder() iter.Seq[Ref] {
	return func(yield func(Ref) bool) {
		at := make([]uint32, len(m.views))
		for {
			least := -1
			for i, v := range m.views {
				for int(at[i]) < len(v.records) && v.isDead(at[i]) {
					at[i]++
				}
				if int(at[i]) < len(v.records) && (least < 0 || v.records[at[i]] < m.views[least].records[at[least]]) {
					least = i
				}
			}
			if least < 0 || !yield(Ref{uint32(least), at[least]}) {
				return
			}
			at[least]++
		}
	}
}
