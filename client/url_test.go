package client_test

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"github.com/grounded-memory/grounded"
	"github.com/grounded-memory/grounded/client"
)

// baseURLs says of each form of a base URL whether a client is made of it.
func baseURLs() map[string]bool {
	return map[string]bool{
		"http://127.0.0.1":              true,
		"http://127.0.0.1:8750":         true,
		"http://127.0.0.1:8750/":        true,
		"http://127.255.255.254":        true,
		"http://[::1]":                  true,
		"http://[::1]:8750":             true,
		"http://[0:0:0:0:0:0:0:1]":      true,
		"http://[::ffff:127.0.0.1]":     true,
		"http://[::ffff:7f00:1]":        true,
		"http://localhost":              true,
		"http://LOCALHOST:8750":         true,
		"http://localhost:8750/memory/": true,
		"https://memory.example.com":    true,
		"https://MEMORY.example.com":    true,
		"https://10.0.0.1:8443/a/b":     true,
		"https://xn--bcher-kva.example": true,
		"HTTPS://memory.example.com":    true,

		"http://memory.example.com":       false,
		"http://10.0.0.1":                 false,
		"http://0.0.0.0":                  false,
		"http://[::]":                     false,
		"http://localhost.":               false,
		"http://localhost.evil.test":      false,
		"http://evil.localhost":           false,
		"http://127.0.0.1.evil.test":      false,
		"http://127.0.0.1.":               false,
		"http://127.1":                    false,
		"http://127.0.1":                  false,
		"http://0177.0.0.1":               false,
		"http://127.0.0.01":               false,
		"http://2130706433":               false,
		"http://0x7f000001":               false,
		"http://0x7f.0.0.1":               false,
		"http://[::1%25lo]":               false,
		"http://[fe80::1%25lo]":           false,
		"http://[::ffff:10.0.0.1]":        false,
		"http://[::127.0.0.1]":            false,
		"http://[64:ff9b::127.0.0.1]":     false,
		"http://localhost@evil.test":      false,
		"http://127.0.0.1@evil.test":      false,
		"http://127.0.0.1:8750@evil.test": false,
		"http://user:password@127.0.0.1":  false,
		"http://@127.0.0.1":               false,
		"https://user:password@h.test":    false,
		"http://evil.test#@127.0.0.1":     false,
		"http://evil.test?@127.0.0.1":     false,
		"http://127.0.0.1\\@evil.test":    false,
		"http://127.0.0.1 ":               false,
		" http://127.0.0.1":               false,
		"http://127.0.0.1\t.evil.test":    false,
		"http://127.0.0.1\n":              false,
		"http://127.0.0.1%00.evil.test":   false,
		"http://127.0.0.1%2eevil.test":    false,
		"http://%6c%6f%63alhost":          false,
		"http://locaⓁhost":                false,
		"http://ｌｏｃａｌｈｏｓｔ":                false,
		"http://①②⑦.0.0.1":                false,
		"https://x。com":                   false,
		"https://bücher.example":          false,
		"https://h.test?a=b":              false,
		"https://h.test?":                 false,
		"https://h.test#a":                false,
		"https://h.test/#":                false,
		"https://":                        false,
		"https:///path":                   false,
		"https:h.test":                    false,
		"https://:8443":                   false,
		"https://h.test:port":             false,
		"//127.0.0.1":                     false,
		"127.0.0.1:8750":                  false,
		"localhost":                       false,
		"":                                false,
		"ftp://127.0.0.1":                 false,
		"file:///etc/passwd":              false,
		"unix:///run/x":                   false,
		"javascript:alert(1)":             false,
		"ws://127.0.0.1":                  false,
		"http+unix://127.0.0.1":           false,
	}
}

// TestBaseURLs also watches where the client dials: in clear text nowhere but at
// literal loopback addresses, whatever the environment says about proxies.
func TestBaseURLs(t *testing.T) {
	for _, name := range []string{"HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"} {
		t.Setenv(name, "http://proxy.evil.test:3128")
	}
	t.Setenv("NO_PROXY", "")
	errDial := errors.New("no network in this test")
	for text, want := range baseURLs() {
		var dialled []string
		c, err := client.New(text, client.Options{Token: token, Sleep: noWait, Dial: func(_ context.Context, _, address string) (net.Conn, error) {
			dialled = append(dialled, address)
			return nil, errDial
		}})
		if (err == nil) != want {
			t.Errorf("%q: %v, want made: %v", text, err, want)
		}
		if err != nil {
			if !errors.Is(err, grounded.InvalidArgument) || strings.Contains(err.Error(), "password") && strings.Contains(text, "password") && !strings.Contains(err.Error(), "no user name") {
				t.Errorf("%q: %v", text, err)
			}
			continue
		}
		if _, err := c.Stats(t.Context(), &grounded.StatsRequest{}); !errors.Is(err, grounded.Unavailable) {
			t.Errorf("%q: %v", text, err)
		}
		if len(dialled) == 0 {
			t.Errorf("%q: nothing was dialled", text)
		}
		clear := strings.HasPrefix(text, "http://")
		for _, address := range dialled {
			at, err := netip.ParseAddrPort(address)
			if clear && (err != nil || !at.Addr().Unmap().IsLoopback()) || strings.Contains(address, "proxy") {
				t.Errorf("%q: dialled %s", text, address)
			}
		}
	}
}

func TestOptionsThatWouldExposeTheToken(t *testing.T) {
	for name, options := range map[string]client.Options{
		"unchecked TLS": {Token: token, TLS: &tls.Config{InsecureSkipVerify: true}},
		"line end":      {Token: token + "\n"},
		"header":        {Token: token + "\r\nX: y"},
		"space":         {Token: "a b"},
		"beyond ASCII":  {Token: "tökén"},
		"NUL":           {Token: "a\x00"},
		"too long":      {Token: strings.Repeat("a", 5000)},
	} {
		_, err := client.New("https://h.test", options)
		if !errors.Is(err, grounded.InvalidArgument) || strings.Contains(err.Error(), options.Token) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestProxyGetsNoTokenInClear: a named proxy is used for https by CONNECT, and
// not at all for http.
func TestProxyGetsNoTokenInClear(t *testing.T) {
	proxy, err := url.Parse("http://proxy.test:3128")
	if err != nil {
		t.Fatal(err)
	}
	for base, want := range map[string]string{"http://127.0.0.1:8750": "127.0.0.1:8750", "https://h.test": "proxy.test:3128"} {
		var dialled string
		seen := make(chan string, 1)
		c := newClient(t, base, client.Options{Token: token, Retries: -1, Proxy: proxy, Dial: func(_ context.Context, _, address string) (net.Conn, error) {
			dialled = address
			ours, theirs := net.Pipe()
			go func() {
				buffer := make([]byte, 4096)
				n, _ := theirs.Read(buffer)
				seen <- string(buffer[:n])
				theirs.Close()
			}()
			return ours, nil
		}})
		if _, err := c.Stats(t.Context(), &grounded.StatsRequest{}); err == nil {
			t.Error("no error")
		}
		if dialled != want {
			t.Errorf("%s: dialled %s, want %s", base, dialled, want)
		}
		first := <-seen
		if strings.HasPrefix(base, "https") && (strings.Contains(first, token) || !strings.HasPrefix(first, "CONNECT h.test:443 ")) {
			t.Errorf("the proxy saw %q", first)
		}
	}
}
