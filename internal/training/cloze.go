package training

import (
	"fmt"
	"strings"

	"github.com/grounded-memory/grounded/internal/eval"
	"github.com/grounded-memory/grounded/internal/rank"
	"github.com/grounded-memory/grounded/internal/textform"
)

// The kinds of cloze sets.
const (
	ClozePeople    = "cloze-people"    // two people, many sessions
	ClozeGroup     = "cloze-group"     // all who spoke, under other names
	ClozeAssistant = "cloze-assistant" // one person's turns, with long answers made of several turns
)

// Cloze makes questions out of what was really said. It takes the turns of
// meetings, gives them to other speakers, cuts them into sessions, and asks for
// some turns by a few of their own words, some of the turns beside them, and some
// of anywhere, behind the opening of a question that mostly names the speaker.
// (The inverse cloze task of Lee, Chang and Toutanova, 2019, for conversations.)
// No such question reads well, but how words, neighbours and speakers go together
// in them is how people talk, which no template has.
func Cloze(kind string, meetings *eval.Set) (*eval.Set, error) {
	out := &eval.Set{Name: kind}
	for i := range meetings.Scopes {
		c := &cloze{random: newRandom(kind, i), kind: kind, heard: map[string]string{}}
		switch kind {
		case ClozePeople, ClozeGroup:
			c.conversation(meetings.Scopes[i].Notes)
		case ClozeAssistant:
			c.assistant(meetings.Scopes[i].Notes)
		default:
			return nil, fmt.Errorf("no cloze set is called %q", kind)
		}
		c.scope.Name = fmt.Sprintf("%s-%d", kind, i)
		c.count()
		c.ask()
		out.Scopes = append(out.Scopes, c.scope)
	}
	return out, nil
}

// cloze is one scope in the making.
type cloze struct {
	random *random
	kind   string
	scope  eval.Scope
	heard  map[string]string // who spoke → the name given
	words  [][]string        // of each turn, those that a question may take
	counts map[string]int    // turns that hold a word
}

const (
	clozeTurns     = 700 // of a scope
	clozeQuestions = 60  // tried for each scope
	shortestWord   = 4   // bytes; shorter words say little
	fewestWords    = 6   // of a turn that is asked for
)

func (c *cloze) add(session int, speaker, text string) {
	id := fmt.Sprintf("%d", len(c.scope.Notes))
	c.scope.Notes = append(c.scope.Notes, eval.Note{ID: id, Session: fmt.Sprintf("s%d", session), Speaker: speaker, Text: text})
}

// conversation gives the turns to two people, or to as many as there were.
func (c *cloze) conversation(turns []eval.Note) {
	first := c.random.below(len(names))
	second := (first + 1 + c.random.below(len(names)-1)) % len(names)
	session, left, last := 0, 25, ""
	for _, turn := range turns[:min(len(turns), clozeTurns)] {
		speaker, known := c.heard[turn.Speaker]
		switch {
		case known:
		case c.kind == ClozeGroup:
			speaker = names[(first+len(c.heard))%len(names)]
		default:
			speaker = names[[]int{first, second}[len(c.heard)%2]]
		}
		c.heard[turn.Speaker] = speaker
		// Two people mostly take turns, even where the same person of a meeting speaks on.
		if c.kind == ClozePeople && speaker == last && c.random.chance(67) {
			speaker = names[first+second-place(speaker)]
		}
		if left == 0 {
			session, left = session+1, 15+c.random.below(20)
		}
		left--
		last = speaker
		c.add(session, speaker, turn.Text)
	}
}

func place(name string) int {
	for i := range names {
		if names[i] == name {
			return i
		}
	}
	return 0
}

// assistant makes short turns of a person, each with a long answer.
func (c *cloze) assistant(turns []eval.Note) {
	session, left := 0, 6
	for i := 0; i < len(turns) && len(c.scope.Notes) < clozeTurns/2; {
		if n := len(strings.Fields(turns[i].Text)); n < 10 || n > 80 {
			i++
			continue
		}
		c.add(session, "user", turns[i].Text)
		i++
		var answer []string
		for length := 0; i < len(turns) && length < 120+c.random.below(160); i++ {
			answer = append(answer, turns[i].Text)
			length += len(strings.Fields(turns[i].Text))
		}
		if len(answer) > 0 {
			c.add(session, "assistant", strings.Join(answer, " "))
		}
		if left--; left == 0 {
			session, left = session+1, 4+c.random.below(8)
		}
	}
}

