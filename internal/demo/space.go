package demo

import (
	"bytes"
	"fmt"
	"html/template"
	"net/http"
	"os"
	"path/filepath"

	"github.com/go-json-experiment/json"
)

// Case is one story of the demo site, with everything that the engine answered.
type Case struct {
	ID      string  `json:"id"`
	Title   string  `json:"title"`
	Story   string  `json:"story"`
	Steps   []Step  `json:"steps"`
	Records []Entry `json:"records"` // at the end
}

// Step is one request of a case and its reply.
type Step struct {
	Say    string `json:"say"`
	Op     string `json:"op"`
	Args   string `json:"args"`   // JSON
	Result string `json:"result"` // JSON
	Status string `json:"status,omitzero"`
	SVG    string `json:"svg,omitzero"`
	Packet string `json:"packet,omitzero"`
	Size   string `json:"size,omitzero"`
}

// Entry is one record of a case at its end.
type Entry struct {
	ID     string `json:"id"`
	Kind   string `json:"kind"`
	Text   string `json:"text"`
	Source string `json:"source"`
	State  string `json:"state"`
	Why    string `json:"why,omitzero"`
}

// Cases returns the cases that are shipped in the program.
func Cases() ([]Case, error) {
	data, err := files.ReadFile("cases.json")
	if err != nil {
		return nil, err
	}
	var cases []Case
	if err := json.Unmarshal(data, &cases); err != nil {
		return nil, fmt.Errorf("the shipped cases: %w", err)
	}
	return cases, nil
}

// casePage is what the page of a case shows.
type casePage struct {
	frame
	Case struct {
		Title, Story string
		Steps        []shown
		Records      []row
	}
}

func pageOf(c *Case, nav []link) casePage {
	p := casePage{frame: frame{Title: c.Title, Nav: nav, Foot: foot}}
	p.Case.Title, p.Case.Story = c.Title, c.Story
	for _, s := range c.Steps {
		p.Case.Steps = append(p.Case.Steps, shown{
			Say: s.Say, Op: s.Op, Args: indented([]byte(s.Args)), Result: indented([]byte(s.Result)), Status: s.Status,
			Drawing: template.HTML(s.SVG), Packet: s.Packet, Size: s.Size,
		})
	}
	for _, e := range c.Records {
		p.Case.Records = append(p.Case.Records, row{ID: e.ID, Kind: e.Kind, Text: e.Text, Source: e.Source, State: e.State, Why: e.Why})
	}
	return p
}

const foot = "Fixed, made-up cases. A certificate is no signature and proves nothing about the world: only that these records give this result."

// Site returns the public demo as files by name: pages and a style sheet.
func Site() (map[string][]byte, error) {
	cases, err := Cases()
	if err != nil {
		return nil, err
	}
	pages, err := parsePages()
	if err != nil {
		return nil, err
	}
	nav := []link{{"index.html", "All cases"}}
	site := map[string][]byte{}
	if site["style.css"], err = files.ReadFile("assets/style.css"); err != nil {
		return nil, err
	}
	add := func(name, page string, data any) error {
		var b bytes.Buffer
		err := pages.ExecuteTemplate(&b, page, data)
		site[name] = b.Bytes()
		return err
	}
	index := struct {
		frame
		Cases []Case
	}{frame{Title: "Demo", Nav: nav, Foot: foot}, cases}
	if err := add("index.html", "index", index); err != nil {
		return nil, err
	}
	for i := range cases {
		if err := add(cases[i].ID+".html", "case", pageOf(&cases[i], nav)); err != nil {
			return nil, err
		}
	}
	return site, nil
}

// Space serves the public demo: GET and HEAD of fixed files, and nothing else. It
// opens no store and keeps nothing.
func Space() (http.Handler, error) {
	site, err := Site()
	if err != nil {
		return nil, err
	}
	return guard(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := r.URL.Path[1:]
		if name == "" {
			name = "index.html"
		}
		data, ok := site[name]
		if !ok {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		if filepath.Ext(name) == ".css" {
			w.Header().Set("Content-Type", "text/css; charset=utf-8")
		}
		_, _ = w.Write(data)
	}), "'none'", http.MethodGet, http.MethodHead), nil
}

// Export writes the public demo as static files.
func Export(dir string) error {
	site, err := Site()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for name, data := range site {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			return err
		}
	}
	return nil
}
