// Package demo is what people look at: the public demo site, which shows fixed
// cases and opens no store, and the inspector, which shows a user's own store
// and cannot write to it.
//
// Both are plain pages made on the server from one set of templates; they need no
// script and load nothing from elsewhere. Drawings are SVG with real text. Record
// text goes through the templates' escaping or the drawings' own; nothing is
// trusted.
package demo

import (
	"bytes"
	"embed"
	"html/template"
	"net/http"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/grounded-memory/grounded"
	"github.com/grounded-memory/grounded/internal/diagram"
	"github.com/grounded-memory/grounded/internal/explain"
)

//go:embed assets/style.css assets/pages.html cases.json
var files embed.FS

// link is one entry of a page's navigation.
type link struct{ Href, Text string }

// frame is what every page has.
type frame struct {
	Title, Root, Foot string
	Nav               []link
}

// row is a record in a table.
type row struct {
	Href, ID, Kind, Text, Source, State, Why string
}

func rowOf(r *grounded.Record, href string) row {
	return row{Href: href, ID: r.ID.String(), Kind: string(r.Kind), Text: explain.RecordText(r), Source: r.Source, State: string(r.State), Why: r.InstructionLike}
}

// shown is one step of a case, or one answer of the inspector.
type shown struct {
	Say, Op, Args, Result string
	Status                string
	Drawing               template.HTML // made by package diagram, which escapes every text
	Packet, Size          string
}

func parsePages() (*template.Template, error) {
	return template.ParseFS(files, "assets/pages.html")
}

// render writes a page, or says that it could not be made.
func render(w http.ResponseWriter, pages *template.Template, name string, data any) {
	var b bytes.Buffer
	if err := pages.ExecuteTemplate(&b, name, data); err != nil {
		http.Error(w, "the page could not be made", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = w.Write(b.Bytes())
}

// guard sets the headers of every answer and lets only some methods through.
func guard(next http.Handler, forms string, methods ...string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", "default-src 'none'; style-src 'self' "+diagram.StyleSource()+"; img-src 'self' data:; base-uri 'none'; form-action "+forms+"; frame-ancestors 'none'")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		for _, m := range methods {
			if r.Method == m {
				next.ServeHTTP(w, r)
				return
			}
		}
		h.Set("Allow", "GET, HEAD")
		http.Error(w, "only GET is answered here", http.StatusMethodNotAllowed)
	})
}

func indented(data []byte) string {
	v := jsontext.Value(data).Clone()
	if err := v.Indent(jsontext.WithIndent("  ")); err != nil {
		return string(data)
	}
	return string(v)
}
