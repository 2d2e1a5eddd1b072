package rewrite

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func bridge(record uint64, phrase, target string) Bridge {
	return Bridge{
		Record: record, Phrase: strings.Fields(phrase), Target: strings.Fields(target),
		PhraseText: strings.ToUpper(phrase), TargetText: target,
	}
}

func expand(t testing.TB, s *Set, query string, variants, steps int) *Result {
	t.Helper()
	r, err := s.Expand(t.Context(), strings.Fields(query), Limits{variants, steps})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// show renders a result as text, for comparison.
func show(r *Result) string {
	var b strings.Builder
	for _, v := range r.Variants {
		fmt.Fprintf(&b, "%s", strings.Join(v.Words, " "))
		for _, w := range v.Rewrites {
			fmt.Fprintf(&b, " [%d %s>%s @%d]", w.Bridge, w.Phrase, w.Target, w.At)
		}
		b.WriteString("\n")
	}
	for _, c := range r.Conflicts {
		fmt.Fprintf(&b, "conflict %s %v\n", c.Phrase, c.Records)
	}
	if r.Bound != "" {
		fmt.Fprintf(&b, "bound %s\n", r.Bound)
	}
	return b.String()
}

func TestExpand(t *testing.T) {
	for _, c := range []struct {
		name            string
		bridges         []Bridge
		query           string
		variants, steps int
		want            string
	}{
		{"no bridge", nil, "cat", 16, 3, "cat\n"},
		{"empty query", []Bridge{bridge(1, "a", "b")}, "", 16, 3, "\n"},
		{"one rewrite", []Bridge{bridge(4, "k8s", "kubernetes")}, "k8s outage", 16, 3, "k8s outage\nkubernetes outage [4 K8S>kubernetes @0]\n"},
		{"word boundary", []Bridge{bridge(1, "cat", "dog")}, "concatenate", 16, 3, "concatenate\n"},
		{"every occurrence", []Bridge{bridge(1, "a", "b")}, "a a", 16, 3, "a a\nb a [1 A>b @0]\na b [1 A>b @1]\nb b [1 A>b @0] [1 A>b @1]\n"},
		{"cycle ends", []Bridge{bridge(1, "a", "b"), bridge(2, "b", "a")}, "a", 2, 1, "a\nb [1 A>b @0]\n"},
		{"self loop", []Bridge{bridge(1, "a", "a")}, "a", 1, 0, "a\n"},
		{"lowest bridge wins", []Bridge{bridge(9, "a", "b"), bridge(3, "a", "b")}, "a", 16, 3, "a\nb [3 A>b @0]\n"},
		{"longer phrase", []Bridge{bridge(1, "a b", "x"), bridge(2, "a b c", "y z")}, "a b c", 16, 3, "a b c\nx c [1 A B>x @0]\ny z [2 A B C>y z @0]\n"},
		{"shortest derivation", []Bridge{bridge(1, "a", "b"), bridge(2, "b", "c"), bridge(3, "a d", "c d")}, "a d", 16, 3, "a d\nb d [1 A>b @0]\nc d [3 A D>c d @0]\n"},
		{"leftmost of equal", []Bridge{bridge(1, "x x", "x")}, "x x x", 16, 3, "x x x\nx x [1 X X>x @0]\nx [1 X X>x @0] [1 X X>x @0]\n"},
		{"conflict", []Bridge{bridge(1, "a", "b"), bridge(2, "a", "c"), bridge(3, "d", "e")}, "a d", 16, 3, "conflict a [1 2]\n"},
		{"unreached conflict", []Bridge{bridge(1, "a", "b"), bridge(2, "a", "c"), bridge(3, "d", "e")}, "d", 16, 3, "d\ne [3 D>e @0]\n"},
		{"conflict at the last step", []Bridge{bridge(1, "a", "b"), bridge(2, "b", "c"), bridge(3, "b", "d")}, "a", 16, 1, "conflict b [2 3]\n"},
		{"conflict beyond the last step", []Bridge{bridge(1, "a", "b"), bridge(2, "b", "c"), bridge(3, "b", "d")}, "a", 16, 0, "bound steps\n"},
		{"conflict before budget", []Bridge{bridge(1, "a", "b"), bridge(2, "b", "c"), bridge(3, "b", "d")}, "a", 1, 3, "conflict b [2 3]\n"},
		{"all conflicts", []Bridge{bridge(1, "a", "b"), bridge(2, "a", "c"), bridge(3, "c", "d"), bridge(4, "c", "e"), bridge(5, "c", "e")}, "a", 16, 3, "conflict a [1 2]\nconflict c [3 4 5]\n"},
		{"identity conflicts too", []Bridge{bridge(1, "a", "a"), bridge(2, "a", "c")}, "a", 16, 3, "conflict a [1 2]\n"},
		{"too many variants", []Bridge{bridge(1, "a", "b")}, "a a a", 7, 3, "bound variants\n"},
		{"too many steps", []Bridge{bridge(1, "a", "b"), bridge(2, "b", "c")}, "a", 16, 1, "bound steps\n"},
		{"exactly enough", []Bridge{bridge(1, "a", "b"), bridge(2, "b", "c")}, "a", 3, 2, "a\nb [1 A>b @0]\nc [1 A>b @0] [2 B>c @0]\n"},
		{"no steps", []Bridge{bridge(1, "a", "b")}, "c", 16, 0, "c\n"},
		{"unusable bridges", []Bridge{{Record: 1}, bridge(2, "", "x"), bridge(3, "a", ""), {Record: 4, Phrase: []string{"a\x00b"}, Target: []string{"x"}}}, "a b", 16, 3, "a b\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := show(expand(t, Build(c.bridges), c.query, c.variants, c.steps)); got != c.want {
				t.Errorf("got\n%swant\n%s", got, c.want)
			}
		})
	}
}

