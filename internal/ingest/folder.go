package ingest

import (
	"errors"
	"io/fs"
	"iter"
	"path"
	"strings"
)

// Folder reads the Markdown (.md, .markdown) and text (.txt, .text) files of a
// folder and of the folders in it, in the order of their paths. Files and folders
// whose names begin with a dot, symbolic links and anything but plain files are
// passed over.
//
// A note is what stands under one heading; if that is more than about 1,500
// bytes, it is several notes, each of whole paragraphs. Fenced code, and what is
// written right before and behind it, stays whole. The session is the file's
// path with forward slashes, the title the chain of headings ("Operations >
// Backup"). Front matter between lines of --- or +++ at the top of a Markdown
// file is skipped. The heading itself is not repeated in the text.
func Folder(fsys fs.FS) iter.Seq2[Item, error] {
	return func(yield func(Item, error) bool) {
		err := fs.WalkDir(fsys, ".", func(name string, entry fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return &Error{Position{name, 0}, err, true}
			case name != "." && strings.HasPrefix(path.Base(name), "."):
				if entry.IsDir() {
					return fs.SkipDir
				}
				return nil
			case !entry.Type().IsRegular() || !isMarkdown(name) && !isText(name):
				return nil
			}
			return readDocument(fsys, name, yield)
		})
		if err != nil && !errors.Is(err, errStopped) {
			yield(Item{}, err)
		}
	}
}

// errStopped says that the consumer wants no more.
var errStopped = errors.New("stopped")

func isMarkdown(name string) bool { return hasExtension(name, ".md", ".markdown") }

func isText(name string) bool { return hasExtension(name, ".txt", ".text") }

func hasExtension(name string, extensions ...string) bool {
	for _, e := range extensions {
		if strings.EqualFold(path.Ext(name), e) {
			return true
		}
	}
	return false
}

func readDocument(fsys fs.FS, name string, yield func(Item, error) bool) error {
	if len(name) > maxName {
		if !yield(Item{}, &Error{Position{name, 0}, errors.New("the path is too long for a session"), false}) {
			return errStopped
		}
		return nil
	}
	file, err := fsys.Open(name)
	if err != nil {
		return &Error{Position{name, 0}, err, true}
	}
	d := document{name: name, plain: isText(name), yield: yield}
	for l, err := range lines(name, file) {
		if err != nil {
			d.stopped = d.stopped || !yield(Item{Position: l.Position}, err)
		} else {
			d.line(l)
		}
		if d.stopped {
			break
		}
	}
	d.end()
	if err := file.Close(); err != nil && !d.stopped {
		return &Error{Position{name, 0}, err, true}
	}
	if d.stopped {
		return errStopped
	}
	return nil
}

// document takes a file apart as its lines go by.
type document struct {
	name    string
	plain   bool // no Markdown
	yield   func(Item, error) bool
	stopped bool

	front    []line   // what may be front matter, until it is known
	inFront  bool     // it may still be
	headings []string // the chain, by level; "" where a level was skipped
	fence    string   // the marks that opened the code we are in
	block    block
	blocks   []block // of the section so far
}

// block is a paragraph, with code that touches it.
type block struct {
	first int // line
	lines []string
}

func (b *block) text() string { return strings.Join(b.lines, "\n") }

const (
	sectionBytes = 1500 // more than this is divided between paragraphs
	frontLines   = 500  // front matter is no longer than this
)

func (d *document) line(l line) {
	mark := strings.TrimRight(l.text, " \t")
	switch {
	case l.Line == 1 && !d.plain && (mark == "---" || mark == "+++"):
		d.inFront = true
		d.front = append(d.front, l)
	case d.inFront:
		d.front = append(d.front, l)
		opening := strings.TrimRight(d.front[0].text, " \t")
		if mark == opening || mark == "..." && opening == "---" {
			d.front, d.inFront = nil, false
		} else if len(d.front) > frontLines {
			d.notFront()
		}
	default:
		d.content(l)
	}
}

// notFront reads what looked like front matter as content.
func (d *document) notFront() {
	front := d.front
	d.front, d.inFront = nil, false
	for _, l := range front {
		d.content(l)
	}
}

