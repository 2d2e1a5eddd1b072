// Package tokenizer counts the tokens of a text as its reader would.
//
// Three tokenizers are built in: [Bytes] (the length in UTF-8), and [CL100K] and
// [O200K], the byte-pair encodings cl100k_base and o200k_base with their
// vocabularies embedded; nothing is fetched. A vocabulary is unpacked when a
// tokenizer first counts, about a tenth of a second. Any other tokenizer is a
// type with two methods.
//
// What looks like a special token ("<|endoftext|>") is counted as the ordinary
// text that it is. A byte that is no UTF-8 counts as U+FFFD.
//
// # Lines
//
// A tokenizer may declare that its counts add up at line ends ([LineAdditive]):
// that count(a+b) = count(a) + count(b) whenever a ends in a line feed and b
// begins with a character that is neither white space nor "/". The built-in ones
// do. A packet is made of such lines, so each distinct line need be counted only
// once. A tokenizer that declares nothing is given every whole packet.
package tokenizer

import (
	"fmt"
	"sync"
)

// Tokenizer counts tokens. It must be safe for concurrent use, and its counts
// must depend on nothing but the text.
type Tokenizer interface {
	// Name is how requests name it, e.g. "o200k_base".
	Name() string
	// Count returns the number of tokens of a text.
	Count(text string) int
}

// LineAdditive is implemented by tokenizers that can declare that their counts
// add up at line ends, as the package comment says.
type LineAdditive interface {
	Tokenizer
	// LineAdditive reports whether the counts add up.
	LineAdditive() bool
}

// Names lists the built-in tokenizers.
func Names() []string { return []string{"bytes", "cl100k_base", "o200k_base"} }

// ByName returns a built-in tokenizer.
func ByName(name string) (Tokenizer, error) {
	switch name {
	case "bytes":
		return Bytes(), nil
	case "cl100k_base":
		return CL100K(), nil
	case "o200k_base":
		return O200K(), nil
	}
	return nil, fmt.Errorf("no tokenizer is called %q; there are %v", name, Names())
}

type byteCounter struct{}

// Bytes counts bytes.
func Bytes() Tokenizer { return byteCounter{} }

// Name returns "bytes".
func (byteCounter) Name() string { return "bytes" }

// Count returns the length in bytes.
func (byteCounter) Count(text string) int { return len(text) }

// LineAdditive reports true: lengths add up everywhere.
func (byteCounter) LineAdditive() bool { return true }

// CL100K counts tokens of cl100k_base.
func CL100K() Tokenizer { return pairs{"cl100k_base", loadCL100K} }

// O200K counts tokens of o200k_base.
func O200K() Tokenizer { return pairs{"o200k_base", loadO200K} }

// The vocabularies, each unpacked once when first used. They never change.
var (
	loadCL100K = sync.OnceValue(func() *encoding { return newEncoding("cl100k_base", cl100kPattern) })
	loadO200K  = sync.OnceValue(func() *encoding { return newEncoding("o200k_base", o200kPattern) })
)

// pairs is a byte-pair encoding that is not loaded before it is used.
type pairs struct {
	name string
	load func() *encoding
}

// Name returns the encoding's name.
func (p pairs) Name() string { return p.name }

// Count returns the number of tokens.
func (p pairs) Count(text string) int { return p.load().count(text) }

// LineAdditive reports true: no pre-token goes on behind a line feed into a
// character that is neither white space nor "/".
func (p pairs) LineAdditive() bool { return true }
