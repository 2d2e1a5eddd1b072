package grounded

import (
	"context"
	"errors"
	"fmt"

	"github.com/grounded-memory/grounded/internal/canonical"
	"github.com/grounded-memory/grounded/internal/index"
	"github.com/grounded-memory/grounded/internal/scopedigest"
	"github.com/grounded-memory/grounded/internal/sqlite"
)

// Problem is something that doctor found wrong.
type Problem struct {
	Where   string `json:"where"` // the file, or the scope and record
	Message string `json:"message"`
}

// String returns the problem on one line.
func (p Problem) String() string { return p.Where + ": " + p.Message }

// Check looks for damage: the file's pages and structure, every record against
// its digest, every chain of corrections, and for every scope the index and the
// scope digest against the rows, from scratch. No problem means that what can
// be read is what was written.
func (s *Store) Check(ctx context.Context) ([]Problem, error) {
	var problems []Problem
	found, err := s.db.Check(ctx)
	if err != nil {
		return nil, storeError("check the file", err)
	}
	for _, text := range found {
		problems = append(problems, Problem{"file", text})
	}
	scopes, err := s.db.Scopes(ctx)
	if err != nil {
		return nil, storeError("list the scopes", err)
	}
	for _, scope := range scopes {
		m, err := s.Scope(scope.Tenant, scope.Namespace)
		if err != nil {
			problems = append(problems, Problem{"scope " + scope.Tenant + " / " + scope.Namespace, err.Error()})
			continue
		}
		found, err := m.check(ctx)
		problems = append(problems, found...)
		if err != nil {
			return problems, err
		}
	}
	return problems, nil
}

// check examines one scope.
func (m *Memory) check(ctx context.Context) ([]Problem, error) {
	c := &checkup{name: "scope " + m.scope.Tenant + " / " + m.scope.Namespace, digest: scopedigest.New()}
	err := m.read(ctx, "check "+c.name, index.Facts|index.Notes|index.Bridges, func(v *view) error {
		*c = checkup{name: c.name, view: v, digest: scopedigest.New(), successors: map[uint64]uint64{}}
		if err := v.tx.Rows(0, func(row *sqlite.Row) error {
			c.row(row)
			return ctx.Err()
		}); err != nil {
			return err
		}
		c.chains()
		c.index()
		return nil
	})
	return c.problems, err
}

// checkup compares a scope's rows with what is derived from them.
type checkup struct {
	name       string
	view       *view
	problems   []Problem
	digest     *scopedigest.State
	counts     [5]int
	facts      int
	successors map[uint64]uint64 // record -> what it corrects
	corrected  []sqlite.Row
}

func (c *checkup) report(seq uint64, format string, args ...any) {
	where := c.name
	if seq != 0 {
		where += " " + RecordID(seq).String()
	}
	c.problems = append(c.problems, Problem{where, fmt.Sprintf(format, args...)})
}

func (c *checkup) row(row *sqlite.Row) {
	if row.Corrects != 0 {
		c.successors[row.Seq] = row.Corrects
	}
	if row.CorrectedBy != 0 {
		c.corrected = append(c.corrected, sqlite.Row{Seq: row.Seq, CorrectedBy: row.CorrectedBy})
	}
	state := stateOf(row, c.view.asOf)
	if state == StateForgotten {
		if len(row.Body) != 0 || row.Flag != "" || row.GroupKey != 0 || row.SameKey != 0 {
			c.report(row.Seq, "a tombstone still holds content")
		}
		return
	}
	r, err := recordOf(row)
	if err != nil {
		c.report(row.Seq, "%v", errors.Unwrap(err))
		return
	}
	if scopedigest.RecordDigest(row.Salt, row.Body) != row.Digest {
		c.report(row.Seq, "its content does not match its digest")
	}
	if body, err := canonical.Marshal(r); err != nil || string(body) != string(row.Body) {
		c.report(row.Seq, "its content is not in canonical form")
	}
	if r.ID != RecordID(row.Seq) || kindCodes[r.Kind] != index.Kind(row.Kind) || uint64(r.Corrects) != row.Corrects ||
		expiryMicros(r) != row.ExpiresAt || r.CreatedAt.UnixMicro() != row.CreatedAt || r.InstructionLike != row.Flag {
		c.report(row.Seq, "its row and its content disagree")
	}
	if state != StateEligible {
		return
	}
	c.digest.Add(row.Digest)
	c.counts[row.Kind]++
	if r.Kind == KindClaim && r.Modality == Asserted {
		c.facts++
	}
	if c.view.View.Digest(row.Seq) != row.Digest {
		c.report(row.Seq, "the index holds another digest of it")
	}
}

// chains checks that every correction and its predecessor name each other.
func (c *checkup) chains() {
	for _, row := range c.corrected {
		if c.successors[row.CorrectedBy] != row.Seq {
			c.report(row.Seq, "is corrected by %s, which does not say so", RecordID(row.CorrectedBy))
		}
		delete(c.successors, row.CorrectedBy)
	}
	for seq, old := range c.successors {
		c.report(seq, "corrects %s, which does not say so", RecordID(old))
	}
}

// index compares the index with what the rows gave.
func (c *checkup) index() {
	if !c.digest.Equal(c.view.State()) {
		c.report(0, "the scope digest differs from one made from scratch")
	}
	for _, kind := range []index.Kind{index.Claim, index.Note, index.Bridge, index.Relation} {
		if got, want := c.view.Count(kind), c.counts[kind]; got != want {
			c.report(0, "the index counts %d eligible records of kind %s, the rows %d", got, kindNames[kind], want)
		}
	}
	if got := c.view.AllFacts.Records(); got != c.facts {
		c.report(0, "the index joins over %d claims, the rows hold %d", got, c.facts)
	}
	if got, want := c.view.AllNotes.Len(), c.counts[index.Claim]+c.counts[index.Note]; got != want {
		c.report(0, "the index searches %d texts, the rows hold %d", got, want)
	}
}

// Maintain does now what is otherwise done when there is time: it finishes
// pending erasures, truncates the log, and writes snapshots of every scope, so
// that new processes start fast.
func (s *Store) Maintain(ctx context.Context) error {
	scopes, err := s.db.Scopes(ctx)
	if err != nil {
		return storeError("list the scopes", err)
	}
	for _, scope := range scopes {
		m, err := s.Scope(scope.Tenant, scope.Namespace)
		if err != nil {
			return err
		}
		if err := m.maintain(ctx); err != nil {
			return err
		}
	}
	return storeError("maintain", s.db.Maintain(ctx))
}

func (m *Memory) maintain(ctx context.Context) error {
	small := false
	err := m.read(ctx, "load the index", index.Facts|index.Notes|index.Bridges, func(v *view) error {
		small = v.Version == 0 || v.Count(index.Claim)+v.Count(index.Note)+v.Count(index.Bridge) < snapshotRecords
		return nil
	})
	if err != nil || small {
		return err
	}
	return storeError("write a snapshot", m.snapshot(ctx))
}

// Backup writes a consistent copy of the store to a new file (mode 0600). The
// copy holds nothing of what was forgotten before.
func (s *Store) Backup(ctx context.Context, path string) error {
	return storeError("back up to "+path, s.db.Backup(ctx, path))
}

// Scopes lists the scopes that were ever written to.
func (s *Store) Scopes(ctx context.Context) (names [][2]string, err error) {
	scopes, err := s.db.Scopes(ctx)
	for _, scope := range scopes {
		names = append(names, [2]string{scope.Tenant, scope.Namespace})
	}
	return names, storeError("list the scopes", err)
}
