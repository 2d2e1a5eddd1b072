package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"sort"
	"strings"

	"github.com/grounded-memory/grounded/internal/notes"
)

// corpus makes texts whose words are as unevenly frequent as those of English
// (Zipf's law), the same on every machine.
type corpus struct {
	random *rand.Rand
	words  []string
	sums   []float64 // of the words' frequencies, up to each
}

// vocabulary is how many different words there are.
const vocabulary = 60_000

func newCorpus(seed uint64) *corpus {
	c := &corpus{random: rand.New(rand.NewPCG(seed, 1))}
	syllables := strings.Fields("ka lo mi ren ta su vel dor pin gra ber not el ish mar con quo fen wil ost tri jun pal hev rud sim lan cor bex yat")
	seen := map[string]bool{}
	for len(c.words) < vocabulary {
		var word strings.Builder
		for range 2 + c.random.IntN(3) {
			word.WriteString(syllables[c.random.IntN(len(syllables))])
		}
		if seen[word.String()] {
			continue
		}
		seen[word.String()] = true
		c.words = append(c.words, word.String())
	}
	sum := 0.0
	for i := range c.words {
		sum += 1 / math.Pow(float64(i+1), 1.05)
		c.sums = append(c.sums, sum)
	}
	return c
}

// word draws a word by frequency.
func (c *corpus) word() string {
	at := c.random.Float64() * c.sums[len(c.sums)-1]
	return c.words[sort.SearchFloat64s(c.sums, at)]
}

// rare draws a word that is not among the most frequent.
func (c *corpus) rare() string {
	for {
		at := c.random.Float64() * c.sums[len(c.sums)-1]
		if i := sort.SearchFloat64s(c.sums, at); i >= 50 && i < 20_000 {
			return c.words[i]
		}
	}
}

func (c *corpus) text(length int) string {
	words := make([]string, length)
	for i := range words {
		words[i] = c.word()
	}
	return strings.Join(words, " ")
}

// docs makes notes of about so many words, twenty to a conversation of two.
func (c *corpus) docs(n, length int) []notes.Doc {
	out := make([]notes.Doc, n)
	for i := range out {
		out[i] = notes.Doc{
			Record: uint64(i + 1), Text: c.text(length/2 + c.random.IntN(length)),
			Session: fmt.Sprintf("conversation %d", i/20), Speaker: c.words[i%2+100*(i/20%7)],
			SaidAt: 1_750_000_000 + int64(i)*60,
		}
	}
	return out
}

// queries makes questions of four different words: of each, two of one note.
func (c *corpus) queries(docs []notes.Doc, n int) [][]string {
	out := make([][]string, n)
	for i := range out {
		different := map[string]bool{}
		for len(different) < 4 {
			clear(different)
			text := strings.Fields(docs[c.random.IntN(len(docs))].Text)
			out[i] = []string{text[c.random.IntN(len(text))], text[c.random.IntN(len(text))], c.rare(), c.word()}
			for _, word := range out[i] {
				different[word] = true
			}
		}
	}
	return out
}
