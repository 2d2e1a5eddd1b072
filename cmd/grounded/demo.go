package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/grounded-memory/grounded"
	"github.com/grounded-memory/grounded/examples"
	"github.com/grounded-memory/grounded/internal/explain"
	"github.com/grounded-memory/grounded/internal/ingest"
)

func newDemoCommand(env *environment) *cobra.Command {
	return &cobra.Command{
		Use: "demo", GroupID: "tools", Args: cobra.NoArgs,
		Short: "A throw-away store, real questions, answers with their proofs",
		RunE: func(cmd *cobra.Command, _ []string) error {
			options, err := env.options()
			if err != nil {
				return err
			}
			options.ReadOnly = false // it is a store of its own
			dir, err := os.MkdirTemp("", "grounded-demo-")
			if err != nil {
				return err
			}
			err = runDemo(cmd.Context(), filepath.Join(dir, "memory.db"), options, env.out)
			return errors.Join(err, os.RemoveAll(dir))
		},
	}
}

// story tells the product's story on a store of its own. The first error ends it.
type story struct {
	ctx    context.Context
	memory *grounded.Memory
	out    io.Writer
	err    error
}

func runDemo(ctx context.Context, path string, options *grounded.Options, out io.Writer) error {
	store, err := grounded.Open(ctx, path, options)
	if err != nil {
		return err
	}
	memory, err := store.Scope("demo", "world")
	if err != nil {
		return errors.Join(err, store.Close())
	}
	d := &story{ctx: ctx, memory: memory, out: out}
	for _, chapter := range []func(){d.load, d.proofs, d.contradiction, d.rewrite, d.packet, d.deletion, d.goOn} {
		if d.err == nil {
			chapter()
		}
	}
	return errors.Join(d.err, store.Close())
}

func (d *story) chapter(title string) { fmt.Fprintf(d.out, "\n── %s\n\n", title) }

func (d *story) say(format string, args ...any) {
	fmt.Fprintf(d.out, format+"\n", args...)
}

// keep notes the first error and returns the value.
func keep[T any](d *story, value *T, err error) *T {
	if err != nil && d.err == nil {
		d.err = err
	}
	if value == nil {
		value = new(T)
	}
	return value
}

func (d *story) load() {
	d.chapter("A throw-away store is filled: a graph of countries, a conversation, a glossary")
	for _, f := range []struct{ file, format, source string }{
		{"countries.tsv", ingest.Facts, "countries.tsv"},
		{"conversation.json", ingest.Chats, "team chat"},
		{"glossary.tsv", ingest.Glossary, "team glossary"},
	} {
		file, err := examples.Files.Open(f.file)
		if err != nil {
			d.err = err
			return
		}
		l := loader{source: f.source, cardinality: grounded.Multi}
		result, err := d.memory.Load(d.ctx, l.writes(ingest.Read(f.format, f.file, file)), nil)
		if err = errors.Join(err, file.Close()); err != nil {
			d.err = l.place(err)
			return
		}
		d.say("%-18s %4d records, source %q", f.file, result.Written, f.source)
	}
	keep(d, (*grounded.WriteResult)(nil), d.declare("neighbor", "borders", "neighbours"))
}

func (d *story) declare(name string, aliases ...string) error {
	_, err := d.memory.DeclareRelation(d.ctx, &grounded.DeclareRelationRequest{
		Name: name, Aliases: aliases, Cardinality: grounded.Multi, Source: "the demo",
	})
	return err
}

func atom(entity, predicate, value string) grounded.Atom {
	term := func(s string) grounded.Term {
		if strings.HasPrefix(s, "?") {
			return grounded.Var(s)
		}
		return grounded.Const(s)
	}
	return grounded.NewAtom(term(entity), predicate, term(value))
}

func (d *story) query(atoms ...grounded.Atom) *grounded.QueryResult {
	parts := make([]string, len(atoms))
	for i, a := range atoms {
		parts[i] = fmt.Sprintf("%s %s %s", a.Entity, a.Predicate, a.Value)
	}
	d.say("query: %s", strings.Join(parts, ", "))
	result, err := d.memory.Query(d.ctx, &grounded.QueryRequest{Where: atoms})
	return keep(d, result, err)
}

func (d *story) proofs() {
	d.chapter("A join, with every proof and its source")
	r := d.query(atom("austria", "borders", "?a"), atom("?a", "borders", "france"))
	d.say("status: %s; %d candidate facts examined", r.Status, r.Work.Examinations)
	for _, a := range r.Answers {
		d.say("  %s", explain.BindText(a.Bind))
		for _, proof := range a.Proofs {
			d.proof(proof)
		}
	}
}

// proof prints the records of one proof.
func (d *story) proof(ids []grounded.RecordID) {
	for _, id := range ids {
		got, err := d.memory.Get(d.ctx, &grounded.GetRequest{ID: id})
		r := &keep(d, got, err).Record
		d.say("    %-6s %s   (source %q)", id, explain.RecordText(r), r.Source)
	}
}

func (d *story) remember(entity, predicate, value, source string) *grounded.WriteResult {
	result, err := d.memory.Remember(d.ctx, &grounded.RememberRequest{Entity: entity, Predicate: predicate, Value: value, Source: source})
	r := keep(d, result, err)
	note := ""
	if len(r.Contradicts) > 0 {
		note = fmt.Sprintf(", contradicts %s", r.Contradicts[0])
	}
	d.say("remember: %s %s %s (source %q) → %s%s", entity, predicate, value, source, r.ID, note)
	return r
}

