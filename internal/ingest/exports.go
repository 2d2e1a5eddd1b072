package ingest

import (
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// exportNode is one node of the tree of messages in an export of ChatGPT.
type exportNode struct {
	Message  *exportMessage `json:"message"`
	Parent   string         `json:"parent"`
	Children []string       `json:"children"`
}

type exportMessage struct {
	Author struct {
		Role string `json:"role"`
		Name string `json:"name"`
	} `json:"author"`
	CreateTime jsontext.Value `json:"create_time"`
	Content    object         `json:"content"`
	Metadata   struct {
		Hidden bool `json:"is_visually_hidden_from_conversation"`
	} `json:"metadata"`
}

// mapping reads the branch that ends at the current node.
func (c *chats) mapping(s session, mapping, current jsontext.Value) {
	nodes := map[string]exportNode{}
	if err := decodeLenient(mapping, &nodes); err != nil {
		c.fail(err)
		return
	}
	for _, id := range branch(nodes, plainText(current, 0)) {
		m := nodes[id].Message
		if m == nil || m.Metadata.Hidden || slices.Contains(unsaidRoles, strings.ToLower(m.Author.Role)) {
			continue
		}
		if kind := plainText(m.Content["content_type"], 0); kind != "" && kind != "text" && kind != "multimodal_text" {
			continue
		}
		at := s.date
		if t := c.time(m.CreateTime); !t.IsZero() {
			at = t
		}
		c.said(s, m.Author.Role, at, textOf(m.Content, []string{"parts", "text"}))
	}
}

// branch returns the nodes from the root to the last one, or, without a last one,
// from the root along the newest children.
func branch(nodes map[string]exportNode, last string) []string {
	var path []string
	seen := map[string]bool{}
	take := func(id string) bool {
		if _, ok := nodes[id]; !ok || seen[id] {
			return false
		}
		seen[id] = true
		path = append(path, id)
		return true
	}
	if take(last) {
		for take(nodes[path[len(path)-1]].Parent) {
		}
		slices.Reverse(path)
		return path
	}
	var roots []string
	for id, n := range nodes {
		if _, ok := nodes[n.Parent]; !ok {
			roots = append(roots, id)
		}
	}
	slices.Sort(roots)
	for _, root := range roots {
		for next := root; take(next); {
			children := nodes[next].Children
			if len(children) == 0 {
				break
			}
			next = children[len(children)-1]
		}
	}
	return path
}
