package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/grounded-memory/grounded"
	"github.com/grounded-memory/grounded/httpapi"
	"github.com/grounded-memory/grounded/mcpserver"
)

// serveFlags are the flags of serve.
type serveFlags struct {
	listen, tokens          string
	certificate, key        string
	behindProxy             bool
	hosts                   []string
	tools, logLevel         string
	rate, concurrent        int
	requestTimeout, stopFor time.Duration
}

func newServeCommand(env *environment) *cobra.Command {
	var f serveFlags
	cmd := &cobra.Command{
		Use: "serve", GroupID: "tools", Args: cobra.NoArgs,
		Short: "Serve one scope over HTTP, and over MCP at /mcp",
		Long: `Serves the scope that --tenant and --namespace name: POST /v1/<operation> with the
operation's JSON, GET /healthz, /readyz, /metrics, /openapi.json, and MCP at /mcp.
Every caller needs a token:

  grounded token new --role write
  grounded serve

Beyond this machine it wants TLS (--tls-cert and --tls-key), or --behind-proxy if
a proxy ends TLS, and --allow-host with the name by which clients reach it. On
SIGTERM or SIGINT it takes no more connections, answers what has begun, and ends.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return env.withMemory(cmd.Context(), func(m *grounded.Memory) error {
				return env.serve(cmd.Context(), m, &f)
			})
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.listen, "listen", "127.0.0.1:8750", "address and port")
	flags.StringVar(&f.tokens, "tokens", defaultTokens(), "the file of hashed tokens (GROUNDED_TOKENS)")
	flags.StringVar(&f.certificate, "tls-cert", "", "certificate chain, PEM")
	flags.StringVar(&f.key, "tls-key", "", "the certificate's key, PEM")
	flags.BoolVar(&f.behindProxy, "behind-proxy", false, "a proxy ends TLS: allow clear text beyond this machine")
	flags.StringSliceVar(&f.hosts, "allow-host", nil, "a name by which clients reach the service (may be given several times)")
	flags.StringVar(&f.tools, "tools", "default", "tools at /mcp: default, all, or none for no /mcp")
	flags.StringVar(&f.logLevel, "log-level", "info", "debug, info, warn or error; info logs each request")
	flags.IntVar(&f.rate, "rate", 10_000, "requests a second that each token may make; negative: any number")
	flags.IntVar(&f.concurrent, "max-concurrent", 128, "operations that run at once; others wait for a while")
	flags.DurationVar(&f.requestTimeout, "request-timeout", 30*time.Second, "how long one operation may run")
	flags.DurationVar(&f.stopFor, "stop-timeout", 30*time.Second, "how long to wait for calls when ending")
	return cmd
}

func (env *environment) serve(ctx context.Context, m *grounded.Memory, f *serveFlags) error {
	var level slog.Level
	if err := level.UnmarshalText([]byte(f.logLevel)); err != nil {
		return fmt.Errorf("--log-level %q is none of debug, info, warn, error", f.logLevel)
	}
	config, err := tlsConfig(f.certificate, f.key)
	if err != nil {
		return err
	}
	tokens, err := httpapi.OpenTokens(f.tokens)
	if err != nil {
		return err
	}
	options := httpapi.Options{
		Tokens: tokens, BehindProxy: f.behindProxy, Version: version(),
		Logger:        slog.New(slog.NewJSONHandler(env.err, &slog.HandlerOptions{Level: level})),
		RatePerSecond: f.rate, MaxConcurrent: f.concurrent, RequestTimeout: f.requestTimeout, StopTimeout: f.stopFor,
	}
	if f.tools != "none" {
		all, err := parseTools(f.tools)
		if err != nil {
			return err
		}
		if options.MCP, err = mcpserver.Handler(m, mcpserver.Options{AllTools: all, Version: version(), Logger: options.Logger}); err != nil {
			return err
		}
	}
	listener, hosts, err := listen(ctx, f, config != nil)
	if err != nil {
		return err
	}
	options.Hosts = hosts
	handler, err := httpapi.New(m, options)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	scheme := "http"
	if config != nil {
		scheme = "https"
	}
	fmt.Fprintf(env.err, "serving %s/%s on %s://%s\n", env.tenant, env.namespace, scheme, listener.Addr())
	return handler.Serve(ctx, listener, config)
}

// listen opens the listener. It refuses clear text beyond this machine unless
// the operator says that a proxy ends TLS.
func listen(ctx context.Context, f *serveFlags, isTLS bool) (net.Listener, []string, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", f.listen)
	if err != nil {
		return nil, nil, err
	}
	address, ok := listener.Addr().(*net.TCPAddr)
	if !isTLS && !f.behindProxy && (!ok || !address.IP.IsLoopback()) {
		err := fmt.Errorf("%s is reached from other machines: give --tls-cert and --tls-key, or --behind-proxy if a proxy ends TLS", f.listen)
		return nil, nil, errors.Join(err, listener.Close())
	}
	hosts := f.hosts
	if ok && !address.IP.IsUnspecified() {
		hosts = append(hosts, address.IP.String())
	}
	return listener, hosts, nil
}

// tlsConfig reads the certificate, or is nil if none is named.
func tlsConfig(certificate, key string) (*tls.Config, error) {
	if certificate == "" && key == "" {
		return nil, nil
	}
	pair, err := tls.LoadX509KeyPair(certificate, key)
	if err != nil {
		return nil, fmt.Errorf("--tls-cert, --tls-key: %w", err)
	}
	return &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}, nil
}

// defaultTokens is where the token file is when nobody says otherwise: beside
// the default store.
func defaultTokens() string {
	return envOr("GROUNDED_TOKENS", filepath.Join(filepath.Dir(defaultPath()), "tokens.jsonl"))
}

// makeFolder makes the folder of a file that this program creates.
func makeFolder(path string) error { return os.MkdirAll(filepath.Dir(path), 0o700) }
