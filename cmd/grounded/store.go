package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/grounded-memory/grounded"
)

// withStore opens the store, without choosing a scope, for the length of fn.
func (env *environment) withStore(cmd *cobra.Command, fn func(*grounded.Store) error) error {
	store, err := env.openStore(cmd.Context())
	if err != nil {
		return err
	}
	return errors.Join(fn(store), store.Close())
}

func newDoctorCommand(env *environment) *cobra.Command {
	return &cobra.Command{
		Use: "doctor", GroupID: "tools", Args: cobra.NoArgs,
		Short: "Check the file, every record, every index and every scope digest",
		Long: `Reads everything: the pages and their checksums, every record against its digest,
every chain of corrections, and for each scope the index and the scope digest
against the rows, from scratch. Ends with status 1 if something is wrong.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return env.withStore(cmd, func(s *grounded.Store) error {
				problems, err := s.Check(cmd.Context())
				for _, p := range problems {
					fmt.Fprintln(env.out, p)
				}
				if err != nil {
					return err
				}
				if len(problems) > 0 {
					fmt.Fprintf(env.err, "grounded: %d problems; keep a copy of the file, then export what can be read\n", len(problems))
					return exitStatus(1)
				}
				scopes, err := s.Scopes(cmd.Context())
				if err != nil {
					return err
				}
				fmt.Fprintf(env.out, "no problem found in %s (%d scopes)\n", env.db, len(scopes))
				return nil
			})
		},
	}
}

func newMaintainCommand(env *environment) *cobra.Command {
	return &cobra.Command{
		Use: "maintain", GroupID: "tools", Args: cobra.NoArgs,
		Short: "Finish pending erasures, truncate the log, write snapshots for fast starts",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return env.withStore(cmd, func(s *grounded.Store) error { return s.Maintain(cmd.Context()) })
		},
	}
}

func newBackupCommand(env *environment) *cobra.Command {
	return &cobra.Command{
		Use: "backup FILE", GroupID: "tools", Args: cobra.ExactArgs(1),
		Short: "Copy the store, consistent while others write, to a new file",
		RunE: func(cmd *cobra.Command, args []string) error {
			return env.withStore(cmd, func(s *grounded.Store) error { return s.Backup(cmd.Context(), args[0]) })
		},
	}
}

func newScopesCommand(env *environment) *cobra.Command {
	return &cobra.Command{
		Use: "scopes", GroupID: "tools", Args: cobra.NoArgs,
		Short: "List the scopes (tenant and namespace) of the store",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return env.withStore(cmd, func(s *grounded.Store) error {
				scopes, err := s.Scopes(cmd.Context())
				for _, scope := range scopes {
					fmt.Fprintf(env.out, "%s\t%s\n", scope[0], scope[1])
				}
				return err
			})
		},
	}
}

func newExportCommand(env *environment) *cobra.Command {
	return &cobra.Command{
		Use: "export [FILE]", GroupID: "tools", Args: cobra.MaximumNArgs(1),
		Short: "Write the whole scope as JSON lines: ids, chains, tombstones and salts",
		Long: `Writes every record of the scope, eligible or not, to FILE (created with mode
0600; it must not exist) or to standard output. "grounded import --format export"
reads it into an empty scope, which then has the same ids and scope digest.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return env.withMemory(cmd.Context(), func(m *grounded.Memory) error {
				if len(args) == 0 {
					_, err := m.Export(cmd.Context(), env.out)
					return err
				}
				return env.exportTo(cmd, m, args[0])
			})
		},
	}
}

func (env *environment) exportTo(cmd *cobra.Command, m *grounded.Memory, path string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	n, err := m.Export(cmd.Context(), f)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, os.Remove(path))
	}
	fmt.Fprintf(env.err, "%d records and tombstones written to %s\n", n, path)
	return nil
}