func (d *story) contradiction() {
	d.chapter("Two sources disagree: no answer, but both sides")
	d.remember("austria", "head_of_delegation", "Weber", "protocol of 3 March")
	wrong := d.remember("austria", "head_of_delegation", "Huber", "hallway talk")
	r := d.query(atom("?c", "borders", "slovenia"), atom("?c", "head_of_delegation", "?who"))
	d.say("status: %s", r.Status)
	for _, c := range r.Conflicts {
		for i := range c.Records {
			d.say("    %-6s %s   (source %q)", c.Records[i].ID, explain.RecordText(&c.Records[i]), c.Records[i].Source)
		}
	}
	value := "Weber"
	corrected, err := d.memory.Correct(d.ctx, &grounded.CorrectRequest{ID: wrong.ID, Value: &value, Source: "protocol of 5 March"})
	d.say("correct: %s → %s", wrong.ID, keep(d, corrected, err).ID)
	r = d.query(atom("?c", "borders", "slovenia"), atom("?c", "head_of_delegation", "?who"))
	d.say("status: %s", r.Status)
	for _, a := range r.Answers {
		d.say("  %s, %d proofs", explain.BindText(a.Bind), len(a.Proofs))
	}
}

func (d *story) rewrite() {
	d.chapter("A rewrite that somebody supplied finds what plain search misses")
	const question = "what caused the k8s failure"
	literal, err := d.memory.Recall(d.ctx, &grounded.RecallRequest{Text: "k8s"})
	d.say("recall: %q → %s (it never uses bridges)", "k8s", keep(d, literal, err).Status)
	result, err := d.memory.RecallGrounded(d.ctx, &grounded.RecallGroundedRequest{Query: question, K: 2})
	r := keep(d, result, err)
	d.say("recall_grounded: %q → %s", question, r.Status)
	for i := range r.Results {
		m := &r.Results[i]
		d.say("  %s  %s: %q\n      source %q, %s", m.ID, m.Speaker, m.Text, m.Source, m.Session)
		for _, w := range m.Rewrites {
			d.say("      by bridge %s: %q may be read as %q", w.Bridge, w.Phrase, w.Target)
		}
	}
}

func (d *story) packet() {
	d.chapter("What an agent reads: the smallest packet of whole proofs, verified")
	result, err := d.memory.Query(d.ctx, &grounded.QueryRequest{
		Where: []grounded.Atom{atom("austria", "borders", "?a"), atom("?a", "borders", "france")},
		Pack:  &grounded.PackOptions{Budget: 400, Tokenizer: "o200k_base", Format: "text"},
	})
	r := keep(d, result, err)
	if r.Packed == nil {
		return
	}
	d.say("pack: %s, %d tokens of %s, %d of %d combinations tried", r.Packed.Status, r.Packed.Size, r.Packed.Tokenizer,
		r.Packed.Combinations.Tried, r.Packed.Combinations.Total)
	for _, line := range strings.SplitAfter(r.Packed.Packet, "\n") {
		fmt.Fprintf(d.out, "  │ %s", line)
	}
	d.say("")
	d.verify(r.Certificate)
	d.remember("liechtenstein", "borders", "switzerland", "an atlas")
	d.verify(r.Certificate)
}

func (d *story) verify(c *grounded.Certificate) {
	result, err := d.memory.Verify(d.ctx, &grounded.VerifyRequest{Certificate: c})
	r := keep(d, result, err)
	if r.Status == grounded.Valid {
		d.say("verify: valid")
		return
	}
	d.say("verify: %s, because %v; evidence unchanged: %v", r.Status, r.Reasons, *r.EvidenceUnchanged)
}

func (d *story) deletion() {
	d.chapter("Deleting a correction revives nothing")
	list, err := d.memory.List(d.ctx, &grounded.ListRequest{Predicate: "head_of_delegation"})
	records := keep(d, list, err).Records
	for _, r := range slices.Backward(records) {
		if r.Corrects != 0 {
			_, err := d.memory.Forget(d.ctx, &grounded.ForgetRequest{ID: r.ID})
			keep(d, (*grounded.WriteResult)(nil), err)
			d.say("forget: %s, which had corrected %s", r.ID, r.Corrects)
			break
		}
	}
	states := map[grounded.State]int{}
	list, err = d.memory.List(d.ctx, &grounded.ListRequest{Predicate: "head_of_delegation"})
	for _, r := range keep(d, list, err).Records {
		states[r.State]++
		d.say("    %-6s %s: %s (source %q)", r.ID, r.State, explain.RecordText(&r), r.Source)
	}
	for _, state := range slices.Sorted(maps.Keys(states)) {
		d.say("  %d %s", states[state], state)
	}
}

func (d *story) goOn() {
	d.chapter("How to go on")
	d.say(`The store of this demo is deleted now. With one of your own:

  go install ./cmd/grounded
  export GROUNDED_DB=memory.db
  grounded import examples/countries.tsv
  grounded query --where '["?x","neighbor","france"]' --where '["?x","locatedin","?region"]'
  grounded explain query --where '["?x","neighbor","france"]' --svg why.svg
  grounded setup claude-code      give it to a coding agent over MCP
  grounded serve --help           an HTTP service for one scope
  grounded space                  the same story in a browser`)
}
