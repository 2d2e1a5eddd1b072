package eval

import (
	"bufio"
	"cmp"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
)

// Load reads a set from a folder or a file, whose format is found out.
func Load(path string) (*Set, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	var s *Set
	switch {
	case !info.IsDir():
		s, err = loadConversations(path)
	case exists(path, "docs.jsonl"):
		s, err = loadFolder(path)
	case exists(path, "corpus.jsonl"):
		s, err = loadTREC(path)
	case exists(path, "chat.json"):
		s, err = loadBEAM(path)
	default:
		err = errors.New("neither docs.jsonl nor corpus.jsonl nor chat.json is in the folder")
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	s.Name = strings.TrimSuffix(filepath.Base(filepath.Clean(path)), ".json")
	return s, nil
}

func exists(dir, name string) bool {
	for _, suffix := range []string{"", ".gz"} {
		if _, err := os.Stat(filepath.Join(dir, name+suffix)); err == nil {
			return true
		}
	}
	return false
}

// eachLine reads a file, unpacked if it ends in .gz, line by line.
func eachLine(path string, yield func(line []byte) error) error {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		file, err = os.Open(path + ".gz")
	}
	if err != nil {
		return err
	}
	defer file.Close()
	var r io.Reader = file
	if strings.HasSuffix(file.Name(), ".gz") {
		if r, err = gzip.NewReader(file); err != nil {
			return err
		}
	}
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 64<<10), 16<<20)
	for n := 1; lines.Scan(); n++ {
		if len(lines.Bytes()) == 0 {
			continue
		}
		if err := yield(lines.Bytes()); err != nil {
			return fmt.Errorf("%s:%d: %w", filepath.Base(path), n, err)
		}
	}
	return lines.Err()
}

type docLine struct {
	ID    string  `json:"id"`
	G     string  `json:"g"`
	Sess  *string `json:"sess"`
	Seq   int     `json:"seq"`
	Spk   *string `json:"spk"`
	Title string  `json:"title"`
	Text  string  `json:"text"`
}

type queryLine struct {
	ID   string `json:"id"`
	G    string `json:"g"`
	Cat  any    `json:"cat"`
	Text string `json:"text"`
}

// builder collects scopes by name, in order of first appearance.
type builder struct {
	scopes []*Scope
	byName map[string]*Scope
}

func (b *builder) scope(name string) *Scope {
	if b.byName == nil {
		b.byName = map[string]*Scope{}
	}
	s := b.byName[name]
	if s == nil {
		s = &Scope{Name: name}
		b.byName[name] = s
		b.scopes = append(b.scopes, s)
	}
	return s
}

func (b *builder) set() *Set {
	set := &Set{}
	for _, s := range b.scopes {
		set.Scopes = append(set.Scopes, *s)
	}
	return set
}

