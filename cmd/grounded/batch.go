package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"github.com/grounded-memory/grounded"
	"github.com/grounded-memory/grounded/internal/operation"
)

func newBatchCommand(env *environment) *cobra.Command {
	return &cobra.Command{
		Use:   "batch",
		Short: "Run operations given as JSON lines on standard input",
		Long: `Reads lines such as {"op":"query","args":{"where":[["?x","manages","Bob"]]}} from
standard input and writes one line for each, in order:
{"ok":true,"result":{…}} or {"ok":false,"error":{"code":…,"message":…}}.

With --clock the time stands still, and {"op":"clock","args":{"advance":"90s"}} moves it.`,
		GroupID: "tools",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return env.withMemory(cmd.Context(), func(m *grounded.Memory) error {
				return runBatch(cmd.Context(), m, env.clock, env.in, env.out)
			})
		},
	}
}

// batchRequest is one line of input.
type batchRequest struct {
	Op   string         `json:"op"`
	Args jsontext.Value `json:"args,omitzero"`
}

// batchReply is one line of output.
type batchReply struct {
	OK     bool            `json:"ok"`
	Result jsontext.Value  `json:"result,omitzero"`
	Error  *grounded.Error `json:"error,omitzero"`
}

// runBatch answers every line of in with a line of out. It stops when the
// input ends, the context does, or the output cannot be written.
func runBatch(ctx context.Context, s grounded.Service, clock *fixedClock, in io.Reader, out io.Writer) error {
	r, w := bufio.NewReaderSize(in, 64<<10), bufio.NewWriter(out)
	for {
		line, tooLong, err := readLine(r)
		if err != nil && !errors.Is(err, io.EOF) {
			return errors.Join(err, w.Flush())
		}
		ended := err != nil
		if len(bytes.TrimSpace(line)) > 0 || tooLong {
			result, err := runLine(ctx, s, clock, line, tooLong)
			if err := writeReply(w, result, err); err != nil {
				return err
			}
		}
		if ended || ctx.Err() != nil {
			return errors.Join(ctx.Err(), w.Flush())
		}
		if r.Buffered() == 0 {
			if err := w.Flush(); err != nil {
				return err
			}
		}
	}
}

// readLine reads one line without its end; of a line over the request limit it
// reads all and keeps none.
func readLine(r *bufio.Reader) (line []byte, tooLong bool, err error) {
	for {
		part, err := r.ReadSlice('\n')
		if len(line)+len(part) > grounded.MaxRequestBytes+1 {
			tooLong, line = true, nil
		}
		if !tooLong {
			line = append(line, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return bytes.TrimRight(line, "\r\n"), tooLong, err
		}
	}
}

func runLine(ctx context.Context, s grounded.Service, clock *fixedClock, line []byte, tooLong bool) (any, error) {
	if tooLong {
		return nil, &grounded.Error{Code: grounded.TooLarge, Message: fmt.Sprintf("a line is longer than %d bytes", grounded.MaxRequestBytes)}
	}
	var req batchRequest
	if err := grounded.DecodeRequest(line, &req); err != nil {
		return nil, err
	}
	if req.Op == "clock" {
		return moveClock(clock, req.Args)
	}
	op, ok := operation.Find(req.Op)
	if !ok {
		return nil, &grounded.Error{Code: grounded.InvalidArgument, Field: "op", Message: fmt.Sprintf("%q is no operation", req.Op)}
	}
	return op.Call(ctx, s, req.Args)
}

func writeReply(w *bufio.Writer, result any, err error) error {
	reply := batchReply{OK: err == nil}
	if err == nil {
		reply.Result, err = grounded.EncodeResult(result)
	}
	if err != nil {
		reply = batchReply{Error: grounded.AsError(err)}
	}
	line, err := json.Marshal(reply, json.Deterministic(true))
	if err != nil {
		return err
	}
	if _, err := w.Write(append(line, '\n')); err != nil {
		return err
	}
	return nil
}

// moveClock is the batch's own operation on its fixed clock.
func moveClock(clock *fixedClock, args []byte) (any, error) {
	if clock == nil {
		return nil, &grounded.Error{Code: grounded.InvalidArgument, Field: "op", Message: "clock needs a batch started with --clock"}
	}
	var req struct {
		Advance string `json:"advance"`
	}
	if err := grounded.DecodeRequest(args, &req); err != nil {
		return nil, err
	}
	d, err := time.ParseDuration(req.Advance)
	if err != nil {
		return nil, &grounded.Error{Code: grounded.InvalidArgument, Field: "advance", Message: fmt.Sprintf("%q is no duration such as 90s", req.Advance)}
	}
	clock.now = clock.now.Add(d)
	return struct {
		Now time.Time `json:"now"`
	}{clock.now.UTC()}, nil
}
