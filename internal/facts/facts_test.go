package facts_test

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"

	"github.com/grounded-memory/grounded/internal/facts"
	"pgregory.net/rapid"
)

// model is the naive meaning of a set: a list of facts and relations.
type model struct {
	relations []facts.Relation
	facts     map[uint64]facts.Fact
}

func (m *model) resolve(name string) string {
	for _, r := range m.relations {
		if r.Name == name {
			return name
		}
		if i := slices.Index(r.Aliases, name); i >= 0 {
			return r.Name
		}
	}
	return name
}

func (m *model) sorted() []facts.Fact {
	return slices.SortedFunc(maps.Values(m.facts), func(a, b facts.Fact) int { return cmp.Compare(a.Record, b.Record) })
}

// group returns the records of each different value of a group, and whether the
// group contradicts itself.
func (m *model) group(entity, predicate string) (values map[string][]uint64, contradictory bool) {
	values = map[string][]uint64{}
	single := false
	for _, f := range m.sorted() {
		if f.Entity == entity && m.resolve(f.Predicate) == predicate {
			values[f.Value] = append(values[f.Value], f.Record)
			single = single || f.Single
		}
	}
	for _, r := range slices.Backward(m.relations) {
		if r.Name == predicate {
			single = r.Single
		}
	}
	return values, single && len(values) > 1
}

func (m *model) apply(add []facts.Fact, remove []uint64) {
	for _, f := range add {
		m.facts[f.Record] = f
	}
	for _, r := range remove {
		delete(m.facts, r)
	}
}

var (
	entities   = []string{"a", "b", "c", "?x", "é", ""}
	predicates = []string{"p", "q", "alias_p", "alias_q", "other"}
)

func drawFact(t *rapid.T) facts.Fact {
	return facts.Fact{
		Record:    rapid.Uint64Range(1, 60).Draw(t, "record"),
		Entity:    rapid.SampledFrom(entities).Draw(t, "entity"),
		Predicate: rapid.SampledFrom(predicates).Draw(t, "predicate"),
		Value:     rapid.SampledFrom(entities).Draw(t, "value"),
		Single:    rapid.Bool().Draw(t, "single"),
	}
}

func drawRelations(t *rapid.T) []facts.Relation {
	all := []facts.Relation{
		{Name: "p", Aliases: []string{"alias_p"}, Single: rapid.Bool().Draw(t, "p single")},
		{Name: "q", Aliases: []string{"alias_q", "other"}, Single: rapid.Bool().Draw(t, "q single")},
		{Name: "new", Aliases: []string{"p", "alias_p"}, Single: rapid.Bool().Draw(t, "new single")},
	}
	return rapid.SampledFrom([][]facts.Relation{nil, all[:1], all[1:2], all[:2], all[2:], {all[2], all[1]}}).Draw(t, "relations")
}

// check compares everything that a set can be asked with the model.
func check(t *rapid.T, s *facts.Set, m *model) {
	if s.Records() != len(m.facts) {
		t.Fatalf("%d records, want %d", s.Records(), len(m.facts))
	}
	contradictions := 0
	for _, name := range append([]string{"new"}, predicates...) {
		canonical := m.resolve(name)
		n, ok := s.Predicate(name)
		statements := map[[2]string][]uint64{}
		for _, f := range m.sorted() {
			if m.resolve(f.Predicate) == canonical {
				key := [2]string{f.Entity, f.Value}
				statements[key] = append(statements[key], f.Record)
			}
		}
		if ok != (len(statements) > 0) {
			t.Fatalf("Predicate(%q) = %v with %d statements", name, ok, len(statements))
		}
		if !ok {
			continue
		}
		if s.PredicateName(n) != canonical {
			t.Fatalf("PredicateName(%q) = %q, want %q", name, s.PredicateName(n), canonical)
		}
		checkPredicate(t, s, m, n, canonical, statements)
		if name == canonical {
			contradictions += s.ContradictionsOf(n)
		}
	}
	for canonical := range m.canonicals() {
		if !slices.Contains(predicates, canonical) && canonical != "new" {
			t.Fatalf("unexpected predicate %q", canonical)
		}
	}
	if s.Contradictions() != contradictions {
		t.Fatalf("%d contradictions, want %d", s.Contradictions(), contradictions)
	}
}

