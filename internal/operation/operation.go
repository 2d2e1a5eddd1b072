// Package operation is the one table of what Grounded Memory can do. Every
// door (batch on the command line, HTTP, MCP) is driven by it: a row names an
// operation, says which role it takes, decodes the request strictly and calls
// the one method of grounded.Service that does the work. No rule lives here.
package operation

import (
	"context"
	"reflect"
	"slices"

	"github.com/grounded-memory/grounded"
)

// Role is what a caller must be allowed to do.
type Role int

// The roles, each including those before it.
const (
	Read Role = iota + 1
	Write
	Admin
)

// String names the role as it is written in token files and flags.
func (r Role) String() string {
	switch r {
	case Read:
		return "read"
	case Write:
		return "write"
	case Admin:
		return "admin"
	}
	return "none"
}

// ParseRole reads what String writes.
func ParseRole(text string) (Role, bool) {
	for _, r := range []Role{Read, Write, Admin} {
		if r.String() == text {
			return r, true
		}
	}
	return 0, false
}

// Operation is one row of the table.
type Operation struct {
	Name        string // as in the contract, e.g. "recall_grounded"
	Summary     string // one line for people and models
	Role        Role
	Destructive bool         // it erases
	Idempotent  bool         // the same call again changes nothing more
	Request     reflect.Type // the Go type of the arguments, a struct
	Result      reflect.Type // the Go type of the result, a struct

	// Call decodes args strictly and runs the operation. The result is the
	// method's own result type.
	Call func(ctx context.Context, s grounded.Service, args []byte) (any, error)
}

// row builds one row from a method expression of Service.
func row[Req, Res any](name, summary string, role Role, method func(grounded.Service, context.Context, *Req) (*Res, error)) Operation {
	return Operation{
		Name: name, Summary: summary, Role: role,
		Idempotent: role == Read,
		Request:    reflect.TypeFor[Req](),
		Result:     reflect.TypeFor[Res](),
		Call: func(ctx context.Context, s grounded.Service, args []byte) (any, error) {
			request := new(Req)
			if err := grounded.DecodeRequest(args, request); err != nil {
				return nil, err
			}
			result, err := method(s, ctx, request)
			if err != nil {
				return nil, err
			}
			return result, nil
		},
	}
}

// All returns the table, in the order of the specification (section 9).
func All() []Operation {
	forget := row("forget", "Delete a record for good: its content is erased from the file, a tombstone stays, and what it corrected is not revived.", Write, grounded.Service.Forget)
	forget.Destructive = true
	return []Operation{
		row("remember", "Store a fact (entity, predicate, value) with its source. The reply names the records that it contradicts.", Write, grounded.Service.Remember),
		row("note", "Store free text with its source, byte for byte.", Write, grounded.Service.Note),
		row("declare_relation", "Declare a predicate: its name, aliases, and whether an entity has one value of it or many.", Write, grounded.Service.DeclareRelation),
		row("remember_bridge", "Permit one directed rewrite of a query phrase, e.g. k8s to kubernetes.", Write, grounded.Service.RememberBridge),
		row("correct", "Supersede a record by a new one; the old one is kept in its history and no longer used.", Write, grounded.Service.Correct),
		forget,
		row("write", "Several writes in one transaction: all or nothing.", Write, grounded.Service.Write),
		row("get", "One record by id, with its state.", Read, grounded.Service.Get),
		row("list", "Records by kind, entity, predicate, state, source or session, in pages.", Read, grounded.Service.List),
		row("history", "The chain of corrections that a record belongs to, oldest first.", Read, grounded.Service.History),
		row("recall", "Ask in a few words (\"what is X's P\", \"P of X\"): an answer from stored facts with evidence, or related records.", Read, grounded.Service.Recall),
		row("recall_grounded", "Find related notes and facts, using only the rewrites that were supplied; each result carries its source and its rewrite chain.", Read, grounded.Service.RecallGrounded),
		row("query", "Join up to six fact patterns; every answer comes with all of its minimal proofs, or the reply says why there is none.", Read, grounded.Service.Query),
		row("pack", "Turn a certificate into the smallest packet of whole proofs that fits a token budget.", Read, grounded.Service.Pack),
		row("verify", "Run a certificate's plan again and say whether it still holds.", Read, grounded.Service.Verify),
		row("stats", "How many records are eligible, the scope digest, and how many groups contradict themselves.", Read, grounded.Service.Stats),
	}
}

// Find returns the operation of that name.
func Find(name string) (Operation, bool) {
	all := All()
	i := slices.IndexFunc(all, func(o Operation) bool { return o.Name == name })
	if i < 0 {
		return Operation{}, false
	}
	return all[i], true
}
