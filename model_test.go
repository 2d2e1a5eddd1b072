package grounded_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/grounded-memory/grounded"
)

var ctx = context.Background()

// clock is set by tests, also backwards.
type clock struct{ now time.Time }

func newClock() *clock { return &clock{time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)} }

func openStore(t interface{ Fatal(...any) }, path string, c *clock) *grounded.Store {
	s, err := grounded.Open(ctx, path, &grounded.Options{Clock: func() time.Time { return c.now }, Rand: rand.NewChaCha8([32]byte{7})})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func scopeOf(t interface{ Fatal(...any) }, s *grounded.Store, namespace string) *grounded.Memory {
	m, err := s.Scope("acme", namespace)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// modelRecord is a record of the naive model: a plain list and no index.
type modelRecord struct {
	grounded.Record
	correctedBy grounded.RecordID
	forgotten   bool
}

// model is the semantics of the life cycle and of queries, as naive as possible.
type model struct {
	records []modelRecord
	time    time.Time // the greatest time seen
}

func (m *model) tick(now time.Time) time.Time {
	if now.After(m.time) {
		m.time = now
	}
	return m.time
}

func (m *model) state(r *modelRecord) grounded.State {
	switch {
	case r.forgotten:
		return grounded.StateForgotten
	case r.correctedBy != 0:
		return grounded.StateCorrected
	case !r.ExpiresAt.IsZero() && !r.ExpiresAt.After(m.time):
		return grounded.StateExpired
	}
	return grounded.StateEligible
}

// eligible lists the eligible asserted records of a kind.
func (m *model) eligible(kind grounded.Kind) (out []*modelRecord) {
	for i := range m.records {
		if r := &m.records[i]; r.Kind == kind && m.state(r) == grounded.StateEligible && r.Modality == grounded.Asserted {
			out = append(out, r)
		}
	}
	return out
}

// resolve gives a predicate its canonical name, and the declared cardinality.
func (m *model) resolve(name string) (string, grounded.Cardinality) {
	for _, r := range m.eligible(grounded.KindRelation) {
		if r.Name == name || slices.Contains(r.Aliases, name) {
			return r.Name, r.Cardinality
		}
	}
	return name, ""
}

// group lists the claims of one entity and predicate, and whether it is single.
func (m *model) group(entity, predicate string) (claims []*modelRecord, single bool) {
	name, declared := m.resolve(predicate)
	for _, r := range m.eligible(grounded.KindClaim) {
		if other, _ := m.resolve(r.Predicate); r.Entity == entity && other == name {
			claims = append(claims, r)
			single = single || r.Cardinality == grounded.Single
		}
	}
	if declared != "" {
		single = declared == grounded.Single
	}
	return claims, single
}

func (m *model) contradictory(entity, predicate string) []grounded.RecordID {
	claims, single := m.group(entity, predicate)
	var ids []grounded.RecordID
	different := false
	for _, c := range claims {
		ids = append(ids, c.ID)
		different = different || c.Value != claims[0].Value
	}
	if !single || !different {
		return nil
	}
	return ids
}

// query evaluates by trying every claim for every atom.
func (m *model) query(where []grounded.Atom, selected []string) (status grounded.Status, answers map[string][]string, conflicts []string) {
	facts := m.eligible(grounded.KindClaim)
	answers = map[string][]string{}
	sets := map[string]map[string]bool{}
	groups := map[string]bool{}
	var bindings func(i int, bind map[string]string, used []*modelRecord)
	bindings = func(i int, bind map[string]string, used []*modelRecord) {
		if i == len(where) {
			var key []string
			for _, v := range selected {
				key = append(key, v+"="+bind[v])
			}
			var ids []int
			for _, r := range used {
				ids = append(ids, int(r.ID))
				if g := m.contradictory(r.Entity, r.Predicate); g != nil {
					groups[fmt.Sprint(g)] = true
				}
			}
			slices.Sort(ids)
			k := strings.Join(key, ",")
			if sets[k] == nil {
				sets[k] = map[string]bool{}
			}
			sets[k][fmt.Sprint(slices.Compact(ids))] = true
			return
		}
		name, _ := m.resolve(where[i].Predicate)
		for _, f := range facts {
			if other, _ := m.resolve(f.Predicate); other != name {
				continue
			}
			next := maps.Clone(bind)
			ok := true
			for _, place := range []struct {
				term  grounded.Term
				value string
			}{{where[i].Entity, f.Entity}, {where[i].Value, f.Value}} {
				if !place.term.IsVar() {
					ok = ok && place.term.String() == place.value
				} else if old, bound := next[place.term.String()]; bound {
					ok = ok && old == place.value
				} else {
					next[place.term.String()] = place.value
				}
			}
			if ok {
				bindings(i+1, next, append(slices.Clone(used), f))
			}
		}
	}
	bindings(0, map[string]string{}, nil)
	if len(groups) > 0 {
		return grounded.Conflict, nil, slices.Sorted(maps.Keys(groups))
	}
	for k, all := range sets {
		answers[k] = minimal(all)
	}
	if len(answers) == 0 {
		return grounded.NoMatches, answers, nil
	}
	return grounded.Answered, answers, nil
}

// minimal drops every set that contains another.
func minimal(sets map[string]bool) (out []string) {
	parse := func(s string) map[string]bool {
		m := map[string]bool{}
		for _, f := range strings.Fields(strings.Trim(s, "[]")) {
			m[f] = true
		}
		return m
	}
	for a := range sets {
		keep := true
		for b := range sets {
			inside := a != b
			for id := range parse(b) {
				inside = inside && parse(a)[id]
			}
			keep = keep && !inside
		}
		if keep {
			out = append(out, a)
		}
	}
	slices.Sort(out)
	return out
}

var (
	entities   = []string{"a", "b", "c", "?odd"}
	predicates = []string{"p", "q", "alias"}
)

func drawTerm(t *rapid.T) grounded.Term {
	if rapid.Bool().Draw(t, "variable") {
		return grounded.Var(rapid.SampledFrom([]string{"x", "y", "z"}).Draw(t, "name"))
	}
	return grounded.Const(rapid.SampledFrom(entities).Draw(t, "constant"))
}

// TestModel runs random programs on the store and on the model: two handles on
// one file that write in turn, a clock that also goes back, reopened stores.
func TestModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := newClock()
		path := filepath.Join(tempDir(t), "store.db")
		handles := []*grounded.Store{openStore(t, path, c), openStore(t, path, c)}
		defer func() {
			for _, h := range handles {
				_ = h.Close()
			}
		}()
		m := &model{}
		other := scopeOf(t, handles[0], "other")
		if _, err := other.Remember(ctx, &grounded.RememberRequest{Entity: "a", Predicate: "p", Value: "elsewhere", Source: "s"}); err != nil {
			t.Fatal(err)
		}
		for range rapid.IntRange(5, 30).Draw(t, "steps") {
			memory := scopeOf(t, handles[rapid.IntRange(0, 1).Draw(t, "handle")], "team")
			switch rapid.IntRange(0, 9).Draw(t, "step") {
			case 0, 1, 2, 3:
				m.remember(t, memory, c)
			case 4:
				m.declare(t, memory, c)
			case 5:
				m.correct(t, memory, c)
			case 6:
				m.forget(t, memory, c)
			case 7:
				c.now = c.now.Add(time.Duration(rapid.IntRange(-100, 100).Draw(t, "seconds")) * time.Second)
			case 8:
				i := rapid.IntRange(0, 1).Draw(t, "which")
				if err := handles[i].Close(); err != nil {
					t.Fatal(err)
				}
				handles[i] = openStore(t, path, c)
			default:
				m.ask(t, memory, c)
			}
		}
		m.ask(t, scopeOf(t, handles[1], "team"), c)
		m.states(t, scopeOf(t, handles[0], "team"), c)
		for _, h := range handles {
			problems, err := h.Check(ctx)
			if err != nil || len(problems) > 0 {
				t.Fatalf("doctor: %v, %v", problems, err)
			}
		}
	})
}

