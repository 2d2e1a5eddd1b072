package httpapi

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"github.com/grounded-memory/grounded"
)

// allowedHosts reads the configured hosts: a name or an address, with or
// without a port.
func allowedHosts(configured []string) (map[string]bool, error) {
	hosts := make(map[string]bool, len(configured))
	for _, host := range configured {
		name, port := splitHost(strings.ToLower(host))
		if name == "" || strings.ContainsAny(name, " /@\\*?#") || strings.HasSuffix(host, ":") || port != "" && !isPort(port) {
			return nil, fmt.Errorf("%q is no host such as memory.example.com or memory.example.com:8443", host)
		}
		if port != "" {
			name = net.JoinHostPort(name, port)
		}
		hosts[name] = true
	}
	return hosts, nil
}

func isPort(text string) bool {
	n, err := strconv.ParseUint(text, 10, 16)
	return err == nil && n > 0
}

// splitHost parts host:port, [address]:port, [address] and host.
func splitHost(host string) (name, port string) {
	if name, port, err := net.SplitHostPort(host); err == nil {
		return name, port
	}
	if inner, ok := strings.CutPrefix(host, "["); ok {
		if inner, ok := strings.CutSuffix(inner, "]"); ok {
			return inner, ""
		}
	}
	return host, ""
}

// checkOrigin refuses requests that a page of another site may have caused: a
// name that points here only by DNS rebinding, or a browser's own word that
// the page is another's. Programs send neither Origin nor Sec-Fetch-Site.
func (h *Handler) checkOrigin(r *http.Request) error {
	if !h.isOurs(r.Host) {
		return denied("this Host is not served; an operator allows it with --allow-host")
	}
	for _, site := range r.Header.Values("Sec-Fetch-Site") {
		if site != "same-origin" && site != "none" {
			return denied("a page of another site may not call")
		}
	}
	origins := r.Header.Values("Origin")
	if len(origins) > 1 {
		return denied("more than one Origin")
	}
	if len(origins) == 1 && !h.isSameOrigin(origins[0], r) {
		return denied("a page of another origin may not call")
	}
	return nil
}

func denied(message string) error {
	return &grounded.Error{Code: grounded.PermissionDenied, Message: message}
}

// isOurs says whether a Host is this machine or one that was configured.
func (h *Handler) isOurs(host string) bool {
	host = strings.ToLower(host)
	name, port := splitHost(host)
	if name == "localhost" || h.hosts[name] {
		return true
	}
	if port != "" && h.hosts[net.JoinHostPort(name, port)] {
		return true
	}
	address, err := netip.ParseAddr(name)
	return err == nil && address.Zone() == "" && address.Unmap().IsLoopback()
}

// isSameOrigin says whether an Origin is the origin that the request went to.
func (h *Handler) isSameOrigin(origin string, r *http.Request) bool {
	u, err := url.Parse(origin)
	if err != nil || u.Host == "" || u.User != nil || u.Path != "" || u.RawQuery != "" || u.Fragment != "" {
		return false
	}
	scheme := "http"
	if r.TLS != nil || h.options.BehindProxy {
		scheme = "https"
	}
	if u.Scheme != scheme {
		return false
	}
	return withPort(u.Host, scheme) == withPort(r.Host, scheme)
}

// withPort writes a host in lower case and with its port.
func withPort(host, scheme string) string {
	name, port := splitHost(strings.ToLower(host))
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[scheme]
	}
	return net.JoinHostPort(name, port)
}