func TestWordsThatHoldASeparatorMatchNothing(t *testing.T) {
	r, err := Build([]Bridge{bridge(1, "a b", "c")}).Expand(t.Context(), []string{"a\x00b", ""}, Limits{16, 3})
	if err != nil || len(r.Variants) != 1 {
		t.Errorf("%v %v", r, err)
	}
}

func TestContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Build(nil).Expand(ctx, []string{"a"}, Limits{16, 3}); err == nil {
		t.Error("a cancelled context gave no error")
	}
}

// P40: a bridge makes two names no more equal than it says. It works in one
// direction, for the whole phrase, and not any more once it is gone.
func TestP40_BridgesAreDirectedAndRemovable(t *testing.T) {
	set := Build([]Bridge{bridge(1, "jutta", "anna schmidt")})
	for query, want := range map[string]string{
		"jutta":        "jutta\nanna schmidt [1 JUTTA>anna schmidt @0]\n",
		"anna schmidt": "anna schmidt\n",
		"anna":         "anna\n",
		"juttas":       "juttas\n",
	} {
		if got := show(expand(t, set, query, 16, 3)); got != want {
			t.Errorf("%q: got\n%swant\n%s", query, got, want)
		}
	}
	if got := show(expand(t, set.Apply(nil, []uint64{1}), "jutta", 16, 3)); got != "jutta\n" {
		t.Errorf("removed: %s", got)
	}
}

// The hostile graphs of the safety research: the outcome is a conflict or an
// exceeded budget, and the work stays small.
func TestHostileGraphs(t *testing.T) {
	chain := make([]Bridge, 100)
	for i := range chain {
		chain[i] = bridge(uint64(i+1), fmt.Sprintf("w%d", i), fmt.Sprintf("w%d", i+1))
	}
	var clique []Bridge
	for i := range 32 {
		for j := range 32 {
			if i != j {
				clique = append(clique, bridge(uint64(len(clique)+1), fmt.Sprintf("w%d", i), fmt.Sprintf("w%d", j)))
			}
		}
	}
	fan := make([]Bridge, 100_000)
	for i := range fan {
		fan[i] = bridge(uint64(i+1), "w0", fmt.Sprintf("t%d", i))
	}
	var nested []Bridge // every run of a's, one longer
	for i := 1; i < 300; i++ {
		nested = append(nested, bridge(uint64(i), strings.Repeat("a ", i), strings.Repeat("a ", i+1)))
	}
	for _, c := range []struct {
		name, query, bound string
		bridges            []Bridge
		conflicts, records int
	}{
		{"chain", "w0", BoundSteps, chain, 0, 0},
		{"clique", "w5", "", clique, 32, 31},
		{"fan-out", "w0", "", fan, 1, 100_000},
		{"doubling", strings.Repeat("a ", 4000), BoundVariants, []Bridge{bridge(1, "a", "b")}, 0, 0},
		{"nested", strings.Repeat("a ", 4000), BoundVariants, nested, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := expand(t, Build(c.bridges), c.query, 16, 3)
			if r.Bound != c.bound || len(r.Conflicts) != c.conflicts || len(r.Variants) > 0 {
				t.Fatalf("bound %q, %d conflicts, %d variants", r.Bound, len(r.Conflicts), len(r.Variants))
			}
			for _, x := range r.Conflicts {
				if len(x.Records) != c.records {
					t.Errorf("%s: %d records", x.Phrase, len(x.Records))
				}
			}
		})
	}
}