func (m *model) remember(t *rapid.T, memory *grounded.Memory, c *clock) {
	req := &grounded.RememberRequest{
		Entity: rapid.SampledFrom(entities).Draw(t, "entity"), Predicate: rapid.SampledFrom(predicates).Draw(t, "predicate"),
		Value: rapid.SampledFrom(entities).Draw(t, "value"), Source: rapid.SampledFrom([]string{"s1", "s2"}).Draw(t, "source"),
		Cardinality: rapid.SampledFrom([]grounded.Cardinality{"", grounded.Multi, grounded.Multi, grounded.Single}).Draw(t, "cardinality"),
		Modality:    rapid.SampledFrom([]grounded.Modality{"", "", grounded.Quoted, grounded.Hypothesized}).Draw(t, "modality"),
		TTL:         grounded.TTL(rapid.SampledFrom([]time.Duration{0, 0, 0, 50 * time.Second}).Draw(t, "ttl")),
	}
	got, err := memory.Remember(ctx, req)
	if err != nil {
		t.Fatal(err)
	}
	now := m.tick(c.now)
	r := modelRecord{Record: grounded.Record{
		Kind: grounded.KindClaim, Entity: req.Entity, Predicate: req.Predicate, Value: req.Value, Source: req.Source,
		Cardinality: req.Cardinality, Modality: req.Modality,
	}}
	if r.Modality == "" {
		r.Modality = grounded.Asserted
	}
	if _, declared := m.resolve(r.Predicate); r.Cardinality == "" && declared == "" {
		r.Cardinality = grounded.Single
	}
	if req.TTL != 0 {
		r.ExpiresAt = now.Add(time.Duration(req.TTL))
	}
	want := grounded.RecordID(0)
	for i := range m.records {
		o := &m.records[i]
		if want == 0 && o.Kind == r.Kind && m.state(o) == grounded.StateEligible && o.Entity == r.Entity && o.Predicate == r.Predicate &&
			o.Value == r.Value && o.Source == r.Source && o.Cardinality == r.Cardinality && o.Modality == r.Modality && o.ExpiresAt.Equal(r.ExpiresAt) {
			want = o.ID
		}
	}
	existing := want != 0
	if !existing {
		want = grounded.RecordID(len(m.records) + 1)
		r.ID = want
		m.records = append(m.records, r)
	}
	contradicts := []grounded.RecordID{}
	if r.Modality == grounded.Asserted {
		claims, single := m.group(r.Entity, r.Predicate)
		for _, o := range claims {
			if single && o.Value != r.Value {
				contradicts = append(contradicts, o.ID)
			}
		}
	}
	if got.ID != want || got.Existing != existing || !slices.Equal(got.Contradicts, contradicts) {
		t.Fatalf("remember %+v: %+v; the model says %s, existing %v, contradicts %v", req, got, want, existing, contradicts)
	}
}

