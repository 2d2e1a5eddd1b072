// Package setup writes the configuration files by which MCP clients find the
// memory server, and the hooks that put memory into a session.
//
// It changes only the entry named "grounded" of a file and keeps everything
// else: other members of a JSON object stay in their order and as they are,
// other tables of a TOML file stay byte for byte. A file that it cannot read
// for certain (JSON with comments, for one) is not touched; the error shows
// what to add by hand.
//
// The places are those of the clients' own documentation:
//
//	claude-code     .mcp.json in the project, key mcpServers; hooks in .claude/settings.json
//	claude-desktop  claude_desktop_config.json in the user's configuration folder, key mcpServers
//	cursor          .cursor/mcp.json in the project, key mcpServers
//	vscode          .vscode/mcp.json in the project, key servers
//	codex           ~/.codex/config.toml, table mcp_servers.grounded
package setup

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Clients lists the clients that have a recipe.
func Clients() []string {
	return []string{"claude-code", "claude-desktop", "cursor", "vscode", "codex"}
}

// Places are the folders that recipes need.
type Places struct {
	Home    string // the user's home folder
	Config  string // the user's configuration folder, as os.UserConfigDir gives it
	Project string // the project's folder
}

// Server is how a client starts the memory server.
type Server struct {
	Command string
	Args    []string
}

// Change is what a file would become.
type Change struct {
	Path          string
	Before, After []byte // Before is nil if there is no file
}

// ErrUnknownClient says that there is no recipe of that name.
var ErrUnknownClient = errors.New("no such client; known are " + strings.Join(Clients(), ", "))

const entry = "grounded"

// Plan returns what setting up a client changes. read returns a file's content,
// or nil if there is none.
func Plan(client string, at Places, server Server, hooks bool, read func(string) ([]byte, error)) ([]Change, error) {
	plan := planner{read: read}
	switch client {
	case "claude-code":
		plan.json(filepath.Join(at.Project, ".mcp.json"), "mcpServers", server, false)
		if hooks {
			plan.hooks(filepath.Join(at.Project, ".claude", "settings.json"), server)
		}
	case "claude-desktop":
		plan.json(filepath.Join(at.Config, "Claude", "claude_desktop_config.json"), "mcpServers", server, false)
	case "cursor":
		plan.json(filepath.Join(at.Project, ".cursor", "mcp.json"), "mcpServers", server, false)
	case "vscode":
		plan.json(filepath.Join(at.Project, ".vscode", "mcp.json"), "servers", server, true)
	case "codex":
		plan.toml(filepath.Join(at.Home, ".codex", "config.toml"), server)
	default:
		return nil, ErrUnknownClient
	}
	if hooks && client != "claude-code" {
		return nil, errors.New("hooks are known for claude-code only")
	}
	return plan.changes, plan.err
}

type planner struct {
	read    func(string) ([]byte, error)
	changes []Change
	err     error
}

// edit reads a file, changes it and keeps the change if there is one.
func (p *planner) edit(path string, change func([]byte) ([]byte, error)) {
	if p.err != nil {
		return
	}
	before, err := p.read(path)
	if err != nil {
		p.err = fmt.Errorf("%s: %w", path, err)
		return
	}
	after, err := change(before)
	if err != nil {
		p.err = fmt.Errorf("%s: %w", path, err)
		return
	}
	if !bytes.Equal(before, after) {
		p.changes = append(p.changes, Change{path, before, after})
	}
}

func (p *planner) json(path, key string, server Server, typed bool) {
	value := object{}
	if typed {
		value.set("type", quoted("stdio"))
	}
	value.set("command", quoted(server.Command))
	args, err := json.Marshal(server.Args)
	if err != nil {
		p.err = err
		return
	}
	value.set("args", args)
	p.edit(path, func(before []byte) ([]byte, error) {
		root, err := readObject(before)
		if err != nil {
			return nil, byHand(err, fmt.Sprintf("%q: {%q: %s}", key, entry, value.value()))
		}
		servers, err := readObject(root.get(key))
		if err != nil {
			return nil, byHand(err, fmt.Sprintf("%q: %s, in %q", entry, value.value(), key))
		}
		servers.set(entry, value.value())
		root.set(key, servers.value())
		return root.text()
	})
}

// hooks adds the commands that Claude Code runs when a session starts and when
// a prompt is submitted. Hooks of others stay.
func (p *planner) hooks(path string, server Server) {
	p.edit(path, func(before []byte) ([]byte, error) {
		root, err := readObject(before)
		if err != nil {
			return nil, byHand(err, "hooks (see docs/mcp.md)")
		}
		hooks, err := readObject(root.get("hooks"))
		if err != nil {
			return nil, byHand(err, "hooks (see docs/mcp.md)")
		}
		for _, h := range [][2]string{{"SessionStart", "session-start"}, {"UserPromptSubmit", "prompt-submit"}} {
			list, err := withHook(hooks.get(h[0]), hookCommand(server, h[1]))
			if err != nil {
				return nil, byHand(err, "hooks (see docs/mcp.md)")
			}
			hooks.set(h[0], list)
		}
		root.set("hooks", hooks.value())
		return root.text()
	})
}

