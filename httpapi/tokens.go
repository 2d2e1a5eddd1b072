package httpapi

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/grounded-memory/grounded"
	"github.com/grounded-memory/grounded/internal/operation"
)

// secretPrefix begins every secret, so that scanners of source code find one
// that was left there.
const secretPrefix = "grounded_"

const (
	maxTokens         = 10_000  // in a file
	maxTokenFileBytes = 4 << 20 // of a file
	maxSecretBytes    = 256     // that a client may present
)

// Token is one line of a token file: who may do what. The secret itself is
// nowhere but with its owner.
type Token struct {
	ID      string          `json:"id"`               // names the token in logs and for revoking, e.g. "k3v9qd2m"
	Role    string          `json:"role"`             // "read", "write" or "admin"
	SHA256  grounded.Digest `json:"sha256"`           // of the secret
	Created time.Time       `json:"created"`          //
	Expires time.Time       `json:"expires,omitzero"` // none: never
}

// inForce says that the token has not expired.
func (t *Token) inForce(now time.Time) bool { return t.Expires.IsZero() || now.Before(t.Expires) }

// Tokens is a token file: one JSON object a line,
//
//	{"id":"k3v9qd2m","role":"write","sha256":"9f86d0…","created":"2026-01-01T00:00:00Z"}
//
// of mode 0600. It is read again whenever it changes, so a token that
// [RevokeToken] takes out is refused from the next request on. A file that
// cannot be read, or that others may read, admits nobody.
type Tokens struct {
	path string

	mu     sync.Mutex
	info   os.FileInfo // of the file when it was read
	readAt time.Time
	tokens []Token
}

// OpenTokens reads a token file. At least one token must be in it.
func OpenTokens(path string) (*Tokens, error) {
	t := &Tokens{path: path}
	tokens, err := t.current()
	if errors.Is(err, os.ErrNotExist) || err == nil && len(tokens) == 0 {
		return nil, fmt.Errorf("no token in %s; make one with: grounded token new --role write --tokens %s", path, path)
	}
	if err != nil {
		return nil, err
	}
	return t, nil
}

// check is an error if nobody could call.
func (t *Tokens) check(now time.Time) error {
	tokens, err := t.current()
	if err != nil {
		return err
	}
	for i := range tokens {
		if tokens[i].inForce(now) {
			return nil
		}
	}
	return fmt.Errorf("every token in %s has expired; make one with: grounded token new", t.path)
}

// clockStep is how coarse the times of files may be: a file that changed less
// than this before it was read may have changed again without showing it.
const clockStep = time.Second