func (m *model) declare(t *rapid.T, memory *grounded.Memory, c *clock) {
	req := &grounded.DeclareRelationRequest{
		Name: rapid.SampledFrom(predicates).Draw(t, "name"), Source: "s",
		Cardinality: rapid.SampledFrom([]grounded.Cardinality{grounded.Multi, grounded.Single}).Draw(t, "cardinality"),
		Aliases:     rapid.SampledFrom([][]string{nil, {"alias"}, {"q"}}).Draw(t, "aliases"),
	}
	got, err := memory.DeclareRelation(ctx, req)
	before := m.time
	m.tick(c.now)
	aliases := slices.DeleteFunc(slices.Clone(req.Aliases), func(a string) bool { return a == req.Name })
	for _, r := range m.eligible(grounded.KindRelation) {
		if r.Name == req.Name && r.Cardinality == req.Cardinality && slices.Equal(r.Aliases, aliases) {
			if err != nil || got.ID != r.ID || !got.Existing {
				t.Fatalf("declared again: %+v, %v; want %s", got, err, r.ID)
			}
			return
		}
	}
	for _, name := range append([]string{req.Name}, aliases...) {
		for _, r := range m.eligible(grounded.KindRelation) {
			if r.Name == name || slices.Contains(r.Aliases, name) {
				if !errors.Is(err, grounded.InvalidArgument) {
					t.Fatalf("%q is declared twice: %+v, %v", name, got, err)
				}
				m.time = before // a refused write leaves nothing, not even its time
				return
			}
		}
	}
	if err != nil || got.ID != grounded.RecordID(len(m.records)+1) {
		t.Fatalf("declare %+v: %+v, %v", req, got, err)
	}
	m.records = append(m.records, modelRecord{Record: grounded.Record{
		ID: got.ID, Kind: grounded.KindRelation, Modality: grounded.Asserted, Name: req.Name, Aliases: aliases, Cardinality: req.Cardinality, Source: "s",
	}})
}

