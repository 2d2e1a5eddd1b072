package main

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/blevesearch/bleve/v2"

	"github.com/grounded-memory/grounded/bench/csqlite"
	"github.com/grounded-memory/grounded/internal/notes"
	"github.com/grounded-memory/grounded/internal/rank"
	"github.com/grounded-memory/grounded/internal/rewrite"
)

// noteSearch compares finding the ten best of 100,000 notes for four words, each
// by BM25 over stems, words joined by OR.
func noteSearch(ctx context.Context) error {
	folder, err := os.MkdirTemp("", "bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	c := newCorpus(2)
	docs := c.docs(100_000, 40)
	queries := c.queries(docs, 64)
	index := notes.Build(docs, notes.Options{})
	if err := searchPeers(ctx, folder, index, docs, queries); err != nil {
		return err
	}
	if err := variants(ctx, c, index, queries); err != nil {
		return err
	}
	return million(c)
}

// turn calls run with one question after another.
func turn(queries [][]string, run func(words []string) error) func() error {
	n := 0
	return func() error {
		n++
		return run(queries[n%len(queries)])
	}
}

// top is the product's search with a policy.
func top(ctx context.Context, index *notes.Index, policy string) func(words []string) error {
	return func(words []string) error {
		_, err := rank.Top(ctx, index, []rank.Variant{{Words: words}}, rank.Conventional(policy), 10)
		return err
	}
}

func searchPeers(ctx context.Context, folder string, index *notes.Index, docs []notes.Doc, queries [][]string) error {
	db, search, err := fts5(docs)
	if err != nil {
		return err
	}
	defer db.Close()
	defer search.Close()
	peer, err := bleveIndex(filepath.Join(folder, "bleve"), docs)
	if err != nil {
		return err
	}
	defer peer.Close()
	sides := []side{
		{"grounded, bm25", turn(queries, top(ctx, index, "bm25"))},
		{"grounded, context: 200 candidates, all features", turn(queries, top(ctx, index, "context"))},
		{"FTS5 bm25(), C SQLite " + csqlite.Version(), turn(queries, func(words []string) error {
			_, err := search.Drain(strings.Join(words, " OR "))
			return err
		})},
		{"Bleve v2", turn(queries, func(words []string) error {
			_, err := peer.SearchInContext(ctx, bleve.NewSearchRequestOptions(bleve.NewMatchQuery(strings.Join(words, " ")), 10, 0, false))
			return err
		})},
	}
	medians, err := interleave(3*len(queries), 5*time.Second, sides...)
	if err != nil {
		return err
	}
	t := &table{}
	t.add("top 10 of 100,000 notes, 4 words, warm", "median", "vs grounded bm25")
	for i, s := range sides {
		t.add(s.name, show(medians[i]), times(ratio(medians[i], medians[0])))
	}
	t.print()
	verdict(ratio(medians[2], medians[0]) >= 50, "%s faster than FTS5 (target 50×)", times(ratio(medians[2], medians[0])))
	verdict(ratio(medians[3], medians[0]) >= 20, "%s faster than Bleve (target 20×)", times(ratio(medians[3], medians[0])))
	fmt.Println()
	return nil
}

// fts5 is SQLite's text index, in memory and optimised into one segment.
func fts5(docs []notes.Doc) (*csqlite.DB, *csqlite.Stmt, error) {
	db, err := csqlite.Open(":memory:")
	if err != nil {
		return nil, nil, err
	}
	if err := db.Exec("PRAGMA cache_size=-1048576; CREATE VIRTUAL TABLE notes USING fts5(text, speaker, tokenize='porter unicode61'); BEGIN"); err != nil {
		return nil, nil, err
	}
	insert, err := db.Prepare("INSERT INTO notes(rowid, text, speaker) VALUES(?,?,?)")
	if err != nil {
		return nil, nil, err
	}
	defer insert.Close()
	for i := range docs {
		if _, err := insert.Drain(int64(docs[i].Record), docs[i].Text, docs[i].Speaker); err != nil {
			return nil, nil, err
		}
	}
	if err := db.Exec("COMMIT; INSERT INTO notes(notes) VALUES('optimize')"); err != nil {
		return nil, nil, err
	}
	search, err := db.Prepare("SELECT rowid, bm25(notes) FROM notes WHERE notes MATCH ? ORDER BY bm25(notes) LIMIT 10")
	return db, search, err
}

func bleveIndex(path string, docs []notes.Doc) (bleve.Index, error) {
	mapping := bleve.NewIndexMapping()
	mapping.DefaultAnalyzer = "en"
	text := bleve.NewTextFieldMapping()
	text.Analyzer, text.Store, text.IncludeTermVectors, text.DocValues = "en", false, false, false
	document := bleve.NewDocumentStaticMapping()
	document.AddFieldMappingsAt("text", text)
	document.AddFieldMappingsAt("speaker", text)
	mapping.DefaultMapping = document
	index, err := bleve.New(path, mapping)
	if err != nil {
		return nil, err
	}
	batch := index.NewBatch()
	for i := range docs {
		if err := batch.Index(fmt.Sprint(docs[i].Record), map[string]any{"text": docs[i].Text, "speaker": docs[i].Speaker}); err != nil {
			return nil, err
		}
		if batch.Size() == 10_000 || i == len(docs)-1 {
			if err := index.Batch(batch); err != nil {
				return nil, err
			}
			batch.Reset()
		}
	}
	return index, nil
}

// variants measures a question of which bridges make sixteen.
func variants(ctx context.Context, c *corpus, index *notes.Index, queries [][]string) error {
	var bridges []rewrite.Bridge
	add := func(phrase, target []string) {
		bridges = append(bridges, rewrite.Bridge{
			Record: uint64(1_000_000 + len(bridges)), Phrase: phrase, Target: target,
			PhraseText: strings.Join(phrase, " "), TargetText: strings.Join(target, " "),
		})
	}
	// Each of a question's four words has one other word that no question holds:
	// 2⁴ variants.
	asked, phrases := map[string]bool{}, map[string]bool{}
	for _, q := range queries {
		for _, word := range q {
			asked[word] = true
		}
	}
	other := func() string {
		for {
			if word := c.rare(); !asked[word] {
				return word
			}
		}
	}
	for _, word := range slices.Sorted(maps.Keys(asked)) {
		add([]string{word}, []string{other()})
	}
	for len(bridges) < 100_000 {
		// The questions' own words begin no phrase, so that they have no more variants.
		phrase := []string{c.words[20_000+c.random.IntN(vocabulary-20_000)], other()}
		if key := strings.Join(phrase, " "); !phrases[key] && !asked[phrase[0]] {
			phrases[key] = true
			add(phrase, []string{other()})
		}
	}
	set, empty := rewrite.Build(bridges), rewrite.Build(nil)
	ask := func(set *rewrite.Set, want int) func(words []string) error {
		return func(words []string) error {
			r, err := set.Expand(ctx, words, rewrite.Limits{Variants: 16, Steps: 4})
			if err != nil {
				return err
			}
			if len(r.Variants) != want {
				return fmt.Errorf("%d variants of %q, want %d; %+v", len(r.Variants), words, want, r.Bound)
			}
			list := make([]rank.Variant, len(r.Variants))
			for i, v := range r.Variants {
				list[i] = rank.Variant{Words: v.Words, Steps: len(v.Rewrites)}
			}
			_, err = rank.Top(ctx, index, list, rank.Conventional("bm25"), 10)
			return err
		}
	}
	medians, err := interleave(3*len(queries), 3*time.Second,
		side{"one", turn(queries, ask(empty, 1))},
		side{"sixteen", turn(queries, ask(set, 16))},
		side{"rewriting", turn(queries, func(words []string) error {
			_, err := set.Expand(ctx, words, rewrite.Limits{Variants: 16, Steps: 4})
			return err
		})},
	)
	if err != nil {
		return err
	}
	t := &table{}
	t.add("top 10 of 100,000 notes, 100,000 bridges", "median", "vs one variant")
	t.add("one variant", show(medians[0]), "")
	t.add("16 variants", show(medians[1]), times(ratio(medians[1], medians[0])))
	t.add("of it, rewriting", show(medians[2]), "")
	t.print()
	verdict(ratio(medians[1], medians[0]) <= 20, "16 variants take %s one variant's time (target 20×)", times(ratio(medians[1], medians[0])))
	fmt.Println()
	return nil
}

// million measures how long the index of 1,000,000 notes takes to load.
func million(c *corpus) error {
	const n = 1_000_000
	index := notes.Build(c.docs(n, 20), notes.Options{})
	words := index.Stats().Tokens
	blob := index.AppendBinary(nil)
	index = nil
	var spent []time.Duration
	for range 5 {
		heap()
		start := time.Now()
		loaded, err := notes.Load(blob)
		if err != nil {
			return err
		}
		spent = append(spent, time.Since(start))
		if loaded.Len() != n {
			return fmt.Errorf("%d notes loaded", loaded.Len())
		}
	}
	took := quantile(spent, 0.5)
	t := &table{}
	t.add("1,000,000 notes", "words", "snapshot", "load")
	t.add("", fmt.Sprint(words), fmt.Sprintf("%.0f MB", float64(len(blob))/1e6), show(took))
	t.print()
	verdict(took <= 500*time.Millisecond, "1,000,000 notes load from their snapshot in %s (target 0.5 s)", show(took))
	fmt.Println()
	return nil
}
