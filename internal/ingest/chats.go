package ingest

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"iter"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// A chats file holds conversations: a list of them, one, or one a line. Each turn
// that holds text is one note, with its speaker, its time or its session's, the
// conversation's title and session. A conversation is an object with
//
//   - mapping: an export of ChatGPT. Only the branch that was last shown counts.
//   - chat_messages: an export of Claude.
//   - session_1, session_1_date_time, session_2 …, on their own or in
//     "conversation": sessions as in LoCoMo.
//   - turns, messages, conversations, dialogue or utterances: a list of turns.
//
// or a bare list of turns, or a turn by itself, which belongs to the session that
// is named as the file. A turn has its speaker in speaker, role, sender, author,
// from, user or name, its text in text, content, value, message or utterance, and
// its time in date, time, timestamp, created_at, create_time, said_at or ts.
// What the roles system, developer, tool and function say is left out, as are
// images, calls of tools and their results: it is not said by anyone.
//
// A conversation is named by id, session_id, uuid, conversation_id, sample_id or
// session; else by the file and its number in it.

type object = map[string]jsontext.Value

func readChats(name string, r io.Reader) iter.Seq2[Item, error] {
	return func(yield func(Item, error) bool) {
		in := &counter{r: skipMark(r)}
		c := chats{name: name, base: baseName(name), in: in, decoder: jsontext.NewDecoder(in, jsontext.AllowDuplicateNames(true)), yield: yield}
		if err := c.read(); err != nil && !c.stopped {
			offset := c.decoder.InputOffset()
			var syntactic *jsontext.SyntacticError
			if errors.As(err, &syntactic) {
				offset = max(offset, syntactic.ByteOffset)
			}
			yield(Item{}, &Error{Position{name, in.line(offset)}, jsonReason(err), true})
		}
	}
}

func baseName(name string) string {
	base := filepath.Base(filepath.ToSlash(name))
	return strings.TrimSuffix(base, filepath.Ext(base))
}

func skipMark(r io.Reader) io.Reader {
	in := bufio.NewReader(r)
	if mark, err := in.Peek(len(byteOrderMark)); err == nil && string(mark) == byteOrderMark {
		_, _ = in.Discard(len(byteOrderMark)) // they are in the buffer
	}
	return in
}

// counter counts lines and stops a value that is too long.
type counter struct {
	r        io.Reader
	offset   int64
	newlines []int64 // offsets of those read and not yet counted
	counted  int
	limit    int64 // offset at which reading fails
}

var errTooLong = fmt.Errorf("a conversation is longer than %d bytes", MaxConversation)

func (c *counter) Read(p []byte) (int, error) {
	if c.limit > 0 && c.offset >= c.limit {
		return 0, errTooLong
	}
	n, err := c.r.Read(p)
	for i, b := range p[:n] {
		if b == '\n' {
			c.newlines = append(c.newlines, c.offset+int64(i))
		}
	}
	c.offset += int64(n)
	return n, err
}

// line returns the line of an offset, which must not be before an earlier one.
func (c *counter) line(offset int64) int {
	n := 0
	for n < len(c.newlines) && c.newlines[n] < offset {
		n++
	}
	c.counted += n
	c.newlines = slices.Delete(c.newlines, 0, n)
	return c.counted + 1
}

// jsonReason strips an error of what the position says better.
func jsonReason(err error) error {
	var syntactic *jsontext.SyntacticError
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("it ends in the middle of a value")
	case errors.As(err, &syntactic) && syntactic.Err != nil:
		return syntactic.Err
	}
	return err
}

func decodeLenient(data []byte, v any) error {
	if err := json.Unmarshal(data, v, jsontext.AllowDuplicateNames(true)); err != nil {
		return jsonReason(err)
	}
	return nil
}

// chats reads one file.
type chats struct {
	name, base string
	in         *counter
	decoder    *jsontext.Decoder
	yield      func(Item, error) bool
	stopped    bool
	at         Position
	number     int // of the conversation
}

