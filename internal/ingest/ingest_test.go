package ingest

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"testing/iotest"
	"time"
	"unicode/utf8"
)

// show renders items and errors as lines, for comparison.
func show(items iter.Seq2[Item, error]) string {
	var b strings.Builder
	for i, err := range items {
		if err != nil {
			fmt.Fprintf(&b, "! %v\n", err)
			continue
		}
		fmt.Fprintf(&b, "%d ", i.Line)
		switch i.Kind {
		case Claim:
			fmt.Fprintf(&b, "claim %q %q %q %s", i.Entity, i.Predicate, i.Value, i.Cardinality)
		case Bridge:
			fmt.Fprintf(&b, "bridge %q %q", i.Phrase, i.Target)
		case Note:
			fmt.Fprintf(&b, "note %q title=%q session=%q speaker=%q", i.Text, i.Title, i.Session, i.Speaker)
			if !i.SaidAt.IsZero() {
				fmt.Fprintf(&b, " at=%s", i.SaidAt.Format(time.RFC3339Nano))
			}
		}
		b.WriteString("\n")
	}
	return b.String()
}

func check(t *testing.T, items iter.Seq2[Item, error], want string) {
	t.Helper()
	if got := show(items); got != strings.TrimPrefix(want, "\n") {
		t.Errorf("got\n%swant%s", got, want)
	}
}

func TestTables(t *testing.T) {
	check(t, Read(Facts, "f.tsv", strings.NewReader("\uFEFFAlice\tmanager\tBob\r\n\r\n  \nbad line\nBob\t\tx\nBob\trole\t a b \nx\ty\t\xffz\nlast\tone\thas no end")), `
1 claim "Alice" "manager" "Bob" 
! f.tsv:4: 1 fields between tabs; want 3: entity, predicate, value
! f.tsv:5: the predicate is empty
6 claim "Bob" "role" "a b" 
! f.tsv:7: not valid UTF-8 at byte 5 of the line
8 claim "last" "one" "has no end" 
`)
	check(t, Read(Glossary, "g", strings.NewReader("k8s\tkubernetes\nno target\n")), `
1 bridge "k8s" "kubernetes"
! g:2: 1 fields between tabs; want 2: phrase, target
`)
	check(t, Read(Facts, "f", strings.NewReader("")), "\n")
	check(t, Read("csv", "f", strings.NewReader("")), "\n! f: \"csv\" is no format of a file\n")
}

func TestLongLines(t *testing.T) {
	long := strings.Repeat("x", MaxLine+1)
	whole := strings.Repeat("y", MaxLine-len("a\tb"))
	got := show(Read(Glossary, "g", strings.NewReader(long+"\na"+whole[:9]+"\tb\n"+long+"\r\nc\t"+whole+"\r\n"+long)))
	want := fmt.Sprintf("! g:1: the line is longer than 1048576 bytes\n2 bridge \"a%s\" \"b\"\n! g:3: the line is longer than 1048576 bytes\n4 bridge \"c\" %q\n! g:5: the line is longer than 1048576 bytes\n", whole[:9], whole)
	if got != want {
		t.Errorf("got %.300q", got)
	}
}

func TestNotes(t *testing.T) {
	input := `{"text":"one","source":"me","title":"T","session":"s","said_at":"2026-01-02T03:04:05Z","speaker":"Al","ttl":"720h","idempotency_key":"k"}
{"text":"two","txt":1}
{"text":" "}
{"text":"four","ttl":"-1s"}
{"text":"five"}`
	check(t, Read(Notes, "n", strings.NewReader(input)), `
1 note "one" title="T" session="s" speaker="Al" at=2026-01-02T03:04:05Z
! n:2: txt: unknown field
! n:3: text: missing
! n:4: ttl: want a duration greater than zero such as 720h
5 note "five" title="" session="" speaker=""
`)
	for item := range Read(Notes, "n", strings.NewReader(input)) {
		if item.TTL != 720*time.Hour || item.Source != "me" || item.IdempotencyKey != "k" {
			t.Errorf("%+v", item)
		}
		break
	}
}

