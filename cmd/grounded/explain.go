package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/grounded-memory/grounded"
	"github.com/grounded-memory/grounded/internal/explain"
	"github.com/grounded-memory/grounded/internal/operation"
)

func newExplainCommand(env *environment) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "explain",
		Short: "Draw why: a query's proofs, or how a question was rewritten",
		Long: `Runs a read and draws where its result comes from: which records, from which
sources, support which answer; which bridges led from the question to which
record. Prints text; --svg FILE draws it.

  grounded explain query --where '["?x","neighbor","france"]'
  grounded explain recall_grounded --query "k8s outage" --svg why.svg`,
		GroupID: "tools",
	}
	for _, name := range []string{"query", "recall", "recall_grounded"} {
		op, _ := operation.Find(name)
		cmd.AddCommand(newExplainOperation(env, op))
	}
	return cmd
}

func newExplainOperation(env *environment, op operation.Operation) *cobra.Command {
	var whole, svg string
	fields := fieldFlags(op.Request)
	cmd := &cobra.Command{
		Use: op.Name, Short: "Draw: " + op.Summary, Args: cobra.NoArgs,
		Aliases: []string{strings.ReplaceAll(op.Name, "_", "-")},
		RunE: func(cmd *cobra.Command, _ []string) error {
			args, err := argumentsOf(cmd, whole, fields)
			if err != nil {
				return err
			}
			return env.withMemory(cmd.Context(), func(m *grounded.Memory) error {
				result, err := op.Call(cmd.Context(), m, args)
				if err != nil {
					return err
				}
				d, err := explain.Draw(cmd.Context(), m, result)
				if err != nil {
					return err
				}
				if svg != "" {
					if err := os.WriteFile(svg, []byte(d.SVG()), 0o600); err != nil {
						return err
					}
				}
				_, err = fmt.Fprint(env.out, d.Text())
				return err
			})
		},
	}
	for _, f := range fields {
		f.define(cmd)
	}
	cmd.Flags().StringVar(&whole, "json", "", "the whole request as JSON, or @FILE, or - for standard input")
	cmd.Flags().StringVar(&svg, "svg", "", "write the drawing as SVG to this file")
	return cmd
}