// naive is the specification read literally: all derivations, one by one.
func naive(bridges []Bridge, query string, limits Limits) string {
	type derivation struct {
		words string
		path  []Rewrite
	}
	better := func(a, b []Rewrite) bool {
		if len(a) != len(b) {
			return len(a) < len(b)
		}
		for i := range a {
			if a[i].Bridge != b[i].Bridge {
				return a[i].Bridge < b[i].Bridge
			}
		}
		for i := range a {
			if a[i].At != b[i].At {
				return a[i].At < b[i].At
			}
		}
		return false
	}
	best := map[string][]Rewrite{}
	reached := map[string]bool{}
	deeper := map[string]bool{}
	var visit func(d derivation)
	visit = func(d derivation) {
		if len(d.path) > limits.Steps {
			deeper[d.words] = true
			return
		}
		if old, ok := best[d.words]; !ok || better(d.path, old) {
			best[d.words] = slices.Clone(d.path)
		}
		words := strings.Fields(d.words)
		for _, b := range bridges {
			for at := 0; at+len(b.Phrase) <= len(words); at++ {
				if !slices.Equal(words[at:at+len(b.Phrase)], b.Phrase) {
					continue
				}
				reached[strings.Join(b.Phrase, " ")] = true
				next := slices.Concat(words[:at], b.Target, words[at+len(b.Phrase):])
				visit(derivation{strings.Join(next, " "), append(slices.Clone(d.path), Rewrite{b.Record, b.PhraseText, b.TargetText, at})})
			}
		}
	}
	visit(derivation{query, nil})
	targets, records := map[string]map[string]bool{}, map[string][]uint64{}
	for _, b := range bridges {
		p := strings.Join(b.Phrase, " ")
		if targets[p] == nil {
			targets[p] = map[string]bool{}
		}
		targets[p][strings.Join(b.Target, " ")] = true
		records[p] = append(records[p], b.Record)
	}
	r := new(Result)
	for p := range reached {
		if len(targets[p]) > 1 {
			slices.Sort(records[p])
			r.Conflicts = append(r.Conflicts, Conflict{p, records[p]})
		}
	}
	slices.SortFunc(r.Conflicts, func(a, b Conflict) int { return strings.Compare(a.Phrase, b.Phrase) })
	if len(r.Conflicts) > 0 {
		return show(r)
	}
	if len(best) > limits.Variants {
		return "bound variants\n"
	}
	for words := range deeper {
		if _, ok := best[words]; !ok {
			return "bound steps\n"
		}
	}
	for words, path := range best {
		r.Variants = append(r.Variants, Variant{strings.Fields(words), path})
	}
	slices.SortFunc(r.Variants, func(a, b Variant) int {
		if better(a.Rewrites, b.Rewrites) {
			return -1
		}
		return 1
	})
	return show(r)
}

func drawWords(t *rapid.T, name string, low, high int) string {
	return strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c", "d", "ab"}), low, high).Draw(t, name), " ")
}

// Any sequence of Apply, and a trip through the codec, leaves a set that expands
// as the naive rewriter does.
func TestModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := new(Set)
		model := map[uint64]Bridge{}
		for range rapid.IntRange(1, 5).Draw(t, "edits") {
			var add []Bridge
			var remove []uint64
			for range rapid.IntRange(0, 4).Draw(t, "remove") {
				remove = append(remove, rapid.Uint64Range(1, 12).Draw(t, "gone"))
			}
			for range rapid.IntRange(0, 4).Draw(t, "add") {
				add = append(add, bridge(rapid.Uint64Range(1, 12).Draw(t, "record"), drawWords(t, "phrase", 1, 2), drawWords(t, "target", 1, 2)))
			}
			s = s.Apply(add, remove)
			for _, r := range remove {
				delete(model, r)
			}
			for _, b := range add {
				model[b.Record] = b
			}
		}
		var bridges []Bridge
		targets := map[string]map[string]bool{}
		for _, b := range model {
			bridges = append(bridges, b)
			p := strings.Join(b.Phrase, " ")
			if targets[p] == nil {
				targets[p] = map[string]bool{}
			}
			targets[p][strings.Join(b.Target, " ")] = true
		}
		conflicts := 0
		for _, set := range targets {
			if len(set) > 1 {
				conflicts++
			}
		}
		data := s.AppendBinary(nil)
		loaded, err := Load(data)
		if err != nil {
			t.Fatal(err)
		}
		if fresh := Build(bridges).AppendBinary(nil); string(fresh) != string(data) || string(loaded.AppendBinary(nil)) != string(data) {
			t.Fatal("the encoding depends on the order of writing")
		}
		query := drawWords(t, "query", 0, 4)
		limits := Limits{rapid.IntRange(1, 12).Draw(t, "variants"), rapid.IntRange(0, 3).Draw(t, "steps")}
		want := naive(bridges, query, limits)
		for name, set := range map[string]*Set{"applied": s, "loaded": loaded} {
			if set.Len() != len(model) || set.Conflicts() != conflicts {
				t.Fatalf("%s: %d bridges, %d conflicts; want %d, %d", name, set.Len(), set.Conflicts(), len(model), conflicts)
			}
			r, err := set.Expand(context.Background(), strings.Fields(query), limits)
			if err != nil {
				t.Fatal(err)
			}
			if got := show(r); got != want {
				t.Fatalf("%s: %q %v\ngot\n%swant\n%s", name, query, limits, got, want)
			}
		}
	})
}

