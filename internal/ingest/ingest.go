// Package ingest reads files that people already have, and turns them into
// items that can be written to a memory: claims, notes and bridges. It knows
// nothing of stores.
//
// # Formats
//
//	facts          entity TAB predicate TAB value, one a line
//	glossary       phrase TAB target, one a line
//	notes          JSON lines with the fields of a note: text, source, title,
//	               session, said_at, speaker, ttl, expires_at, idempotency_key
//	folder         a folder of Markdown and text files: see [Folder]
//	chats          conversations in one of many JSON shapes: see chats.go
//	server-memory  the JSON lines of the knowledge-graph memory server of the
//	               Model Context Protocol: an entity gives a claim of its
//	               entity_type and a note for each observation, with the entity
//	               as title and session; a relation gives a multi-valued claim
//
// Every reader streams, accepts a byte-order mark and CRLF, passes over blank
// lines, and checks no more than shape, UTF-8 and size: what a field may hold is
// for the writer to say.
//
// # Errors
//
// A reader is an iterator over items and errors. An error is an [*Error] that
// names the file and the line, from 1; unless [Error.Fatal], the reader goes on
// behind it if it is asked to. A consumer that stops at the first error has
// lost nothing.
//
// # Limits
//
// A line holds at most 1 MiB, a conversation 64 MiB of JSON. A text longer than
// a note may be (64 KiB) is cut into several notes, at the ends of paragraphs,
// lines, words or characters, whichever is possible.
package ingest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Limits in bytes.
const (
	MaxLine         = 1 << 20
	MaxConversation = 64 << 20
	MaxNote         = 64 << 10
	maxName         = 1024 // titles and sessions
)

// Kind says which fields of an item count.
type Kind int

// The kinds of items.
const (
	Claim    Kind = iota + 1 // Entity, Predicate, Value, Cardinality, Modality
	Note                     // Text, Title, Session, Speaker, SaidAt
	Bridge                   // Phrase, Target, Modality
	Relation                 // Name, Aliases, Cardinality
)

// Item is one thing to write. Fields that its kind does not use, and those that
// the file does not give, are empty.
type Item struct {
	Kind Kind
	Position

	Entity, Predicate, Value string

	Text, Title, Session, Speaker string
	SaidAt                        time.Time

	Phrase, Target string

	Name    string
	Aliases []string

	Cardinality    string // "single" or "multi"
	Modality       string // "asserted", "quoted" or "hypothesized"
	Source         string // if the file says; else the caller has to
	TTL            time.Duration
	ExpiresAt      time.Time
	IdempotencyKey string
}

// Position is where something stands: the file as it was named, and the line
// from 1, or 0 for the file as a whole.
type Position struct {
	File string
	Line int
}

// String returns file:line.
func (p Position) String() string {
	if p.Line == 0 {
		return p.File
	}
	return fmt.Sprintf("%s:%d", p.File, p.Line)
}

// Error is what is wrong at a place.
type Error struct {
	Position
	Err   error
	Fatal bool // nothing behind it can be read
}

// Error returns the place and the reason.
func (e *Error) Error() string { return e.Position.String() + ": " + e.Err.Error() }

// Unwrap returns the reason.
func (e *Error) Unwrap() error { return e.Err }

// The formats' names.
const (
	Facts        = "facts"
	Glossary     = "glossary"
	Notes        = "notes"
	Folders      = "folder"
	Chats        = "chats"
	ServerMemory = "server-memory"
)

// Format is one that can be read.
type Format struct {
	Name    string
	Summary string
	Example string // a line, or what a file holds
	Folder  bool   // it is a folder, not a file
}

