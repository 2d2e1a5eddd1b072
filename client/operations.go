package client

import (
	"context"

	"github.com/grounded-memory/grounded"
)

// Remember stores a claim, as [grounded.Memory.Remember] does.
func (c *Client) Remember(ctx context.Context, r *grounded.RememberRequest) (*grounded.WriteResult, error) {
	return write(ctx, c, "remember", r != nil && r.IdempotencyKey != "", r)
}

// Note stores free text, as [grounded.Memory.Note] does.
func (c *Client) Note(ctx context.Context, r *grounded.NoteRequest) (*grounded.WriteResult, error) {
	return write(ctx, c, "note", r != nil && r.IdempotencyKey != "", r)
}

// DeclareRelation declares a predicate, as [grounded.Memory.DeclareRelation] does.
func (c *Client) DeclareRelation(ctx context.Context, r *grounded.DeclareRelationRequest) (*grounded.WriteResult, error) {
	return write(ctx, c, "declare_relation", r != nil && r.IdempotencyKey != "", r)
}

// RememberBridge permits a rewrite, as [grounded.Memory.RememberBridge] does.
func (c *Client) RememberBridge(ctx context.Context, r *grounded.RememberBridgeRequest) (*grounded.WriteResult, error) {
	return write(ctx, c, "remember_bridge", r != nil && r.IdempotencyKey != "", r)
}

// Correct supersedes a record, as [grounded.Memory.Correct] does.
func (c *Client) Correct(ctx context.Context, r *grounded.CorrectRequest) (*grounded.WriteResult, error) {
	return write(ctx, c, "correct", r != nil && r.IdempotencyKey != "", r)
}

// Forget deletes a record for good, as [grounded.Memory.Forget] does. It has no
// idempotency key and is tried once.
func (c *Client) Forget(ctx context.Context, r *grounded.ForgetRequest) (*grounded.WriteResult, error) {
	return write(ctx, c, "forget", false, r)
}

// Write does several writes or none, as [grounded.Memory.Write] does. It is
// tried again only if every write of it carries an idempotency key.
func (c *Client) Write(ctx context.Context, r *grounded.WriteRequest) (*grounded.WriteResults, error) {
	return do[grounded.WriteRequest, grounded.WriteResults](ctx, c, "write", false, r != nil && allKeyed(r.Writes), r)
}

// Get returns one record, as [grounded.Memory.Get] does.
func (c *Client) Get(ctx context.Context, r *grounded.GetRequest) (*grounded.GetResult, error) {
	return read[grounded.GetRequest, grounded.GetResult](ctx, c, "get", r)
}

// List returns a page of records, as [grounded.Memory.List] does.
func (c *Client) List(ctx context.Context, r *grounded.ListRequest) (*grounded.ListResult, error) {
	return read[grounded.ListRequest, grounded.ListResult](ctx, c, "list", r)
}

// History returns a chain of corrections, as [grounded.Memory.History] does.
func (c *Client) History(ctx context.Context, r *grounded.HistoryRequest) (*grounded.HistoryResult, error) {
	return read[grounded.HistoryRequest, grounded.HistoryResult](ctx, c, "history", r)
}

// Recall answers a short question, as [grounded.Memory.Recall] does.
func (c *Client) Recall(ctx context.Context, r *grounded.RecallRequest) (*grounded.RecallResult, error) {
	return read[grounded.RecallRequest, grounded.RecallResult](ctx, c, "recall", r)
}

// RecallGrounded finds related records, as [grounded.Memory.RecallGrounded] does.
func (c *Client) RecallGrounded(ctx context.Context, r *grounded.RecallGroundedRequest) (*grounded.RecallGroundedResult, error) {
	return read[grounded.RecallGroundedRequest, grounded.RecallGroundedResult](ctx, c, "recall_grounded", r)
}

// Query joins fact patterns, as [grounded.Memory.Query] does.
func (c *Client) Query(ctx context.Context, r *grounded.QueryRequest) (*grounded.QueryResult, error) {
	return read[grounded.QueryRequest, grounded.QueryResult](ctx, c, "query", r)
}

// Pack makes a packet of a certificate, as [grounded.Memory.Pack] does.
func (c *Client) Pack(ctx context.Context, r *grounded.PackRequest) (*grounded.PackResult, error) {
	return read[grounded.PackRequest, grounded.PackResult](ctx, c, "pack", r)
}

// Verify checks a certificate, as [grounded.Memory.Verify] does.
func (c *Client) Verify(ctx context.Context, r *grounded.VerifyRequest) (*grounded.VerifyResult, error) {
	return read[grounded.VerifyRequest, grounded.VerifyResult](ctx, c, "verify", r)
}

// Stats returns the scope's figures, as [grounded.Memory.Stats] does.
func (c *Client) Stats(ctx context.Context, r *grounded.StatsRequest) (*grounded.StatsResult, error) {
	return read[grounded.StatsRequest, grounded.StatsResult](ctx, c, "stats", r)
}

func write[Request any](ctx context.Context, c *Client, operation string, keyed bool, r *Request) (*grounded.WriteResult, error) {
	return do[Request, grounded.WriteResult](ctx, c, operation, false, keyed, r)
}

func read[Request, Result any](ctx context.Context, c *Client, operation string, r *Request) (*Result, error) {
	return do[Request, Result](ctx, c, operation, true, true, r)
}

// allKeyed says that every write carries an idempotency key.
func allKeyed(writes []grounded.WriteItem) bool {
	for i := range writes {
		if key(&writes[i]) == "" {
			return false
		}
	}
	return true
}

// key returns a write's idempotency key; a deletion has none.
func key(w *grounded.WriteItem) string {
	switch {
	case w.Remember != nil:
		return w.Remember.IdempotencyKey
	case w.Note != nil:
		return w.Note.IdempotencyKey
	case w.DeclareRelation != nil:
		return w.DeclareRelation.IdempotencyKey
	case w.RememberBridge != nil:
		return w.RememberBridge.IdempotencyKey
	case w.Correct != nil:
		return w.Correct.IdempotencyKey
	}
	return ""
}