// current returns the tokens of the file as it is now.
func (t *Tokens) current() ([]Token, error) {
	info, err := os.Stat(t.path)
	if err != nil {
		return nil, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.info != nil && os.SameFile(info, t.info) && info.ModTime().Equal(t.info.ModTime()) && info.Size() == t.info.Size() &&
		info.Mode() == t.info.Mode() && t.readAt.Sub(info.ModTime()) > clockStep {
		return t.tokens, nil
	}
	t.info = nil
	readAt := time.Now()
	tokens, err := ListTokens(t.path)
	if err != nil {
		return nil, err
	}
	t.info, t.readAt, t.tokens = info, readAt, tokens
	return tokens, nil
}

// find returns the token in force whose secret this is. It compares with every
// token, each in constant time.
func (t *Tokens) find(secret string, now time.Time) (Token, bool, error) {
	tokens, err := t.current()
	if err != nil {
		return Token{}, false, err
	}
	digest := sha256.Sum256([]byte(secret))
	found := -1
	for i := range tokens {
		same := subtle.ConstantTimeCompare(digest[:], tokens[i].SHA256[:])
		found = subtle.ConstantTimeSelect(same, i, found)
	}
	if found < 0 || !tokens[found].inForce(now) {
		return Token{}, false, nil
	}
	return tokens[found], true, nil
}

// authenticate finds the caller's token. All ways to fail look the same.
func (h *Handler) authenticate(header http.Header, now time.Time) (Token, error) {
	values := header.Values("Authorization")
	secret, isBearer := "", false
	if len(values) == 1 {
		secret, isBearer = strings.CutPrefix(values[0], "Bearer ")
	}
	if isBearer && len(secret) <= maxSecretBytes {
		token, ok, err := h.options.Tokens.find(secret, now)
		if err != nil {
			h.options.Logger.Error("the token file cannot be used; nobody is admitted", "error", err.Error())
			return Token{}, &grounded.Error{Code: grounded.Unavailable, Message: "the service cannot check tokens now"}
		}
		if ok {
			return token, nil
		}
	}
	return Token{}, &grounded.Error{Code: grounded.Unauthenticated, Message: `this takes the header "Authorization: Bearer <token>" with a token in force`}
}

// ListTokens reads a token file. It refuses a file that its group or others may
// read or write.
func ListTokens(path string) ([]Token, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && info.Mode().Perm()&0o077 != 0 {
		err = fmt.Errorf("%s has mode %04o; a token file is for its owner only: chmod 600 it", path, info.Mode().Perm())
	}
	var data []byte
	if err == nil {
		data, err = io.ReadAll(io.LimitReader(f, maxTokenFileBytes+1))
	}
	if err == nil && len(data) > maxTokenFileBytes {
		err = fmt.Errorf("%s is larger than %d bytes", path, maxTokenFileBytes)
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, err
	}
	tokens, err := parseTokens(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return tokens, nil
}

func parseTokens(data []byte) ([]Token, error) {
	var tokens []Token
	ids := map[string]bool{}
	number := 0
	for line := range bytes.Lines(data) {
		number++
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		var token Token
		if err := json.Unmarshal(line, &token, json.RejectUnknownMembers(true)); err != nil {
			return nil, fmt.Errorf("line %d is no token", number)
		}
		if _, ok := operation.ParseRole(token.Role); !ok {
			return nil, fmt.Errorf("line %d: %q is no role", number, token.Role)
		}
		if !isSaneID(token.ID) || ids[token.ID] || token.SHA256 == (grounded.Digest{}) {
			return nil, fmt.Errorf("line %d: the id or the hash is missing, malformed or there already", number)
		}
		if len(tokens) == maxTokens {
			return nil, fmt.Errorf("more than %d tokens", maxTokens)
		}
		ids[token.ID] = true
		tokens = append(tokens, token)
	}
	return tokens, nil
}

// AddToken makes a token of a role and adds it to a file, which it creates if
// there is none. The secret is returned once and kept nowhere. A zero expires
// means never; a nil random is crypto/rand.
func AddToken(path, role string, now, expires time.Time, random io.Reader) (secret string, token Token, err error) {
	if _, ok := operation.ParseRole(role); !ok {
		return "", Token{}, fmt.Errorf("the role is read, write or admin, not %q", role)
	}
	if !expires.IsZero() && !now.Before(expires) {
		return "", Token{}, errors.New("the token would have expired already")
	}
	if random == nil {
		random = rand.Reader
	}
	var raw [32 + 5]byte
	if _, err := io.ReadFull(random, raw[:]); err != nil {
		return "", Token{}, fmt.Errorf("no random bytes: %w", err)
	}
	secret = secretPrefix + base64.RawURLEncoding.EncodeToString(raw[:32])
	token = Token{
		ID: hex.EncodeToString(raw[32:]), Role: role, SHA256: sha256.Sum256([]byte(secret)),
		Created: now.UTC().Truncate(time.Second), Expires: expires.UTC().Truncate(time.Second),
	}
	err = changeTokens(path, func(tokens []Token) ([]Token, error) { return append(tokens, token), nil })
	if err != nil {
		return "", Token{}, err
	}
	return secret, token, nil
}

// RevokeToken takes a token out of a file. A service that uses the file refuses
// it from its next request on.
func RevokeToken(path, id string) error {
	return changeTokens(path, func(tokens []Token) ([]Token, error) {
		for i := range tokens {
			if tokens[i].ID == id {
				return append(tokens[:i:i], tokens[i+1:]...), nil
			}
		}
		return nil, &grounded.Error{Code: grounded.NotFound, Message: "no token of the id " + id + " in " + path}
	})
}

// changeTokens replaces a token file in one step. The new file beside it is
// also what keeps two programs from changing the file at once.
func changeTokens(path string, change func([]Token) ([]Token, error)) error {
	fresh := path + ".new"
	f, err := os.OpenFile(fresh, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, os.ErrExist) {
		return fmt.Errorf("another program is changing %s; if none is, delete %s", path, fresh)
	}
	if err != nil {
		return err
	}
	err = writeTokens(f, path, change)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(fresh, path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(fresh))
	}
	return nil
}

func writeTokens(f *os.File, path string, change func([]Token) ([]Token, error)) error {
	tokens, err := ListTokens(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if tokens, err = change(tokens); err != nil {
		return err
	}
	for i := range tokens {
		line, err := json.Marshal(&tokens[i])
		if err != nil {
			return err
		}
		if _, err := f.Write(append(line, '\n')); err != nil {
			return err
		}
	}
	return f.Sync()
}
