package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/grounded-memory/grounded/hub"
	"github.com/grounded-memory/grounded/internal/rank/bank"
)

func newBanksCommand(env *environment) *cobra.Command {
	cmd := &cobra.Command{
		Use: "banks", GroupID: "tools", Args: cobra.NoArgs,
		Short: "Print the policy banks: names, digests, sizes, policies",
		RunE: func(*cobra.Command, []string) error {
			for _, name := range bank.Names() {
				b, err := bank.Load(name)
				if err != nil {
					return err
				}
				fmt.Fprintf(env.out, "%s\n  SHA-256 %x\n  %d bytes, %d policies, features version %d\n  recipe: go run ./cmd/trainbanks (docs/ranking.md)\n",
					b.Name, b.Digest, bank.Size, len(b.Policies), b.FeatureVersion)
				for _, policy := range b.PolicyNames() {
					fmt.Fprintf(env.out, "  %s\n", policy)
				}
			}
			fmt.Fprintln(env.out, "conventional: bm25, context; auto chooses by the scope's numbers")
			return nil
		},
	}
	cmd.AddCommand(newBanksPullCommand(env))
	return cmd
}

func newBanksPullCommand(env *environment) *cobra.Command {
	var sum, dir, address string
	cmd := &cobra.Command{
		Use: "pull OWNER/NAME@COMMIT/FILE", Args: cobra.ExactArgs(1),
		Short: "Fetch a policy bank from a model hub: data only, pinned by commit and digest",
		Long: `Fetches one bank over https, checks its size, its SHA-256 and every byte of its
format, and only then gives it its name. Use it with --policy-bank FILE. A token
for the hub is read from GROUNDED_HUB_TOKEN.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			ref, err := hub.ParseReference(args[0])
			if err != nil {
				return err
			}
			if address == "" {
				return errors.New("name the hub with --hub https://… or GROUNDED_HUB")
			}
			path, err := hub.Fetch(cmd.Context(), ref, dir, hub.Options{
				Hub: address, Token: os.Getenv("GROUNDED_HUB_TOKEN"), SHA256: sum, MaxBytes: bank.Size,
				Check: func(data []byte) error {
					b, err := bank.Parse(data)
					if err != nil {
						return err
					}
					return b.Usable()
				},
			})
			if err != nil {
				return err
			}
			fmt.Fprintf(env.out, "%s\n", path)
			return nil
		},
	}
	cmd.Flags().StringVar(&sum, "sha256", "", "the file's SHA-256 (required)")
	cmd.Flags().StringVar(&dir, "dir", filepath.Join(filepath.Dir(defaultPath()), "banks"), "the folder to keep it in")
	cmd.Flags().StringVar(&address, "hub", os.Getenv("GROUNDED_HUB"), "the hub's address (GROUNDED_HUB)")
	return cmd
}
