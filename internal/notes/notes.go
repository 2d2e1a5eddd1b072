// Package notes is the text index of one scope: immutable, in memory, and
// exact about what is in it.
//
// An Index answers which notes hold a word, how often, at which places, how
// long they are, who said them and what was said before and after in the same
// session. It computes no scores; package rank does, from these numbers.
//
// # Layout
//
// Documents live in segments. A segment holds, for its documents in ascending
// record order, the sequence of their words (speaker, then title, then text),
// and, derived from it, a posting list for each stem: ascending documents with
// the number of occurrences (at most 255 are counted). Words, stems, sessions
// and speakers are sorted tables of the segment. Exact words have no lists of
// their own: every word knows its stem, and the sequences tell which word
// stands where, which serves phrases and proximity as well.
//
// [Index.Apply] makes a new Index that shares all that did not change: new
// documents become a new small segment, removed ones are marked dead, and
// segments merge when a neighbour is not much bigger, so that n single writes
// cost O(n log n) and leave O(log n) segments. A segment of which a third is
// dead is rewritten without its dead documents and their words.
//
// The numbers (documents, document frequencies, lengths, sessions, speakers)
// count live documents exactly and do not depend on how documents are spread
// over segments: the same documents give the same numbers in whatever order of
// writing, merging and loading.
//
// # Snapshot
//
// [Index.AppendBinary] writes one compact segment; [Load] reads it back. The
// bytes hold no word, session or speaker of a removed document. See codec.go
// for the format.
//
// # Limits
//
// A segment addresses at most 2^32-1 words in all. Lengths are kept exactly,
// and beside them as one-byte codes for scoring; see [LengthCode].
package notes

import "slices"

// Doc is one eligible record that can be found by its words: a note, or a
// claim rendered as text by the caller.
type Doc struct {
	Record  uint64 // the record's sequence number; a later one was written later
	Text    string
	Title   string // indexed before the text
	Session string // empty: stands alone
	Speaker string // indexed before title and text
	SaidAt  int64  // seconds since 1970 UTC, 0 if not known
	Claim   bool
}

// Options say how text is indexed.
type Options struct {
	Language Language // the zero value is English
}

// Ref addresses a document inside one Index. It means nothing to another Index,
// not even to the next one of the same scope.
type Ref struct {
	Segment, Doc uint32
}

// Index is an immutable text index. It is safe for concurrent use.
type Index struct {
	language *analyzer
	views    []*view
	stats    Stats
}

// Stats are whole-scope numbers over the live documents.
type Stats struct {
	Docs        int    // documents
	Claims      int    // of them claims
	Tokens      uint64 // words in all documents
	InSession   int    // documents in a session
	WithSpeaker int    // documents with a speaker
	Sessions    int    // distinct sessions
	Speakers    int    // distinct speakers
	Questions   int    // documents that end in a question mark
	// Lengths counts documents by the code of their length, see LengthCode.
	Lengths [LengthCodes]uint32
}

// Build indexes documents. Of two with one record number the later one counts.
func Build(docs []Doc, options Options) *Index {
	x := &Index{language: newAnalyzer(options.Language)}
	return x.Apply(docs, nil)
}

// Apply returns the index without the removed records and with the added
// documents. Records to remove that are not there are ignored; an added record
// that is there already replaces it. The receiver stays as it was.
func (x *Index) Apply(add []Doc, remove []uint64) *Index {
	e := edit{Index: &Index{language: x.language, views: slices.Clone(x.views), stats: x.stats}}
	for _, record := range remove {
		e.kill(record)
	}
	for i := range add {
		e.kill(add[i].Record)
	}
	e.add(add)
	e.tidy()
	return e.done()
}

// Stats returns the index's whole-scope numbers.
func (x *Index) Stats() *Stats { return &x.stats }

// Language returns the language that words are stemmed by.
func (x *Index) Language() Language { return x.language.name }

// Len returns the number of documents.
func (x *Index) Len() int { return x.stats.Docs }

// Segments returns how many segments the documents are spread over.
func (x *Index) Segments() int { return len(x.views) }

// Segment returns the i-th segment.
func (x *Index) Segment(i int) Segment { return Segment{x.views[i]} }

// Find returns where a record stands.
func (x *Index) Find(record uint64) (Ref, bool) {
	for i, v := range x.views {
		if doc, ok := v.find(record); ok {
			return Ref{uint32(i), doc}, true
		}
	}
	return Ref{}, false
}
