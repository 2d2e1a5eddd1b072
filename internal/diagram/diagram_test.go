package diagram

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
)

func Example() {
	var d Diagram
	answer := d.Add(0, Node{Name: "?who = Ada", Class: "answer"})
	first := d.Add(1, Node{Name: "r1", Lines: []string{"Ada manages Bob", "source: HR"}, Class: "record"})
	second := d.Add(1, Node{Name: "r7", Lines: []string{"Bob works_at Acme"}, Class: "record"})
	d.Connect(answer, first, "proof 1")
	d.Connect(answer, second, "proof 1")
	d.Connect(second, first, "")
	fmt.Print(d.Text())
	// Output:
	// ?who = Ada
	// ├─ [proof 1] r1
	// │    Ada manages Bob
	// │    source: HR
	// └─ [proof 1] r7
	//    │ Bob works_at Acme
	//    └─ r1 (drawn above)
}

// TestHostileText: no text leaves its place, in either form.
func TestHostileText(t *testing.T) {
	for _, text := range []string{
		"</text><script>alert(1)</script>", `" onload="x`, "a\nb\r\x1b[2J", "\u202eevil", "\xff\xfe", "]]>", "&amp;", "\x00", "\uffff", strings.Repeat("x", 10_000),
	} {
		d := Diagram{Title: text}
		a := d.Add(0, Node{Name: text, Lines: []string{text}, Class: text})
		b := d.Add(1, Node{Name: text})
		d.Connect(a, b, text)
		d.Connect(b, a, text) // a cycle ends
		svg := d.SVG()
		if strings.Contains(svg, "<script") || strings.Contains(svg, `onload="x"`) {
			t.Errorf("%q escapes its place", text)
		}
		decoder := xml.NewDecoder(strings.NewReader(svg))
		for {
			if _, err := decoder.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("%q: the drawing is no XML: %v", text, err)
			}
		}
		for _, line := range strings.Split(strings.TrimSuffix(d.Text(), "\n"), "\n") {
			if strings.ContainsAny(line, "\x1b\r\x00\u202e") {
				t.Errorf("%q: the line %q steers the terminal", text, line)
			}
		}
		if n := strings.Count(d.Text(), "\n"); n != 5 {
			t.Errorf("%q: %d lines", text, n)
		}
	}
}
