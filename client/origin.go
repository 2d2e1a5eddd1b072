package client

import (
	"context"
	"net"
	"net/netip"
	"net/url"
	"strings"
)

// parseBase reads a base URL. It takes https to any named host, and http to
// this machine only. Its errors never repeat the URL, which may hold a secret.
func parseBase(text string) (*url.URL, error) {
	const field = "base_url"
	for i := range len(text) {
		if text[i] <= ' ' || text[i] >= 0x7f || text[i] == '\\' {
			return nil, invalid(field, "byte %d is no part of a URL; a host beyond ASCII is given in its xn-- form", i)
		}
	}
	u, err := url.Parse(text)
	if err != nil || u.Opaque != "" || u.Host == "" {
		return nil, invalid(field, "want a URL such as https://memory.example.com")
	}
	if u.User != nil {
		return nil, invalid(field, "must hold no user name or password")
	}
	if u.RawQuery != "" || u.ForceQuery || u.Fragment != "" || strings.Contains(text, "#") {
		return nil, invalid(field, "must hold no query and no fragment")
	}
	u.Host = strings.ToLower(u.Host)
	if u.Hostname() == "" || strings.Contains(u.Hostname(), "%") {
		return nil, invalid(field, "the host is empty or has a zone")
	}
	switch u.Scheme {
	case "https":
	case "http":
		if !isLoopback(u.Hostname()) {
			return nil, invalid(field, "http is taken only for localhost, 127.0.0.0/8 and [::1]: anything else needs https")
		}
	default:
		return nil, invalid(field, "the scheme must be https, or http on this machine")
	}
	u.Path = strings.TrimSuffix(u.Path, "/")
	u.RawPath = strings.TrimSuffix(u.RawPath, "/")
	return u, nil
}

// isLoopback says whether a host, as it stands in a URL, can only be this
// machine. Names below localhost, a final dot, and numbers that some resolvers
// read as addresses (2130706433, 0x7f000001, 127.1) are not taken.
func isLoopback(host string) bool {
	if host == "localhost" {
		return true
	}
	address, err := netip.ParseAddr(host)
	return err == nil && address.Zone() == "" && address.Unmap().IsLoopback()
}

// dialLoopback dials a host for which isLoopback holds. No resolver is asked, so
// none can send localhost elsewhere.
func dialLoopback(host string, dial func(context.Context, string, string) (net.Conn, error)) func(context.Context, string, string) (net.Conn, error) {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		_, port, err := net.SplitHostPort(address)
		if err != nil {
			return nil, err
		}
		if host != "localhost" {
			return dial(ctx, network, net.JoinHostPort(host, port))
		}
		conn, err := dial(ctx, network, net.JoinHostPort("127.0.0.1", port))
		if err == nil {
			return conn, nil
		}
		if second, secondErr := dial(ctx, network, net.JoinHostPort("::1", port)); secondErr == nil {
			return second, nil
		}
		return nil, err
	}
}
