package ingest

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"
	"time"

	"github.com/grounded-memory/grounded/internal/canonical"
)

func readFacts(name string, r io.Reader) iter.Seq2[Item, error] {
	return eachLine(name, r, func(text string) ([]Item, error) {
		f, err := columns(text, "entity", "predicate", "value")
		if err != nil {
			return nil, err
		}
		return []Item{{Kind: Claim, Entity: f[0], Predicate: f[1], Value: f[2]}}, nil
	})
}

func readGlossary(name string, r io.Reader) iter.Seq2[Item, error] {
	return eachLine(name, r, func(text string) ([]Item, error) {
		f, err := columns(text, "phrase", "target")
		if err != nil {
			return nil, err
		}
		return []Item{{Kind: Bridge, Phrase: f[0], Target: f[1]}}, nil
	})
}

// columns splits a line at its tabs into exactly the named fields.
func columns(text string, names ...string) ([]string, error) {
	fields := strings.Split(text, "\t")
	if len(fields) != len(names) {
		return nil, fmt.Errorf("%d fields between tabs; want %d: %s", len(fields), len(names), strings.Join(names, ", "))
	}
	for i, f := range fields {
		if fields[i] = strings.TrimSpace(f); fields[i] == "" {
			return nil, fmt.Errorf("the %s is empty", names[i])
		}
	}
	return fields, nil
}

// noteLine is a line of the notes format.
type noteLine struct {
	Text           string    `json:"text"`
	Source         string    `json:"source"`
	Title          string    `json:"title"`
	Session        string    `json:"session"`
	SaidAt         time.Time `json:"said_at"`
	Speaker        string    `json:"speaker"`
	TTL            string    `json:"ttl"`
	ExpiresAt      time.Time `json:"expires_at"`
	IdempotencyKey string    `json:"idempotency_key"`
}

func readNotes(name string, r io.Reader) iter.Seq2[Item, error] {
	return eachLine(name, r, func(text string) ([]Item, error) {
		var n noteLine
		if err := canonical.Decode([]byte(text), &n); err != nil {
			return nil, err
		}
		if strings.TrimSpace(n.Text) == "" {
			return nil, errors.New("text: missing")
		}
		item := Item{
			Kind: Note, Text: n.Text, Source: n.Source, Title: n.Title, Session: n.Session, SaidAt: n.SaidAt,
			Speaker: n.Speaker, ExpiresAt: n.ExpiresAt, IdempotencyKey: n.IdempotencyKey,
		}
		if n.TTL != "" {
			ttl, err := time.ParseDuration(n.TTL)
			if err != nil || ttl <= 0 {
				return nil, fmt.Errorf("ttl: want a duration greater than zero such as 720h")
			}
			item.TTL = ttl
		}
		return []Item{item}, nil
	})
}

// graphLine is a line of the server-memory format.
type graphLine struct {
	Type         string   `json:"type"`
	Name         string   `json:"name"`
	EntityType   string   `json:"entityType"`
	Observations []string `json:"observations"`
	From         string   `json:"from"`
	To           string   `json:"to"`
	RelationType string   `json:"relationType"`
}

func readServerMemory(name string, r io.Reader) iter.Seq2[Item, error] {
	return eachLine(name, r, func(text string) ([]Item, error) {
		var g graphLine
		if err := decodeLenient([]byte(text), &g); err != nil {
			return nil, err
		}
		switch g.Type {
		case "entity":
			return g.entity()
		case "relation":
			if g.From == "" || g.To == "" || g.RelationType == "" {
				return nil, errors.New("a relation without from, to or relationType")
			}
			return []Item{{Kind: Claim, Entity: g.From, Predicate: g.RelationType, Value: g.To, Cardinality: "multi"}}, nil
		}
		return nil, fmt.Errorf("type %q is neither entity nor relation", clip(g.Type, 40))
	})
}

func (g *graphLine) entity() ([]Item, error) {
	if g.Name == "" {
		return nil, errors.New("an entity without a name")
	}
	var items []Item
	if strings.TrimSpace(g.EntityType) != "" {
		items = append(items, Item{Kind: Claim, Entity: g.Name, Predicate: "entity_type", Value: g.EntityType, Cardinality: "multi"})
	}
	for _, o := range g.Observations {
		for text := range pieces(o, MaxNote) {
			items = append(items, Item{Kind: Note, Text: text, Title: clip(g.Name, maxName), Session: clip(g.Name, maxName)})
		}
	}
	return items, nil
}
