package grounded_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/grounded-memory/grounded"
	"github.com/grounded-memory/grounded/internal/canonical"
)

// filled is a scope with something of every kind in it.
func filled(t testing.TB, namespace string) (*grounded.Memory, *clock) {
	t.Helper()
	c := newClock()
	path := filepath.Join(t.TempDir(), "store.db")
	store := openStore(t, path, c)
	t.Cleanup(func() { _ = store.Close() })
	m := scopeOf(t, store, namespace)
	_, err := m.Write(ctx, &grounded.WriteRequest{Writes: []grounded.WriteItem{
		{Remember: &grounded.RememberRequest{Entity: "Ada", Predicate: "manages", Value: "Bob", Source: "HR"}},
		{Remember: &grounded.RememberRequest{Entity: "Ada", Predicate: "manages", Value: "Bob", Source: "wiki"}},
		{Remember: &grounded.RememberRequest{Entity: "Bob", Predicate: "works_on", Value: "billing", Source: "team page"}},
		{Note: &grounded.NoteRequest{Text: "The billing export fails on leap days.", Source: "chat", Session: "s", Speaker: "Ines"}},
		{Note: &grounded.NoteRequest{Text: "Then we skip it in February.", Source: "chat", Session: "s", Speaker: "Tobias"}},
		{RememberBridge: &grounded.RememberBridgeRequest{Phrase: "invoicing", Target: "billing", Source: "glossary"}},
		{Remember: &grounded.RememberRequest{Entity: "x", Predicate: "is", Value: "1", Source: "a"}},
		{Remember: &grounded.RememberRequest{Entity: "x", Predicate: "is", Value: "2", Source: "b"}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	return m, c
}

func query(atoms ...grounded.Atom) *grounded.QueryRequest {
	return &grounded.QueryRequest{Where: atoms}
}

// certificates are one of every kind of read and status.
func certificates(t testing.TB, m *grounded.Memory) map[string]*grounded.Certificate {
	t.Helper()
	out := map[string]*grounded.Certificate{}
	add := func(name string, c *grounded.Certificate, err error) {
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		out[name] = c
	}
	q, err := m.Query(ctx, query(grounded.NewAtom(grounded.Var("who"), "manages", grounded.Var("p")), grounded.NewAtom(grounded.Var("p"), "works_on", grounded.Const("billing"))))
	add("query answered", q.Certificate, err)
	q, err = m.Query(ctx, query(grounded.NewAtom(grounded.Const("x"), "is", grounded.Var("v"))))
	add("query conflict", q.Certificate, err)
	q, err = m.Query(ctx, query(grounded.NewAtom(grounded.Const("nobody"), "is", grounded.Var("v"))))
	add("query no matches", q.Certificate, err)
	r, err := m.Recall(ctx, &grounded.RecallRequest{Text: "what does Bob works_on"})
	add("recall", r.Certificate, err)
	g, err := m.RecallGrounded(ctx, &grounded.RecallGroundedRequest{Query: "invoicing export"})
	add("recall_grounded", g.Certificate, err)
	g, err = m.RecallGrounded(ctx, &grounded.RecallGroundedRequest{Query: "zzz"})
	add("recall_grounded no matches", g.Certificate, err)
	return out
}

func verify(t interface{ Fatal(...any) }, m *grounded.Memory, c *grounded.Certificate) *grounded.VerifyResult {
	v, err := m.Verify(ctx, &grounded.VerifyRequest{Certificate: c})
	if err != nil {
		t.Fatal(err)
	}
	p, err := m.Pack(ctx, &grounded.PackRequest{Certificate: c})
	if err != nil {
		t.Fatal(err)
	}
	if (v.Status == grounded.Valid) != (p.Status != grounded.Stale) {
		t.Fatal("verify says", v.Status, v.Reasons, "and pack", p.Status, p.Reasons)
	}
	return v
}

// forged decodes a changed certificate whose checksum a forger recomputed.
func forged(t *testing.T, tree map[string]any) *grounded.Certificate {
	t.Helper()
	delete(tree, "checksum")
	body, err := canonical.Marshal(tree)
	if err != nil {
		return nil // what has no canonical form cannot have a checksum
	}
	sum := sha256.Sum256(body)
	tree["checksum"] = hex.EncodeToString(sum[:])
	data, err := json.Marshal(tree)
	if err != nil {
		t.Fatal(err)
	}
	c := new(grounded.Certificate)
	if err := json.Unmarshal(data, c); err != nil {
		return nil
	}
	return c
}

func tree(t *testing.T, c *grounded.Certificate) map[string]any {
	t.Helper()
	data, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]any{}
	if err := json.Unmarshal(data, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// changes calls attack with the value of every field changed, dropped and
// doubled, one at a time.
func changes(v any, path string, set func(any), attack func(path string)) {
	try := func(name string, to any) {
		set(to)
		attack(path + " " + name)
		set(v)
	}
	switch x := v.(type) {
	case map[string]any:
		for k := range x {
			child := x[k]
			changes(child, path+"."+k, func(to any) { x[k] = to }, attack)
			delete(x, k)
			attack(path + "." + k + " dropped")
			x[k] = child
		}
		x["surplus"] = "1"
		attack(path + " with a surplus field")
		delete(x, "surplus")
	case []any:
		for i := range x {
			changes(x[i], fmt.Sprintf("%s[%d]", path, i), func(to any) { x[i] = to }, attack)
		}
		if len(x) > 0 {
			try("shortened", x[1:])
			try("doubled", append(append([]any{}, x...), x...))
		}
		if len(x) > 1 {
			try("reversed", append(append([]any{}, x[1:]...), x[0]))
		}
	case string:
		try("emptied", "")
		try("prefixed", "x"+x)
		if len(x) > 0 {
			last := byte('0')
			if x[len(x)-1] == '0' {
				last = '1'
			}
			try("flipped", x[:len(x)-1]+string(last))
		}
	case float64:
		try("raised", x+1)
		try("negated", -x-1)
	case nil, bool:
		try("replaced", "x")
	}
}

// TestForgery: no change of any field of any certificate passes, although the
// checksum is right, unless the changed plan gives what the certificate says.
func TestForgery(t *testing.T) {
	m, _ := filled(t, "team")
	for name, c := range certificates(t, m) {
		if v := verify(t, m, c); v.Status != grounded.Valid {
			t.Fatalf("%s: the untouched certificate is %+v", name, v)
		}
		fields := tree(t, c)
		tried := 0
		changes(fields, "", func(any) {}, func(path string) {
			forgery := forged(t, fields)
			if forgery == nil {
				return
			}
			tried++
			if v := verify(t, m, forgery); v.Status == grounded.Valid && !harmless(path) {
				t.Errorf("%s: %s is valid", name, path)
			}
		})
		if tried < 50 {
			t.Errorf("%s: only %d forgeries were tried", name, tried)
		}
		c.Checksum[0] ^= 1
		if v := verify(t, m, c); v.Status == grounded.Valid {
			t.Errorf("%s: a wrong checksum is valid", name)
		}
	}
}

// harmless are changes after which the rerun still gives all that the
// certificate says: a later time at which nothing had changed, and greater or
// smaller bounds that were not reached.
func harmless(path string) bool {
	for _, p := range []string{".as_of", ".limits.", ".k ", ".max_variants", ".max_steps", ".query prefixed", ".query flipped", ".query.select", ".text", ".where", ".policy"} {
		if strings.Contains(path, p) {
			return true
		}
	}
	return false
}

// TestOtherScopesAndStores: a certificate holds where it was made, and in a copy.
func TestOtherScopesAndStores(t *testing.T) {
	m, _ := filled(t, "team")
	elsewhere, _ := filled(t, "rival")
	fresh, _ := filled(t, "team") // the same records with salts of its own store
	for name, c := range certificates(t, m) {
		if v := verify(t, elsewhere, c); v.Status == grounded.Valid || v.Reasons[0] != grounded.ReasonScopeMismatch {
			t.Errorf("%s: in another scope %+v", name, v)
		}
	}
	_ = fresh
	var export strings.Builder
	if _, err := m.Export(ctx, &export); err != nil {
		t.Fatal(err)
	}
	c := newClock()
	store := openStore(t, filepath.Join(t.TempDir(), "copy.db"), c)
	defer store.Close()
	imported := scopeOf(t, store, "team")
	if _, err := imported.Import(ctx, strings.NewReader(export.String())); err != nil {
		t.Fatal(err)
	}
	for name, c := range certificates(t, m) {
		if v := verify(t, imported, c); v.Status != grounded.Valid {
			t.Errorf("%s: in an imported copy %+v", name, v)
		}
	}
}

// TestValidExactlyWhenNothingChanged: any eligible write, correction, deletion
// or expiry makes every certificate invalid; reads and refused writes do not.
func TestValidExactlyWhenNothingChanged(t *testing.T) {
	text := "other text"
	for name, change := range map[string]func(*grounded.Memory, *clock) error{
		"a note": func(m *grounded.Memory, _ *clock) error {
			_, err := m.Note(ctx, &grounded.NoteRequest{Text: "unrelated", Source: "s"})
			return err
		},
		"a correction": func(m *grounded.Memory, _ *clock) error {
			_, err := m.Correct(ctx, &grounded.CorrectRequest{ID: 4, Text: &text, Source: "s"})
			return err
		},
		"a deletion": func(m *grounded.Memory, _ *clock) error {
			_, err := m.Forget(ctx, &grounded.ForgetRequest{ID: 5})
			return err
		},
		"a bridge": func(m *grounded.Memory, _ *clock) error {
			_, err := m.RememberBridge(ctx, &grounded.RememberBridgeRequest{Phrase: "q", Target: "r", Source: "s"})
			return err
		},
	} {
		m, c := filled(t, "team")
		made := certificates(t, m)
		c.now = c.now.Add(time.Hour)
		if _, err := m.Note(ctx, &grounded.NoteRequest{Source: "s"}); err == nil {
			t.Fatal("an empty note was stored")
		}
		for kind, certificate := range made {
			if v := verify(t, m, certificate); v.Status != grounded.Valid {
				t.Errorf("%s: before %s: %+v", kind, name, v)
			}
		}
		if err := change(m, c); err != nil {
			t.Fatal(err)
		}
		for kind, certificate := range made {
			v := verify(t, m, certificate)
			if v.Status != grounded.Invalid || v.Reasons[0] != grounded.ReasonScopeChanged || v.EvidenceUnchanged == nil {
				t.Errorf("%s: after %s: %+v", kind, name, v)
			}
		}
	}
}

func TestExpiryInvalidates(t *testing.T) {
	m, c := filled(t, "team")
	if _, err := m.Note(ctx, &grounded.NoteRequest{Text: "soon gone", Source: "s", TTL: grounded.TTL(time.Minute)}); err != nil {
		t.Fatal(err)
	}
	made := certificates(t, m)
	c.now = c.now.Add(time.Minute)
	for kind, certificate := range made {
		if v := verify(t, m, certificate); v.Status != grounded.Invalid {
			t.Errorf("%s: valid after an expiry", kind)
		}
	}
	c.now = c.now.Add(-time.Hour) // a clock set back revives nothing
	for kind, certificate := range made {
		if v := verify(t, m, certificate); v.Status != grounded.Invalid {
			t.Errorf("%s: valid again after the clock was set back", kind)
		}
	}
}

// TestMalformedCertificates are refused by verify with a reason, never an error.
func TestMalformedCertificates(t *testing.T) {
	m, _ := filled(t, "team")
	for _, text := range []string{`{}`, `[]`, `"x"`, `null`, `1`, `{"format":"grounded-certificate/1"}`, `{"format":"other"}`} {
		c := new(grounded.Certificate)
		if err := json.Unmarshal([]byte(text), c); err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if v := verify(t, m, c); v.Status != grounded.Invalid || v.Reasons[0] != grounded.ReasonMalformed {
			t.Errorf("%s: %+v", text, v)
		}
	}
}

// TestDigestProperty: stores with equal eligible records and salts have equal
// digests however they were reached; a copy that lacks one has another.
func TestDigestProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := newClock()
		dir := tempDir(t)
		store := openStore(t, filepath.Join(dir, "a.db"), c)
		defer store.Close()
		m := scopeOf(t, store, "team")
		written := 0
		for range rapid.IntRange(1, 12).Draw(t, "steps") {
			switch rapid.IntRange(0, 3).Draw(t, "step") {
			case 0, 1:
				written++
				if _, err := m.Note(ctx, &grounded.NoteRequest{Text: fmt.Sprint("note ", written), Source: "s", TTL: grounded.TTL(rapid.SampledFrom([]time.Duration{0, time.Minute}).Draw(t, "ttl"))}); err != nil {
					t.Fatal(err)
				}
			case 2:
				if written > 0 {
					_, _ = m.Forget(ctx, &grounded.ForgetRequest{ID: grounded.RecordID(rapid.IntRange(1, written).Draw(t, "which"))})
				}
			default:
				c.now = c.now.Add(time.Duration(rapid.IntRange(0, 50).Draw(t, "seconds")) * time.Second)
			}
		}
		want := digest(t, m)
		var export strings.Builder
		if _, err := m.Export(ctx, &export); err != nil {
			t.Fatal(err)
		}
		second := openStore(t, filepath.Join(dir, "b.db"), c)
		defer second.Close()
		copied := scopeOf(t, second, "team")
		if _, err := copied.Import(ctx, strings.NewReader(export.String())); err != nil {
			t.Fatal(err)
		}
		if got := digest(t, copied); got != want {
			t.Fatalf("the copy has %s, not %s", got, want)
		}
		if _, err := copied.Note(ctx, &grounded.NoteRequest{Text: "one more", Source: "s"}); err != nil {
			t.Fatal(err)
		}
		if digest(t, copied) == want {
			t.Fatal("one record more has the same digest")
		}
		if err := store.Backup(ctx, filepath.Join(dir, "c.db")); err != nil {
			t.Fatal(err)
		}
		third := openStore(t, filepath.Join(dir, "c.db"), c)
		defer third.Close()
		if got := digest(t, scopeOf(t, third, "team")); got != want {
			t.Fatalf("the backup has %s, not %s", got, want)
		}
	})
}

func digest(t interface{ Fatal(...any) }, m *grounded.Memory) grounded.Digest {
	s, err := m.Stats(ctx, &grounded.StatsRequest{})
	if err != nil {
		t.Fatal(err)
	}
	return s.ScopeDigest
}

// TestGolden holds results, certificates and packets of a fixed program byte for
// byte: they must be the same on every machine and architecture.
func TestGolden(t *testing.T) {
	m, _ := filled(t, "team")
	var b strings.Builder
	add := func(name string, result any, err error) {
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		data, err := canonical.Marshal(result)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "%s %s\n", name, data)
	}
	pack := &grounded.PackOptions{Tokenizer: "o200k_base"}
	q := query(grounded.NewAtom(grounded.Var("who"), "manages", grounded.Var("p")), grounded.NewAtom(grounded.Var("p"), "works_on", grounded.Var("w")))
	q.Pack = pack
	answered, err := m.Query(ctx, q)
	add("query", answered, err)
	found, err := m.RecallGrounded(ctx, &grounded.RecallGroundedRequest{Query: "invoicing export", Pack: pack})
	add("recall_grounded", found, err)
	stats, err := m.Stats(ctx, &grounded.StatsRequest{})
	add("stats", stats, err)
	path := filepath.Join("testdata", "golden", "results.txt")
	if os.Getenv("UPDATE_GOLDEN") != "" {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if b.String() != string(want) {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
}