func (c *chats) read() error {
	for !c.stopped {
		switch c.peek() {
		case 0:
			_, err := c.decoder.ReadToken() // The reason why there is nothing.
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		case '[':
			if _, err := c.decoder.ReadToken(); err != nil {
				return err
			}
			for c.peek() != ']' && !c.stopped {
				if err := c.value(); err != nil {
					return err
				}
			}
			if c.stopped {
				return nil
			}
			if _, err := c.decoder.ReadToken(); err != nil {
				return err
			}
		default:
			if err := c.value(); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *chats) peek() jsontext.Kind {
	c.in.limit = c.decoder.InputOffset() + MaxConversation
	return c.decoder.PeekKind()
}

// value reads one conversation or turn.
func (c *chats) value() error {
	c.peek()
	value, err := c.decoder.ReadValue()
	if err != nil {
		return err
	}
	c.at = Position{c.name, c.in.line(c.decoder.InputOffset() - int64(len(value)))}
	c.number++
	switch value.Kind() {
	case '[':
		c.turns(session{id: c.fallback()}, value)
	case '{':
		var o object
		if err := decodeLenient(value, &o); err != nil {
			return err
		}
		c.object(o)
	default:
		c.fail(errors.New("neither a conversation nor a turn"))
	}
	return nil
}

func (c *chats) fail(err error) {
	if !c.stopped {
		c.stopped = !c.yield(Item{Position: c.at}, &Error{c.at, err, false})
	}
}

func (c *chats) fallback() string { return fmt.Sprintf("%s-%d", c.base, c.number) }

// session is what the turns of a conversation share.
type session struct {
	id, title string
	date      time.Time
}

var (
	speakerNames = []string{"speaker", "role", "sender", "author", "from", "user", "name"}
	textNames    = []string{"text", "content", "value", "message", "utterance"}
	timeNames    = []string{"date", "time", "timestamp", "created_at", "create_time", "said_at", "ts"}
	turnNames    = []string{"turns", "messages", "conversations", "dialogue", "dialog", "utterances", "chat_messages"}
	idNames      = []string{"id", "session_id", "uuid", "conversation_id", "sample_id", "session"}
	titleNames   = []string{"title", "name", "topic"}
	unsaidRoles  = []string{"system", "developer", "tool", "function"}
	unsaidTypes  = []string{"tool_use", "tool_result", "tool_call", "function_call", "image", "image_url", "input_image", "audio", "file", "thinking", "reasoning"}
)

// first returns the first member of an object that is there and not null.
func (c *chats) first(o object, names []string) (jsontext.Value, bool) {
	for _, n := range names {
		if v, ok := o[n]; ok && v.Kind() != 'n' {
			return v, true
		}
	}
	return nil, false
}

func (c *chats) object(o object) {
	s := session{id: textOf(o, idNames), title: clip(strings.TrimSpace(textOf(o, titleNames)), maxName)}
	if s.id == "" {
		s.id = c.fallback()
	}
	s.date = c.timeIn(o)
	if mapping, ok := o["mapping"]; ok && mapping.Kind() == '{' {
		c.mapping(s, mapping, o["current_node"])
		return
	}
	if list, ok := c.first(o, turnNames); ok && list.Kind() == '[' {
		c.turns(s, list)
		return
	}
	inner, named := o, ""
	if v, ok := o["conversation"]; ok {
		switch v.Kind() {
		case '[':
			c.turns(s, v)
			return
		case '{':
			inner = object{}
			if err := decodeLenient(v, &inner); err != nil {
				c.fail(err)
				return
			}
		}
	}
	if named = textOf(o, idNames); named != "" {
		named += "/"
	}
	if c.sessions(inner, named, s.title) {
		return
	}
	if _, ok := c.first(o, textNames); ok {
		c.number-- // A turn by itself is no conversation.
		c.turn(session{id: c.base}, o)
		return
	}
	c.fail(errors.New("neither a conversation nor a turn: no list of turns and no text"))
}

// sessions reads the members session_1, session_2 and so on, in that order.
func (c *chats) sessions(o object, prefix, title string) bool {
	var numbers []int
	for name, v := range o {
		if n, err := strconv.Atoi(strings.TrimPrefix(name, "session_")); err == nil && strings.HasPrefix(name, "session_") && v.Kind() == '[' {
			numbers = append(numbers, n)
		}
	}
	slices.Sort(numbers)
	for _, n := range numbers {
		name := fmt.Sprintf("session_%d", n)
		s := session{id: prefix + name, title: title}
		if v, ok := c.first(o, []string{name + "_date_time", name + "_date", name + "_time"}); ok {
			s.date = c.time(v)
		}
		c.turns(s, o[name])
	}
	return len(numbers) > 0
}

// turns reads a list of turns.
func (c *chats) turns(s session, list jsontext.Value) {
	var turns []jsontext.Value
	if err := decodeLenient(list, &turns); err != nil {
		c.fail(err)
		return
	}
	for i, v := range turns {
		if c.stopped {
			return
		}
		o := object{}
		if v.Kind() != '{' || decodeLenient(v, &o) != nil {
			c.fail(fmt.Errorf("turn %d of session %q is no object", i+1, clip(s.id, 80)))
			continue
		}
		c.turn(s, o)
	}
}

func (c *chats) turn(s session, o object) {
	speaker := textOf(o, speakerNames)
	if slices.Contains(unsaidRoles, strings.ToLower(speaker)) || slices.Contains(unsaidRoles, textOf(o, []string{"role", "type"})) {
		return
	}
	at := c.timeIn(o)
	if at.IsZero() {
		at = s.date
	}
	c.said(s, speaker, at, textOf(o, textNames))
}

// said yields what was said at one turn.
func (c *chats) said(s session, speaker string, at time.Time, text string) {
	for piece := range pieces(strings.TrimSpace(text), MaxNote) {
		if c.stopped {
			return
		}
		c.stopped = !c.yield(Item{
			Kind: Note, Position: c.at, Text: piece, Title: s.title, Session: clip(s.id, maxName),
			Speaker: clip(strings.TrimSpace(speaker), maxName), SaidAt: at,
		}, nil)
	}
}

// textOf returns the text of the first named member that has any.
func textOf(o object, names []string) string {
	for _, n := range names {
		if text := plainText(o[n], 0); text != "" {
			return text
		}
	}
	return ""
}

const maxNesting = 8 // of lists and objects around a text

// plainText returns the text of a string, a number, a list of parts or an object
// with a text.
func plainText(v jsontext.Value, depth int) string {
	if len(v) == 0 || depth > maxNesting {
		return ""
	}
	switch v.Kind() {
	case '"':
		var s string
		if decodeLenient(v, &s) != nil {
			return ""
		}
		return s
	case '0':
		return string(v)
	case '[':
		return joinParts(v, depth)
	case '{':
		o := object{}
		if decodeLenient(v, &o) != nil || slices.Contains(unsaidTypes, plainText(o["type"], maxNesting)) {
			return ""
		}
		for _, n := range []string{"text", "content", "parts", "value", "name", "role"} {
			if text := plainText(o[n], depth+1); text != "" {
				return text
			}
		}
	}
	return ""
}

// joinParts joins the parts of a text: with line breaks, unless some stand bare
// as strings between others, as the pieces of one line do.
func joinParts(v jsontext.Value, depth int) string {
	var parts []jsontext.Value
	if decodeLenient(v, &parts) != nil {
		return ""
	}
	var texts []string
	bare, wrapped := false, false
	for _, p := range parts {
		bare, wrapped = bare || p.Kind() == '"', wrapped || p.Kind() == '{'
		if text := plainText(p, depth+1); text != "" {
			texts = append(texts, text)
		}
	}
	if bare && wrapped {
		return strings.Join(texts, "")
	}
	return strings.Join(texts, "\n")
}
