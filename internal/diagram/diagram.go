// Package diagram draws small layered graphs, proofs and rewrites, as lines of
// text and as SVG.
//
// A Diagram has columns of nodes and edges between them. As text it is a tree
// for each node that no edge enters, and a node that was drawn before is only
// named. As SVG each column is a stack of boxes, edges are curves from left to
// right (or loops to the side within a column), all text is real text, and
// colours follow the reader's light or dark setting. Every text is escaped; a
// control character is drawn as a space.
package diagram

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"strings"
	"unicode"

	"github.com/rivo/uniseg"
)

// Node is one box.
type Node struct {
	Name  string   // shown first, and alone where the node comes again
	Lines []string // shown below it
	Class string   // a word for colours: answer, proof, record, source, variant, conflict
}

// Edge leads from one node to another; nodes are numbered in the order of
// [Diagram.Add].
type Edge struct {
	From, To int
	Label    string
}

// Diagram is a graph to draw. The zero Diagram is empty.
type Diagram struct {
	Title   string
	nodes   []Node
	column  []int
	edges   []Edge
	entered []bool
}

// Add puts a node at the end of a column (from 0) and returns its number.
func (d *Diagram) Add(column int, n Node) int {
	d.nodes = append(d.nodes, n)
	d.column = append(d.column, column)
	d.entered = append(d.entered, false)
	return len(d.nodes) - 1
}

// Connect draws an edge, once however often it is asked for.
func (d *Diagram) Connect(from, to int, label string) {
	for _, e := range d.edges {
		if e == (Edge{from, to, label}) {
			return
		}
	}
	d.edges = append(d.edges, Edge{from, to, label})
	d.entered[to] = true
}

// Text draws the diagram as trees, one line a node or line of it.
func (d *Diagram) Text() string {
	var b strings.Builder
	if d.Title != "" {
		fmt.Fprintf(&b, "%s\n", oneLine(d.Title))
	}
	drawn := make([]bool, len(d.nodes))
	for i := range d.nodes {
		if !d.entered[i] {
			d.tree(&b, i, "", "", "", drawn)
		}
	}
	for i := range d.nodes { // what is left stands in a cycle
		if !drawn[i] {
			d.tree(&b, i, "", "", "", drawn)
		}
	}
	return b.String()
}

// tree writes a node and below it what it leads to.
func (d *Diagram) tree(b *strings.Builder, i int, first, rest, label string, drawn []bool) {
	n := d.nodes[i]
	if label != "" {
		label = "[" + oneLine(label) + "] "
	}
	if drawn[i] {
		fmt.Fprintf(b, "%s%s%s (drawn above)\n", first, label, oneLine(n.Name))
		return
	}
	drawn[i] = true
	fmt.Fprintf(b, "%s%s%s\n", first, label, oneLine(n.Name))
	var next []Edge
	for _, e := range d.edges {
		if e.From == i {
			next = append(next, e)
		}
	}
	bar := "  "
	if len(next) > 0 {
		bar = "│ "
	}
	for _, line := range n.Lines {
		fmt.Fprintf(b, "%s%s%s\n", rest, bar, oneLine(line))
	}
	for k, e := range next {
		if k == len(next)-1 {
			d.tree(b, e.To, rest+"└─ ", rest+"   ", e.Label, drawn)
		} else {
			d.tree(b, e.To, rest+"├─ ", rest+"│  ", e.Label, drawn)
		}
	}
}

// oneLine makes a text safe to print on one line: it can neither end the line
// nor steer a terminal, nor turn the direction of what follows.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == '\u2028' || r == '\u2029' {
			return ' '
		}
		return r
	}, s)
}

// Sizes of the drawing, in SVG user units (pixels at their natural size).
const (
	charWidth  = 74 // tenths
	lineHeight = 16
	padding    = 8
	gapX       = 90
	gapY       = 14
	margin     = 20
	maxChars   = 48
)

type box struct{ x, y, w, h int }

// SVG draws the diagram as one SVG document.
func (d *Diagram) SVG() string {
	boxes, width, height := d.layout()
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" role="img" aria-label="%s">`+"\n",
		width, height, width, height, escape(d.Title))
	fmt.Fprintf(&b, "<title>%s</title>\n%s", escape(d.Title), "<style>"+css+"</style>\n")
	for _, e := range d.edges {
		drawEdge(&b, boxes[e.From], boxes[e.To], e.Label)
	}
	for i, n := range d.nodes {
		drawNode(&b, boxes[i], n)
	}
	b.WriteString("</svg>\n")
	return b.String()
}