// hookCommand is the shell command of a hook: the server's command with its
// flags, but another subcommand.
func hookCommand(server Server, name string) string {
	words := []string{shellWord(server.Command), "hook", name}
	for _, arg := range server.Args {
		if arg != "mcp" {
			words = append(words, shellWord(arg))
		}
	}
	return strings.Join(words, " ")
}

func shellWord(s string) string {
	if s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./=:,@", r))
	}) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// withHook puts our command into a list of hook groups, in place of an older one.
func withHook(list jsontext.Value, command string) (jsontext.Value, error) {
	var groups []jsontext.Value
	if len(list) > 0 {
		if err := json.Unmarshal(list, &groups); err != nil {
			return nil, err
		}
	}
	groups = slices.DeleteFunc(groups, func(g jsontext.Value) bool {
		return bytes.Contains(g, []byte(" hook session-start")) || bytes.Contains(g, []byte(" hook prompt-submit"))
	})
	inner := object{}
	inner.set("type", quoted("command"))
	inner.set("command", quoted(command))
	group := object{}
	group.set("hooks", jsontext.Value("["+string(inner.value())+"]"))
	return json.Marshal(append(groups, group.value()))
}

// toml replaces or appends our table. Everything else stays byte for byte.
func (p *planner) toml(path string, server Server) {
	p.edit(path, func(before []byte) ([]byte, error) {
		var table strings.Builder
		fmt.Fprintf(&table, "[mcp_servers.%s]\ncommand = %s\nargs = [", entry, quoted(server.Command))
		for i, arg := range server.Args {
			if i > 0 {
				table.WriteString(", ")
			}
			table.Write(quoted(arg)) // a JSON string is a TOML basic string
		}
		table.WriteString("]\n")
		if bytes.Contains(before, []byte(`"""`)) || bytes.Contains(before, []byte("'''")) {
			return nil, byHand(errors.New("it has strings of several lines"), table.String())
		}
		return replaceTable(before, table.String()), nil
	})
}

func replaceTable(before []byte, table string) []byte {
	var out strings.Builder
	inOurs, done := false, false
	for _, line := range strings.SplitAfter(string(before), "\n") {
		if header := strings.TrimSpace(line); strings.HasPrefix(header, "[") {
			ours := header == "[mcp_servers."+entry+"]" || header == `[mcp_servers."`+entry+`"]`
			if ours && !done {
				out.WriteString(table)
				done = true
			}
			inOurs = ours
			if !ours && out.Len() > 0 && done && !strings.HasSuffix(out.String(), "\n\n") {
				out.WriteString("\n")
			}
		}
		if !inOurs {
			out.WriteString(line)
		}
	}
	if !done {
		if text := out.String(); text != "" && !strings.HasSuffix(text, "\n") {
			out.WriteString("\n")
		}
		if out.Len() > 0 {
			out.WriteString("\n")
		}
		out.WriteString(table)
	}
	return []byte(out.String())
}

func byHand(err error, what string) error {
	return fmt.Errorf("not changed, because %w; add by hand: %s", err, what)
}

func quoted(s string) jsontext.Value {
	v, err := jsontext.AppendQuote(nil, s)
	if err != nil {
		v, _ = jsontext.AppendQuote(nil, strings.ToValidUTF8(s, "\uFFFD"))
	}
	return v
}

// object is a JSON object whose members keep their order.
type object struct {
	names  []string
	values []jsontext.Value
}

// readObject reads an object; nothing is an empty one.
func readObject(data []byte) (object, error) {
	var o object
	if len(bytes.TrimSpace(data)) == 0 {
		return o, nil
	}
	d := jsontext.NewDecoder(bytes.NewReader(data))
	if d.PeekKind() != '{' {
		return o, errors.New("it is no JSON object")
	}
	if _, err := d.ReadToken(); err != nil {
		return o, err
	}
	for d.PeekKind() != '}' {
		name, err := d.ReadToken()
		if err != nil {
			return o, err
		}
		text := name.String()
		value, err := d.ReadValue()
		if err != nil {
			return o, err
		}
		o.set(text, value.Clone())
	}
	if _, err := d.ReadToken(); err != nil {
		return o, err
	}
	if rest := bytes.TrimSpace(data[d.InputOffset():]); len(rest) > 0 {
		return o, errors.New("something follows the JSON object")
	}
	return o, nil
}

func (o *object) get(name string) jsontext.Value {
	if i := slices.Index(o.names, name); i >= 0 {
		return o.values[i]
	}
	return nil
}

func (o *object) set(name string, value jsontext.Value) {
	if i := slices.Index(o.names, name); i >= 0 {
		o.values[i] = value
		return
	}
	o.names = append(o.names, name)
	o.values = append(o.values, value)
}

func (o *object) value() jsontext.Value {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, name := range o.names {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(quoted(name))
		b.WriteByte(':')
		b.Write(o.values[i])
	}
	b.WriteByte('}')
	return b.Bytes()
}

func (o *object) text() ([]byte, error) {
	v := o.value()
	if err := v.Indent(jsontext.WithIndent("  ")); err != nil {
		return nil, err
	}
	return append(v, '\n'), nil
}
