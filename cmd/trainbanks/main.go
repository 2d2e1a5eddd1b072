// Command trainbanks reproduces the two policy banks from their data recipe,
// byte for byte, without a network.
//
//	go run ./cmd/trainbanks -data ../shared/data/retrieval -out internal/rank/bank
//
// It reads the sets that may be redistributed (qmsum-train, musique100, medsyn),
// makes clozes of the meetings and the generated sets of package training, trains
// 24 small networks and writes dialogue.bank and passage.bank. With -without,
// features are left out, to measure what they are worth. docs/ranking.md explains
// the recipe.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/grounded-memory/grounded/internal/eval"
	"github.com/grounded-memory/grounded/internal/rank"
	"github.com/grounded-memory/grounded/internal/rank/bank"
	"github.com/grounded-memory/grounded/internal/training"
)

func main() {
	data := flag.String("data", filepath.Join("..", "shared", "data", "retrieval"), "folder of the sets")
	out := flag.String("out", filepath.Join("internal", "rank", "bank"), "folder to write the banks to")
	without := flag.String("without", "", "features to leave out, with commas between (see docs/ranking.md for their names)")
	flag.Parse()
	if err := run(context.Background(), *data, *out, *without); err != nil {
		fmt.Fprintln(os.Stderr, "trainbanks:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, data, out, without string) error {
	recipes, err := loadRecipes(ctx, data)
	if err != nil {
		return err
	}
	if err := leaveOut(recipes, without); err != nil {
		return err
	}
	for i, name := range bank.Names() {
		b := &bank.Bank{Name: name, FeatureVersion: rank.FeatureVersion, FeatureDigest: rank.FeatureDigest()}
		for purpose := range bank.Purposes {
			for member := range bank.Members {
				seed := i*bank.Policies + purpose*bank.Members + member
				b.Policies[purpose*bank.Members+member] = recipes[name][purpose].Train(purpose, member, seed)
			}
		}
		if err := os.WriteFile(filepath.Join(out, name+".bank"), b.Encode(), 0o644); err != nil {
			return err
		}
		fmt.Printf("%s: SHA-256 %x\n", name, b.Digest)
	}
	return nil
}

// leaveOut takes features, named with commas between, out of all recipes.
func leaveOut(recipes map[string][]*training.Recipe, names string) error {
	if names == "" {
		return nil
	}
	for name := range strings.SplitSeq(names, ",") {
		feature := slices.Index(rank.FeatureNames(), name)
		if feature < 0 {
			return fmt.Errorf("no feature is called %q", name)
		}
		for _, purposes := range recipes {
			for _, recipe := range purposes {
				recipe.Features = slices.DeleteFunc(slices.Clone(recipe.Features), func(f int) bool { return f == feature })
			}
		}
	}
	return nil
}

// loadRecipes is the data recipe.
func loadRecipes(ctx context.Context, data string) (map[string][]*training.Recipe, error) {
	corpora := map[string]*training.Corpus{}
	for _, name := range []string{"qmsum-train", "musique100", "medsyn"} {
		set, err := eval.Load(filepath.Join(data, name))
		if err != nil {
			return nil, err
		}
		if corpora[name], err = training.FromSet(ctx, set); err != nil {
			return nil, err
		}
		if name != "qmsum-train" {
			continue
		}
		for _, kind := range []string{training.ClozePeople, training.ClozeGroup, training.ClozeAssistant} {
			if corpora[kind], err = training.ClozeOf(ctx, kind, set); err != nil {
				return nil, err
			}
		}
	}
	for kind, n := range map[string]int{training.Dialogue: 60, training.Assistant: 200, training.Facts: 60} {
		var err error
		if corpora[kind], err = training.Generated(ctx, kind, n); err != nil {
			return nil, err
		}
	}
	lexical := []int{rank.BM25ToBest, rank.Coverage, rank.ExactCoverage, rank.TermShare, rank.RarestTerm, rank.Pairs, rank.Closeness}
	ordered := append([]int{
		rank.PreviousCoverage, rank.NextCoverage, rank.SecondPrevious, rank.SecondNext, rank.WindowCoverage, rank.NewFromNeighbours,
		rank.PreviousBM25, rank.NextBM25, rank.SessionBest, rank.SessionShare, rank.SpeakerNamed, rank.OtherNamed, rank.PersonSpeaks,
		rank.AsksQuestion, rank.PreviousAsks, rank.HoldsName, rank.NumberWanted, rank.TimeWanted, rank.FirstPerson,
	}, lexical...)
	mix := func(context bool, limit int32, shares ...any) *training.Recipe {
		r := &training.Recipe{Examples: 2400, Epochs: 10, Limit: limit, Context: context, Features: lexical}
		if context {
			r.Features = ordered
		}
		for i := 0; i < len(shares); i += 2 {
			r.Mix = append(r.Mix, training.Part{Corpus: corpora[shares[i].(string)], Percent: shares[i+1].(int)})
		}
		return r
	}
	return map[string][]*training.Recipe{
		bank.Dialogue: {
			mix(true, 12288, training.ClozePeople, 30, "qmsum-train", 35, training.ClozeAssistant, 10, training.Dialogue, 5, "musique100", 10, "medsyn", 10),
			mix(true, 12288, training.ClozeAssistant, 40, "qmsum-train", 20, training.ClozePeople, 10, training.Assistant, 10, "musique100", 10, "medsyn", 10),
			mix(true, 12288, "qmsum-train", 55, training.ClozeGroup, 20, "musique100", 15, "medsyn", 10),
		},
		bank.Passage: {
			mix(true, 3072, training.Facts, 25, training.ClozePeople, 20, "qmsum-train", 15, "musique100", 20, "medsyn", 20),
			mix(false, 512, "musique100", 60, "medsyn", 40),
			mix(false, 512, "medsyn", 60, "musique100", 40),
		},
	}, nil
}