func TestCutOffNoteLine(t *testing.T) {
	if got := show(Read(Notes, "n", strings.NewReader("\n{\"text\":\"three\""))); !strings.HasPrefix(got, "! n:2: ") {
		t.Error(got)
	}
}

func TestServerMemory(t *testing.T) {
	check(t, Read(ServerMemory, "memory.json", strings.NewReader(`{"type":"entity","name":"Alice","entityType":"person","observations":["likes tea","lives in Basel"]}
{"type":"relation","from":"Alice","to":"Acme","relationType":"works at","createdAt":"ignored"}
{"type":"relation","from":"Alice","to":"Acme"}
{"type":"thing"}
{"type":"entity","entityType":"person"}
{"type":"entity","name":"Empty","entityType":"","observations":[]}
`)), `
1 claim "Alice" "entity_type" "person" multi
1 note "likes tea" title="Alice" session="Alice" speaker=""
1 note "lives in Basel" title="Alice" session="Alice" speaker=""
2 claim "Alice" "works at" "Acme" multi
! memory.json:3: a relation without from, to or relationType
! memory.json:4: type "thing" is neither entity nor relation
! memory.json:5: an entity without a name
`)
}

func file(content string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(content)} }

func TestFolder(t *testing.T) {
	check(t, Folder(fstest.MapFS{
		"b.md":            file("---\ntitle: x\n---\nIntro.\n\n# Operations\n\n## Backup ##\nEvery night.\nAt two.\n\n```sh\n# not a heading\n\nbackup now\n```\n\nRestore\n-------\nBy hand.\n\n# Empty\n# C#\n***\nSharp.\n"),
		"a/notes.txt":     file("First.\r\n\r\n# no heading here\r\n"),
		"a/.hidden.md":    file("hidden"),
		".git/readme.md":  file("hidden"),
		"a/picture.png":   file("\x89PNG"),
		"bad.md":          file("good\n\xff\nalso good\n"),
		"c/front.md":      file("---\nnever closed\n\nso it is text\n"),
		"c/open.markdown": file("~~~~\nopen code\n~~~\n\nto the end"),
		"c/toml.md":       file("+++\na = 1\n+++\nBody\n"),
		"empty.md":        file(""),
	}), `
1 note "First.\n\n# no heading here" title="" session="a/notes.txt" speaker=""
4 note "Intro." title="" session="b.md" speaker=""
9 note "Every night.\nAt two.\n\n`+"```sh\\n# not a heading\\n\\nbackup now\\n```"+`" title="Operations > Backup" session="b.md" speaker=""
20 note "By hand." title="Operations > Restore" session="b.md" speaker=""
25 note "Sharp." title="C#" session="b.md" speaker=""
! bad.md:2: not valid UTF-8 at byte 1 of the line
1 note "good\nalso good" title="" session="bad.md" speaker=""
2 note "never closed\n\nso it is text" title="" session="c/front.md" speaker=""
1 note "~~~~\nopen code\n~~~\n\nto the end" title="" session="c/open.markdown" speaker=""
4 note "Body" title="" session="c/toml.md" speaker=""
`)
}

func TestLongSectionsAreDividedBetweenParagraphs(t *testing.T) {
	paragraph := strings.Repeat("word ", 100)
	code := "```\n" + strings.Repeat("code line\n\n", 300) + "```"
	var notes []Item
	for item, err := range Folder(fstest.MapFS{"a.md": file("# T\n" + strings.Repeat(paragraph+"\n\n", 7) + code + "\n\n" + strings.Repeat("z", MaxNote+5))}) {
		if err != nil {
			t.Fatal(err)
		}
		notes = append(notes, item)
	}
	var sizes []int
	for _, n := range notes {
		sizes = append(sizes, len(n.Text))
		if n.Title != "T" || n.Session != "a.md" {
			t.Errorf("%q %q", n.Title, n.Session)
		}
	}
	if want := []int{1002, 1002, 1002, 500, len(code), MaxNote, 5}; !slices.Equal(sizes, want) || notes[len(notes)-3].Text != code {
		t.Errorf("sizes %v", sizes)
	}
}