func (m *model) canonicals() map[string]bool {
	out := map[string]bool{}
	for _, f := range m.facts {
		out[m.resolve(f.Predicate)] = true
	}
	return out
}

func checkPredicate(t *rapid.T, s *facts.Set, m *model, n uint32, canonical string, statements map[[2]string][]uint64) {
	different := [2]map[string]int{{}, {}}
	for key := range statements {
		different[0][key[0]]++
		different[1][key[1]]++
	}
	if a, b, c := s.Counts(n); a != len(statements) || b != len(different[0]) || c != len(different[1]) {
		t.Fatalf("Counts(%s) = %d %d %d, want %d %d %d", canonical, a, b, c, len(statements), len(different[0]), len(different[1]))
	}
	contradictions := 0
	for _, text := range entities {
		term, ok := s.Lookup(text)
		if !ok {
			if different[0][text]+different[1][text] > 0 {
				t.Fatalf("Lookup(%q) finds nothing", text)
			}
			continue
		}
		if s.Text(term) != text {
			t.Fatalf("Text(Lookup(%q)) = %q", text, s.Text(term))
		}
		if got := s.CountOfEntity(term, n); got != different[0][text] {
			t.Fatalf("CountOfEntity(%q) = %d, want %d", text, got, different[0][text])
		}
		if got := s.CountOfValue(n, term); got != different[1][text] {
			t.Fatalf("CountOfValue(%q) = %d, want %d", text, got, different[1][text])
		}
		values, contradictory := m.group(text, canonical)
		if s.Contradictory(term, n) != contradictory {
			t.Fatalf("Contradictory(%q, %q) = %v", text, canonical, !contradictory)
		}
		if contradictory {
			contradictions++
		}
		var group []uint64
		for _, records := range values {
			group = append(group, records...)
		}
		slices.Sort(group)
		if got := s.GroupRecords(term, n); !slices.Equal(got, group) {
			t.Fatalf("GroupRecords(%q, %q) = %v, want %v", text, canonical, got, group)
		}
		checkItems(t, s, "Values", s.Values(term, n), func(other string) []uint64 { return statements[[2]string{text, other}] }, different[0][text])
		checkItems(t, s, "Entities", s.Entities(n, term), func(other string) []uint64 { return statements[[2]string{other, text}] }, different[1][text])
		for _, other := range entities {
			if v, ok := s.Lookup(other); ok {
				checkStatement(t, s, term, n, v, statements[[2]string{text, other}])
			}
		}
	}
	if s.ContradictionsOf(n) != contradictions {
		t.Fatalf("ContradictionsOf(%s) = %d, want %d", canonical, s.ContradictionsOf(n), contradictions)
	}
}

func checkItems(t *rapid.T, s *facts.Set, what string, items []facts.Item, want func(other string) []uint64, count int) {
	if len(items) != count {
		t.Fatalf("%s lists %d statements, want %d", what, len(items), count)
	}
	for i, item := range items {
		if i > 0 && s.Text(items[i-1].Term) >= s.Text(item.Term) {
			t.Fatalf("%s are not sorted", what)
		}
		if w := want(s.Text(item.Term)); !slices.Equal(item.Records, w) {
			t.Fatalf("%s: records %v, want %v", what, item.Records, w)
		}
	}
}

func checkStatement(t *rapid.T, s *facts.Set, e, p, v uint32, want []uint64) {
	word, ok := s.Statement(e, p, v)
	if ok != (len(want) > 0) || !slices.Equal(s.StatementRecords(e, p, v), want) {
		t.Fatalf("statement records %v, want %v", s.StatementRecords(e, p, v), want)
	}
	if ok && (word<<2>>2 != want[0] || word>>63 == 1 != (len(want) > 1)) {
		t.Fatalf("word %x of records %v", word, want)
	}
}

