// Package grounded is memory for AI agents that can be checked.
//
// An agent, or the people behind it, supply facts (claims), notes, glossary
// entries (bridges) and declared predicates (relations), each with its source.
// Grounded Memory gives back only what was supplied, with the records that
// prove it, and says plainly when it cannot: conflict, no match, bound
// exceeded, stale. There is no language model and no learned text encoder in it.
//
// # Store, scope, record
//
// A [Store] is one file. A [Memory] is one scope in it, a tenant and a
// namespace; nothing crosses scopes, and the handle is the permission. Whatever
// is supplied is a [Record]: immutable, with an id such as r17 that is never
// used again. A record is corrected by a new one ([Memory.Correct]), expires, or
// is deleted for good ([Memory.Forget]); none of these ever brings back what it
// replaced.
//
// # Reads
//
// [Memory.Query] joins up to six fact patterns and returns every answer with
// all of its minimal proofs; a contradiction that takes part stops it.
// [Memory.RecallGrounded] finds related notes and facts under the rewrites that
// bridges permit, and shows the chain of rewrites that found each.
// [Memory.Recall] answers a narrow grammar of questions. Every read works on one
// snapshot and carries a [Certificate]: the plan that was run, the selected
// records with hashes, and the digest of everything that was eligible.
// [Memory.Verify] runs the plan again and compares; [Memory.Pack] turns a
// certificate that still holds into the smallest packet of whole proofs that
// fits a token budget.
//
// # Statuses and errors
//
// A status (answered, conflict, no_matches, budget_exceeded, …) is a result,
// never an error. An error is an [*Error] with a [Code]:
//
//	if errors.Is(err, grounded.NotFound) { … }
//
// Every method takes a request; a nil one is InvalidArgument, a zero field the
// default. [Limits] lists every bound.
package grounded
