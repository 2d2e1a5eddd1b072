package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/grounded-memory/grounded/internal/facts"
)

// prolog is a running SWI-Prolog that holds the facts, one predicate for each
// relation. Given a number of times, variables and a goal it returns the number of
// answers and two times of one run, measured inside Prolog: with the answers
// collected, each once and in order, and with nothing done but backtracking.
type prolog struct {
	process *exec.Cmd
	in      io.WriteCloser
	out     *bufio.Scanner
}

const prologProgram = `
:- set_prolog_flag(verbose, silent).
serve :- read(Line), ( Line == end_of_file -> halt ; Line = run(Times, Answer, Goal), answer(Times, Answer, Goal), serve ).
:- dynamic collect/1, backtrack/0.
answer(Times, Answer, Goal) :-
	retractall(collect(_)), assertz((collect(Set) :- findall(Answer, Goal, List), sort(List, Set))),
	retractall(backtrack), assertz((backtrack :- \+ (Goal, fail))),
	collect(Answers), length(Answers, Count),
	time_of(Times, collect(_), Collecting), time_of(Times, backtrack, Bare),
	format("~w ~12f ~12f~n", [Count, Collecting, Bare]), flush_output.
time_of(Times, Goal, Seconds) :-
	get_time(Start), forall(between(1, Times, _), Goal), get_time(End), Seconds is (End - Start) / Times.
`

// startProlog loads the facts; nil if SWI-Prolog is not installed.
func startProlog(folder string, all []facts.Fact, queries []*codexQuery) (*prolog, error) {
	if _, err := exec.LookPath("swipl"); err != nil {
		return nil, nil
	}
	var text strings.Builder
	text.WriteString(prologProgram)
	known := map[string]bool{}
	for _, f := range all {
		known[f.Predicate] = true
	}
	for _, q := range queries {
		for _, a := range q.Where {
			if !known[a[1]] { // Prolog takes a predicate without facts for a mistake
				fmt.Fprintf(&text, ":- dynamic %s/2.\n", strings.ToLower(a[1]))
			}
		}
	}
	last := ""
	for _, f := range all {
		if f.Predicate != last {
			last = f.Predicate
			fmt.Fprintf(&text, ":- discontiguous %s/2.\n", strings.ToLower(last))
		}
		fmt.Fprintf(&text, "%s(%s,%s).\n", strings.ToLower(f.Predicate), strings.ToLower(f.Entity), strings.ToLower(f.Value))
	}
	path := filepath.Join(folder, "codex.pl")
	if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
		return nil, err
	}
	p := &prolog{process: exec.Command("swipl", "-O", "-q", "--stack-limit=4g", "-g", "serve", path)}
	p.process.Stderr = os.Stderr
	var err error
	if p.in, err = p.process.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := p.process.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.out = bufio.NewScanner(out)
	return p, p.process.Start()
}

// run measures a goal.
func (p *prolog) run(repeat int, q *codexQuery, order []int) (answers int, collecting, bare time.Duration, err error) {
	if _, err := fmt.Fprintf(p.in, "run(%d,%s,(%s)).\n", repeat, q.tuple(), q.goal(order)); err != nil {
		return 0, 0, 0, err
	}
	for p.out.Scan() {
		// A prompt may stand before the answer.
		fields := strings.Fields(strings.TrimLeft(p.out.Text(), "|: "))
		if len(fields) != 3 {
			continue
		}
		answers, err := strconv.Atoi(fields[0])
		if err != nil {
			return 0, 0, 0, err
		}
		collecting, err := seconds(fields[1])
		if err != nil {
			return 0, 0, 0, err
		}
		bare, err := seconds(fields[2])
		return answers, collecting, bare, err
	}
	return 0, 0, 0, fmt.Errorf("prolog ended: %v", p.out.Err())
}

func seconds(text string) (time.Duration, error) {
	s, err := strconv.ParseFloat(text, 64)
	return time.Duration(s * 1e9), err
}

func (p *prolog) close() error {
	err := p.in.Close()
	if waited := p.process.Wait(); err == nil {
		err = waited
	}
	return err
}