func (d *document) content(l line) {
	text := strings.TrimRight(l.text, " \t")
	if !d.plain && d.code(text) {
		d.add(l)
		return
	}
	switch {
	case text == "":
		d.endBlock()
	case d.plain:
		d.add(l)
	case headingLevel(text) > 0:
		d.heading(headingLevel(text), headingText(text))
	case len(d.block.lines) == 1 && underline(text) > 0:
		title := strings.TrimSpace(d.block.lines[0])
		d.block = block{}
		d.heading(underline(text), title)
	case len(d.block.lines) == 0 && isBreak(text):
	default:
		d.add(l)
	}
}

func (d *document) add(l line) {
	if len(d.block.lines) == 0 {
		d.block.first = l.Line
	}
	d.block.lines = append(d.block.lines, l.text)
}

// code reports whether a line belongs to fenced code, its fences included.
func (d *document) code(text string) bool {
	text = strings.TrimLeft(text, " \t")
	run := len(text) - len(strings.TrimLeft(text, "`"))
	if run == 0 {
		run = len(text) - len(strings.TrimLeft(text, "~"))
	}
	marks := text[:run]
	switch {
	case d.fence != "":
		if strings.HasPrefix(marks, d.fence) && run == len(text) {
			d.fence = ""
		}
		return true
	case run >= 3 && !(marks[0] == '`' && strings.Contains(text[run:], "`")):
		d.fence = marks
		return true
	}
	return false
}

// headingLevel returns the level of a heading that begins with #, or 0.
func headingLevel(text string) int {
	indented := len(text) - len(strings.TrimLeft(text, " "))
	text = text[indented:]
	level := len(text) - len(strings.TrimLeft(text, "#"))
	if indented > 3 || level > 6 || level < len(text) && text[level] != ' ' && text[level] != '\t' {
		return 0
	}
	return level
}

func headingText(text string) string {
	text = strings.TrimSpace(strings.TrimLeft(strings.TrimLeft(text, " "), "#"))
	if bare := strings.TrimRight(text, "#"); bare == "" || strings.HasSuffix(bare, " ") {
		text = strings.TrimSpace(bare)
	}
	return text
}

// underline returns the level of the heading that a line of = or - makes of the
// line before it, or 0.
func underline(text string) int {
	text = strings.TrimLeft(text, " ")
	switch {
	case text == "":
		return 0
	case strings.Trim(text, "=") == "":
		return 1
	case strings.Trim(text, "-") == "":
		return 2
	}
	return 0
}

// isBreak reports whether a line only draws a line.
func isBreak(text string) bool {
	marks := strings.ReplaceAll(text, " ", "")
	return len(marks) >= 3 && (strings.Trim(marks, "-") == "" || strings.Trim(marks, "*") == "" || strings.Trim(marks, "_") == "")
}

func (d *document) heading(level int, text string) {
	d.endSection()
	for len(d.headings) < level {
		d.headings = append(d.headings, "")
	}
	d.headings = d.headings[:level]
	d.headings[level-1] = text
}

// title is the chain of headings.
func (d *document) title() string {
	var chain []string
	for _, h := range d.headings {
		if h != "" {
			chain = append(chain, h)
		}
	}
	return clip(strings.Join(chain, " > "), maxName)
}

func (d *document) end() {
	if d.inFront {
		d.notFront()
	}
	d.endSection()
}

func (d *document) endBlock() {
	if len(d.block.lines) > 0 {
		d.blocks = append(d.blocks, d.block)
		d.block = block{}
	}
}

// endSection yields the notes of a section.
func (d *document) endSection() {
	d.endBlock()
	var text strings.Builder
	first := 0
	for _, b := range d.blocks {
		paragraph := b.text()
		if text.Len() > 0 && text.Len()+len(paragraph) > sectionBytes {
			d.note(first, text.String())
			text.Reset()
		}
		if text.Len() == 0 {
			first = b.first
		} else {
			text.WriteString("\n\n")
		}
		text.WriteString(paragraph)
	}
	d.note(first, text.String())
	d.blocks = d.blocks[:0]
}

func (d *document) note(first int, text string) {
	for piece := range pieces(text, MaxNote) {
		if d.stopped {
			return
		}
		item := Item{Kind: Note, Position: Position{d.name, first}, Text: piece, Title: d.title(), Session: d.name}
		d.stopped = !d.yield(item, nil)
		first += strings.Count(piece, "\n")
	}
}
