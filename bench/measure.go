package main

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// side is one of the things that are compared.
type side struct {
	name string
	run  func() error
}

// interleave runs the sides in turn, at least rounds times and until spend has
// gone by, and returns the median time of each. A side that takes less than
// three milliseconds is repeated within its turn, so that each is warm.
func interleave(rounds int, spend time.Duration, sides ...side) ([]time.Duration, error) {
	repeats := make([]int, len(sides))
	for i, s := range sides { // also warms up
		if err := s.run(); err != nil {
			return nil, fmt.Errorf("%s: %w", s.name, err)
		}
		start := time.Now()
		if err := s.run(); err != nil {
			return nil, fmt.Errorf("%s: %w", s.name, err)
		}
		repeats[i] = max(1, int(3*time.Millisecond/max(1, time.Since(start))))
	}
	times := make([][]time.Duration, len(sides))
	start := time.Now()
	for n := 0; n < rounds || time.Since(start) < spend; n++ {
		for i, s := range sides {
			begun := time.Now()
			for range repeats[i] {
				if err := s.run(); err != nil {
					return nil, fmt.Errorf("%s: %w", s.name, err)
				}
			}
			times[i] = append(times[i], time.Since(begun)/time.Duration(repeats[i]))
		}
	}
	out := make([]time.Duration, len(sides))
	for i := range sides {
		out[i] = quantile(times[i], 0.5)
	}
	return out, nil
}

// quantile returns the value below which a part of all values lies.
func quantile(values []time.Duration, part float64) time.Duration {
	if len(values) == 0 {
		return 0
	}
	slices.Sort(values)
	return values[min(len(values)-1, int(part*float64(len(values))))]
}

// geomean is the geometric mean.
func geomean(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += math.Log(v)
	}
	return math.Exp(sum / float64(len(values)))
}

func ratio(a, b time.Duration) float64 { return float64(a) / float64(max(1, b)) }

// show prints a duration with three figures.
func show(d time.Duration) string {
	switch {
	case d >= 10*time.Second:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d >= time.Second:
		return fmt.Sprintf("%.2f s", d.Seconds())
	case d >= time.Millisecond:
		return fmt.Sprintf("%.3g ms", float64(d)/1e6)
	}
	return fmt.Sprintf("%.3g µs", float64(d)/1e3)
}

func times(f float64) string {
	if f >= 10 {
		return fmt.Sprintf("%.0f×", f)
	}
	return fmt.Sprintf("%.2f×", f)
}

// table prints rows of text in columns; all but the first are set to the right.
type table struct{ rows [][]string }

func (t *table) add(cells ...string) { t.rows = append(t.rows, cells) }

func (t *table) print() {
	var widths []int
	for _, row := range t.rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	for _, row := range t.rows {
		var line strings.Builder
		for i, cell := range row {
			pad := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
			if i == 0 {
				line.WriteString(cell + pad)
			} else {
				line.WriteString("  " + pad + cell)
			}
		}
		fmt.Println(strings.TrimRight(line.String(), " "))
	}
	fmt.Println()
}

// verdict prints a target and whether this run met it.
func verdict(met bool, format string, args ...any) {
	word := "met   "
	if !met {
		word = "MISSED"
	}
	fmt.Println(word, fmt.Sprintf(format, args...))
}

// heap returns the bytes in use after a collection.
func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// repository is the root folder of the product.
func repository() (string, error) {
	dir, err := os.Getwd()
	for err == nil {
		if _, err := os.Stat(filepath.Join(dir, "internal", "datalog", "testdata", "codex")); err == nil {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			break
		}
		dir = filepath.Dir(dir)
	}
	return "", errors.Join(err, errors.New("run this inside the repository"))
}

// data is the path of a set that lies beside the repository.
func data(name string) (string, error) {
	root, err := repository()
	if err != nil {
		return "", err
	}
	path := filepath.Join(root, "..", "shared", "data", name)
	_, err = os.Stat(path)
	return path, err
}

// middle is the median of numbers.
func middle(values []float64) float64 {
	slices.Sort(values)
	return values[len(values)/2]
}