func loadFolder(dir string) (*Set, error) {
	var b builder
	places := map[string]map[string]int{}
	err := eachLine(filepath.Join(dir, "docs.jsonl"), func(line []byte) error {
		var d docLine
		if err := json.Unmarshal(line, &d); err != nil {
			return err
		}
		s := b.scope(d.G)
		s.Notes = append(s.Notes, Note{ID: d.ID, Session: text(d.Sess), Speaker: text(d.Spk), Title: d.Title, Text: d.Text})
		if places[d.G] == nil {
			places[d.G] = map[string]int{}
		}
		places[d.G][d.ID] = d.Seq
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, s := range b.scopes {
		oneSession(s, places[s.Name])
		sortNotes(s.Notes, places[s.Name])
	}
	grades, err := loadGrades(filepath.Join(dir, "qrels.tsv"))
	if err != nil {
		return nil, err
	}
	err = eachLine(filepath.Join(dir, "queries.jsonl"), func(line []byte) error {
		var q queryLine
		if err := json.Unmarshal(line, &q); err != nil {
			return err
		}
		category := ""
		if q.Cat != nil {
			category = fmt.Sprint(q.Cat)
		}
		s := b.scope(q.G)
		s.Questions = append(s.Questions, Question{ID: q.ID, Category: category, Text: q.Text, Grades: grades[q.ID]})
		return nil
	})
	if err != nil {
		return nil, err
	}
	set := b.set()
	set.Bridges, err = loadGlossary(dir)
	return set, err
}

// oneSession makes a session of a scope whose notes name none, but have speakers
// and an order: a meeting, say, is one. A collection of texts is none.
func oneSession(s *Scope, seq map[string]int) {
	ordered, spoken := false, 0
	for i := range s.Notes {
		if s.Notes[i].Session != "" {
			return
		}
		ordered = ordered || seq[s.Notes[i].ID] != seq[s.Notes[0].ID]
		if s.Notes[i].Speaker != "" {
			spoken++
		}
	}
	for i := range s.Notes {
		if ordered && 2*spoken > len(s.Notes) {
			s.Notes[i].Session = s.Name
		}
	}
}

// sortNotes puts the notes of each session into their order; sessions stay
// where they first appear.
func sortNotes(notes []Note, seq map[string]int) {
	session := map[string]int{}
	for _, n := range notes {
		if _, ok := session[n.Session]; !ok {
			session[n.Session] = len(session)
		}
	}
	slices.SortStableFunc(notes, func(a, b Note) int {
		if a.Session == "" || b.Session == "" || a.Session != b.Session {
			return cmp.Compare(session[a.Session], session[b.Session])
		}
		return cmp.Compare(seq[a.ID], seq[b.ID])
	})
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// loadGrades reads "question note grade" in three columns, or TREC's four.
func loadGrades(path string) (map[string]map[string]int, error) {
	grades := map[string]map[string]int{}
	err := eachLine(path, func(line []byte) error {
		f := strings.Fields(string(line))
		if len(f) == 4 {
			f = []string{f[0], f[2], f[3]}
		}
		if len(f) != 3 {
			return errors.New("want a question, a note and a grade")
		}
		grade, err := strconv.Atoi(f[2])
		if err != nil {
			if f[2] == "score" {
				return nil // a header
			}
			return err
		}
		if grades[f[0]] == nil {
			grades[f[0]] = map[string]int{}
		}
		grades[f[0]][f[1]] = max(0, grade)
		return nil
	})
	return grades, err
}

// loadGlossary prefers the unambiguous glossary, where there are two.
func loadGlossary(dir string) ([]Bridge, error) {
	name := "glossary-unambiguous.tsv"
	if !exists(dir, name) {
		name = "glossary.tsv"
	}
	if !exists(dir, name) {
		return nil, nil
	}
	var out []Bridge
	err := eachLine(filepath.Join(dir, name), func(line []byte) error {
		phrase, target, ok := strings.Cut(string(line), "\t")
		if !ok {
			return errors.New("want a phrase and a target with a tab between")
		}
		out = append(out, Bridge{phrase, target})
		return nil
	})
	return out, err
}

func loadTREC(dir string) (*Set, error) {
	var b builder
	s := b.scope("")
	err := eachLine(filepath.Join(dir, "corpus.jsonl"), func(line []byte) error {
		var d struct {
			ID    string `json:"_id"`
			Title string `json:"title"`
			Text  string `json:"text"`
		}
		err := json.Unmarshal(line, &d)
		s.Notes = append(s.Notes, Note{ID: d.ID, Title: d.Title, Text: d.Text})
		return err
	})
	if err != nil {
		return nil, err
	}
	qrels := filepath.Join(dir, "qrels.tsv")
	if !exists(dir, "qrels.tsv") {
		qrels = filepath.Join(dir, "qrels", "test.tsv")
	}
	grades, err := loadGrades(qrels)
	if err != nil {
		return nil, err
	}
	err = eachLine(filepath.Join(dir, "queries.jsonl"), func(line []byte) error {
		var q struct {
			ID   string `json:"_id"`
			Text string `json:"text"`
		}
		err := json.Unmarshal(line, &q)
		if len(grades[q.ID]) > 0 {
			s.Questions = append(s.Questions, Question{ID: q.ID, Text: q.Text, Grades: grades[q.ID]})
		}
		return err
	})
	return b.set(), err
}
