package main

import (
	"fmt"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/grounded-memory/grounded/httpapi"
)

func newTokenCommand(env *environment) *cobra.Command {
	var path string
	cmd := &cobra.Command{
		Use: "token", GroupID: "tools",
		Short: "Make, list and revoke the tokens of the HTTP service",
		Long: `The token file holds only hashes: a secret is printed once, when it is made. A
running service takes up changes at once, without a restart.`,
	}
	cmd.PersistentFlags().StringVar(&path, "tokens", defaultTokens(), "the file of hashed tokens (GROUNDED_TOKENS)")
	cmd.AddCommand(newTokenNewCommand(env, &path), newTokenListCommand(env, &path), newTokenRevokeCommand(env, &path))
	return cmd
}

func newTokenNewCommand(env *environment, path *string) *cobra.Command {
	var role string
	var lifetime time.Duration
	cmd := &cobra.Command{
		Use: "new", Args: cobra.NoArgs,
		Short: "Make a token and print its secret, this once",
		Long: `Prints the secret on standard output and the token's id on standard error. Roles:
read (every question), write (also what changes records), admin.`,
		RunE: func(*cobra.Command, []string) error {
			if *path == defaultTokens() {
				if err := makeFolder(*path); err != nil {
					return err
				}
			}
			now := env.now()
			var expires time.Time
			if lifetime != 0 {
				expires = now.Add(lifetime)
			}
			secret, token, err := httpapi.AddToken(*path, role, now, expires, nil)
			if err != nil {
				return err
			}
			fmt.Fprintf(env.err, "token %s, role %s, in %s; its secret is not kept:\n", token.ID, token.Role, *path)
			_, err = fmt.Fprintln(env.out, secret)
			return err
		},
	}
	cmd.Flags().StringVar(&role, "role", "", "read, write or admin")
	cmd.Flags().DurationVar(&lifetime, "expires-in", 0, "lifetime, e.g. 720h; without it the token does not expire")
	return cmd
}

func newTokenListCommand(env *environment, path *string) *cobra.Command {
	return &cobra.Command{
		Use: "list", Args: cobra.NoArgs,
		Short: "List the tokens: id, role, when they were made and when they expire",
		RunE: func(*cobra.Command, []string) error {
			tokens, err := httpapi.ListTokens(*path)
			if err != nil {
				return err
			}
			w := tabwriter.NewWriter(env.out, 0, 4, 2, ' ', 0)
			fmt.Fprintln(w, "ID\tROLE\tCREATED\tEXPIRES")
			for _, t := range tokens {
				expires := "never"
				if !t.Expires.IsZero() {
					expires = t.Expires.Format(time.RFC3339)
				}
				fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", t.ID, t.Role, t.Created.Format(time.RFC3339), expires)
			}
			return w.Flush()
		},
	}
}

func newTokenRevokeCommand(env *environment, path *string) *cobra.Command {
	return &cobra.Command{
		Use: "revoke ID", Args: cobra.ExactArgs(1),
		Short: "Take a token out of force; a running service refuses it at once",
		RunE: func(_ *cobra.Command, args []string) error {
			if err := httpapi.RevokeToken(*path, args[0]); err != nil {
				return err
			}
			fmt.Fprintf(env.out, "token %s is revoked\n", args[0])
			return nil
		},
	}
}

// now is the time, or what --clock says it is.
func (env *environment) now() time.Time {
	if env.clock != nil {
		return env.clock.now
	}
	return time.Now()
}
