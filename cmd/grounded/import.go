package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/grounded-memory/grounded"
	"github.com/grounded-memory/grounded/internal/ingest"
)

// exportFormat is the one format that ingest does not read: a whole scope.
const exportFormat = "export"

func newImportCommand(env *environment) *cobra.Command {
	var format, source, cardinality string
	cmd := &cobra.Command{
		Use: "import FILE|FOLDER", GroupID: "tools", Args: cobra.ExactArgs(1),
		Short: "Load facts, notes, chats, documents, a glossary or an export",
		Long: `Reads a file or folder in one transaction: everything is loaded, or nothing is and
the line at fault is named. Formats (guessed from the file if not given):

` + formatHelp() + `
The source of each record is the file's own, if it names one, else --source, else
the file's name.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if source == "" {
				source = filepath.Base(filepath.Clean(args[0]))
			}
			format, err := ingestFormat(format)
			if err != nil {
				return err
			}
			return env.withStore(cmd, func(s *grounded.Store) error {
				m, err := s.Scope(env.tenant, env.namespace)
				if err != nil {
					return err
				}
				if format == exportFormat {
					err = env.importExport(cmd.Context(), m, args[0])
				} else {
					err = env.importItems(cmd.Context(), m, ingest.Open(format, args[0]), args[0], source, cardinality)
				}
				if err != nil {
					return err
				}
				return s.Maintain(cmd.Context()) // so that the next process starts fast
			})
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&format, "format", "", "the format; default: guessed")
	flags.StringVar(&source, "source", "", "the source of records whose file names none")
	flags.StringVar(&cardinality, "cardinality", "multi", "of facts: single or multi, or declared to leave it to the declared relations")
	return cmd
}

func formatHelp() string {
	var b strings.Builder
	for _, f := range ingest.Formats() {
		fmt.Fprintf(&b, "  %-14s %s\n", f.Name, f.Summary)
	}
	fmt.Fprintf(&b, "  %-14s %s\n", exportFormat, `what "grounded export" wrote, into an empty scope`)
	b.WriteString("\nAlso: tsv for facts, jsonl for notes, chat for chats, markdown for folder.\n")
	return b.String()
}

// ingestFormat resolves the names by which people call formats.
func ingestFormat(name string) (string, error) {
	switch name {
	case "", exportFormat:
		return name, nil
	case "tsv":
		return ingest.Facts, nil
	case "jsonl":
		return ingest.Notes, nil
	case "chat":
		return ingest.Chats, nil
	case "markdown", "text":
		return ingest.Folders, nil
	}
	for _, f := range ingest.Formats() {
		if f.Name == name {
			return name, nil
		}
	}
	return "", fmt.Errorf("--format %q is none of those that grounded import --help lists", name)
}

func (env *environment) importExport(ctx context.Context, m *grounded.Memory, path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	n, err := m.Import(ctx, file)
	if err = errors.Join(err, file.Close()); err != nil {
		return err
	}
	fmt.Fprintf(env.err, "%d records and tombstones imported\n", n)
	return nil
}

func (env *environment) importItems(ctx context.Context, m *grounded.Memory, items iter.Seq2[ingest.Item, error], path, source, cardinality string) error {
	l := loader{source: source, cardinality: grounded.Cardinality(cardinality)}
	if cardinality == "declared" {
		l.cardinality = ""
	}
	bar := env.newProgress(path)
	result, err := m.Load(ctx, l.writes(items), func(done int) { bar.show(done, l.at.Line) })
	bar.end()
	if err != nil {
		return l.place(err)
	}
	fmt.Fprintf(env.out, "%d records written, %d were there already, %d flagged as instruction-like, %d contradict another\n",
		result.Written, result.Existing, result.Flagged, result.Contradicts)
	return nil
}

// loader turns items into writes and remembers where it is.
type loader struct {
	source      string
	cardinality grounded.Cardinality
	at          ingest.Position
}

func (l *loader) writes(items iter.Seq2[ingest.Item, error]) iter.Seq2[grounded.WriteItem, error] {
	return func(yield func(grounded.WriteItem, error) bool) {
		for item, err := range items {
			if err != nil {
				var at *ingest.Error
				if errors.As(err, &at) {
					l.at = at.Position
					err = at.Err
				}
				yield(grounded.WriteItem{}, &grounded.Error{Code: grounded.InvalidArgument, Message: err.Error()})
				return
			}
			l.at = item.Position
			if !yield(l.write(&item), nil) {
				return
			}
		}
	}
}

func (l *loader) write(item *ingest.Item) grounded.WriteItem {
	source := item.Source
	if source == "" {
		source = l.source
	}
	ttl := grounded.TTL(item.TTL)
	switch item.Kind {
	case ingest.Claim:
		cardinality := grounded.Cardinality(item.Cardinality)
		if cardinality == "" {
			cardinality = l.cardinality
		}
		return grounded.WriteItem{Remember: &grounded.RememberRequest{
			Entity: item.Entity, Predicate: item.Predicate, Value: item.Value, Source: source,
			Cardinality: cardinality, Modality: grounded.Modality(item.Modality),
			TTL: ttl, ExpiresAt: item.ExpiresAt, IdempotencyKey: item.IdempotencyKey,
		}}
	case ingest.Bridge:
		return grounded.WriteItem{RememberBridge: &grounded.RememberBridgeRequest{
			Phrase: item.Phrase, Target: item.Target, Source: source, Modality: grounded.Modality(item.Modality),
			TTL: ttl, ExpiresAt: item.ExpiresAt, IdempotencyKey: item.IdempotencyKey,
		}}
	case ingest.Relation:
		return grounded.WriteItem{DeclareRelation: &grounded.DeclareRelationRequest{
			Name: item.Name, Aliases: item.Aliases, Cardinality: grounded.Cardinality(item.Cardinality), Source: source,
		}}
	}
	return grounded.WriteItem{Note: &grounded.NoteRequest{
		Text: item.Text, Source: source, Title: item.Title, Session: item.Session, Speaker: item.Speaker, SaidAt: item.SaidAt,
		TTL: ttl, ExpiresAt: item.ExpiresAt, IdempotencyKey: item.IdempotencyKey,
	}}
}

// place says in which line of which file an error is.
func (l *loader) place(err error) error {
	e := *grounded.AsError(err)
	if l.at.File == "" {
		return err
	}
	if _, field, ok := strings.Cut(e.Field, "]."); ok {
		e.Field = l.at.String() + ": " + field
	} else {
		e.Field = l.at.String()
	}
	e.Message += "; nothing was loaded"
	return &e
}

// progress is a bar on a terminal, and nothing elsewhere.
type progress struct {
	out   io.Writer
	lines int // of the whole file, 0 if not known
}

func (env *environment) newProgress(path string) *progress {
	file, ok := env.err.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) {
		return &progress{}
	}
	return &progress{out: file, lines: countLines(path)}
}

// countLines counts a file's lines; 0 for what is no file.
func countLines(path string) int {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return 0
	}
	file, err := os.Open(path)
	if err != nil {
		return 0
	}
	defer file.Close()
	lines := 0
	buffer := make([]byte, 256<<10)
	for {
		n, err := file.Read(buffer)
		lines += bytes.Count(buffer[:n], []byte{'\n'})
		if err != nil {
			return lines
		}
	}
}

func (p *progress) show(done, line int) {
	if p.out == nil {
		return
	}
	if p.lines == 0 || line == 0 {
		fmt.Fprintf(p.out, "\r%d records", done)
		return
	}
	const width = 40
	full := min(width, width*line/p.lines)
	fmt.Fprintf(p.out, "\r[%s%s] %3d%% %d records", strings.Repeat("█", full), strings.Repeat("·", width-full), min(100, 100*line/p.lines), done)
}

func (p *progress) end() {
	if p.out != nil {
		fmt.Fprint(p.out, "\r\x1b[K")
	}
}