func TestOpenFollowsNoLinks(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	write := func(path, content string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(filepath.Join(outside, "secret.md"), "secret")
	write(filepath.Join(dir, "a.md"), "shown")
	for link, to := range map[string]string{"b.md": filepath.Join(outside, "secret.md"), "sub": outside, "loop": dir} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	check(t, Open("", dir), "\n1 note \"shown\" title=\"\" session=\"a.md\" speaker=\"\"\n")
}

func TestOpen(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "facts.tsv")
	if err := os.WriteFile(path, []byte("a\tb\tc\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	check(t, Open("", path), "\n1 claim \"a\" \"b\" \"c\" \n")
	for _, c := range [][2]string{{"", filepath.Join(dir, "missing")}, {Facts, dir}, {Folders, path}, {"csv", path}} {
		var fatal *Error
		for _, err := range Open(c[0], c[1]) {
			if !errors.As(err, &fatal) || !fatal.Fatal {
				t.Errorf("%v: %v", c, err)
			}
		}
		if fatal == nil {
			t.Errorf("%v: no error", c)
		}
	}
}

func TestDetect(t *testing.T) {
	for _, c := range []struct{ name, head, want string }{
		{"a.tsv", "a\tb\tc\n", Facts},
		{"a.tsv", "\uFEFFa\tb\n", Glossary},
		{"a.csv", "a,b,c\n", ""},
		{"notes.jsonl", `{"text":"x","source":"y"}`, Notes},
		{"memory.json", `{"type":"entity","name":"x","entityType":"y","observations":[]}`, ServerMemory},
		{"conversations.json", "[\n {\"mapping\":{}}]", Chats},
		{"chat.json", `{"messages":[]}`, Chats},
		{"train.jsonl", `{"role":"user","content":"x"}`, Chats},
		{"locomo.json", `{"session_1":[]}`, Chats},
		{"x.json", `{"a":1}`, ""},
		{"x", "", ""},
	} {
		if got := Detect(c.name, []byte(c.head)); got != c.want {
			t.Errorf("%s %q: %q, want %q", c.name, c.head, got, c.want)
		}
	}
	for _, f := range Formats() {
		if f.Folder {
			continue
		}
		if got := Detect("x.tsv", []byte(f.Example)); got != f.Name {
			t.Errorf("the example of %s is detected as %q", f.Name, got)
		}
		if got := show(Read(f.Name, "x", strings.NewReader(f.Example))); got == "" || strings.Contains(got, "!") {
			t.Errorf("the example of %s reads as %s", f.Name, got)
		}
	}
}

func TestReadErrorsAreFatal(t *testing.T) {
	for _, f := range Formats() {
		if f.Folder {
			continue
		}
		broken := errors.New("broken disk")
		var last error
		for _, err := range Read(f.Name, "x", iotest.ErrReader(broken)) {
			last = err
		}
		var place *Error
		if !errors.As(last, &place) || !place.Fatal || !errors.Is(last, broken) {
			t.Errorf("%s: %v", f.Name, last)
		}
	}
}

// A consumer may stop anywhere.
func TestStopping(t *testing.T) {
	inputs := map[string]string{
		Facts: "a\tb\tc\nbad\nd\te\tf\n", Glossary: "a\tb\nbad\nc\td\n", Notes: "{\"text\":\"a\"}\nbad\n{\"text\":\"b\"}\n",
		ServerMemory: `{"type":"entity","name":"a","entityType":"b","observations":["c","d"]}`,
		Chats:        `[{"id":"s","date":"never","turns":[{"speaker":"A","text":"one"},{"speaker":"B","text":"two"},7]},{"mapping":{"a":{"message":{"author":{"role":"user"},"content":{"parts":["x"]}}}}}] 5`,
	}
	for format, input := range inputs {
		total := 0
		for range Read(format, "x", strings.NewReader(input)) {
			total++
		}
		for stop := 1; stop <= total; stop++ {
			n := 0
			for range Read(format, "x", strings.NewReader(input)) {
				if n++; n == stop {
					break
				}
			}
		}
	}
	for range Folder(fstest.MapFS{"a.md": file("# A\nx\n# B\ny\n"), "b.md": file("z")}) {
		break
	}
}

func TestPiecesLoseNothing(t *testing.T) {
	text := strings.Repeat("Ein Wort für 中文 und 🙂.\nNoch eins.\n\n", 300)
	for _, limit := range []int{10, 64, 1000} {
		var got strings.Builder
		for p := range pieces(text, limit) {
			if len(p) > limit || !utf8.ValidString(p) {
				t.Fatalf("piece of %d bytes at limit %d", len(p), limit)
			}
			got.WriteString(p)
		}
		if strings.Join(strings.Fields(got.String()), "") != strings.Join(strings.Fields(text), "") {
			t.Errorf("limit %d: text is lost", limit)
		}
	}
}

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
		if dir == filepath.Dir(dir) {
			t.Fatal("no go.mod above the test")
		}
		dir = filepath.Dir(dir)
	}
	path := filepath.Join(append([]string{filepath.Dir(dir), "shared", "data"}, name...)...)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("%s is not there", filepath.Join(name...))
	}
	return path
}

