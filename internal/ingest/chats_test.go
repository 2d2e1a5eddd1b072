package ingest

import (
	"errors"
	"io"
	"os"
	"strings"
	"testing"
)

const chatGPT = `[
 {"title":"Trip","create_time":1700000000.5,"conversation_id":"c-1","current_node":"n4","mapping":{
  "root":{"id":"root","message":null,"parent":null,"children":["n1"]},
  "n1":{"message":{"author":{"role":"system"},"content":{"content_type":"text","parts":["You are ChatGPT"]}},"parent":"root","children":["n2"]},
  "n2":{"message":{"author":{"role":"user"},"create_time":1700000001.25,"content":{"content_type":"text","parts":["Where to?"]}},"parent":"n1","children":["n3","n4"]},
  "n3":{"message":{"author":{"role":"assistant"},"content":{"content_type":"text","parts":["Discarded"]}},"parent":"n2","children":[]},
  "n4":{"message":{"author":{"role":"assistant"},"content":{"content_type":"multimodal_text","parts":[{"content_type":"image_asset_pointer"},"To Basel."]}},"parent":"n2","children":[]}}},
 {"title":"No last node","id":"c-2","mapping":{
  "a":{"message":{"author":{"role":"user"},"content":{"content_type":"text","parts":["Hi"]}},"children":["b"]},
  "b":{"message":{"author":{"role":"assistant"},"metadata":{"is_visually_hidden_from_conversation":true},"content":{"content_type":"text","parts":["hidden"]}},"parent":"a","children":["c"]},
  "c":{"message":{"author":{"role":"assistant"},"content":{"content_type":"text","parts":["Hello"]}},"parent":"b","children":["a"]}}}
]`

const claude = `[{"uuid":"u-1","name":"Cake","created_at":"2026-01-02T03:04:05.678Z","chat_messages":[
 {"uuid":"m1","sender":"human","text":"How long?","created_at":"2026-01-02T03:04:06Z","content":[{"type":"text","text":"How long?"}]},
 {"uuid":"m2","sender":"assistant","text":"","created_at":"2026-01-02T03:04:07Z","content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"An hour."},{"type":"tool_use","name":"x"}]}]}]`

const locomo = `[{"sample_id":"conv-26","qa":[{"question":"q"}],"conversation":{"speaker_a":"Caroline","speaker_b":"Mel",
 "session_2_date_time":"1:56 pm on 8 May, 2023","session_2":[{"speaker":"Mel","dia_id":"D2:1","text":"Second"}],
 "session_10":[{"speaker":"Caroline","text":"Tenth"}],
 "session_1_date_time":"8 May, 2023","session_1":[{"speaker":"Caroline","dia_id":"D1:1","text":"First"}]}}]`

