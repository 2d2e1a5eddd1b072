// Package examples holds the data that the demo loads and that a newcomer can
// import by hand: a small graph of countries, a conversation in three sessions,
// and a glossary.
//
//	grounded import --db try.db --format tsv  --source countries.tsv examples/countries.tsv
//	grounded import --db try.db --format chat --source team-chat     examples/conversation.json
//	grounded import --db try.db --format glossary --source handbook  examples/glossary.tsv
//
// countries.tsv is the Countries data set (github villmow/datasets_knowledge_embedding
// @9e39245, MIT, see countries.LICENSE): 1,110 facts, neighbour and located-in.
// The conversation and the glossary were written for this repository.
package examples

import "embed"

// Files are countries.tsv, conversation.json and glossary.tsv.
//
//go:embed countries.tsv conversation.json glossary.tsv
var Files embed.FS