// Formats lists the formats, for help texts.
func Formats() []Format {
	return []Format{
		{Facts, "claims, one a line: entity, predicate and value between tabs", "Alice\tmanager\tBob", false},
		{Glossary, "bridges, one a line: phrase and target with a tab between", "k8s\tkubernetes", false},
		{Notes, "notes as JSON lines, with the fields of the note operation", `{"text":"The deploy failed.","session":"2026-01-02"}`, false},
		{Folders, "a folder of Markdown and text files, one note a section or a few paragraphs", "docs/", true},
		{Chats, "conversations as JSON: exports of ChatGPT and Claude, role and content messages, sessions with turns", `[{"id":"s1","date":"2026-01-02","turns":[{"speaker":"Alice","text":"Hello"}]}]`, false},
		{ServerMemory, "the file of the knowledge-graph memory server", `{"type":"relation","from":"Alice","to":"Acme","relationType":"works_at"}`, false},
	}
}

// Read reads one file's content in a format other than Folders. name is what
// positions call it.
func Read(format, name string, r io.Reader) iter.Seq2[Item, error] {
	switch format {
	case Facts:
		return readFacts(name, r)
	case Glossary:
		return readGlossary(name, r)
	case Notes:
		return readNotes(name, r)
	case Chats:
		return readChats(name, r)
	case ServerMemory:
		return readServerMemory(name, r)
	}
	return failing(name, fmt.Errorf("%q is no format of a file", format))
}

// Open reads a file or folder. An empty format is detected.
func Open(format, path string) iter.Seq2[Item, error] {
	return func(yield func(Item, error) bool) {
		info, err := os.Stat(path)
		if err == nil && format == "" {
			format, err = detectPath(path, info)
		}
		if err == nil && info.IsDir() != (format == Folders) {
			err = fmt.Errorf("a folder is read as %q and nothing else is", Folders)
		}
		if err == nil && info.IsDir() {
			err = openFolder(path, yield)
		} else if err == nil {
			err = openFile(format, path, yield)
		}
		if err != nil {
			yield(Item{}, &Error{Position{path, 0}, err, true})
		}
	}
}

func openFolder(path string, yield func(Item, error) bool) error {
	root, err := os.OpenRoot(path)
	if err != nil {
		return err
	}
	Folder(root.FS())(yield)
	return root.Close()
}

func openFile(format, path string, yield func(Item, error) bool) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	Read(format, path, file)(yield)
	return file.Close()
}

func detectPath(path string, info fs.FileInfo) (string, error) {
	if info.IsDir() {
		return Folders, nil
	}
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	head := make([]byte, 4096)
	n, err := io.ReadFull(file, head)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = nil
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return "", err
	}
	if format := Detect(path, head[:n]); format != "" {
		return format, nil
	}
	return "", errors.New("no known format; name one")
}

// Detect guesses the format of a file from its name and its first few kilobytes;
// "" if none fits.
func Detect(name string, head []byte) string {
	head = bytes.TrimPrefix(head, []byte(byteOrderMark))
	line, _, _ := strings.Cut(strings.TrimLeft(string(head), "\r\n\t "), "\n")
	switch {
	case strings.HasPrefix(line, "["):
		return Chats
	case strings.HasPrefix(line, "{"):
		return detectObject(string(head))
	}
	switch extension := strings.ToLower(filepath.Ext(name)); {
	case extension != ".tsv" && extension != ".txt" && extension != ".tab" && extension != "":
		return ""
	case strings.Count(line, "\t") == 2:
		return Facts
	case strings.Count(line, "\t") == 1:
		return Glossary
	}
	return ""
}

// detectObject tells JSON objects apart by the names in the first of them.
func detectObject(head string) string {
	has := func(names ...string) bool {
		for _, n := range names {
			if strings.Contains(head, `"`+n+`"`) {
				return true
			}
		}
		return false
	}
	switch {
	case has("observations", "relationType", "entityType"):
		return ServerMemory
	case has("messages", "turns", "mapping", "chat_messages", "conversations", "conversation", "dialogue", "role", "session_1"):
		return Chats
	case has("text"):
		return Notes
	}
	return ""
}

func failing(name string, err error) iter.Seq2[Item, error] {
	return func(yield func(Item, error) bool) { yield(Item{}, &Error{Position{name, 0}, err, true}) }
}