func TestChats(t *testing.T) {
	for _, c := range []struct{ name, input, want string }{
		{"chatgpt", chatGPT, `
2 note "Where to?" title="Trip" session="c-1" speaker="user" at=2023-11-14T22:13:21.25Z
2 note "To Basel." title="Trip" session="c-1" speaker="assistant" at=2023-11-14T22:13:20.5Z
8 note "Hi" title="No last node" session="c-2" speaker="user"
8 note "Hello" title="No last node" session="c-2" speaker="assistant"
`},
		{"claude", claude, `
1 note "How long?" title="Cake" session="u-1" speaker="human" at=2026-01-02T03:04:06Z
1 note "An hour." title="Cake" session="u-1" speaker="assistant" at=2026-01-02T03:04:07Z
`},
		{"locomo", locomo, `
1 note "First" title="" session="conv-26/session_1" speaker="Caroline" at=2023-05-08T00:00:00Z
1 note "Second" title="" session="conv-26/session_2" speaker="Mel" at=2023-05-08T13:56:00Z
1 note "Tenth" title="" session="conv-26/session_10" speaker="Caroline"
`},
		{"bare sessions", `{"session_1":[{"speaker":"A","text":"x"}]}`, `
1 note "x" title="" session="session_1" speaker="A"
`},
		{"simple", "[\n{\"id\":\"s1\",\"date\":\"2026-01-02\",\"turns\":[{\"speaker\":\"Alice\",\"text\":\" Hello \"},{\"speaker\":\"Bob\",\"text\":\"Hi\",\"date\":\"2026-01-02 10:00\"}]},\n{\"turns\":[{\"text\":\"anonymous\"}]}]", `
2 note "Hello" title="" session="s1" speaker="Alice" at=2026-01-02T00:00:00Z
2 note "Hi" title="" session="s1" speaker="Bob" at=2026-01-02T10:00:00Z
3 note "anonymous" title="" session="chat-2" speaker=""
`},
		{"role and content", `{"messages":[{"role":"system","content":"Be kind."},{"role":"user","content":"Hi"},{"role":"assistant","content":[{"type":"text","text":"One"},{"type":"text","text":"Two"},{"type":"image_url","image_url":{"url":"x"}}]},{"role":"assistant","content":null,"tool_calls":[{}]},{"role":"tool","content":"result"}]}
{"messages":[{"role":"user","content":"Second line"}]}`, `
1 note "Hi" title="" session="chat-1" speaker="user"
1 note "One\nTwo" title="" session="chat-1" speaker="assistant"
2 note "Second line" title="" session="chat-2" speaker="user"
`},
		{"bare messages", `[{"role":"user","content":"a"},{"role":"assistant","content":"b"}]`, `
1 note "a" title="" session="chat" speaker="user"
1 note "b" title="" session="chat" speaker="assistant"
`},
		{"lists of messages", `[[{"role":"user","content":"a"}],[{"role":"user","content":"b"}]]`, `
1 note "a" title="" session="chat-1" speaker="user"
1 note "b" title="" session="chat-2" speaker="user"
`},
		{"sharegpt", `[{"id":"x","conversations":[{"from":"human","value":"a"},{"from":"gpt","value":"b"}]}]`, `
1 note "a" title="" session="x" speaker="human"
1 note "b" title="" session="x" speaker="gpt"
`},
		{"messenger", `{"name":"Family","id":7,"messages":[{"from":"Ann","date":"2026-01-02T03:04:05","text":["see ",{"type":"link","text":"https://a.example"}," please"]},{"user":"U1","ts":"1700000000.000100","text":"slack"}]}`, `
1 note "see https://a.example please" title="Family" session="7" speaker="Ann" at=2026-01-02T03:04:05Z
1 note "slack" title="Family" session="7" speaker="U1" at=2023-11-14T22:13:20.0001Z
`},
		{"faults go on", "[{\"id\":\"s\",\"date\":\"once\",\"turns\":[{\"speaker\":\"A\",\"text\":\"x\"},3]},\n7,\n{\"a\":1},\n{\"id\":\"t\",\"turns\":[{\"speaker\":\"A\",\"text\":\"y\"}]}]", `
! chat.json:1: "once" is no date that is understood
1 note "x" title="" session="s" speaker="A"
! chat.json:1: turn 2 of session "s" is no object
! chat.json:2: neither a conversation nor a turn
! chat.json:3: neither a conversation nor a turn: no list of turns and no text
4 note "y" title="" session="t" speaker="A"
`},
	} {
		t.Run(c.name, func(t *testing.T) {
			check(t, Read(Chats, "dir/chat.json"[len("dir/"):], strings.NewReader(c.input)), c.want)
			check(t, Read(Chats, "chat.json", strings.NewReader(byteOrderMark+strings.ReplaceAll(c.input, "\n", "\r\n"))), c.want)
		})
	}
}

func TestBrokenChats(t *testing.T) {
	for input, want := range map[string]string{
		"[{\"id\":\"s\",\"turns\":[{\"text\":\"x\"}]},\n{\"id\":": ":2: ",
		"[{\"text\":\"\xff\"}]":                                   ":1: ",
		"[1}":                                                     ":1: ",
		"{\"turns\":[],}":                                         ":1: ",
		"[{\"text\":\"x\"}] junk":                                 ":1: ",
	} {
		got := show(Read(Chats, "c", strings.NewReader(input)))
		last := got[strings.LastIndex(strings.TrimSpace(got), "\n")+1:]
		if !strings.HasPrefix(last, "! c"+want) {
			t.Errorf("%q: %s", input, got)
		}
	}
	check(t, Read(Chats, "c", strings.NewReader(" \n ")), "\n")
}

func TestTimes(t *testing.T) {
	for text, want := range map[string]string{
		"2026-01-02T03:04:05+02:00": "2026-01-02T01:04:05Z",
		"2023/05/20 (Sat) 02:21":    "2023-05-20T02:21:00Z",
		"1:56 PM on 8 May, 2023":    "2023-05-08T13:56:00Z",
		"1700000000":                "2023-11-14T22:13:20Z",
		"1700000000123":             "2023-11-14T22:13:20.123Z",
		"May 8, 2023":               "2023-05-08T00:00:00Z",
	} {
		got, ok := parseTime(text)
		if !ok || got.Format("2006-01-02T15:04:05.999999999Z07:00") != want {
			t.Errorf("%q: %v %v, want %s", text, got, ok, want)
		}
	}
	for _, text := range []string{"", "soon", "12", "2026-13-01", "1700000000.-5", "99999999999999999"} {
		if got, ok := parseTime(text); ok {
			t.Errorf("%q: %v", text, got)
		}
	}
}

// endless is a JSON string that never ends.
type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'a'
	}
	return len(p), nil
}

func TestEndlessConversation(t *testing.T) {
	if os.Getenv("GROUNDED_LONG") == "" {
		t.Skip("reads 64 MiB; set GROUNDED_LONG=1")
	}
	var last error
	for _, err := range Read(Chats, "c", io.MultiReader(strings.NewReader("[{\"text\":\""), endless{})) {
		last = err
	}
	var place *Error
	if !errors.As(last, &place) || !place.Fatal || !errors.Is(last, errTooLong) {
		t.Errorf("%v", last)
	}
}