// css is the drawing's style sheet.
const css = `
text{font:12px ui-monospace,Menlo,Consolas,monospace;fill:#1b1f24}
.name{font-weight:bold}
.label{font-size:11px;fill:#57606a}
rect{fill:#f6f8fa;stroke:#8c959f;rx:6px}
path{fill:none;stroke:#8c959f;stroke-width:1.3px}
.answer rect{fill:#dafbe1;stroke:#2da44e}
.proof rect{fill:#ddf4ff;stroke:#218bff}
.variant rect{fill:#fff8c5;stroke:#d4a72c}
.conflict rect{fill:#ffebe9;stroke:#cf222e}
@media (prefers-color-scheme:dark){
text{fill:#e6edf3}.label{fill:#9198a1}rect{fill:#161b22;stroke:#6e7681}path{stroke:#6e7681}
.answer rect{fill:#12341f;stroke:#3fb950}.proof rect{fill:#0c2d4d;stroke:#58a6ff}
.variant rect{fill:#332701;stroke:#d29922}.conflict rect{fill:#3c1214;stroke:#f85149}}
`

// StyleSource is the source expression by which a page's content security policy
// lets the drawings' own style sheet through.
func StyleSource() string {
	sum := sha256.Sum256([]byte(css))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// layout stacks each column's boxes and centres the columns on the tallest.
func (d *Diagram) layout() (boxes []box, width, height int) {
	boxes = make([]box, len(d.nodes))
	var widths, heights []int
	for i, n := range d.nodes {
		for len(widths) <= d.column[i] {
			widths, heights = append(widths, 0), append(heights, -gapY)
		}
		chars := uniseg.StringWidth(shown(n.Name))
		for _, line := range n.Lines {
			chars = max(chars, uniseg.StringWidth(shown(line)))
		}
		c := d.column[i]
		boxes[i] = box{w: chars*charWidth/10 + 2*padding, h: (1+len(n.Lines))*lineHeight + 2*padding}
		boxes[i].y = heights[c] + gapY
		heights[c] += gapY + boxes[i].h
		widths[c] = max(widths[c], boxes[i].w)
	}
	for _, h := range heights {
		height = max(height, h)
	}
	for i := range boxes {
		c := d.column[i]
		boxes[i].x = margin
		for _, w := range widths[:c] {
			boxes[i].x += w + gapX
		}
		boxes[i].y += margin + (height-heights[c])/2
		width = max(width, boxes[i].x+widths[c]+margin)
	}
	return boxes, max(width, 2*margin), height + 2*margin
}

func drawNode(b *strings.Builder, at box, n Node) {
	fmt.Fprintf(b, `<g class="%s"><rect x="%d" y="%d" width="%d" height="%d"/>`, escape(n.Class), at.x, at.y, at.w, at.h)
	y := at.y + padding + lineHeight - 4
	fmt.Fprintf(b, `<text class="name" x="%d" y="%d">%s</text>`, at.x+padding, y, escape(shown(n.Name)))
	for _, line := range n.Lines {
		y += lineHeight
		fmt.Fprintf(b, `<text x="%d" y="%d">%s</text>`, at.x+padding, y, escape(shown(line)))
	}
	b.WriteString("</g>\n")
}

func drawEdge(b *strings.Builder, from, to box, label string) {
	x1, y1 := from.x+from.w, from.y+from.h/2
	x2, y2 := to.x, to.y+to.h/2
	mid := (x1 + x2) / 2
	if from.x >= to.x { // within a column: a loop at the right side
		x2 = to.x + to.w
		mid = max(x1, x2) + gapX/2
	}
	fmt.Fprintf(b, `<path d="M%d %dC%d %d %d %d %d %d"/>`, x1, y1, mid, y1, mid, y2, x2, y2)
	if label != "" {
		fmt.Fprintf(b, `<text class="label" text-anchor="middle" x="%d" y="%d">%s</text>`, mid, (y1+y2)/2-4, escape(shown(label)))
	}
	b.WriteByte('\n')
}

// shown is a text as it is drawn in a box: on one line, shortened if long.
func shown(s string) string {
	s = oneLine(s)
	if uniseg.StringWidth(s) <= maxChars {
		return s
	}
	var b strings.Builder
	width := 0
	for g := uniseg.NewGraphemes(s); g.Next() && width < maxChars-1; {
		b.WriteString(g.Str())
		width += g.Width()
	}
	return b.String() + "…"
}

// escape makes a text safe inside XML text and attributes.
func escape(s string) string {
	s = strings.Map(func(r rune) rune {
		if r == unicode.ReplacementChar || r >= 0xFFFE && r <= 0xFFFF {
			return unicode.ReplacementChar
		}
		return r
	}, strings.ToValidUTF8(oneLine(s), "\uFFFD"))
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "'", "&#39;").Replace(s)
}