// any draws the id of a record, or of none.
func (m *model) any(t *rapid.T) (grounded.RecordID, *modelRecord) {
	id := grounded.RecordID(rapid.IntRange(1, len(m.records)+1).Draw(t, "id"))
	if int(id) > len(m.records) {
		return id, nil
	}
	return id, &m.records[id-1]
}

func (m *model) correct(t *rapid.T, memory *grounded.Memory, c *clock) {
	id, old := m.any(t)
	if old != nil && old.Kind != grounded.KindClaim {
		return
	}
	value := rapid.SampledFrom(entities).Draw(t, "value")
	got, err := memory.Correct(ctx, &grounded.CorrectRequest{ID: id, Value: &value, Source: "fix"})
	if old == nil {
		if !errors.Is(err, grounded.NotFound) {
			t.Fatalf("correct %s: %v", id, err)
		}
		return
	}
	before := m.time
	m.tick(c.now)
	want := map[grounded.State]grounded.Code{
		grounded.StateForgotten: grounded.AlreadyForgotten, grounded.StateCorrected: grounded.AlreadyCorrected, grounded.StateExpired: grounded.Expired,
	}[m.state(old)]
	if want != "" {
		if !errors.Is(err, want) {
			t.Fatalf("correct %s: %v; want %s", id, err, want)
		}
		if want == grounded.AlreadyCorrected && grounded.AsError(err).Current != m.inForce(old) {
			t.Fatalf("correct %s names %s, want %s", id, grounded.AsError(err).Current, m.inForce(old))
		}
		m.time = before // a refused write leaves nothing, not even its time
		return
	}
	if err != nil || got.Corrects != id || got.ID != grounded.RecordID(len(m.records)+1) {
		t.Fatalf("correct %s: %+v, %v", id, got, err)
	}
	fresh := modelRecord{Record: old.Record}
	fresh.ID, fresh.Value, fresh.Source = got.ID, value, "fix"
	old.correctedBy = got.ID
	m.records = append(m.records, fresh)
}

func (m *model) inForce(r *modelRecord) grounded.RecordID {
	for r.correctedBy != 0 {
		r = &m.records[r.correctedBy-1]
	}
	if m.state(r) != grounded.StateEligible {
		return 0
	}
	return r.ID
}

func (m *model) forget(t *rapid.T, memory *grounded.Memory, c *clock) {
	id, old := m.any(t)
	_, err := memory.Forget(ctx, &grounded.ForgetRequest{ID: id})
	switch {
	case old == nil:
		if !errors.Is(err, grounded.NotFound) {
			t.Fatalf("forget %s: %v", id, err)
		}
	case old.forgotten:
		if !errors.Is(err, grounded.AlreadyForgotten) {
			t.Fatalf("forget %s again: %v", id, err)
		}
	default:
		if err != nil {
			t.Fatalf("forget %s: %v", id, err)
		}
		m.tick(c.now)
		old.forgotten = true
	}
}

