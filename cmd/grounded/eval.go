package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/grounded-memory/grounded"
	"github.com/grounded-memory/grounded/internal/eval"
)

func newEvalCommand(env *environment) *cobra.Command {
	var policies []string
	var svg string
	var asJSON, bridges bool
	cmd := &cobra.Command{
		Use: "eval SET", GroupID: "tools", Args: cobra.ExactArgs(1),
		Short: "Measure recall_grounded on notes with questions and evidence labels",
		Long: `Loads each scope of a set into a throw-away store, asks every question with every
policy, and prints recall@1/5/10, nDCG@10 and MRR by category with 95 % bootstrap
intervals, the difference to the first policy question by question, and
milliseconds a question. SET is a folder with docs.jsonl, queries.jsonl and
qrels.tsv (docs/ranking.md), a LoCoMo or LongMemEval file, a folder of BEAM, or a
TREC-style folder.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			options, err := env.options()
			if err != nil {
				return err
			}
			set, err := eval.Load(args[0])
			if err != nil {
				return err
			}
			if !bridges {
				set.Bridges = nil
			}
			report, err := evaluate(cmd.Context(), set, policies, options)
			if err != nil {
				return err
			}
			if svg != "" {
				if err := os.WriteFile(svg, []byte(eval.Chart(report)), 0o600); err != nil {
					return err
				}
			}
			if asJSON {
				return env.print(report)
			}
			return env.printReport(report)
		},
	}
	cmd.Flags().StringSliceVar(&policies, "policy", []string{"bm25", "auto"}, "policies to compare")
	cmd.Flags().StringVar(&svg, "svg", "", "draw a bar chart to this file")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().BoolVar(&bridges, "bridges", false, "use the set's glossary as bridges")
	return cmd
}

// evaluate runs every policy over a set.
func evaluate(ctx context.Context, set *eval.Set, policies []string, options *grounded.Options) (*eval.Report, error) {
	dir, err := os.MkdirTemp("", "grounded-eval-")
	if err != nil {
		return nil, err
	}
	report, err := evaluateIn(ctx, filepath.Join(dir, "memory.db"), set, policies, options)
	return report, errors.Join(err, os.RemoveAll(dir))
}

func evaluateIn(ctx context.Context, path string, set *eval.Set, policies []string, options *grounded.Options) (*eval.Report, error) {
	options.ReadOnly = false // it is a store of its own
	store, err := grounded.Open(ctx, path, options)
	if err != nil {
		return nil, err
	}
	report := eval.NewReport(set, policies)
	for i := range set.Scopes {
		if err = evaluateScope(ctx, store, set, i, report); err != nil {
			break
		}
	}
	report.Tabulate()
	return report, errors.Join(err, store.Close())
}

func evaluateScope(ctx context.Context, store *grounded.Store, set *eval.Set, i int, report *eval.Report) error {
	scope := &set.Scopes[i]
	if len(scope.Questions) == 0 {
		return nil
	}
	memory, err := store.Scope("eval", fmt.Sprintf("scope %d", i))
	if err != nil {
		return err
	}
	ids := []string{""} // record id → note id
	if _, err := memory.Load(ctx, scopeWrites(scope, set.Bridges, &ids), nil); err != nil {
		return err
	}
	// The first question loads the index; it is asked once before time is taken.
	if _, err := memory.RecallGrounded(ctx, &grounded.RecallGroundedRequest{Query: scope.Questions[0].Text}); err != nil {
		return err
	}
	for j, policy := range report.Policies {
		for _, q := range scope.Questions {
			start := time.Now()
			result, err := memory.RecallGrounded(ctx, &grounded.RecallGroundedRequest{Query: clipQuestion(q.Text), Policy: policy, K: 100})
			if err != nil {
				return err
			}
			took := time.Since(start)
			ranked := make([]string, 0, len(result.Results))
			for k := range result.Results {
				ranked = append(ranked, ids[result.Results[k].ID])
			}
			report.Add(j, q, ranked, string(result.Status), took)
		}
	}
	return nil
}

func clipQuestion(text string) string {
	if len(text) > grounded.MaxQueryTextBytes {
		text = strings.ToValidUTF8(text[:grounded.MaxQueryTextBytes], "")
	}
	return text
}

// scopeWrites gives a scope's notes, then the bridges, as writes.
func scopeWrites(scope *eval.Scope, bridges []eval.Bridge, ids *[]string) iter.Seq2[grounded.WriteItem, error] {
	return func(yield func(grounded.WriteItem, error) bool) {
		for _, n := range scope.Notes {
			if strings.TrimSpace(n.Text) == "" {
				continue
			}
			*ids = append(*ids, n.ID)
			item := grounded.WriteItem{Note: &grounded.NoteRequest{
				Text: strings.ToValidUTF8(n.Text, "\uFFFD"), Title: n.Title, Session: n.Session, Speaker: n.Speaker, Source: "eval",
			}}
			if !yield(item, nil) {
				return
			}
		}
		for _, b := range bridges {
			if !yield(grounded.WriteItem{RememberBridge: &grounded.RememberBridgeRequest{Phrase: b.Phrase, Target: b.Target, Source: "glossary"}}, nil) {
				return
			}
		}
	}
}

func (env *environment) printReport(r *eval.Report) error {
	fmt.Fprintf(env.out, "%s: %d notes in %d scopes, %d questions, %d bridges\n\n", r.Set, r.Notes, r.Scopes, r.Questions, r.Bridges)
	w := tabwriter.NewWriter(env.out, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "POLICY\tCATEGORY\tQUESTIONS\tRECALL@1\t@5\t@10\tNDCG@10\t95 %\tMRR\tMS\tAGAINST "+r.Policies[0])
	for _, row := range r.Table {
		against := ""
		if row.Policy != r.Policies[0] {
			against = fmt.Sprintf("%+.3f (%+.3f to %+.3f)", row.Gain, row.GainInterval.Low, row.GainInterval.High)
		}
		fmt.Fprintf(w, "%s\t%s\t%d\t%.3f\t%.3f\t%.3f\t%.3f\t%.3f–%.3f\t%.3f\t%.2f\t%s\n", row.Policy, row.Category, row.Questions,
			row.Mean.Recall1, row.Mean.Recall5, row.Mean.Recall10, row.Mean.NDCG10, row.Interval.Low, row.Interval.High, row.Mean.MRR, row.Milliseconds, against)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for _, status := range slices.Sorted(maps.Keys(r.Statuses)) {
		fmt.Fprintf(env.out, "%s: %d questions (of %d)\n", status, r.Statuses[status], r.Questions)
	}
	return nil
}
