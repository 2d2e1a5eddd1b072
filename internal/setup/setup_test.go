package setup

import (
	"fmt"
	"strings"
	"testing"
)

func Example() {
	read := func(string) ([]byte, error) {
		return []byte(`{"mcpServers":{"other":{"command":"x"}},"theme":"dark"}`), nil
	}
	changes, _ := Plan("cursor", Places{Project: "/p"}, Server{"grounded", []string{"mcp"}}, false, read)
	fmt.Print(string(changes[0].After))
	// Output:
	// {
	//   "mcpServers": {
	//     "other": {
	//       "command": "x"
	//     },
	//     "grounded": {
	//       "command": "grounded",
	//       "args": [
	//         "mcp"
	//       ]
	//     }
	//   },
	//   "theme": "dark"
	// }
}

// TestAgain: setting up twice changes nothing the second time, for every client
// and from every file that may be there.
func TestAgain(t *testing.T) {
	server := Server{"/opt/my tools/grounded", []string{"mcp", "--db", `/home/o'neill/"m".db`}}
	for _, client := range Clients() {
		for _, start := range []string{"", "{}", `{"mcpServers":{"grounded":{"command":"old","args":["a"]}},"hooks":{"Stop":[{"hooks":[]}]}}`, "[model]\nname = \"x\"", "[mcp_servers.grounded]\ncommand = \"old\"\n[other]\na = 1\n"} {
			if strings.HasPrefix(start, "[") != (client == "codex") && start != "" {
				continue
			}
			files := map[string][]byte{}
			read := func(path string) ([]byte, error) {
				if data, ok := files[path]; ok {
					return data, nil
				}
				if start == "" {
					return nil, nil
				}
				return []byte(start), nil
			}
			hooks := client == "claude-code"
			changes, err := Plan(client, Places{"/h", "/c", "/p"}, server, hooks, read)
			if err != nil || len(changes) == 0 {
				t.Fatalf("%s from %q: %v, %d changes", client, start, err, len(changes))
			}
			for _, c := range changes {
				files[c.Path] = c.After
				ours := client != "vscode" && !strings.HasSuffix(c.Path, "settings.json") // these files have other keys
				if ours && strings.Contains(string(c.After), "old") {
					t.Errorf("%s from %q keeps the old entry:\n%s", client, start, c.After)
				}
				for _, keep := range []string{"[other]\na = 1\n", "[model]\nname = \"x\"", `"Stop"`} {
					if strings.Contains(start, strings.Trim(keep, "\n")) && !strings.Contains(string(c.After), keep) {
						t.Errorf("%s from %q lost %q:\n%s", client, start, keep, c.After)
					}
				}
			}
			again, err := Plan(client, Places{"/h", "/c", "/p"}, server, hooks, read)
			if err != nil || len(again) != 0 {
				t.Errorf("%s from %q: the second time: %v, %d changes:\n%s", client, start, err, len(again), again)
			}
		}
	}
}

// TestWhatCannotBeReadIsNotTouched for every kind of file that is no plain JSON object.
func TestWhatCannotBeReadIsNotTouched(t *testing.T) {
	for _, text := range []string{"// comment\n{}", "[]", "{", `{"mcpServers":[]}`, `{"servers":1,"mcpServers":1}`, `{"a":1,"a":2}`, "{} {}", "null", "\xff"} {
		for _, client := range []string{"claude-code", "claude-desktop", "cursor", "vscode"} {
			changes, err := Plan(client, Places{}, Server{"g", []string{"mcp"}}, false, func(string) ([]byte, error) { return []byte(text), nil })
			if client == "vscode" && text == `{"mcpServers":[]}` {
				continue // another key
			}
			if err == nil || len(changes) != 0 {
				t.Errorf("%s: %q was changed", client, text)
			}
		}
	}
	if _, err := Plan("codex", Places{}, Server{}, false, func(string) ([]byte, error) { return []byte("a = '''\n[mcp_servers.grounded]\n'''"), nil }); err == nil {
		t.Error("a TOML file with strings of several lines was changed")
	}
	if _, err := Plan("emacs", Places{}, Server{}, false, nil); err == nil {
		t.Error("an unknown client has a recipe")
	}
}