func FuzzLoad(f *testing.F) {
	f.Add(Build(nil).AppendBinary(nil))
	f.Add(Build([]Bridge{bridge(3, "k8s", "kubernetes"), bridge(1, "a b", "c"), bridge(2, "a", "c d")}).AppendBinary(nil))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := Load(data)
		if err != nil {
			return
		}
		if string(s.AppendBinary(nil)) != string(data) {
			t.Fatal("loaded and encoded again, it differs")
		}
		if _, err := s.Expand(t.Context(), []string{"a", "b", "k8s", "\x00"}, Limits{16, 3}); err != nil {
			t.Fatal(err)
		}
		s.Apply([]Bridge{bridge(1, "a b", "d")}, []uint64{2, 3})
	})
}

// Every single changed byte of an encoding is refused or gives another set.
func TestLoadNoticesChangedBytes(t *testing.T) {
	data := Build([]Bridge{bridge(3, "k8s", "kubernetes"), bridge(1, "a b", "c"), bridge(2, "a", "c d")}).AppendBinary(nil)
	for i := range data {
		for _, flip := range []byte{1, 0x80, 0xff} {
			changed := slices.Clone(data)
			changed[i] ^= flip
			if s, err := Load(changed); err == nil && string(s.AppendBinary(nil)) != string(changed) {
				t.Errorf("byte %d ^ %#x: read as another set", i, flip)
			}
		}
		if _, err := Load(data[:i]); err == nil {
			t.Errorf("read from its first %d bytes", i)
		}
	}
	if _, err := Load(append(data, 0)); err == nil {
		t.Error("read with a byte too many")
	}
}

func ExampleSet_Expand() {
	set := Build([]Bridge{{
		Record: 4, Phrase: []string{"k8s"}, PhraseText: "K8s", Target: []string{"kubernetes"}, TargetText: "Kubernetes",
	}})
	result, err := set.Expand(context.Background(), []string{"k8s", "outage"}, Limits{Variants: 16, Steps: 3})
	if err != nil {
		return
	}
	for _, v := range result.Variants {
		fmt.Println(v.Words, v.Rewrites)
	}
	// Output:
	// [k8s outage] []
	// [kubernetes outage] [{4 K8s Kubernetes 0}]
}

func benchmarkSet(n int) []Bridge {
	bridges := make([]Bridge, n)
	for i := range bridges {
		bridges[i] = bridge(uint64(i+1), fmt.Sprintf("term%d of%d", i/2, i%2), fmt.Sprintf("long form %d", i))
	}
	return bridges
}

func BenchmarkExpand(b *testing.B) {
	query := "what did term7 of1 and term9 of0 say about the outage last week"
	for _, n := range []int{100, 100_000} {
		set := Build(benchmarkSet(n))
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				expand(b, set, query, 16, 3)
			}
		})
	}
}

func BenchmarkLoad(b *testing.B) {
	data := Build(benchmarkSet(100_000)).AppendBinary(nil)
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Load(data); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkApply(b *testing.B) {
	set := Build(benchmarkSet(100_000))
	record := uint64(1_000_000)
	for b.Loop() {
		record++
		set = set.Apply([]Bridge{bridge(record, fmt.Sprintf("fresh%d", record), "x")}, []uint64{record - 999_000})
	}
}

func BenchmarkHostile(b *testing.B) {
	set := Build([]Bridge{bridge(1, "a", "b")})
	var nested []Bridge
	for i := 1; i < 500; i++ {
		nested = append(nested, bridge(uint64(i), strings.Repeat("a ", i), strings.Repeat("a ", i+1)))
	}
	all := Build(nested)
	for b.Loop() {
		expand(b, set, strings.Repeat("a ", 4000), 32, 4)
		expand(b, all, strings.Repeat("a ", 4000), 32, 4)
	}
}
