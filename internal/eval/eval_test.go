package eval

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"
)

func ExampleMeasure() {
	m := Measure([]string{"b", "a", "c"}, map[string]int{"a": 1, "d": 1})
	fmt.Printf("recall@5 %.2f, MRR %.2f, nDCG@10 %.3f\n", m.Recall5, m.MRR, m.NDCG10)
	// Output: recall@5 0.50, MRR 0.50, nDCG@10 0.387
}

func TestMeasuresAtTheirEnds(t *testing.T) {
	grades := map[string]int{"a": 2, "b": 1, "c": 0}
	if m := Measure([]string{"a", "b"}, grades); m != (Measures{0.5, 1, 1, 1, 1}) {
		t.Errorf("a perfect list measures %+v", m)
	}
	if m := Measure([]string{"c", "x"}, grades); m != (Measures{}) {
		t.Errorf("a useless list measures %+v", m)
	}
	if m := Measure(nil, nil); m != (Measures{}) {
		t.Errorf("nothing measures %+v", m)
	}
}

func TestBootstrap(t *testing.T) {
	values := make([]float64, 400)
	for i := range values {
		values[i] = float64(i % 2)
	}
	i := Bootstrap(values)
	if i.Low >= 0.5 || i.High <= 0.5 || math.Abs(i.High-i.Low-2*1.96*0.025) > 0.02 {
		t.Errorf("interval %v of a fair coin, 400 times", i)
	}
	if mean, i := Difference(values, values); mean != 0 || i != (Interval{}) {
		t.Errorf("a list differs from itself by %v, %v", mean, i)
	}
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestLoaders: each format gives two notes and one question whose evidence is the second.
func TestLoaders(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "own/docs.jsonl", `{"id":"b","g":"x","sess":"s","seq":2,"spk":"B","text":"two"}`+"\n"+`{"id":"a","g":"x","sess":"s","seq":1,"spk":null,"text":"one"}`+"\n")
	write(t, dir, "own/queries.jsonl", `{"id":"q","g":"x","cat":4,"text":"which"}`+"\n")
	write(t, dir, "own/qrels.tsv", "q\tb\t1\n")
	write(t, dir, "own/glossary.tsv", "k8s\tkubernetes\n")
	write(t, dir, "trec/corpus.jsonl", `{"_id":"a","title":"t","text":"one"}`+"\n"+`{"_id":"b","title":"","text":"two"}`+"\n")
	write(t, dir, "trec/queries.jsonl", `{"_id":"q","text":"which"}`+"\n"+`{"_id":"unjudged","text":"x"}`+"\n")
	write(t, dir, "trec/qrels/test.tsv", "query-id\tcorpus-id\tscore\nq\tb\t1\n")
	write(t, dir, "locomo.json", `[{"sample_id":"c","conversation":{"speaker_a":"A","session_1_date_time":"x","session_1":[{"speaker":"A","dia_id":"D1:1","text":"one"},{"speaker":"B","dia_id":"D1:2","text":"two"}]},"qa":[{"question":"which","answer":"two","evidence":["D1:2"],"category":4},{"question":"none","evidence":[],"category":5}]}]`)
	write(t, dir, "longmemeval.json", `[{"question_id":"q","question_type":"single","question":"which","haystack_sessions":[[{"role":"user","content":"one"},{"role":"assistant","content":"two","has_answer":true}]]}]`)
	write(t, dir, "beam/chat.json", `[{"batch_number":1,"turns":[[{"role":"user","id":0,"content":"one"},{"role":"assistant","id":1,"content":"two"}]]}]`)
	write(t, dir, "beam/probing_questions.json", `{"temporal":[{"question":"which","source_chat_ids":{"first":[1]}}]}`)
	for _, name := range []string{"own", "trec", "locomo.json", "longmemeval.json", "beam"} {
		set, err := Load(filepath.Join(dir, name))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if set.Notes() != 2 || set.Questions() != 1 {
			t.Errorf("%s: %d notes, %d questions", name, set.Notes(), set.Questions())
			continue
		}
		scope := set.Scopes[0]
		if scope.Notes[1].Text != "two" || scope.Questions[0].Grades[scope.Notes[1].ID] != 1 || scope.Questions[0].Text != "which" {
			t.Errorf("%s: %+v", name, scope)
		}
	}
	for name, text := range map[string]string{"bad.json": "[{}]", "empty.json": "[]", "cut.json": "[{", "no/x": ""} {
		write(t, dir, name, text)
		if _, err := Load(filepath.Join(dir, filepath.Clean(name))); err == nil {
			t.Errorf("%s was read", name)
		}
	}
}
