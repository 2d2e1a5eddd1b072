package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/spf13/cobra"

	"github.com/grounded-memory/grounded"
	"github.com/grounded-memory/grounded/internal/demo"
)

func newSpaceCommand(env *environment) *cobra.Command {
	var listen, export string
	cmd := &cobra.Command{
		Use: "space", GroupID: "tools", Args: cobra.NoArgs,
		Short: "Serve the public demo: fixed cases, no store",
		Long: `Serves fixed, made-up cases that the real engine has answered. No store is opened,
nothing can be written and nothing a visitor sends is kept. --export writes the
same pages as static files.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if export != "" {
				return demo.Export(export)
			}
			handler, err := demo.Space()
			if err != nil {
				return err
			}
			return env.servePages(cmd.Context(), listen, handler, func(host string) string { return "http://" + host + "/" })
		},
	}
	cmd.Flags().StringVar(&listen, "listen", "127.0.0.1:8760", "address and port")
	cmd.Flags().StringVar(&export, "export", "", "write static files to this folder instead")
	return cmd
}

func newInspectCommand(env *environment) *cobra.Command {
	return &cobra.Command{
		Use: "inspect", GroupID: "tools", Args: cobra.NoArgs,
		Short: "Look at a store in a browser, read-only",
		Long: `Serves pages over the scope on a random port of this machine: records and their
history, contradictions, what expires, bridges, queries and recalls with their
reasons, certificates. The printed address works once. Nothing can be written.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			env.readOnly = true
			return env.withMemory(cmd.Context(), func(m *grounded.Memory) error {
				inspector, err := demo.NewInspector(m, env.tenant+" / "+env.namespace)
				if err != nil {
					return err
				}
				return env.servePages(cmd.Context(), "127.0.0.1:0", inspector, inspector.Address)
			})
		},
	}
}

// servePages serves until the context ends, and prints the address to open.
func (env *environment) servePages(ctx context.Context, listen string, handler http.Handler, address func(host string) string) error {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", listen)
	if err != nil {
		return err
	}
	fmt.Fprintf(env.out, "open %s\n", address(listener.Addr().String()))
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second, ReadTimeout: 30 * time.Second, WriteTimeout: time.Minute, IdleTimeout: time.Minute, MaxHeaderBytes: 32 << 10}
	stopped := make(chan error, 1)
	go func() {
		<-ctx.Done()
		stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		stopped <- server.Shutdown(stop)
	}()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return <-stopped
}