func (m *model) ask(t *rapid.T, memory *grounded.Memory, c *clock) {
	var where []grounded.Atom
	var variables []string
	for range rapid.IntRange(1, 3).Draw(t, "atoms") {
		a := grounded.NewAtom(drawTerm(t), rapid.SampledFrom(predicates).Draw(t, "predicate"), drawTerm(t))
		for _, term := range []grounded.Term{a.Entity, a.Value} {
			if term.IsVar() && !slices.Contains(variables, term.String()) {
				variables = append(variables, term.String())
			}
		}
		where = append(where, a)
	}
	selected := variables
	if rapid.Bool().Draw(t, "project") && len(variables) > 0 {
		selected = variables[:rapid.IntRange(0, len(variables)-1).Draw(t, "kept")]
	}
	req := &grounded.QueryRequest{Where: where, Select: append([]string{}, selected...), Limits: grounded.QueryLimits{Examinations: 1_000_000, States: 65_536, Alternatives: 65_536}}
	got, err := memory.Query(ctx, req)
	if err != nil {
		t.Fatal(err)
	}
	m.tick(c.now)
	status, answers, conflicts := m.query(where, selected)
	if got.Status != status {
		t.Fatalf("%v select %v: %s; the model says %s", where, selected, got.Status, status)
	}
	var groups []string
	for _, g := range got.Conflicts {
		var ids []grounded.RecordID
		for i := range g.Records {
			ids = append(ids, g.Records[i].ID)
		}
		groups = append(groups, fmt.Sprint(ids))
	}
	slices.Sort(groups)
	if !slices.Equal(groups, conflicts) {
		t.Fatalf("%v: conflicts %v; the model says %v", where, groups, conflicts)
	}
	if len(got.Answers) != len(answers) {
		t.Fatalf("%v select %v: %+v; the model says %v", where, selected, got.Answers, answers)
	}
	for _, a := range got.Answers {
		var key, proofs []string
		for _, v := range selected {
			key = append(key, v+"="+a.Bind[v])
		}
		for _, p := range a.Proofs {
			var ids []int
			for _, id := range p {
				ids = append(ids, int(id))
			}
			proofs = append(proofs, fmt.Sprint(ids))
		}
		slices.Sort(proofs)
		if want := answers[strings.Join(key, ",")]; !slices.Equal(proofs, want) {
			t.Fatalf("%v: %v is proved by %v; the model says %v", where, key, proofs, want)
		}
	}
	verified, err := memory.Verify(ctx, &grounded.VerifyRequest{Certificate: got.Certificate})
	if err != nil || verified.Status != grounded.Valid {
		t.Fatalf("the certificate of a read just made: %+v, %v", verified, err)
	}
}

// states compares the state of every record.
func (m *model) states(t *rapid.T, memory *grounded.Memory, c *clock) {
	m.tick(c.now)
	counts := map[grounded.Kind]int{}
	for i := range m.records {
		r := &m.records[i]
		got, err := memory.Get(ctx, &grounded.GetRequest{ID: r.ID})
		if err != nil || got.State != m.state(r) || got.CorrectedBy != r.correctedBy {
			t.Fatalf("get %s: %+v, %v; the model says %s", r.ID, got, err, m.state(r))
		}
		if m.state(r) == grounded.StateEligible {
			counts[r.Kind]++
		}
	}
	stats, err := memory.Stats(ctx, &grounded.StatsRequest{})
	if err != nil || stats.Eligible.Claim != counts[grounded.KindClaim] || stats.Eligible.Relation != counts[grounded.KindRelation] {
		t.Fatalf("stats %+v, %v; the model counts %v", stats, err, counts)
	}
}