func TestEditsGiveTheSameSetAsBuilding(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := &model{facts: map[uint64]facts.Fact{}}
		s := facts.Build(nil, nil)
		for range rapid.IntRange(1, 8).Draw(t, "edits") {
			old, was := s, &model{m.relations, maps.Clone(m.facts)}
			switch rapid.IntRange(0, 9).Draw(t, "kind") {
			case 0:
				m.relations = drawRelations(t)
				s = s.WithRelations(m.relations)
			case 1:
				data := s.AppendBinary(nil)
				loaded, err := facts.Load(data)
				if err != nil {
					t.Fatal(err)
				}
				s = loaded
			default:
				add := rapid.SliceOfN(rapid.Custom(drawFact), 0, 12).Draw(t, "add")
				remove := rapid.SliceOfN(rapid.Uint64Range(1, 60), 0, 6).Draw(t, "remove")
				m.apply(add, remove)
				s = s.Apply(add, remove)
			}
			check(t, s, m)
			check(t, old, was) // nothing that a reader holds changes
		}
		built := facts.Build(m.relations, m.sorted())
		check(t, built, m)
		if !bytes.Equal(built.AppendBinary(nil), s.AppendBinary(nil)) {
			t.Fatal("the binary form differs from that of the set built from the same facts")
		}
	})
}

// TestManyEdits goes through chunk splits, long groups and rebuilding.
func TestManyEdits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		step := rapid.Uint64Range(1, 97).Draw(t, "step")
		spread := rapid.Uint64Range(1, 700).Draw(t, "spread")
		all := map[uint64]facts.Fact{}
		s := facts.Build(nil, nil)
		fact := func(i uint64) facts.Fact {
			x := i * 2654435761 % 3001
			return facts.Fact{Record: i, Entity: fmt.Sprint("e", x%spread), Predicate: "p", Value: fmt.Sprint("v", x*step%997), Single: x%50 == 0}
		}
		next := uint64(1)
		for range rapid.IntRange(1, 12).Draw(t, "batches") {
			var add []facts.Fact
			for range rapid.IntRange(0, 400).Draw(t, "size") {
				add = append(add, fact(next))
				all[next] = fact(next)
				next++
			}
			var remove []uint64
			for i := range rapid.Uint64Range(0, 50).Draw(t, "remove") {
				r := (i*step + 1) % next
				remove = append(remove, r)
				delete(all, r)
			}
			s = s.Apply(add, remove)
		}
		sorted := slices.SortedFunc(maps.Values(all), func(a, b facts.Fact) int { return cmp.Compare(a.Record, b.Record) })
		built := facts.Build(nil, sorted)
		compare(t, s, built)
	})
}

// compare checks that two sets that may number differently say the same.
func compare(t *rapid.T, a, b *facts.Set) {
	if !bytes.Equal(a.AppendBinary(nil), b.AppendBinary(nil)) {
		t.Fatal("the binary forms differ")
	}
	p, ok := a.Predicate("p")
	q, other := b.Predicate("p")
	if ok != other {
		t.Fatal("one set has the predicate, the other not")
	}
	if !ok {
		return
	}
	if a.Contradictions() != b.Contradictions() || !slices.Equal(counts(a, p), counts(b, q)) {
		t.Fatalf("counts %v %v", counts(a, p), counts(b, q))
	}
	seen := 0
	for skip, more := 0, true; more; {
		var keys, words []uint64
		keys, words, more = b.OfPredicate(q, skip)
		skip += len(keys)
		for i, key := range keys {
			e, _ := a.Lookup(b.Text(uint32(key >> 32)))
			v, _ := a.Lookup(b.Text(uint32(key)))
			word, ok := a.Statement(e, p, v)
			if !ok || word != words[i] {
				t.Fatalf("statement %x, want %x", word, words[i])
			}
			if a.CountOfEntity(e, p) != b.CountOfEntity(uint32(key>>32), q) || a.CountOfValue(p, v) != b.CountOfValue(q, uint32(key)) {
				t.Fatal("group counts differ")
			}
			seen++
		}
	}
	if n, _, _ := a.Counts(p); n != seen {
		t.Fatalf("%d statements, %d listed", n, seen)
	}
}

func counts(s *facts.Set, p uint32) []int {
	a, b, c := s.Counts(p)
	return []int{a, b, c}
}

