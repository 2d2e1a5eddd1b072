package ingest

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"
	"unicode/utf8"
)

const byteOrderMark = "\uFEFF"

// line is one line of a file, without its end.
type line struct {
	Position
	text string
}

// lines yields the lines of a file, blank ones too, and an error in place of
// each that is too long or not UTF-8.
func lines(name string, r io.Reader) iter.Seq2[line, error] {
	return func(yield func(line, error) bool) {
		in := bufio.NewReaderSize(r, 64<<10)
		for number := 1; ; number++ {
			at := Position{name, number}
			text, long, err := readLine(in)
			if err != nil && !errors.Is(err, io.EOF) {
				yield(line{Position: at}, &Error{at, err, true})
				return
			}
			end := err != nil
			if end && len(text) == 0 && !long {
				return
			}
			if number == 1 {
				text = bytes.TrimPrefix(text, []byte(byteOrderMark))
			}
			if !yieldLine(at, text, long, yield) || end {
				return
			}
		}
	}
}

func yieldLine(at Position, text []byte, long bool, yield func(line, error) bool) bool {
	switch {
	case long:
		return yield(line{Position: at}, &Error{at, fmt.Errorf("the line is longer than %d bytes", MaxLine), false})
	case !utf8.Valid(text):
		return yield(line{Position: at}, &Error{at, fmt.Errorf("not valid UTF-8 at byte %d of the line", invalidAt(text)+1), false})
	}
	return yield(line{at, string(text)}, nil)
}

func invalidAt(text []byte) int {
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRune(text[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return len(text)
}

// readLine reads to the end of a line, of which it keeps MaxLine bytes at most.
func readLine(in *bufio.Reader) (text []byte, long bool, err error) {
	for {
		piece, err := in.ReadSlice('\n')
		if !long {
			text = append(text, piece...)
		}
		if len(text) > MaxLine+len("\r\n") {
			text, long = nil, true
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		text = bytes.TrimSuffix(bytes.TrimSuffix(text, []byte("\n")), []byte("\r"))
		return text, long || len(text) > MaxLine, err
	}
}

// eachLine turns every line that is not blank into items.
func eachLine(name string, r io.Reader, read func(text string) ([]Item, error)) iter.Seq2[Item, error] {
	return func(yield func(Item, error) bool) {
		for l, err := range lines(name, r) {
			if err == nil && strings.TrimSpace(l.text) == "" {
				continue
			}
			var items []Item
			if err == nil {
				if items, err = read(l.text); err != nil {
					err = &Error{l.Position, err, false}
				}
			}
			if err != nil && !yield(Item{Position: l.Position}, err) {
				return
			}
			for _, item := range items {
				item.Position = l.Position
				if !yield(item, nil) {
					return
				}
			}
		}
	}
}
