package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"github.com/grounded-memory/grounded"
	"github.com/grounded-memory/grounded/internal/facts"
	"github.com/grounded-memory/grounded/internal/notes"
)

// memory measures what the index in memory takes: bytes in use on the Go heap
// after a collection, after minus before.
func memory(ctx context.Context) error {
	if err := factMemory(ctx); err != nil {
		return err
	}
	noteMemory()
	return nil
}

func factMemory(ctx context.Context) error {
	all, err := codexFacts()
	if err != nil {
		return err
	}
	text := 0
	seen := map[string]bool{}
	for i := range all {
		for _, s := range []string{all[i].Entity, all[i].Predicate, all[i].Value} {
			if !seen[s] {
				seen[s] = true
				text += len(s)
			}
		}
	}
	terms := len(seen)
	seen = nil
	before := heap()
	set := facts.Build(nil, all)
	alone := int(heap() - before)
	runtime.KeepAlive(set)
	runtime.KeepAlive(all)
	set = nil
	whole, err := storeHeap(ctx, all)
	if err != nil {
		return err
	}
	per := func(bytes int) string { return fmt.Sprintf("%.1f", float64(bytes)/float64(len(all))) }
	t := &table{}
	t.add(fmt.Sprintf("CoDEx-M: %d facts, %d texts", len(all), terms), "MB", "bytes/fact", "without texts")
	t.add("the fact index alone", fmt.Sprintf("%.1f", float64(alone)/1e6), per(alone), per(alone-text))
	t.add("a store with its index loaded", fmt.Sprintf("%.1f", float64(whole)/1e6), per(whole), per(whole-text))
	t.print()
	verdict(whole-text <= 120*len(all), "%s bytes a fact beside its text, everything included (target 120)", per(whole-text))
	fmt.Println()
	return nil
}

// storeHeap is what an open store takes whose facts have been asked once.
func storeHeap(ctx context.Context, all []facts.Fact) (int, error) {
	folder, err := os.MkdirTemp("", "bench")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(folder)
	path := filepath.Join(folder, "codex.db")
	if err := storeFacts(ctx, path, all); err != nil {
		return 0, err
	}
	before := heap()
	store, err := grounded.Open(ctx, path, nil)
	if err != nil {
		return 0, err
	}
	memory, err := store.Scope("bench", "codex")
	if err != nil {
		return 0, err
	}
	_, err = memory.Query(ctx, &grounded.QueryRequest{Where: []grounded.Atom{grounded.NewAtom(grounded.Var("x"), "P30", grounded.Const("Q46"))}})
	if err != nil {
		return 0, err
	}
	used := int(heap() - before)
	runtime.KeepAlive(all)
	return used, store.Close()
}

// storeFacts makes a store that holds the facts, with its snapshots.
func storeFacts(ctx context.Context, path string, all []facts.Fact) error {
	store, err := grounded.Open(ctx, path, nil)
	if err != nil {
		return err
	}
	memory, err := store.Scope("bench", "codex")
	if err != nil {
		return err
	}
	_, err = memory.Load(ctx, func(yield func(grounded.WriteItem, error) bool) {
		for i := range all {
			f := &all[i]
			item := grounded.WriteItem{Remember: &grounded.RememberRequest{
				Entity: f.Entity, Predicate: f.Predicate, Value: f.Value, Source: "CoDEx-M", Cardinality: grounded.Multi,
			}}
			if !yield(item, nil) {
				return
			}
		}
	}, nil)
	if err != nil {
		return err
	}
	return store.Close()
}

// noteMemory tells a note's own share from that of its words by building two
// indexes that differ in the number of words alone.
func noteMemory() {
	const n = 100_000
	measure := func(length int) (bytes, words float64) {
		c := newCorpus(1)
		docs := c.docs(n, length)
		before := heap()
		x := notes.Build(docs, notes.Options{})
		used := float64(heap() - before)
		runtime.KeepAlive(docs)
		words = float64(x.Stats().Tokens)
		runtime.KeepAlive(x)
		return used, words
	}
	short, shortWords := measure(20)
	long, longWords := measure(60)
	word := (long - short) / (longWords - shortWords)
	note := (long - word*longWords) / n
	t := &table{}
	t.add("100,000 notes", "words/note", "MB", "bytes/note")
	t.add("short", fmt.Sprintf("%.1f", shortWords/n), fmt.Sprintf("%.1f", short/1e6), fmt.Sprintf("%.1f", short/n))
	t.add("long", fmt.Sprintf("%.1f", longWords/n), fmt.Sprintf("%.1f", long/1e6), fmt.Sprintf("%.1f", long/n))
	t.add("each word", "", "", fmt.Sprintf("%.2f", word))
	t.add("each note beside its words", "", "", fmt.Sprintf("%.1f", note))
	t.print()
	verdict(note <= 150, "%.1f bytes a note beside its words (target 150)", note)
	fmt.Println()
}
