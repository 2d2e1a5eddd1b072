package httpapi

import (
	"strings"
	"testing"
	"time"

	"github.com/grounded-memory/grounded/internal/operation"
)

// FuzzParseTokens: whatever a token file holds, it is refused or every token in
// it is a whole one.
func FuzzParseTokens(f *testing.F) {
	good := `{"id":"k3v9qd2m","role":"write","sha256":"` + strings.Repeat("ab", 32) + `","created":"2026-01-01T00:00:00Z"}`
	for _, seed := range []string{good, good + "\n" + good, "", "\n\n", "{}", good[:40], strings.Replace(good, "write", "root", 1), good + ` {}`, strings.Replace(good, "}", `,"expires":"2027-01-01T00:00:00Z"}`, 1)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		tokens, err := parseTokens([]byte(text))
		if err != nil {
			return
		}
		seen := map[string]bool{}
		for _, token := range tokens {
			_, ok := operation.ParseRole(token.Role)
			if !ok || seen[token.ID] || !isSaneID(token.ID) || token.SHA256 == ([32]byte{}) {
				t.Errorf("taken: %+v", token)
			}
			seen[token.ID] = true
		}
	})
}

// FuzzIsOurs: only loopback addresses, localhost and the configured hosts.
func FuzzIsOurs(f *testing.F) {
	hosts, err := allowedHosts([]string{"memory.example.com:8443", "inner"})
	if err != nil {
		f.Fatal(err)
	}
	h := &Handler{hosts: hosts}
	for _, seed := range []string{"localhost", "LOCALHOST:1", "127.0.0.1:8750", "[::1]", "[::1]:1", "inner:5", "memory.example.com:8443", "memory.example.com", "evil.test", "localhost.", "127.0.0.1.evil.test", "[::ffff:127.0.0.1]:1", "::1", "localhost:1:2", "[localhost]"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, host string) {
		if !h.isOurs(host) {
			return
		}
		lower := strings.ToLower(host)
		for _, name := range []string{"localhost", "127.", "::1", "0:0", "::ffff:", "inner", "memory.example.com:8443", "[", ":", "0"} {
			if strings.HasPrefix(lower, name) {
				return
			}
		}
		t.Errorf("%q is taken for ours", host)
	})
}

// TestRatesForgetTokens: limiters of tokens that are gone do not pile up.
func TestRatesForgetTokens(t *testing.T) {
	r := rates{perSecond: 1, burst: 1}
	for i := range 2*mostLimiters + 1 {
		r.allow(strings.Repeat("x", i%7)+string(rune('a'+i%26))+time.Duration(i).String(), time.Time{})
	}
	if len(r.byToken) > mostLimiters {
		t.Errorf("%d limiters", len(r.byToken))
	}
}
