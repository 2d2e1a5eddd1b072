package client

import (
	"bytes"
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/grounded-memory/grounded"
)

// The waits between retries: they double from the first to the last, each
// shortened by up to a half at random. A server's Retry-After is heeded up to
// the longest.
const (
	firstWait   = 100 * time.Millisecond
	lastWait    = 2 * time.Second
	longestWait = 10 * time.Second
)

// call does one operation. A call that repeats may be done twice without
// changing more than once; one that reads changes nothing.
type call struct {
	operation string
	reads     bool
	repeats   bool
	body      []byte
}

// do runs one operation with its retries and reads the result into a new Result.
func do[Request, Result any](ctx context.Context, c *Client, operation string, reads, repeats bool, request *Request) (*Result, error) {
	if request == nil {
		return nil, invalid("", "a %s without a request", operation)
	}
	body, err := encode(request)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, c.options.Timeout)
	defer cancel()
	data, err := c.withRetries(ctx, &call{operation: operation, reads: reads, repeats: reads || repeats, body: body})
	if err != nil {
		return nil, err
	}
	result := new(Result)
	// Members that this version does not know are passed over: later ones may
	// add some.
	if err := json.Unmarshal(data, result); err != nil || jsontext.Value(data).Kind() != '{' {
		return nil, unavailable("the reply is not a result of %s", operation)
	}
	return result, nil
}

// encode writes a request. What has no JSON form is the caller's mistake.
func encode(request any) ([]byte, error) {
	body, err := json.Marshal(request, json.Deterministic(true))
	if err == nil && len(body) > grounded.MaxRequestBytes {
		return nil, &grounded.Error{Code: grounded.TooLarge, Message: "a request holds at most " + strconv.Itoa(grounded.MaxRequestBytes) + " bytes"}
	}
	if err == nil {
		return body, nil
	}
	var e *grounded.Error
	if errors.As(err, &e) {
		return nil, e
	}
	return nil, invalid("", "the request cannot be written as JSON; is all of its text UTF-8?")
}

// attempt is what one attempt at a call came to.
type attempt struct {
	data  []byte
	err   error
	again bool          // another attempt may go better
	wait  time.Duration // what the server asked for; zero if it did not
}

func (c *Client) withRetries(ctx context.Context, call *call) ([]byte, error) {
	for n := 0; ; n++ {
		got := c.attempt(ctx, call)
		if got.err == nil {
			return got.data, nil
		}
		if !got.again || !call.repeats || n >= c.options.Retries || ctx.Err() != nil {
			return nil, got.err
		}
		if err := c.options.Sleep(ctx, c.wait(n, got.wait)); err != nil {
			return nil, got.err
		}
	}
}

// wait is how long to wait before attempt n+1.
func (c *Client) wait(n int, asked time.Duration) time.Duration {
	if asked > 0 {
		return min(asked, longestWait)
	}
	full := min(firstWait<<min(n, 10), lastWait)
	return full - full/2*time.Duration(c.randomByte())/256
}

// randomByte gives jitter; without randomness there is none.
func (c *Client) randomByte() byte {
	var b [1]byte
	c.randMu.Lock()
	defer c.randMu.Unlock()
	if _, err := io.ReadFull(c.options.Rand, b[:]); err != nil {
		return 0
	}
	return b[0]
}

// attempt sends a call once, over the redirects that it may follow.
func (c *Client) attempt(ctx context.Context, call *call) attempt {
	target := c.base.JoinPath("v1", call.operation)
	for hops := 0; ; hops++ {
		response, err := c.send(ctx, target, call.body)
		if err != nil {
			return attempt{err: c.failure(ctx, err), again: true}
		}
		if response.StatusCode < 300 || response.StatusCode > 399 {
			return c.read(ctx, response)
		}
		target, err = follow(target, response, call.reads, hops)
		closeQuietly(response.Body)
		if err != nil {
			return attempt{err: err}
		}
	}
}

func (c *Client) send(ctx context.Context, target *url.URL, body []byte) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, target.String(), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json")
	request.Header.Set("User-Agent", "grounded-client")
	if c.options.Token != "" {
		request.Header.Set("Authorization", "Bearer "+c.options.Token)
	}
	// Not through http.Client: it follows redirects, with what this package
	// must not send.
	return c.transport.RoundTrip(request)
}

// failure makes an error of what the transport reports.
func (c *Client) failure(ctx context.Context, err error) error {
	if ended := ctx.Err(); ended != nil {
		return grounded.AsError(ended)
	}
	return unavailable("the server could not be reached, or broke off: %s", c.quote(err.Error()))
}

// read reads a reply that is no redirect.
func (c *Client) read(ctx context.Context, response *http.Response) attempt {
	defer closeQuietly(response.Body)
	data, err := io.ReadAll(io.LimitReader(response.Body, c.options.MaxReplyBytes+1))
	if int64(len(data)) > c.options.MaxReplyBytes {
		return attempt{err: &grounded.Error{Code: grounded.TooLarge, Message: "the reply is larger than " + strconv.FormatInt(c.options.MaxReplyBytes, 10) + " bytes"}}
	}
	if err != nil {
		return attempt{err: c.failure(ctx, err), again: true}
	}
	isJSON := isJSON(response.Header)
	if response.StatusCode == http.StatusOK {
		if !isJSON {
			return attempt{err: unavailable("the reply is not JSON; is this the address of a memory?")}
		}
		return attempt{data: data}
	}
	got := attempt{err: c.errorOf(response.StatusCode, data, isJSON)}
	if response.StatusCode == http.StatusTooManyRequests || response.StatusCode >= 502 && response.StatusCode <= 504 {
		got.again = true
		got.wait = retryAfter(response.Header)
	}
	return got
}

func isJSON(header http.Header) bool {
	if header.Get("Content-Encoding") != "" {
		return false
	}
	kind, _, err := mime.ParseMediaType(header.Get("Content-Type"))
	return err == nil && kind == "application/json"
}

// errorOf reads the error of a reply. What is not of this service gets a code
// by its status, but never one that speaks of a record.
func (c *Client) errorOf(status int, data []byte, isJSON bool) error {
	var e grounded.Error
	if isJSON && json.Unmarshal(data, &e) == nil && slices.Contains(grounded.Codes(), e.Code) {
		e.Message, e.Field = c.quote(e.Message), c.quote(e.Field)
		return &e
	}
	code := grounded.Unavailable
	switch status {
	case http.StatusUnauthorized:
		code = grounded.Unauthenticated
	case http.StatusForbidden:
		code = grounded.PermissionDenied
	case http.StatusRequestEntityTooLarge:
		code = grounded.TooLarge
	case http.StatusTooManyRequests:
		code = grounded.RateLimited
	}
	return &grounded.Error{Code: code, Message: "the server answered with HTTP status " + strconv.Itoa(status) + " and no error of this service"}
}

// retryAfter reads a Retry-After in seconds.
func retryAfter(header http.Header) time.Duration {
	seconds, err := strconv.ParseUint(header.Get("Retry-After"), 10, 31)
	if err != nil {
		return 0
	}
	return time.Duration(seconds) * time.Second
}

// closeQuietly closes a body; nothing depends on whether that works.
func closeQuietly(body io.Closer) { _ = body.Close() }
