package question

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/grounded-memory/grounded/internal/textform"
)

func value(entity, predicate string) Question {
	return Question{Kind: ValueOf, Entity: entity, Predicate: predicate}
}

func entities(predicate, value string) Question {
	return Question{Kind: EntitiesWith, Predicate: predicate, Value: value}
}

func holds(entity, predicate, value string) Question {
	return Question{Kind: Holds, Entity: entity, Predicate: predicate, Value: value}
}

// The first reading is the one that is meant, where the text leaves no doubt.
func TestFirstReading(t *testing.T) {
	for text, want := range map[string]Question{
		"What is Alice's manager?":                        value("Alice", "manager"),
		"what is the manager of Alice?":                   value("Alice", "manager"),
		"Who is Alice's manager":                          value("Alice", "manager"),
		"Who’s Alice’s manager?":                          value("Alice", "manager"),
		"what's alice's manager":                          value("alice", "manager"),
		"WHO IS THE CAPITAL OF France ?":                  value("France", "capital"),
		"who was James' manager?":                         value("James", "manager"),
		"What are Ada Lovelace's favourite colours?":      value("Ada Lovelace", "favourite_colours"),
		"Which is the port of api-gateway?":               value("api-gateway", "port"),
		"When is the due date of Project Falcon!":         value("Project Falcon", "due_date"),
		"Where is Berlin located?":                        value("Berlin", "located"),
		"Alice's manager":                                 value("Alice", "manager"),
		"manager of Alice":                                value("Alice", "manager"),
		"the manager of Alice":                            value("Alice", "manager"),
		"list the members of team blue":                   value("team blue", "members"),
		"List all members of team blue.":                  value("team blue.", "members"),
		"list team blue's members":                        value("team blue", "members"),
		"Tell me Alice's manager":                         value("Alice", "manager"),
		"Can you tell me what Alice's manager is?":        value("Alice", "manager"),
		"Please tell me the manager of Alice":             value("Alice", "manager"),
		"where does Alice live?":                          value("Alice", "live"),
		"what does Alice like":                            value("Alice", "like"),
		"Is Bob Alice's manager?":                         holds("Alice", "manager", "Bob"),
		"Is Alice's manager Bob?":                         holds("Alice", "manager", "Bob"),
		"Is Bob the manager of Alice?":                    holds("Alice", "manager", "Bob"),
		"Does Alice like tea?":                            holds("Alice", "like", "tea"),
		"Does Alice have the role admin?":                 holds("Alice", "role", "admin"),
		"Who has role admin?":                             entities("role", "admin"),
		"Who has the role admin?":                         entities("role", "admin"),
		"who has Bob as their manager":                    entities("manager", "Bob"),
		"Whose manager is Bob?":                           entities("manager", "Bob"),
		"which service has owner Bob":                     entities("owner", "Bob"),
		"list everyone whose manager is Bob":              entities("manager", "Bob"),
		"list services with owner Bob":                    entities("owner", "Bob"),
		"who likes tea":                                   entities("likes", "tea"),
		"What is  the\tmanager   of  Alice  ?":            value("Alice", "manager"),
		"ｗｈａｔ is Alice＇s manager？":                        value("Alice", "manager"),
		"what is Alice's manager's":                       value("Alice", "manager's"),
		"What is the author of \"Emma\"?":                 value("\"Emma\"", "author"),
		"do you know Alice's manager?":                    value("Alice", "manager"),
		"What is Alice's e-mail address?":                 value("Alice", "e_mail_address"),
		"what is the population of the Republic of Korea": value("the Republic of Korea", "population"),
	} {
		got := Parse(text)
		if len(got) == 0 || got[0] != want {
			t.Errorf("%q: got %v, want %v first", text, got, want)
		}
	}
}

