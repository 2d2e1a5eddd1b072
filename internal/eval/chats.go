package eval

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// loadConversations reads the one-file sets: LoCoMo and LongMemEval.
func loadConversations(path string) (*Set, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var samples []map[string]jsontext.Value
	if err := json.Unmarshal(data, &samples); err != nil {
		return nil, err
	}
	if len(samples) == 0 {
		return nil, errors.New("holds no sample")
	}
	var b builder
	for i, sample := range samples {
		switch {
		case sample["conversation"] != nil:
			err = locomoSample(&b, i, sample)
		case sample["haystack_sessions"] != nil:
			err = longMemEvalSample(&b, i, sample)
		default:
			err = errors.New("is neither a LoCoMo nor a LongMemEval sample")
		}
		if err != nil {
			return nil, fmt.Errorf("sample %d: %w", i, err)
		}
	}
	return b.set(), nil
}

func locomoSample(b *builder, i int, sample map[string]jsontext.Value) error {
	var conversation map[string]jsontext.Value
	if err := json.Unmarshal(sample["conversation"], &conversation); err != nil {
		return err
	}
	s := b.scope(fmt.Sprintf("conversation-%d", i))
	for n := 1; conversation[fmt.Sprintf("session_%d", n)] != nil; n++ {
		var turns []struct {
			Speaker string `json:"speaker"`
			ID      string `json:"dia_id"`
			Text    string `json:"text"`
			Caption string `json:"blip_caption"`
		}
		if err := json.Unmarshal(conversation[fmt.Sprintf("session_%d", n)], &turns); err != nil {
			return err
		}
		for _, t := range turns {
			if t.Caption != "" {
				t.Text += " [" + t.Caption + "]"
			}
			s.Notes = append(s.Notes, Note{ID: t.ID, Session: strconv.Itoa(n), Speaker: t.Speaker, Text: t.Text})
		}
	}
	var questions []struct {
		Question string   `json:"question"`
		Evidence []string `json:"evidence"`
		Category int      `json:"category"`
	}
	if err := json.Unmarshal(sample["qa"], &questions); err != nil {
		return err
	}
	for j, q := range questions {
		grades := map[string]int{}
		for _, e := range q.Evidence {
			for _, id := range strings.FieldsFunc(e, func(r rune) bool { return r == ';' || r == ' ' || r == ',' }) {
				grades[id] = 1
			}
		}
		if len(grades) > 0 {
			s.Questions = append(s.Questions, Question{ID: fmt.Sprintf("%d-%d", i, j), Category: strconv.Itoa(q.Category), Text: q.Question, Grades: grades})
		}
	}
	return nil
}

type roleTurn struct {
	Role      string `json:"role"`
	Content   string `json:"content"`
	HasAnswer bool   `json:"has_answer"`
}

func longMemEvalSample(b *builder, i int, sample map[string]jsontext.Value) error {
	var q struct {
		ID   string `json:"question_id"`
		Type string `json:"question_type"`
		Text string `json:"question"`
	}
	var sessions [][]roleTurn
	whole, err := json.Marshal(sample)
	if err == nil {
		err = json.Unmarshal(whole, &q)
	}
	if err == nil {
		err = json.Unmarshal(sample["haystack_sessions"], &sessions)
	}
	if err != nil {
		return err
	}
	s := b.scope(fmt.Sprintf("question-%d", i))
	grades := map[string]int{}
	for n, turns := range sessions {
		for j, t := range turns {
			if strings.TrimSpace(t.Content) == "" {
				continue
			}
			id := fmt.Sprintf("%d-%d", n, j)
			s.Notes = append(s.Notes, Note{ID: id, Session: strconv.Itoa(n), Speaker: t.Role, Text: t.Content})
			if t.HasAnswer {
				grades[id] = 1
			}
		}
	}
	if len(grades) > 0 { // abstention questions have no evidence
		s.Questions = append(s.Questions, Question{ID: q.ID, Category: q.Type, Text: q.Text, Grades: grades})
	}
	return nil
}

// loadBEAM reads one chat of BEAM: chat.json, and its questions in
// probing_questions.json or probing_questions/probing_questions.json.
func loadBEAM(dir string) (*Set, error) {
	data, err := os.ReadFile(filepath.Join(dir, "chat.json"))
	if err != nil {
		return nil, err
	}
	var batches []struct {
		Turns [][]struct {
			Role    string         `json:"role"`
			ID      jsontext.Value `json:"id"`
			Content string         `json:"content"`
		} `json:"turns"`
	}
	if err := json.Unmarshal(data, &batches); err != nil {
		return nil, err
	}
	var b builder
	s := b.scope("")
	for n, batch := range batches {
		for _, turns := range batch.Turns {
			for _, t := range turns {
				s.Notes = append(s.Notes, Note{ID: strings.Trim(string(t.ID), `"`), Session: strconv.Itoa(n), Speaker: t.Role, Text: t.Content})
			}
		}
	}
	path := filepath.Join(dir, "probing_questions.json")
	if data, err = os.ReadFile(path); err != nil {
		if data, err = os.ReadFile(filepath.Join(dir, "probing_questions", "probing_questions.json")); err != nil {
			return nil, err
		}
	}
	var questions map[string][]map[string]jsontext.Value
	if err := json.Unmarshal(data, &questions); err != nil {
		return nil, err
	}
	for _, kind := range slices.Sorted(maps.Keys(questions)) {
		for j, q := range questions[kind] {
			var text string
			if err := json.Unmarshal(q["question"], &text); err != nil {
				return nil, err
			}
			if grades := idsIn(q["source_chat_ids"]); len(grades) > 0 {
				s.Questions = append(s.Questions, Question{ID: fmt.Sprintf("%s-%d", kind, j), Category: kind, Text: text, Grades: grades})
			}
		}
	}
	return b.set(), nil
}

// idsIn collects the numbers of a list, or of the lists in an object.
func idsIn(v jsontext.Value) map[string]int {
	grades := map[string]int{}
	for _, field := range strings.FieldsFunc(string(v), func(r rune) bool { return r < '0' || r > '9' }) {
		grades[field] = 1
	}
	return grades
}
