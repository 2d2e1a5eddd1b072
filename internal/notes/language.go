package notes

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/arabic"
	"github.com/blevesearch/snowballstem/danish"
	"github.com/blevesearch/snowballstem/dutch"
	"github.com/blevesearch/snowballstem/english"
	"github.com/blevesearch/snowballstem/finnish"
	"github.com/blevesearch/snowballstem/french"
	"github.com/blevesearch/snowballstem/german"
	"github.com/blevesearch/snowballstem/hungarian"
	"github.com/blevesearch/snowballstem/irish"
	"github.com/blevesearch/snowballstem/italian"
	"github.com/blevesearch/snowballstem/norwegian"
	"github.com/blevesearch/snowballstem/portuguese"
	"github.com/blevesearch/snowballstem/romanian"
	"github.com/blevesearch/snowballstem/russian"
	"github.com/blevesearch/snowballstem/spanish"
	"github.com/blevesearch/snowballstem/swedish"
	"github.com/blevesearch/snowballstem/tamil"
	"github.com/blevesearch/snowballstem/turkish"
)

// Language names the Snowball stemmer that words go through. The zero value is
// English; NoLanguage leaves words as they are, and so does an unknown name.
type Language string

// The two languages that need a name in code; Languages lists all.
const (
	English    Language = "english"
	NoLanguage Language = "none"
)

// stemmer is one Snowball program: it works on the word that the Env holds.
type stemmer func(*snowballstem.Env) bool

func stemmerOf(language Language) stemmer {
	switch language {
	case "arabic":
		return arabic.Stem
	case "danish":
		return danish.Stem
	case "dutch":
		return dutch.Stem
	case English:
		return english.Stem
	case "finnish":
		return finnish.Stem
	case "french":
		return french.Stem
	case "german":
		return german.Stem
	case "hungarian":
		return hungarian.Stem
	case "irish":
		return irish.Stem
	case "italian":
		return italian.Stem
	case "norwegian":
		return norwegian.Stem
	case "portuguese":
		return portuguese.Stem
	case "romanian":
		return romanian.Stem
	case "russian":
		return russian.Stem
	case "spanish":
		return spanish.Stem
	case "swedish":
		return swedish.Stem
	case "tamil":
		return tamil.Stem
	case "turkish":
		return turkish.Stem
	}
	return nil
}

// Languages returns the names of all languages.
func Languages() []Language {
	return []Language{
		"arabic", "danish", "dutch", English, "finnish", "french", "german", "hungarian", "irish", "italian",
		NoLanguage, "norwegian", "portuguese", "romanian", "russian", "spanish", "swedish", "tamil", "turkish",
	}
}

// maxStemmed bounds the bytes of a word that is stemmed: longer ones are no
// words, and Snowball's time grows faster than they do.
const maxStemmed = 64

// analyzer turns text into words and words into stems.
type analyzer struct {
	name Language
	run  stemmer
}

func newAnalyzer(language Language) *analyzer {
	if language == "" {
		language = English
	}
	if !slices.Contains(Languages(), language) {
		language = NoLanguage
	}
	return &analyzer{language, stemmerOf(language)}
}

// stem returns the stem of a word in phrase form. Words with anything but
// letters, marks and apostrophes in them are their own stems.
func (a *analyzer) stem(word string) string {
	if a.run == nil || len(word) > maxStemmed || !stemmable(word) {
		return word
	}
	env := snowballstem.NewEnv(word)
	a.run(env)
	if stem := env.Current(); stem != "" {
		return strings.Clone(stem)
	}
	return word
}

func stemmable(word string) bool {
	for _, r := range word {
		if r < utf8.RuneSelf {
			if (r < 'a' || r > 'z') && r != '\'' {
				return false
			}
		} else if !unicode.IsLetter(r) && !unicode.IsMark(r) && r != '’' {
			return false
		}
	}
	return true
}

// Stem returns the stem of a word in phrase form in the index's language.
func (x *Index) Stem(word string) string { return x.language.stem(word) }
