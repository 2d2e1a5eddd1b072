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
// relation. It answers "number of times" and a goal with the number of solutions
// and the time of one run, measured inside Prolog.
type prolog struct {
	process *exec.Cmd
	in      io.WriteCloser
	out     *bufio.Scanner
}

const prologProgram = `
:- set_prolog_flag(verbose, silent).
:- set_prolog_flag(unknown, fail).
serve :- read(Line), ( Line == end_of_file -> halt ; Line = run(Times, Goal), answer(Times, Goal), serve ).
answer(Times, Goal) :-
	aggregate_all(count, Goal, Count),
	expand(Goal),
	get_time(Start), forall(between(1, Times, _), once_all), get_time(End),
	Seconds is (End - Start) / Times,
	format("~w ~12f~n", [Count, Seconds]), flush_output.
:- dynamic once_all/0.
expand(Goal) :- retractall(once_all), assertz((once_all :- \+ (Goal, fail))).
`

// startProlog loads the facts; nil if SWI-Prolog is not installed.
func startProlog(folder string, all []facts.Fact) (*prolog, error) {
	if _, err := exec.LookPath("swipl"); err != nil {
		return nil, nil
	}
	var text strings.Builder
	text.WriteString(prologProgram)
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
func (p *prolog) run(times int, goal string) (solutions int, one time.Duration, err error) {
	if _, err := fmt.Fprintf(p.in, "run(%d,(%s)).\n", times, goal); err != nil {
		return 0, 0, err
	}
	for p.out.Scan() {
		// A prompt may stand before the answer.
		fields := strings.Fields(strings.TrimLeft(p.out.Text(), "|: "))
		if len(fields) != 2 {
			continue
		}
		if solutions, err = strconv.Atoi(fields[0]); err != nil {
			return 0, 0, err
		}
		seconds, err := strconv.ParseFloat(fields[1], 64)
		return solutions, time.Duration(seconds * 1e9), err
	}
	return 0, 0, fmt.Errorf("prolog ended: %w", p.out.Err())
}

func (p *prolog) close() error {
	err := p.in.Close()
	if waited := p.process.Wait(); err == nil {
		err = waited
	}
	return err
}
