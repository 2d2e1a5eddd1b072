package screen

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// sharedData returns the path of a file of the shared data beside the
// repository, or skips the test.
func sharedData(t testing.TB, name ...string) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			t.Fatal("no go.mod above the test")
		}
		dir = parent
	}
	path := filepath.Join(append([]string{filepath.Dir(dir), "shared", "data"}, name...)...)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("%s is not there", filepath.Join(name...))
	}
	return path
}

type sample struct {
	Text string `json:"text"`
	Set  string `json:"set"`
}

func samples(t testing.TB, name string) []sample {
	t.Helper()
	file, err := os.Open(sharedData(t, "injection", name))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var out []sample
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var s sample
		if err := json.Unmarshal(lines.Bytes(), &s); err != nil {
			t.Fatal(err)
		}
		out = append(out, s)
	}
	if lines.Err() != nil {
		t.Fatal(lines.Err())
	}
	return out
}

func TestMeasured(t *testing.T) {
	flagged := func(name string) (n, of int) {
		bySet := map[string][2]int{}
		for _, s := range samples(t, name) {
			c := bySet[s.Set]
			if c[1]++; Check(s.Text) != "" {
				c[0]++
				n++
			}
			bySet[s.Set] = c
			of++
		}
		t.Logf("%s: %d of %d flagged; by set %v", name, n, of, bySet)
		return n, of
	}
	if n, of := flagged("attack.jsonl"); n*2 < of {
		t.Errorf("%d of %d attacks flagged; at least half must be", n, of)
	}
	if n, of := flagged("benign.jsonl"); n*200 > of {
		t.Errorf("%d of %d benign texts flagged; at most 0.5 %% may be", n, of)
	}
}
