package main

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/grounded-memory/grounded"
)

// toolCommands are the commands that are no operation of the memory.
func toolCommands(env *environment) []*cobra.Command {
	return []*cobra.Command{
		newDemoCommand(env),
		newBatchCommand(env),
		newSpaceCommand(env),
		newInspectCommand(env),
		newImportCommand(env),
		newExportCommand(env),
		newExplainCommand(env),
		newEvalCommand(env),
		newBanksCommand(env),
		newSetupCommand(env),
		newHookCommand(env),
		newMCPCommand(env),
		newServeCommand(env),
		newTokenCommand(env),
		newDoctorCommand(env),
		newMaintainCommand(env),
		newBackupCommand(env),
		newScopesCommand(env),
		newLimitsCommand(env),
	}
}

func newLimitsCommand(env *environment) *cobra.Command {
	return &cobra.Command{
		Use: "limits", Short: "Every bound: its default and its hard maximum", GroupID: "tools", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			w := tabwriter.NewWriter(env.out, 0, 4, 2, ' ', 0)
			fmt.Fprintln(w, "LIMIT\tDEFAULT\tMAXIMUM\tUNIT\tOF")
			for _, l := range grounded.Limits() {
				fmt.Fprintf(w, "%s\t%d\t%d\t%s\t%s\n", l.Name, l.Default, l.Max, l.Unit, l.Of)
			}
			return w.Flush()
		},
	}
}

// readAll reads a whole request, up to its limit.
func readAll(r io.Reader) (string, error) {
	data, err := io.ReadAll(io.LimitReader(r, grounded.MaxRequestBytes+1))
	if err == nil && len(data) > grounded.MaxRequestBytes {
		err = &grounded.Error{Code: grounded.TooLarge, Message: "the input is larger than a request may be"}
	}
	return string(data), err
}
