package client

import (
	"net/http"
	"net/url"
	"slices"

	"github.com/grounded-memory/grounded"
)

// maxRedirects is how many redirects one call follows.
const maxRedirects = 3

// follow decides about a redirect of a call that went to from. It returns where
// the call goes next: only the very same https origin, for a call that only
// reads, with a status that keeps the method. Everything else is an error, so
// that no call goes on somewhere else without its token either.
func follow(from *url.URL, response *http.Response, reads bool, hops int) (*url.URL, error) {
	refuse := func(why string) (*url.URL, error) {
		return nil, &grounded.Error{Code: grounded.PermissionDenied, Message: "the server answered with a redirect, which is refused: " + why}
	}
	if !reads {
		return refuse("this call writes")
	}
	if !slices.Contains([]int{http.StatusTemporaryRedirect, http.StatusPermanentRedirect}, response.StatusCode) {
		return refuse("it would change the method")
	}
	if hops >= maxRedirects {
		return refuse("there were too many")
	}
	locations := response.Header.Values("Location")
	if len(locations) != 1 || !isPlain(locations[0]) {
		return refuse("its target is not one plain URL")
	}
	to, err := from.Parse(locations[0])
	if err != nil || to.Opaque != "" || to.User != nil || to.RawQuery != "" || to.ForceQuery || to.Fragment != "" {
		return refuse("its target is not one plain URL")
	}
	if from.Scheme != "https" || to.Scheme != "https" || to.Host != from.Host {
		return refuse("its target is not the same https origin")
	}
	return to, nil
}

// isPlain says that a Location is printable ASCII without what browsers and
// servers read in more than one way.
func isPlain(location string) bool {
	if location == "" {
		return false
	}
	for i := range len(location) {
		if c := location[i]; c <= ' ' || c >= 0x7f || c == '\\' {
			return false
		}
	}
	return true
}
