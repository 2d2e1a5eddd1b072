// Package training turns note sets into trained policies.
//
// It holds the part of the training data that was written for this repository:
// a seeded generator of dialogues between two people, of logs of a person with
// an assistant, and of short facts extracted from dialogues, each with questions
// and the turns that answer them. The sentences are in topics.txt and
// chores.txt; no measured set was imitated. See docs/ranking.md for the recipe
// that mixes them with redistributable sets.
package training

import (
	_ "embed"
	"fmt"
	"strings"
)

//go:embed topics.txt
var topicsText string

//go:embed chores.txt
var choresText string

// Note is one note of a generated set.
type Note struct {
	ID, Session, Speaker, Text string
}

// Question asks for some of the notes.
type Question struct {
	Text     string
	Evidence []string // ids of notes
}

// Set is one scope: notes in their order, and questions about them.
type Set struct {
	Name      string
	Notes     []Note
	Questions []Question
}

// The kinds of generated sets.
const (
	Dialogue  = "dialogue"  // two people, many sessions
	Assistant = "assistant" // a person and an assistant
	Facts     = "facts"     // short facts extracted from dialogues
)

// Generate makes the n-th set of a kind. The same arguments give the same set
// for ever.
func Generate(kind string, n int) (*Set, error) {
	text := topicsText
	if kind == Assistant {
		text = choresText
	}
	topics, err := parseTopics(text)
	if err != nil {
		return nil, err
	}
	g := generator{random: newRandom(kind, n), topics: topics, set: &Set{Name: fmt.Sprintf("%s-%d", kind, n)}}
	switch kind {
	case Dialogue:
		g.dialogue(false)
	case Facts:
		g.dialogue(true)
	case Assistant:
		g.assistant()
	default:
		return nil, fmt.Errorf("no generated set is called %q", kind)
	}
	return g.set, nil
}

// topic is one block of a topics file: named lists of choices.
type topic struct {
	name  string
	slots []string // names, in order
	lines map[string][]string
}

func parseTopics(text string) ([]topic, error) {
	var out []topic
	for i, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if name, ok := strings.CutPrefix(line, "topic "); ok {
			out = append(out, topic{name: name, lines: map[string][]string{}})
			continue
		}
		key, choices, ok := strings.Cut(line, ":")
		if !ok || len(out) == 0 {
			return nil, fmt.Errorf("line %d of a topics file is no topic, slot or list", i+1)
		}
		t := &out[len(out)-1]
		if slot, ok := strings.CutPrefix(key, "slot "); ok {
			key = slot
			t.slots = append(t.slots, slot)
		}
		for _, choice := range strings.Split(choices, "|") {
			t.lines[key] = append(t.lines[key], strings.TrimSpace(choice))
		}
	}
	return out, nil
}

// random is splitmix64 (Steele, Lea and Flood, 2014): the same numbers on every
// machine and for every version of Go.
type random struct{ state uint64 }

func newRandom(kind string, n int) *random {
	r := &random{state: uint64(n) * 0x9E3779B97F4A7C15}
	for _, c := range []byte(kind) {
		r.state = r.state*1099511628211 + uint64(c)
	}
	return r
}

func (r *random) next() uint64 {
	r.state += 0x9E3779B97F4A7C15
	z := r.state
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return z ^ z>>31
}

// below returns a number from 0 to n-1.
func (r *random) below(n int) int { return int(r.next() % uint64(n)) }

func (r *random) chance(percent int) bool { return r.below(100) < percent }

func pick[T any](r *random, from []T) T { return from[r.below(len(from))] }

type generator struct {
	random  *random
	topics  []topic
	set     *Set
	session string
	asked   map[string]int // question text → its place in the set
}

// say adds a note and returns its id.
func (g *generator) say(speaker, text string) string {
	id := fmt.Sprintf("%s-%d", g.set.Name, len(g.set.Notes))
	g.set.Notes = append(g.set.Notes, Note{id, g.session, speaker, text})
	return id
}

// ask adds a question, or more evidence to one that was asked already.
func (g *generator) ask(text string, evidence ...string) {
	if g.asked == nil {
		g.asked = map[string]int{}
	}
	if i, ok := g.asked[text]; ok {
		g.set.Questions[i].Evidence = append(g.set.Questions[i].Evidence, evidence...)
		return
	}
	g.asked[text] = len(g.set.Questions)
	g.set.Questions = append(g.set.Questions, Question{text, evidence})
}

var names = []string{
	"Amara", "Bastian", "Chiara", "Dorian", "Edda", "Farid", "Giulia", "Hannes", "Ilse", "Jarek", "Keiko", "Lorenz", "Marisol", "Nadir",
	"Olga", "Pavel", "Quirin", "Rosa", "Svenja", "Tarek", "Ulla", "Viktor", "Wanda", "Xenia", "Yusuf", "Zofia", "Bruno", "Clara",
}

var greetings = []string{"Hey {you}! Good to hear from you.", "Hi {you}, how have you been?", "Long time, {you}!", "Good evening, {you}.", "{you}! At last."}

