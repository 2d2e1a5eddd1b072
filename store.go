package grounded

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/grounded-memory/grounded/internal/index"
	"github.com/grounded-memory/grounded/internal/rank/bank"
	"github.com/grounded-memory/grounded/internal/sqlite"
	"github.com/grounded-memory/grounded/internal/textform"
	"github.com/grounded-memory/grounded/tokenizer"
)

// Options configures a Store. The zero value, or a nil pointer, is the default
// in every field.
type Options struct {
	// ReadOnly opens an existing file without ever writing to it.
	ReadOnly bool
	// Clock tells the time; default time.Now. A scope's time never runs
	// backwards, whatever the clock does.
	Clock func() time.Time
	// Rand gives the random bytes of salts and keys; default crypto/rand.
	Rand io.Reader
	// Logger takes what an operator should know; default: silence. Record
	// text is never logged.
	Logger *slog.Logger
	// Tokenizers are offered to Pack beside the built-in ones.
	Tokenizers []tokenizer.Tokenizer
	// PolicyBanks are further banks of ranking policies, as fetched by the
	// package hub. One with the name of a built-in bank stands in its place;
	// certificates name its digest.
	PolicyBanks [][]byte
	// BusyTimeout is how long a write waits for another process; default 30 s.
	BusyTimeout time.Duration
	// Progress, if set, is told how far a long search for a packet has come.
	Progress func(tried, total int64)
}

// Store is one file of memory. It is safe for concurrent use, and several
// processes may open the same file.
type Store struct {
	db    *sqlite.DB
	opts  Options
	banks []*bank.Bank

	mu     sync.Mutex
	scopes map[sqlite.Scope]*Memory
}

// Open opens the store at path, creating the file (mode 0600) if it does not
// exist. A file that is damaged, foreign or of a newer format is Damaged, a
// full disk StorageFull; both say what to do.
func Open(ctx context.Context, path string, opts *Options) (*Store, error) {
	var o Options
	if opts != nil {
		o = *opts
	}
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.Rand == nil {
		o.Rand = rand.Reader
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.BusyTimeout == 0 {
		o.BusyTimeout = 30 * time.Second
	}
	banks, err := loadBanks(o.PolicyBanks)
	if err != nil {
		return nil, err
	}
	db, err := sqlite.Open(ctx, path, sqlite.Options{ReadOnly: o.ReadOnly, BusyTimeout: o.BusyTimeout, Rand: o.Rand})
	if err != nil {
		return nil, storeError("open "+path, err)
	}
	return &Store{db: db, opts: o, banks: banks, scopes: make(map[sqlite.Scope]*Memory)}, nil
}

// Close waits for calls in flight and closes the file. Later calls are Unavailable.
func (s *Store) Close() error {
	if !s.opts.ReadOnly {
		s.snapshotAll()
	}
	return storeError("close", s.db.Close())
}

// Scope returns the memory of one scope. Names are in term form, at most
// MaxScopeNameBytes each, and compared byte for byte. The handle is the
// permission: no request names a scope. No I/O is done.
func (s *Store) Scope(tenant, namespace string) (*Memory, error) {
	var scope sqlite.Scope
	var err error
	if scope.Tenant, err = textform.ScopeName(tenant); err != nil {
		return nil, invalid("tenant", "%v", err)
	}
	if scope.Namespace, err = textform.ScopeName(namespace); err != nil {
		return nil, invalid("namespace", "%v", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.scopes[scope]
	if m == nil {
		m = &Memory{store: s, scope: scope, index: index.New()}
		s.scopes[scope] = m
	}
	return m, nil
}

// snapshotAll writes the snapshots that would save the next process much work.
func (s *Store) snapshotAll() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range s.scopes {
		records, behind := m.index.Behind()
		if records < snapshotRecords || behind < max(1000, uint64(records)/8) {
			continue
		}
		if err := m.snapshot(context.Background()); err != nil {
			s.opts.Logger.Warn("snapshot not written; the next process starts slower", "error", err.Error())
		}
	}
}

// snapshotRecords is how many eligible records a scope must have for a snapshot
// to pay: below it, reading the rows takes a few tens of milliseconds at most.
const snapshotRecords = 10_000

// snapshot stores the index's blobs, unless the scope has moved on meanwhile.
func (m *Memory) snapshot(ctx context.Context) error {
	blobs, version, ok := m.index.Snapshot()
	if !ok {
		return nil
	}
	return m.store.db.Update(ctx, m.scope, func(tx *sqlite.WriteTx) error {
		state, err := tx.State()
		if err != nil || state.Version != version {
			return err
		}
		if err := tx.DropBlobs(); err != nil {
			return err
		}
		for _, b := range blobs {
			if err := tx.PutBlob(b.Part, version, b.Data); err != nil {
				return err
			}
		}
		return nil
	})
}

// storeError gives an error of the store its code, and says what was being done.
func storeError(doing string, err error) error {
	if err == nil {
		return nil
	}
	var e *Error
	if errors.As(err, &e) {
		return err
	}
	code := Internal
	switch {
	case errors.Is(err, sqlite.ErrStorageFull):
		code = StorageFull
	case errors.Is(err, sqlite.ErrDamaged), errors.Is(err, sqlite.ErrNotADatabase), errors.Is(err, sqlite.ErrNewerFormat):
		code = Damaged
	case errors.Is(err, sqlite.ErrReadOnly), errors.Is(err, sqlite.ErrPermission):
		code = PermissionDenied
	case errors.Is(err, sqlite.ErrNoFolder):
		code = NotFound
	case errors.Is(err, sqlite.ErrBusy), errors.Is(err, sqlite.ErrClosed), errors.Is(err, sqlite.ErrScrubPending),
		errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		code = Unavailable
	}
	return &Error{Code: code, Message: doing + ": " + err.Error(), cause: err}
}
