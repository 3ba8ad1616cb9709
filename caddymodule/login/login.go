// Package login is the commands caddy gatehouse login and logout, for the machine of a person who
// calls models by an account instead of a key. They ask no admin endpoint and read no
// configuration.
package login

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/caddyserver/certmagic"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/gatehouse-proxy/gatehouse/caddymodule/cli"
)

func init() {
	cli.Add(newLoginCommand)
	cli.Add(newLogoutCommand)
}

// newLoginCommand is `caddy gatehouse login ORIGIN`.
func newLoginCommand() *cobra.Command {
	return &cobra.Command{
		Use: "login ORIGIN", Short: "Sign in at a gateway, and print a token for programs", Args: cobra.ExactArgs(1),
		Long: "Prints an access token of the gateway at ORIGIN, and nothing else, on the standard output. The first time a person\n" +
			"signs in with a browser, which needs a terminal. Later the command refreshes the token without asking; the sign-in\n" +
			"is in the user's configuration folder.",
		Example: "  caddy gatehouse login https://ai.example.com\n" +
			"  curl -H \"Authorization: Bearer $(caddy gatehouse login https://ai.example.com)\" https://ai.example.com/v1/models",
		RunE: func(cmd *cobra.Command, args []string) error {
			return run(cmd, args[0], func(ctx context.Context, p *program, origin string) error {
				token, err := p.token(ctx, origin)
				if err == nil {
					_, err = fmt.Fprintln(cmd.OutOrStdout(), token)
				}
				return err
			})
		},
	}
}

// newLogoutCommand is `caddy gatehouse logout ORIGIN`.
func newLogoutCommand() *cobra.Command {
	return &cobra.Command{
		Use: "logout ORIGIN", Short: "End the sign-in of this machine at a gateway", Args: cobra.ExactArgs(1),
		Long: "Revokes the tokens that caddy gatehouse login has got from the gateway at ORIGIN, and removes them from this machine.",
		RunE: func(cmd *cobra.Command, args []string) error {
			return run(cmd, args[0], func(ctx context.Context, p *program, origin string) error { return p.signOut(ctx, origin) })
		},
	}
}

// run calls a function with what a command works with, until a person interrupts it.
func run(cmd *cobra.Command, address string, f func(context.Context, *program, string) error) error {
	origin, err := parseOrigin(address)
	if err != nil {
		return err
	}
	folder, err := os.UserConfigDir()
	if err != nil {
		return fmt.Errorf("there is no folder to keep the sign-in in: %w", err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return f(ctx, &program{
		http:   newClient(http.DefaultTransport),
		files:  &certmagic.FileStorage{Path: filepath.Join(folder, "gatehouse")},
		tell:   cmd.ErrOrStderr(),
		person: term.IsTerminal(int(os.Stdin.Fd())) && term.IsTerminal(int(os.Stderr.Fd())),
	}, origin)
}
