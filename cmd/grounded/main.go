// Command grounded is Grounded Memory on the command line: every operation of
// the memory, a batch mode that speaks JSON lines, and the tools around a store.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/grounded-memory/grounded"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run is the whole program; tests call it as a user types it.
func run(ctx context.Context, args []string, in io.Reader, out, errOut io.Writer) int {
	env := &environment{in: in, out: out, err: errOut}
	root := newRootCommand(env)
	root.SetArgs(args)
	root.SetIn(in)
	root.SetOut(out)
	root.SetErr(errOut)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return 0
	}
	var status exitStatus
	if errors.As(err, &status) {
		return int(status)
	}
	var e *grounded.Error
	if errors.As(err, &e) {
		fmt.Fprintf(errOut, "grounded: %s\n", e.Error())
		if hint := hintFor(e); hint != "" {
			fmt.Fprintf(errOut, "hint: %s\n", hint)
		}
	} else {
		fmt.Fprintf(errOut, "grounded: %v\n", err)
	}
	return 1
}

// exitStatus ends the program with a status and no further message.
type exitStatus int

func (s exitStatus) Error() string { return fmt.Sprintf("exit status %d", int(s)) }

// hintFor says what to do next about an error, where the message does not.
func hintFor(e *grounded.Error) string {
	switch e.Code {
	case grounded.AlreadyCorrected:
		if e.Current != 0 {
			return "grounded correct --id " + e.Current.String() + " …"
		}
	case grounded.StorageFull:
		return "free some space on the disk; reading still works"
	case grounded.Damaged:
		return "keep a copy of the file, then run: grounded doctor --db FILE"
	case grounded.TooLarge:
		return "see the sizes with: grounded limits"
	}
	return ""
}

// environment is what every command shares: the streams and the global flags.
type environment struct {
	in       io.Reader
	out, err io.Writer

	db, tenant, namespace string
	readOnly              bool
	clockText             string
	policyBanks           []string
	clock                 *fixedClock // set when --clock is
}

// fixedClock stands still until it is moved.
type fixedClock struct{ now time.Time }

func newRootCommand(env *environment) *cobra.Command {
	root := &cobra.Command{
		Use:   "grounded",
		Short: "Memory for AI agents that can be checked",
		Long: `Grounded Memory stores facts, notes and glossary entries with their source, and
gives back only what was supplied, with the records that prove it. Start with:

  grounded demo                      a throw-away store, real questions, answers with proofs
  grounded remember --help           store a fact
  grounded batch < requests.jsonl    every operation as JSON lines`,
		SilenceUsage:  true,
		SilenceErrors: true,
		PersistentPreRunE: func(*cobra.Command, []string) error {
			return env.start()
		},
	}
	flags := root.PersistentFlags()
	flags.StringVar(&env.db, "db", envOr("GROUNDED_DB", defaultPath()), "the store's file (GROUNDED_DB)")
	flags.StringVar(&env.tenant, "tenant", envOr("GROUNDED_TENANT", "default"), "tenant of the scope (GROUNDED_TENANT)")
	flags.StringVar(&env.namespace, "namespace", envOr("GROUNDED_NAMESPACE", "default"), "namespace of the scope (GROUNDED_NAMESPACE)")
	flags.BoolVar(&env.readOnly, "read-only", false, "never write to the file")
	flags.StringSliceVar(&env.policyBanks, "policy-bank", nil, "a further policy bank's file (may be repeated)")
	flags.StringVar(&env.clockText, "clock", "", "fix the time, e.g. 2026-01-01T00:00:00Z (for tests and replays)")
	root.AddGroup(
		&cobra.Group{ID: "operations", Title: "Operations of the memory:"},
		&cobra.Group{ID: "tools", Title: "Tools around a store:"},
	)
	root.AddCommand(operationCommands(env)...)
	root.AddCommand(toolCommands(env)...)
	return root
}

func (env *environment) start() error {
	if env.clockText == "" {
		return nil
	}
	now, err := time.Parse(time.RFC3339Nano, env.clockText)
	if err != nil {
		return fmt.Errorf("--clock %q is no time such as 2026-01-01T00:00:00Z", env.clockText)
	}
	env.clock = &fixedClock{now}
	return nil
}

// options are a store's options as the flags say.
func (env *environment) options() (*grounded.Options, error) {
	opts := &grounded.Options{ReadOnly: env.readOnly}
	if env.clock != nil {
		opts.Clock = func() time.Time { return env.clock.now }
	}
	for _, path := range env.policyBanks {
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		opts.PolicyBanks = append(opts.PolicyBanks, data)
	}
	return opts, nil
}

// open opens the store and the scope that the flags name.
func (env *environment) open(ctx context.Context) (*grounded.Store, *grounded.Memory, error) {
	store, err := env.openStore(ctx)
	if err != nil {
		return nil, nil, err
	}
	memory, err := store.Scope(env.tenant, env.namespace)
	if err != nil {
		return nil, nil, errors.Join(err, store.Close())
	}
	return store, memory, nil
}

func (env *environment) openStore(ctx context.Context) (*grounded.Store, error) {
	if env.db == defaultPath() && !env.readOnly {
		if err := os.MkdirAll(filepath.Dir(env.db), 0o700); err != nil {
			return nil, err
		}
	}
	options, err := env.options()
	if err != nil {
		return nil, err
	}
	return grounded.Open(ctx, env.db, options)
}

// withMemory opens the memory for the length of fn.
func (env *environment) withMemory(ctx context.Context, fn func(*grounded.Memory) error) error {
	store, memory, err := env.open(ctx)
	if err != nil {
		return err
	}
	return errors.Join(fn(memory), store.Close())
}

func envOr(name, byDefault string) string {
	if v := os.Getenv(name); v != "" {
		return v
	}
	return byDefault
}

// defaultPath is where the store is when nobody says otherwise.
func defaultPath() string {
	if dir := os.Getenv("XDG_DATA_HOME"); dir != "" {
		return filepath.Join(dir, "grounded", "memory.db")
	}
	if home, err := os.UserHomeDir(); err == nil {
		return filepath.Join(home, ".local", "share", "grounded", "memory.db")
	}
	return "grounded.db"
}