func FuzzLoad(f *testing.F) {
	f.Add([]byte{})
	f.Add(facts.Build(nil, nil).AppendBinary(nil))
	f.Add(facts.Build([]facts.Relation{{Name: "p", Aliases: []string{"q"}}}, []facts.Fact{
		{Record: 1, Entity: "a", Predicate: "p", Value: "b", Single: true},
		{Record: 4, Entity: "a", Predicate: "q", Value: "c"},
		{Record: 9, Entity: "b", Predicate: "r", Value: "b"},
		{Record: 10, Entity: "a", Predicate: "p", Value: "b"},
	}).AppendBinary(nil))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := facts.Load(data)
		if err != nil {
			return
		}
		if !bytes.Equal(s.AppendBinary(nil), data) {
			t.Fatal("loaded data have another form")
		}
		for t := range uint32(4) {
			s.Values(t, 0)
			s.Entities(0, t)
			s.Contradictory(t, 1)
		}
	})
}

// TestLoadRefusesEveryCut cuts a form at each byte and extends it.
func TestLoadRefusesEveryCut(t *testing.T) {
	data := facts.Build([]facts.Relation{{Name: "p", Aliases: []string{"q"}}}, []facts.Fact{
		{Record: 1, Entity: "a", Predicate: "p", Value: "b", Single: true}, {Record: 4, Entity: "a", Predicate: "q", Value: "c"},
	}).AppendBinary(nil)
	if _, err := facts.Load(data); err != nil {
		t.Fatal(err)
	}
	for n := range data {
		if _, err := facts.Load(data[:n]); err == nil {
			t.Errorf("cut to %d bytes it loads", n)
		}
	}
	if _, err := facts.Load(append(data, 0)); err == nil {
		t.Error("with a byte more it loads")
	}
}

func ExampleSet() {
	relations := []facts.Relation{{Name: "lives_in", Aliases: []string{"resides_in"}, Single: true}}
	s := facts.Build(relations, []facts.Fact{
		{Record: 1, Entity: "Ada", Predicate: "lives_in", Value: "London"},
		{Record: 2, Entity: "Ada", Predicate: "resides_in", Value: "Paris"},
	})
	ada, _ := s.Lookup("Ada")
	lives, _ := s.Predicate("resides_in")
	for _, item := range s.Values(ada, lives) {
		fmt.Println(s.Text(item.Term), item.Records)
	}
	fmt.Println(s.PredicateName(lives), s.Contradictory(ada, lives))
	fmt.Println(s.Apply(nil, []uint64{2}).Contradictions())
	// Output:
	// London [1]
	// Paris [2]
	// lives_in true
	// 0
}

// TestReadersKeepTheirSet reads a set while others are made from it.
func TestReadersKeepTheirSet(t *testing.T) {
	all := many(3_000)
	first := facts.Build(nil, all[:2_000])
	want := first.AppendBinary(nil)
	var group sync.WaitGroup
	for range 3 {
		group.Go(func() {
			for range 5 {
				if !bytes.Equal(first.AppendBinary(nil), want) {
					t.Error("the set changed")
				}
			}
		})
		group.Go(func() {
			s := first
			for i := 2_000; i < 3_000; i += 7 {
				s = s.Apply(all[i:i+1], []uint64{uint64(i - 1_999)})
			}
			if s.Records() != 2_000 {
				t.Errorf("%d records", s.Records())
			}
		})
	}
	group.Wait()
}

// TestRemovedTextIsNotInTheForm: what is forgotten must leave no trace in what
// is stored.
func TestRemovedTextIsNotInTheForm(t *testing.T) {
	s := facts.Build(nil, []facts.Fact{
		{Record: 1, Entity: "kept", Predicate: "p", Value: "v"},
		{Record: 2, Entity: "secret entity", Predicate: "secret_predicate", Value: "secret value"},
	})
	s = s.Apply([]facts.Fact{{Record: 3, Entity: "later secret", Predicate: "p", Value: "w"}}, nil)
	s = s.Apply(nil, []uint64{2, 3})
	if form := s.AppendBinary(nil); bytes.Contains(form, []byte("secret")) || !bytes.Contains(form, []byte("kept")) {
		t.Errorf("%q", form)
	}
}

