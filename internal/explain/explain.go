// Package explain draws where a result comes from: which records, from which
// sources, support which answer; which bridges led from a question to a record.
package explain

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/grounded-memory/grounded"
	"github.com/grounded-memory/grounded/internal/diagram"
)

// Draw draws a result of a read; records that it only names are read from the
// service. Other results give an empty drawing.
func Draw(ctx context.Context, s grounded.Service, result any) (*diagram.Diagram, error) {
	e := explainer{ctx: ctx, service: s, diagram: new(diagram.Diagram), records: map[grounded.RecordID]int{}, sources: map[string]int{}}
	switch r := result.(type) {
	case *grounded.QueryResult:
		e.query(r)
	case *grounded.RecallResult:
		e.recall(r)
	case *grounded.RecallGroundedResult:
		e.diagram.Title = "status: " + string(r.Status) + bound(r.Bound)
		e.matches(r.Variants, r.Results)
		for _, c := range r.Conflicts {
			e.conflict("phrase "+c.Phrase, c.Records)
		}
	}
	return e.diagram, e.err
}

func bound(name string) string {
	if name == "" {
		return ""
	}
	return " (" + name + ")"
}

// explainer collects a drawing; the first error ends it.
type explainer struct {
	ctx     context.Context
	service grounded.Service
	diagram *diagram.Diagram
	records map[grounded.RecordID]int
	sources map[string]int
	err     error
}

// Columns of the drawing of proofs.
const (
	columnAnswer = iota
	columnProof
	columnRecord
	columnSource
)

func (e *explainer) query(r *grounded.QueryResult) {
	e.diagram.Title = fmt.Sprintf("status: %s%s; %d examinations, %d states", r.Status, bound(r.Bound), r.Work.Examinations, r.Work.States)
	for _, a := range r.Answers {
		answer := e.diagram.Add(columnAnswer, diagram.Node{Name: BindText(a.Bind), Class: "answer"})
		for i, proof := range a.Proofs {
			node := e.diagram.Add(columnProof, diagram.Node{Name: fmt.Sprintf("proof %d of %d", i+1, len(a.Proofs)), Class: "proof"})
			e.diagram.Connect(answer, node, "")
			for _, id := range proof {
				e.diagram.Connect(node, e.record(id), "")
			}
		}
	}
	for _, c := range r.Conflicts {
		e.conflict(c.Entity+" "+c.Predicate, c.Records)
	}
}

// BindText says in one line what an answer binds.
func BindText(bind map[string]string) string {
	if len(bind) == 0 {
		return "yes"
	}
	parts := make([]string, 0, len(bind))
	for _, name := range slices.Sorted(maps.Keys(bind)) {
		parts = append(parts, name+" = "+bind[name])
	}
	return strings.Join(parts, ", ")
}

func (e *explainer) recall(r *grounded.RecallResult) {
	e.diagram.Title = "status: " + string(r.Status)
	for _, text := range r.Answers {
		answer := e.diagram.Add(columnAnswer, diagram.Node{Name: text, Class: "answer"})
		for i := range r.Evidence {
			if r.Evidence[i].Value == text || r.Evidence[i].Entity == text {
				e.diagram.Connect(answer, e.draw(&r.Evidence[i]), "")
			}
		}
	}
	for _, c := range r.Conflicts {
		e.conflict(c.Entity+" "+c.Predicate, c.Records)
	}
	e.matches(r.Variants, r.Results)
}

func (e *explainer) conflict(name string, records []grounded.Record) {
	node := e.diagram.Add(columnAnswer, diagram.Node{Name: "conflict: " + name, Class: "conflict"})
	for i := range records {
		e.diagram.Connect(node, e.draw(&records[i]), "")
	}
}

// matches draws the variants of a question, column by column of their steps,
// and the records that each won.
func (e *explainer) matches(variants []grounded.Variant, results []grounded.Match) {
	nodes := make([]int, len(variants))
	last := 0
	for i, v := range variants {
		nodes[i] = e.diagram.Add(len(v.Rewrites), diagram.Node{Name: fmt.Sprintf("%q", v.Text), Class: "variant"})
		last = max(last, len(v.Rewrites))
		if n := len(v.Rewrites); n > 0 {
			r := v.Rewrites[n-1]
			label := fmt.Sprintf("%s: %s → %s at word %d", r.Bridge, r.Phrase, r.Target, r.At)
			e.diagram.Connect(nodes[parentOf(variants, i)], nodes[i], label)
		}
	}
	for i := range results {
		m := &results[i]
		lines := []string{m.Text, "source: " + m.Source}
		if m.Speaker != "" {
			lines = append(lines, "said by "+m.Speaker)
		}
		record := e.diagram.Add(last+1, diagram.Node{Name: fmt.Sprintf("%d. %s, score %d", i+1, m.ID, m.Score), Lines: lines, Class: "record"})
		e.diagram.Connect(nodes[m.Variant], record, "")
	}
}

// parentOf finds the variant whose rewrites are those of variant i but the last.
func parentOf(variants []grounded.Variant, i int) int {
	chain := variants[i].Rewrites
	for j := range variants {
		if slices.Equal(variants[j].Rewrites, chain[:len(chain)-1]) {
			return j
		}
	}
	return 0
}

// record draws a record that is only named.
func (e *explainer) record(id grounded.RecordID) int {
	if node, ok := e.records[id]; ok {
		return node
	}
	got, err := e.service.Get(e.ctx, &grounded.GetRequest{ID: id})
	if err != nil {
		if e.err == nil {
			e.err = err
		}
		return 0
	}
	return e.draw(&got.Record)
}

func (e *explainer) draw(r *grounded.Record) int {
	if node, ok := e.records[r.ID]; ok {
		return node
	}
	node := e.diagram.Add(columnRecord, diagram.Node{Name: r.ID.String(), Lines: []string{RecordText(r)}, Class: "record"})
	e.records[r.ID] = node
	source, ok := e.sources[r.Source]
	if !ok {
		source = e.diagram.Add(columnSource, diagram.Node{Name: "source: " + r.Source, Class: "source"})
		e.sources[r.Source] = source
	}
	e.diagram.Connect(node, source, "")
	return node
}

// RecordText says in one line what a record says.
func RecordText(r *grounded.Record) string {
	switch r.Kind {
	case grounded.KindClaim:
		return r.Entity + " " + r.Predicate + " " + r.Value
	case grounded.KindBridge:
		return r.Phrase + " → " + r.Target
	case grounded.KindRelation:
		return r.Name + " (" + string(r.Cardinality) + ") " + strings.Join(r.Aliases, ", ")
	}
	return r.Text
}
