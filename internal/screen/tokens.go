package screen

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// token is one word of a text.
type token struct {
	word   uint16 // in the vocabulary, 0 if it is in none of the classes
	begin  bool   // a sentence, line, clause or quotation begins here
	stop   bool   // a sentence ended before it: no rule reaches across
	quoted bool   // a quotation begins here
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// Skeletons make the usual digits for letters and letters for letters equal.
var skeleton = func() (table [256]byte) {
	for i := range table {
		b := byte(i)
		switch {
		case 'A' <= b && b <= 'Z':
			b += 'a' - 'A'
		case 'a' <= b && b <= 'z', '0' <= b && b <= '9', b >= utf8.RuneSelf:
		default:
			continue // not a letter: 0
		}
		table[i] = b
	}
	for from, to := range map[byte]byte{'0': 'o', '1': 'i', '3': 'e', '4': 'a', '5': 's', '7': 't', 'l': 'i', 'L': 'i'} {
		table[from] = to
	}
	return table
}()

// inside gives the letters that some punctuation stands for between letters.
func inside(b byte) byte {
	switch b {
	case '@':
		return 'a'
	case '$':
		return 's'
	case '!', '|':
		return 'i'
	}
	return 0
}

// speller hashes one word as it goes by.
type speller struct {
	hash        uint64
	first, last byte
	length      int
	sums        [3]uint64 // of the letters' powers: the same in any order of the letters
}

func newSpeller() speller { return speller{hash: 14695981039346656037} }

func (s *speller) add(b byte) {
	s.hash = (s.hash ^ uint64(b)) * 1099511628211
	if s.length == 0 {
		s.first = b
	}
	s.last = b
	s.length++
	x := uint64(b)
	s.sums[0] += x
	s.sums[1] += x * x
	s.sums[2] += x * x * x
}

// shuffled is the same for words with the same first and last letter and the
// same letters between in any order.
func (s *speller) shuffled() uint64 {
	h := newSpeller().hash
	for _, x := range [...]uint64{uint64(s.first), uint64(s.last), uint64(s.length), s.sums[0], s.sums[1], s.sums[2]} {
		h = (h ^ x) * 1099511628211
	}
	return h
}

const shuffledLetters = 6 // in shorter words, other words are too near

func (g *rulebook) lookUp(s *speller) uint16 {
	if w := g.words.get(s.hash); w != 0 || s.length < shuffledLetters {
		return w
	}
	return g.words.get(s.shuffled())
}

const (
	spacedLetters = 6  // single letters in a row that may be words set apart
	longestWord   = 16 // letters of a word that is looked for in them
)

// splitter makes tokens of a text.
type splitter struct {
	g         *rulebook
	out       []token
	word      speller
	whole     speller // the word and all before it since the last white space
	wholeFrom int     // the first token of these
	single    []byte  // single letters in a row
	next      token   // the marks of the next token
	mail      bool    // the word has an @ in it
}

// tokens splits a text into words. A word that is cut by punctuation or changes
// of case, and makes a word of the vocabulary when joined, is that word; so are
// letters that stand apart.
func (g *rulebook) tokens(text string, out []token) []token {
	s := splitter{g: g, out: out, word: newSpeller(), whole: newSpeller(), next: token{begin: true}}
	for i := 0; i < len(text); i++ {
		b := text[i]
		letter := skeleton[b]
		if letter == 0 && i > 0 && i+1 < len(text) && skeleton[text[i-1]] != 0 && skeleton[text[i+1]] != 0 {
			letter = inside(b)
			s.mail = s.mail || b == '@'
		}
		if letter == 0 {
			s.punctuation(text, i)
			continue
		}
		if 'A' <= b && b <= 'Z' && i > 0 && 'a' <= text[i-1] && text[i-1] <= 'z' {
			s.end()
		}
		s.word.add(letter)
		s.whole.add(letter)
	}
	s.end()
	s.joinLetters()
	return s.out
}

func (s *splitter) punctuation(text string, i int) {
	b := text[i]
	if b == '\'' && s.word.length > 0 {
		return
	}
	s.end()
	switch b {
	case '.', '!', '?', ';', ':':
		s.next.begin = true
		s.next.stop = s.next.stop || b != ':' && (i+1 == len(text) || text[i+1] <= ' ')
	case '"', '\'', '`':
		s.next.begin = true
		s.next.quoted = i == 0 || text[i-1] <= ' ' || text[i-1] == '('
	case '\n', '\r', '(', '[', '{', '<', '>', ',', '#', '|':
		s.next.begin = true
	case '-', '*', '_':
		s.next.begin = s.next.begin || i == 0 || text[i-1] <= ' '
	}
	if b <= ' ' {
		s.whole, s.wholeFrom = newSpeller(), len(s.out)
	}
}

// end ends a word.
func (s *splitter) end() {
	if s.word.length == 0 {
		return
	}
	if s.word.length > 1 {
		s.joinLetters()
	}
	t := s.next
	t.word = s.g.lookUp(&s.word)
	if s.wholeFrom < len(s.out) && (t.word == 0 || s.whole.length >= shuffledLetters) {
		if w := s.g.words.get(s.whole.hash); w != 0 {
			t = s.out[s.wholeFrom]
			t.word = w
			s.out = s.out[:s.wholeFrom]
		}
	}
	if t.word == 0 && s.mail {
		t.word = s.g.address
	}
	if s.word.length == 1 {
		s.single = append(s.single, s.word.last)
	}
	s.out = append(s.out, t)
	s.next, s.mail = token{}, false
	s.word = newSpeller()
}

// joinLetters ends a row of single letters. If it is long, the words of the
// vocabulary in it take the letters' place.
func (s *splitter) joinLetters() {
	letters := s.single
	s.single = s.single[:0]
	if len(letters) < spacedLetters || len(letters) > len(s.out) {
		return
	}
	first := len(s.out) - len(letters)
	t := s.out[first]
	s.out = s.out[:first]
	s.wholeFrom = min(s.wholeFrom, first)
	for len(letters) > 0 {
		word, taken := uint16(0), 1
		spelt := newSpeller()
		for i, b := range letters[:min(len(letters), longestWord)] {
			spelt.add(b)
			if w := s.g.words.get(spelt.hash); w != 0 {
				word, taken = w, i+1
			}
		}
		if word != 0 {
			t.word = word
			s.out = append(s.out, t)
			t = token{}
		}
		letters = letters[taken:]
	}
}

// unmask returns a text as its plain letters: compatibility forms, accents and
// invisible characters gone, look-alikes read as the Latin letters that they
// stand for in words that mix scripts. hidden reports that it holds words in
// Unicode tag characters, which no font shows.
func (g *rulebook) unmask(text string) (plain string, hidden bool) {
	text, hidden = revealTags(strings.ToValidUTF8(text, "\uFFFD"))
	if hidden {
		return "", true
	}
	var b strings.Builder
	b.Grow(len(text))
	for _, r := range norm.NFKD.String(text) {
		switch {
		case r < utf8.RuneSelf:
			b.WriteByte(byte(r))
		case unicode.IsLetter(r) || unicode.IsDigit(r):
			b.WriteRune(unicode.ToLower(r))
		case unicode.Is(unicode.M, r), unicode.Is(unicode.Cf, r), unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r):
		case r == '\u2019' || r == '\u02BC':
			b.WriteByte('\'')
		case r == '\u3002' || r == '\uFF01' || r == '\uFF1F' || r == '\u2026':
			b.WriteString(". ")
		case r == '\u201C' || r == '\u201D' || r == '\u2018' || r == '\u00AB' || r == '\u00BB' || r == '\u2022':
			b.WriteByte('"')
		default:
			b.WriteByte(' ')
		}
	}
	return g.foldLookAlikes(b.String()), false
}