func TestSharedData(t *testing.T) {
	for _, c := range []struct {
		path []string
		want int
	}{
		{[]string{"codex", "codex-s.tsv"}, 36_543},
		{[]string{"countries", "countries.tsv"}, 1_110},
		{[]string{"retrieval", "medsyn", "glossary.tsv"}, 21_851},
	} {
		t.Run(filepath.Join(c.path...), func(t *testing.T) {
			n := 0
			for item, err := range Open("", sharedData(t, c.path...)) {
				if err != nil {
					t.Fatal(item.Position, err)
				}
				n++
			}
			if n != c.want {
				t.Errorf("%d items, want %d", n, c.want)
			}
		})
	}
}

// fuzz checks that any input gives well-formed items, and placed errors.
func fuzz(t *testing.T, items iter.Seq2[Item, error]) {
	for item, err := range items {
		var place *Error
		if err != nil {
			if !errors.As(err, &place) || place.File == "" {
				t.Fatalf("error without a place: %v", err)
			}
			continue
		}
		for _, s := range []string{item.Entity, item.Value, item.Text, item.Title, item.Session, item.Speaker, item.Phrase, item.Target} {
			if !utf8.ValidString(s) {
				t.Fatalf("%q is not UTF-8", s)
			}
		}
		if item.Kind == Note && (strings.TrimSpace(item.Text) == "" || len(item.Text) > MaxNote && item.IdempotencyKey == "") || item.Line == 0 {
			t.Fatalf("%+v", item)
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, format := range Formats() {
		f.Add(format.Name, []byte(format.Example))
	}
	f.Add(Chats, []byte(chatGPT))
	f.Add(Chats, []byte(claude))
	f.Add(Chats, []byte(locomo))
	f.Add(Facts, []byte("\uFEFFa\tb\tc\r\n\xff\n"))
	f.Fuzz(func(t *testing.T, format string, data []byte) {
		fuzz(t, Read(format, "x", bytes.NewReader(data)))
		Detect("x", data)
	})
}

func FuzzFolder(f *testing.F) {
	f.Add([]byte("---\na: b\n---\n# T\ntext\n```\ncode\n```\nSet\n===\n"), true)
	f.Add([]byte("one\n\ntwo"), false)
	f.Fuzz(func(t *testing.T, data []byte, markdown bool) {
		name := "a.txt"
		if markdown {
			name = "a.md"
		}
		fuzz(t, Folder(fstest.MapFS{name: {Data: data}}))
	})
}

func ExampleRead() {
	for item, err := range Read(Facts, "team.tsv", strings.NewReader("Alice\tmanager\tBob\nnonsense\n")) {
		if err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Println(item.Position, item.Entity, item.Predicate, item.Value)
	}
	// Output:
	// team.tsv:1 Alice manager Bob
	// team.tsv:2: 1 fields between tabs; want 3: entity, predicate, value
}

// The turns of the shared set come back from a file in the simple shape.
func TestManyTurns(t *testing.T) {
	in, err := os.Open(sharedData(t, "retrieval", "musique100", "docs.jsonl.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	z, err := gzip.NewReader(in)
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	for item, err := range Read(Chats, "docs", z) {
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, item.Text)
	}
	if len(texts) < 1_890 || slices.Contains(texts, "") {
		t.Errorf("%d texts", len(texts))
	}
}
