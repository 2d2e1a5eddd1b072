package tokenizer

import (
	"fmt"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/pkoukk/tiktoken-go"
	loader "github.com/pkoukk/tiktoken-go-loader"
	"pgregory.net/rapid"
)

func Example() {
	t, err := ByName("o200k_base")
	fmt.Println(t.Count("Memory that can be checked."), err)
	// Output: 6 <nil>
}

// library is the tokenizer library itself, the oracle of these tests.
func library(t testing.TB, name string) *tiktoken.Tiktoken {
	t.Helper()
	tiktoken.SetBpeLoader(loader.NewOfflineLoader())
	e, err := tiktoken.GetEncoding(name)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

var samples = []string{
	"", "a", " ", "\n", "Hello, world!\n", "don't DON'T we'll", "x = 12345678;  // note\r\n\r\n", "日本語のテキスト", "ภาษาไทย", "🧑‍🤝‍🧑🇩🇪",
	"<|endoftext|> is text", "{\"a\":\"b\",\"c\":[1,2]}\n", "\x00\x01", "a\u0301bc", "    indented\n\tcode\n", "camelCaseWORDSandMore", "İstanbul ǅungla",
	strings.Repeat("a", 500), strings.Repeat("!", 300), strings.Repeat(" ", 300) + "x", strings.Repeat("ab", 300), strings.Repeat("é", 200), "\xff\xfe",
}

func TestAgainstLibrary(t *testing.T) {
	for _, name := range []string{"cl100k_base", "o200k_base"} {
		oracle := library(t, name)
		ours, err := ByName(name)
		if err != nil {
			t.Fatal(err)
		}
		check := func(t interface{ Fatalf(string, ...any) }, text string) {
			valid := strings.ToValidUTF8(text, "\uFFFD")
			if !utf8.ValidString(text) {
				return
			}
			if got, want := ours.Count(text), len(oracle.EncodeOrdinary(valid)); got != want {
				t.Fatalf("%s of %q: %d; the library counts %d", name, text, got, want)
			}
		}
		for _, text := range samples {
			check(t, text)
		}
		rapid.Check(t, func(t *rapid.T) {
			check(t, rapid.OneOf(rapid.String(), rapid.StringMatching(`([A-Za-z]{1,9}[ ,.'/\n]{0,3}){0,20}`), rapid.StringMatching(`[ -~\n]{0,200}`)).Draw(t, "text"))
		})
	}
}

// TestLinesAddUp holds what LineAdditive declares.
func TestLinesAddUp(t *testing.T) {
	for _, name := range Names() {
		tk, err := ByName(name)
		if err != nil {
			t.Fatal(err)
		}
		if additive, ok := tk.(LineAdditive); !ok || !additive.LineAdditive() {
			t.Fatalf("%s declares nothing", name)
		}
		rapid.Check(t, func(t *rapid.T) {
			line := rapid.OneOf(rapid.String(), rapid.SampledFrom(samples), rapid.StringMatching(`["{}a-z0-9/ .\n]{0,30}`))
			checkAdditive(t, tk, line.Draw(t, "a")+"\n", line.Draw(t, "b"))
		})
	}
}

func checkAdditive(t interface{ Fatalf(string, ...any) }, tk Tokenizer, a, b string) {
	first, _ := utf8.DecodeRuneInString(b)
	if b == "" || unicode.IsSpace(first) || first == '/' {
		return
	}
	if whole, sum := tk.Count(a+b), tk.Count(a)+tk.Count(b); whole != sum {
		t.Fatalf("%s: %q and %q have %d tokens together, %d apart", tk.Name(), a, b, whole, sum)
	}
}

func FuzzLinesAddUp(f *testing.F) {
	for _, s := range samples {
		f.Add(s, s)
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		for _, tk := range []Tokenizer{CL100K(), O200K()} {
			checkAdditive(t, tk, a+"\n", b)
		}
	})
}

// TestLongPieces: the two ways of merging agree, and one long piece of a note's
// greatest size is no trap (it would take minutes if it were quadratic).
func TestLongPieces(t *testing.T) {
	e := loadO200K()
	rapid.Check(t, func(t *rapid.T) {
		piece := rapid.StringMatching(`[a-d]{2,64}|[!-/]{2,64}`).Draw(t, "piece")
		if long, short := e.mergeLong(piece), e.mergeShort(piece); long != short {
			t.Fatalf("%q: %d and %d", piece, long, short)
		}
	})
	for _, r := range []string{"a", "é", "!", "語", "\u0301", " ", "👨"} {
		O200K().Count(strings.Repeat(r, 64<<10/len(r)))
		CL100K().Count(strings.Repeat(r, 64<<10/len(r)))
	}
}

func TestUnknownNames(t *testing.T) {
	for _, name := range []string{"", "Bytes", "o200k", "gpt2"} {
		if _, err := ByName(name); err == nil {
			t.Errorf("%q is a tokenizer", name)
		}
	}
}