const tagBytes = "\xf3\xa0" // what every tag character begins with in UTF-8

// revealTags takes tag characters away. Those of flags (after U+1F3F4) are
// meant; others that spell at least four letters are hidden text.
func revealTags(text string) (string, bool) {
	if !strings.Contains(text, tagBytes) {
		return text, false
	}
	letters, inFlag := 0, false
	shown := strings.Map(func(r rune) rune {
		if r < 0xE0000 || r > 0xE007F {
			inFlag = r == 0x1F3F4
			return r
		}
		if !inFlag {
			letters++
		}
		return -1
	}, text)
	return shown, letters >= 4
}

// foreignWord reports whether a word is wholly Cyrillic or Greek: it is what it
// is, even if every letter of it looks Latin.
func foreignWord(word string) bool {
	for _, r := range word {
		if !unicode.In(r, unicode.Cyrillic, unicode.Greek) {
			return false
		}
	}
	return true
}

// foldLookAlikes folds each word that Latin letters mixed with look-alikes, or
// phonetic letters, make look Latin.
func (g *rulebook) foldLookAlikes(text string) string {
	if isASCII(text) {
		return text
	}
	var b strings.Builder
	b.Grow(len(text))
	for len(text) > 0 {
		n := strings.IndexFunc(text, func(r rune) bool { return r < utf8.RuneSelf && skeleton[r] == 0 })
		if n < 0 {
			n = len(text)
		}
		word := text[:n]
		if folded := strings.Map(g.lookAlike, word); folded != word && isASCII(folded) && !foreignWord(word) {
			word = folded
		}
		b.WriteString(word)
		if n < len(text) {
			b.WriteByte(text[n])
			n++
		}
		text = text[n:]
	}
	return b.String()
}
