package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/cobra"

	"github.com/grounded-memory/grounded"
	"github.com/grounded-memory/grounded/internal/setup"
	"github.com/grounded-memory/grounded/mcpserver"
)

func newMCPCommand(env *environment) *cobra.Command {
	var tools string
	cmd := &cobra.Command{
		Use: "mcp", GroupID: "tools", Args: cobra.NoArgs,
		Short: "Serve the memory to an MCP client over standard input and output",
		Long: `Speaks the Model Context Protocol on standard input and output, for clients such
as Claude Code, Claude Desktop, Cursor and VS Code ("grounded setup" writes their
configuration). Several servers may share one store. Logs go to standard error.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			all, err := parseTools(tools)
			if err != nil {
				return err
			}
			return env.withMemory(cmd.Context(), func(m *grounded.Memory) error {
				server, err := mcpserver.New(m, mcpserver.Options{
					AllTools: all, Version: version(), Logger: slog.New(slog.NewTextHandler(env.err, &slog.HandlerOptions{Level: slog.LevelWarn})),
				})
				if err != nil {
					return err
				}
				err = server.Run(cmd.Context(), &mcp.IOTransport{Reader: io.NopCloser(env.in), Writer: nopCloser{env.out}})
				if errors.Is(err, context.Canceled) || errors.Is(err, io.EOF) {
					return nil // the client has gone, or we were told to end
				}
				return err
			})
		},
	}
	cmd.Flags().StringVar(&tools, "tools", "default", "default: the nine that an agent needs; all: every operation")
	return cmd
}

func parseTools(text string) (all bool, err error) {
	switch text {
	case "default":
		return false, nil
	case "all":
		return true, nil
	}
	return false, fmt.Errorf("--tools %q is neither default nor all", text)
}

// nopCloser is a writer that stays open.
type nopCloser struct{ io.Writer }

// Close does nothing.
func (nopCloser) Close() error { return nil }

func newSetupCommand(env *environment) *cobra.Command {
	var yes, hooks bool
	var project, command string
	cmd := &cobra.Command{
		Use: "setup CLIENT", GroupID: "tools", Args: cobra.ExactArgs(1),
		Short: "Write an MCP client's configuration: " + strings.Join(setup.Clients(), ", "),
		Long: `Shows what it would change in the client's configuration file and, with --yes,
changes it and keeps a backup beside it. Only the entry "grounded" is touched.
--hooks adds, for claude-code, commands that put a bounded, verified packet of
memory into each session and prompt.`,
		ValidArgs: setup.Clients(),
		RunE: func(_ *cobra.Command, args []string) error {
			places, err := findPlaces(project)
			if err != nil {
				return err
			}
			if command == "" {
				if command, err = os.Executable(); err != nil {
					return err
				}
			}
			db, err := filepath.Abs(env.db)
			if err != nil {
				return err
			}
			server := setup.Server{Command: command, Args: []string{"mcp", "--db", db, "--tenant", env.tenant, "--namespace", env.namespace}}
			changes, err := setup.Plan(args[0], places, server, hooks, readOrNothing)
			if err != nil {
				return err
			}
			return env.makeChanges(changes, yes)
		},
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "make the changes, not only show them")
	cmd.Flags().BoolVar(&hooks, "hooks", false, "add the hooks too (claude-code)")
	cmd.Flags().StringVar(&project, "project", ".", "the project's folder")
	cmd.Flags().StringVar(&command, "command", "", "the command that starts grounded (default: this program)")
	return cmd
}

func findPlaces(project string) (p setup.Places, err error) {
	if p.Home, err = os.UserHomeDir(); err != nil {
		return p, err
	}
	if p.Config, err = os.UserConfigDir(); err != nil {
		return p, err
	}
	p.Project, err = filepath.Abs(project)
	return p, err
}

func readOrNothing(path string) ([]byte, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	return data, err
}

// makeChanges shows changes and, if it may, makes them.
func (env *environment) makeChanges(changes []setup.Change, make bool) error {
	if len(changes) == 0 {
		fmt.Fprintln(env.out, "nothing to change: it is set up already")
		return nil
	}
	for _, c := range changes {
		fmt.Fprintf(env.out, "%s\n%s", c.Path, lineDiff(string(c.Before), string(c.After)))
		if !make {
			continue
		}
		backup, err := replaceFile(c)
		if err != nil {
			return err
		}
		if backup != "" {
			fmt.Fprintf(env.out, "changed; the file as it was: %s\n", backup)
		} else {
			fmt.Fprintln(env.out, "written")
		}
	}
	if !make {
		fmt.Fprintln(env.out, "\nnothing was changed yet: run it again with --yes")
	}
	return nil
}

// replaceFile writes a changed file in one step, after a backup of the old one.
func replaceFile(c setup.Change) (backup string, err error) {
	if err := os.MkdirAll(filepath.Dir(c.Path), 0o755); err != nil {
		return "", err
	}
	mode := os.FileMode(0o600)
	if c.Before != nil {
		info, err := os.Stat(c.Path)
		if err != nil {
			return "", err
		}
		mode = info.Mode().Perm()
		backup = c.Path + ".before-grounded-" + time.Now().UTC().Format("20060102T150405.000000")
		if err := os.WriteFile(backup, c.Before, mode); err != nil {
			return "", err
		}
	}
	fresh := c.Path + ".grounded-new"
	if err := os.WriteFile(fresh, c.After, mode); err != nil {
		return backup, errors.Join(err, os.Remove(fresh))
	}
	return backup, os.Rename(fresh, c.Path)
}

// lineDiff shows which lines go and come: what is the same at the start and the
// end of both is left out but for one line.
func lineDiff(before, after string) string {
	a, b := splitLines(before), splitLines(after)
	start := 0
	for start < len(a) && start < len(b) && a[start] == b[start] {
		start++
	}
	end := 0
	for end < len(a)-start && end < len(b)-start && a[len(a)-1-end] == b[len(b)-1-end] {
		end++
	}
	var out strings.Builder
	if start > 0 {
		out.WriteString("    " + a[start-1] + "\n")
	}
	for _, line := range a[start : len(a)-end] {
		out.WriteString("  - " + line + "\n")
	}
	for _, line := range b[start : len(b)-end] {
		out.WriteString("  + " + line + "\n")
	}
	if end > 0 {
		out.WriteString("    " + a[len(a)-end] + "\n")
	}
	return out.String()
}

func splitLines(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(s, "\n"), "\n")
}