// TestUnknownNumbers: numbers of another set find nothing and harm nothing.
func TestUnknownNumbers(t *testing.T) {
	s := facts.Build(nil, []facts.Fact{{Record: 1, Entity: "a", Predicate: "p", Value: "b"}})
	const far = 1<<32 - 1
	if s.Text(far) != "" || s.PredicateName(far) != "" || s.Contradictory(far, far) || len(s.Values(0, far))+len(s.Entities(far, 0))+len(s.Values(far, 0))+len(s.GroupRecords(far, 0)) > 0 {
		t.Error("a number that stands for nothing finds something")
	}
	if s.CountOfEntity(far, 0)+s.CountOfValue(0, far)+s.CountOfEntity(0, far) != 0 {
		t.Error("a number that stands for nothing is counted")
	}
}

// TestWithRelationsMovesOnlyWhatChanges declares relations over facts that they
// do and do not concern, each against a set built under them.
func TestWithRelationsMovesOnlyWhatChanges(t *testing.T) {
	all := []facts.Fact{
		{Record: 1, Entity: "e", Predicate: "p", Value: "1"},
		{Record: 2, Entity: "e", Predicate: "p", Value: "2"},
		{Record: 3, Entity: "e", Predicate: "q", Value: "3"},
		{Record: 4, Entity: "f", Predicate: "q", Value: "4", Single: true},
	}
	s := facts.Build(nil, all)
	for _, c := range []struct {
		relations      []facts.Relation
		contradictions int
	}{
		{nil, 0},
		{[]facts.Relation{{Name: "unused", Aliases: []string{"other"}, Single: true}}, 0},
		{[]facts.Relation{{Name: "p", Aliases: []string{"other"}, Single: true}}, 1},
		{[]facts.Relation{{Name: "p", Aliases: []string{"q"}, Single: true}}, 1},
		{[]facts.Relation{{Name: "r", Aliases: []string{"q", "p"}}}, 0},
		{[]facts.Relation{{Name: "q", Single: true}}, 0},
	} {
		s = s.WithRelations(c.relations)
		if got := s.Contradictions(); got != c.contradictions {
			t.Errorf("%v: %d contradictions, want %d", c.relations, got, c.contradictions)
		}
		if !bytes.Equal(s.AppendBinary(nil), facts.Build(c.relations, all).AppendBinary(nil)) {
			t.Errorf("%v: another form than that of the set built so", c.relations)
		}
	}
}

func TestOfOneRecordTheLastFactCounts(t *testing.T) {
	s := facts.Build(nil, []facts.Fact{
		{Record: 7, Entity: "a", Predicate: "p", Value: "x"},
		{Record: 3, Entity: "b", Predicate: "p", Value: "y"},
		{Record: 7, Entity: "a", Predicate: "p", Value: "z"},
	})
	a, _ := s.Lookup("a")
	p, _ := s.Predicate("p")
	if values := s.Values(a, p); s.Records() != 2 || len(values) != 1 || s.Text(values[0].Term) != "z" {
		t.Errorf("%d records, %v", s.Records(), values)
	}
	if s.Apply(nil, []uint64{99}) != s || s.Apply([]facts.Fact{{Record: 3, Entity: "b", Predicate: "p", Value: "y"}}, nil) != s {
		t.Error("a change that changes nothing makes another set")
	}
}

// TestEveryByteChange changes each byte of a form in several ways: what still
// loads has exactly the form that was loaded.
func TestEveryByteChange(t *testing.T) {
	data := facts.Build([]facts.Relation{{Name: "p", Aliases: []string{"q"}, Single: true}}, []facts.Fact{
		{Record: 1, Entity: "a", Predicate: "p", Value: "b", Single: true},
		{Record: 4, Entity: "a", Predicate: "q", Value: "c"},
		{Record: 9, Entity: "bb", Predicate: "r", Value: "bb"},
		{Record: 10, Entity: "a", Predicate: "p", Value: "b"},
	}).AppendBinary(nil)
	loaded, refused := 0, 0
	for i := range data {
		for _, change := range []byte{1, 2, 4, 8, 16, 32, 64, 128, 255} {
			changed := bytes.Clone(data)
			changed[i] ^= change
			s, err := facts.Load(changed)
			if err != nil {
				refused++
				continue
			}
			loaded++
			if !bytes.Equal(s.AppendBinary(nil), changed) {
				t.Fatalf("byte %d changed by %d loads as another form", i, change)
			}
		}
	}
	if loaded == 0 || refused == 0 {
		t.Errorf("%d loaded, %d refused", loaded, refused)
	}
}