// Where it leaves doubt, every reading is there, in this order.
func TestReadings(t *testing.T) {
	for _, c := range []struct {
		text string
		want []Question
	}{
		{"What is the date of birth of Ada?", []Question{value("birth of Ada", "date"), value("Ada", "date_of_birth")}},
		{"Alice's manager's phone", []Question{value("Alice", "manager's_phone"), value("Alice's manager", "phone")}},
		{"What is McDonald's revenue?", []Question{value("McDonald", "revenue"), value("McDonald's", "revenue")}},
		{"Who is the CEO of Acme Inc.?", []Question{value("Acme Inc.", "ceo"), value("Acme Inc", "ceo")}},
		{"what is the capital of the Netherlands", []Question{value("the Netherlands", "capital"), value("Netherlands", "capital")}},
		{"what is the author of \u201CEmma\u201D?", []Question{value("\u201CEmma\u201D", "author"), value("Emma", "author")}},
		{"where does Alice live", []Question{value("Alice", "live"), value("Alice", "lives"), value("Alice", "live_in"), value("Alice", "live_at"), value("Alice", "lives_in"), value("Alice", "lives_at")}},
		{"when did Alice move", []Question{value("Alice", "move"), value("Alice", "moves"), value("Alice", "moved"), value("Alice", "moved_on")}},
		{"where is Berlin located", []Question{value("Berlin", "located"), value("Berlin", "located_in")}},
		{"who is Alice married to", []Question{value("Alice married", "to"), value("Alice", "married_to")}},
		{"who is married to Bob", []Question{entities("married_to", "Bob"), entities("is_married_to", "Bob")}},
		{"who is the manager of Alice", []Question{value("Alice", "manager"), entities("manager_of", "Alice")}},
		{"who works at Acme", []Question{entities("works", "at Acme"), entities("works_at", "Acme")}},
		{"which people live in Paris", []Question{entities("live", "in Paris"), entities("live_in", "Paris")}},
		{"does Alice manage Bob", []Question{holds("Alice", "manage", "Bob"), holds("Alice", "manages", "Bob")}},
		{"is Alice's favourite colour dark blue", []Question{holds("Alice", "favourite", "colour dark blue"), holds("Alice", "favourite_colour", "dark blue")}},
		{"is the capital of South Korea Seoul", []Question{holds("South", "capital", "Korea Seoul"), holds("South Korea", "capital", "Seoul")}},
		{"is Ada Lovelace Anne Isabella Byron's child", []Question{holds("Anne Isabella Byron", "child", "Ada Lovelace")}},
		{"is Alice married to Bob", []Question{holds("Alice", "married_to", "Bob")}},
	} {
		got := Parse(c.text)
		next := 0
		for _, q := range got {
			if next < len(c.want) && q == c.want[next] {
				next++
			}
		}
		if next < len(c.want) {
			t.Errorf("%q: %v is not in order among %v", c.text, c.want[next], got)
		}
	}
}

func TestNoQuestion(t *testing.T) {
	for _, text := range []string{"", " ", "?", "what", "who?", "Alice", "what is", "'s", "of", "of of", "hello world", "is", "does", "list", "whose", "the 's of", "what\x00is Alice's manager", strings.Repeat("a ", 5000), "\xff"} {
		if got := Parse(text); len(got) > 0 {
			t.Errorf("%q: %v", text, got)
		}
	}
}

func TestManyReadingsAreBounded(t *testing.T) {
	for _, text := range []string{"is " + strings.Repeat("a of b's ", 60) + "c", "does " + strings.Repeat("x ", 300) + "y"} {
		if got := Parse(text); len(got) != MaxReadings {
			t.Errorf("%.20q…: %d readings", text, len(got))
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, text := range []string{
		"What is Alice's manager?", "who is the P of X", "is Bob Alice’s manager", "does X have P V", "whose P is V", "list all P of X's Y",
		"where does \u201CA B\u201D live?", "who has V as its P", "what's the of 's", "who is married to Bob.",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		readings := Parse(text)
		if len(readings) > MaxReadings {
			t.Fatalf("%d readings", len(readings))
		}
		for i, q := range readings {
			if slices.Contains(readings[:i], q) {
				t.Fatalf("%v twice", q)
			}
			if name, err := textform.Predicate(q.Predicate); err != nil || name != q.Predicate {
				t.Fatalf("predicate %q of %q is not in its form", q.Predicate, text)
			}
			for _, term := range []string{q.Entity, q.Value} {
				if form, err := textform.Term(term); term != "" && (err != nil || form != term) {
					t.Fatalf("%q of %q is not in term form", term, text)
				}
			}
			if (q.Entity != "") != (q.Kind != EntitiesWith) || (q.Value != "") != (q.Kind != ValueOf) || q.Predicate == "" {
				t.Fatalf("%v lacks a part or has one too many", q)
			}
		}
	})
}

func ExampleParse() {
	for _, q := range Parse("What is the date of birth of Ada Lovelace?")[:2] {
		fmt.Printf("%s of %s\n", q.Predicate, q.Entity)
	}
	// Output:
	// date of birth of Ada Lovelace
	// date_of_birth of Ada Lovelace
}