// count finds the words that questions may take.
func (c *cloze) count() {
	c.counts = map[string]int{}
	for _, note := range c.scope.Notes {
		seen := map[string]bool{}
		var kept []string
		for _, word := range textform.Words(note.Text) {
			if len(word) >= shortestWord && !seen[word] {
				seen[word] = true
				c.counts[word]++
				kept = append(kept, word)
			}
		}
		c.words = append(c.words, kept)
	}
}

// openings of questions; %s is the speaker.
var openings = []string{
	"What did %s say about", "When did %s", "What does %s think about", "How does %s feel about", "Why did %s", "Where did %s", "Which %s",
	"What is %s's", "Did %s", "How did %s", "What kind of", "Who", "What has %s",
}

// ownOpenings are the openings of a person who asks about what was said with an
// assistant; the last two ask for what the assistant said.
var ownOpenings = []string{
	"What did I say about", "When did I", "Which of my", "How many did I", "What was my", "Where do I", "Why did I want", "What do I prefer for", "Have I mentioned",
	"What did you recommend about", "What was your advice on",
}

func (c *cloze) ask() {
	for range clozeQuestions {
		if len(c.scope.Notes) == 0 {
			return
		}
		at := c.random.below(len(c.scope.Notes))
		note := &c.scope.Notes[at]
		if len(c.words[at]) < fewestWords || strings.HasSuffix(strings.TrimSpace(note.Text), "?") && c.random.chance(80) {
			continue
		}
		opening, ok := c.open(note)
		if !ok || strings.HasPrefix(opening, "When") && !speaksOfTime(note.Text) && c.random.chance(75) {
			continue
		}
		question := []string{opening}
		own := 0
		for range 2 + c.random.below(4) {
			word, mine := c.draw(at)
			question = append(question, word)
			own += mine
		}
		if own == 0 && c.random.chance(67) {
			continue
		}
		c.scope.Questions = append(c.scope.Questions, eval.Question{
			Text: strings.Join(question, " ") + "?", Grades: map[string]int{note.ID: 1},
		})
	}
}

// open begins a question about a note; an eighth of the names are of others.
func (c *cloze) open(note *eval.Note) (string, bool) {
	if c.kind == ClozeAssistant {
		i := c.random.below(len(ownOpenings))
		asksAssistant := i >= len(ownOpenings)-2
		return ownOpenings[i], asksAssistant == (note.Speaker == "assistant")
	}
	name := note.Speaker
	if c.random.chance(12) {
		name = pick(c.random, c.scope.Notes).Speaker
	}
	return strings.ReplaceAll(pick(c.random, openings), "%s", name), true
}

// draw takes a word for a question about a turn: mostly one of its own, else one
// of a turn beside it in the session, else any. It says whether it was its own.
func (c *cloze) draw(at int) (word string, own int) {
	from := at
	switch n := c.random.below(100); {
	case n < 55:
	case n < 72:
		from = at - 1
	case n < 80:
		from = at + 1
	case n < 85:
		from = at - 2
	default:
		other := c.random.below(len(c.words))
		if len(c.words[other]) > 0 {
			return c.rare(c.words[other]), 0
		}
	}
	if from < 0 || from >= len(c.words) || len(c.words[from]) == 0 || c.scope.Notes[from].Session != c.scope.Notes[at].Session {
		from = at
	}
	if from == at {
		own = 1
	}
	return c.rare(c.words[from]), own
}

// rare takes a word, rather a rare one.
func (c *cloze) rare(words []string) string {
	best, least := "", 0
	for range 3 {
		word := pick(c.random, words)
		if n := c.counts[word] * (100 + c.random.below(300)); best == "" || n < least {
			best, least = word, n
		}
	}
	return best
}

func speaksOfTime(text string) bool {
	for _, word := range textform.Words(text) {
		if rank.IsTimeWord(word) {
			return true
		}
	}
	return false
}