var chatter = []string{
	"The weather is mad, is it not?", "Sorry, the tram was late.", "Wait, my tea is ready.", "I slept badly.", "Anyway.", "That reminds me of when we were young.",
	"You always say that.", "My phone is nearly empty.", "Haha, yes.", "I have to think about that.", "We should meet more often.", "The line is bad today.",
}

var farewells = []string{"I must run. Talk soon!", "Let us speak on Sunday.", "Take care, {you}.", "Greetings to all of yours.", "Good night, {you}."}

// dialogue makes the sessions of two people; or, as facts, what was said in them
// in the third person.
func (g *generator) dialogue(facts bool) {
	a := g.random.below(len(names))
	people := [2]string{names[a], names[(a+1+g.random.below(len(names)-1))%len(names)]}
	last := map[string]map[string]string{}
	for s := range 10 + g.random.below(12) {
		g.session = fmt.Sprintf("%s-s%d", g.set.Name, s)
		me := g.random.below(2)
		if !facts {
			g.line(people, me, greetings)
			g.line(people, 1-me, greetings)
		}
		for range 2 + g.random.below(4) {
			me := g.random.below(2)
			t := pick(g.random, g.topics)
			values := g.fill(t, people[me], people[1-me])
			// One person has one pet, one job: what was said before still holds.
			key := t.name + people[me]
			if before, ok := last[key]; ok {
				values = before
			}
			last[key] = values
			if facts {
				g.facts(t, values, people[me])
			} else {
				g.exchange(t, values, people, me)
			}
		}
		if !facts {
			g.line(people, me, farewells)
		}
	}
}

func (g *generator) line(people [2]string, me int, from []string) {
	g.say(people[me], strings.ReplaceAll(pick(g.random, from), "{you}", people[1-me]))
}

// fill draws a topic's slots.
func (g *generator) fill(t topic, me, you string) map[string]string {
	values := map[string]string{"me": me, "you": you}
	for _, slot := range t.slots {
		values[slot] = pick(g.random, t.lines[slot])
	}
	return values
}

func expand(text string, values map[string]string) string {
	for strings.Contains(text, "{") {
		start := strings.IndexByte(text, '{')
		end := strings.IndexByte(text, '}')
		if end < start {
			break
		}
		text = text[:start] + values[text[start+1:end]] + text[end+1:]
	}
	return strings.ToUpper(text[:1]) + text[1:]
}

// exchange is one topic between two people.
func (g *generator) exchange(t topic, values map[string]string, people [2]string, me int) {
	one := func(key string) string { return expand(pick(g.random, t.lines[key]), values) }
	if g.random.chance(85) {
		g.say(people[1-me], one("ask"))
	}
	first := one("say")
	detail := g.random.below(len(t.lines["more"]))
	second := expand(t.lines["more"][detail], values)
	var evidence, deeper string
	if g.random.chance(25) {
		evidence = g.say(people[me], first+" "+second)
		deeper = evidence
		g.say(people[1-me], one("react"))
	} else {
		evidence = g.say(people[me], first)
		if g.random.chance(80) {
			g.say(people[1-me], one("react"))
		}
		if g.random.chance(30) {
			g.line(people, g.random.below(2), chatter)
		}
		deeper = g.say(people[me], second)
	}
	if g.random.chance(40) {
		g.line(people, 1-me, chatter)
	}
	if g.random.chance(70) {
		g.ask(one("about"), evidence)
	}
	if g.random.chance(25) {
		g.ask(one("exam"), evidence)
	}
	if g.random.chance(30) {
		g.ask(expand(deepQuestion(g.random, t, detail), values), deeper)
	}
}

// deepQuestion chooses a question about a detail.
func deepQuestion(r *random, t topic, detail int) string {
	if choices := t.lines["deep"]; len(choices) != len(t.lines["more"]) {
		return pick(r, choices)
	}
	return t.lines["deep"][detail]
}

// facts adds what a topic's turns say, in the third person.
func (g *generator) facts(t topic, values map[string]string, me string) {
	lines := t.lines["fact"]
	first := g.say(me, expand(lines[0], values))
	g.ask(expand(pick(g.random, t.lines[pick(g.random, []string{"about", "about", "exam"})]), values), first)
	if g.random.chance(40) {
		second := g.say(me, expand(lines[1], values))
		g.ask(expand(pick(g.random, t.lines["deep"]), values), second)
	}
}

// assistant makes the sessions of one person with an assistant.
func (g *generator) assistant() {
	for s := range 8 + g.random.below(12) {
		g.session = fmt.Sprintf("%s-s%d", g.set.Name, s)
		t := pick(g.random, g.topics)
		values := g.fill(t, "I", "you")
		one := func(key string) string { return expand(pick(g.random, t.lines[key]), values) }
		evidence := g.say("user", one("user"))
		answer := one("assistant")
		sentences := strings.SplitAfter(answer, ". ")
		cut := 1 + g.random.below(len(sentences))
		g.say("assistant", strings.TrimSpace(strings.Join(sentences[:cut], "")))
		if cut < len(sentences) {
			g.say("user", pick(g.random, []string{"Go on.", "Thanks. And then?", "Can you say that in more detail?", "Good. What else?"}))
			g.say("assistant", strings.TrimSpace(strings.Join(sentences[cut:], "")))
		}
		g.ask(one("exam"), evidence)
	}
}
