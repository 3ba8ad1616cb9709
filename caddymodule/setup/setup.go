// Package setup is the command caddy gatehouse init: it writes a first Caddyfile, and a file with its
// secrets, from flags or a few questions.
package setup

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/gatehouse-proxy/gatehouse/caddymodule/cli"
)

func init() { cli.Add(newCommand) }

// newCommand is `caddy gatehouse init`.
func newCommand() *cobra.Command {
	a := new(answers)
	var force bool
	cmd := &cobra.Command{
		Use: "init", Short: "Write a first Caddyfile, by a few questions or by flags", Args: cobra.NoArgs,
		Long: "Writes a commented Caddyfile, and a file of mode 600 with its secrets, which caddy run --envfile reads.\n" +
			"In a terminal it asks for what no flag says. The configuration is loaded before it is written, as caddy\n" +
			"validate does; nothing is started, and no other machine is asked.\n\n" +
			"The key of a provider comes from its variable (OPENAI_API_KEY), or is asked for without an echo. A provider\n" +
			"without a key is left out until the file with the secrets has one.",
		Example: "  caddy gatehouse init\n" +
			"  caddy gatehouse init --provider openai --provider ollama=http://127.0.0.1:11434/v1 --budget \"1M tokens/day\"\n" +
			"  caddy gatehouse init --host gateway.corp.internal --internal-ca --workstation desk1=10.0.0.7:5901",
	}
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if force {
			if err := a.keep(); err != nil {
				return err
			}
		}
		given := func(flag string) bool { return cmd.Flags().Changed(flag) }
		if in := os.Stdin; term.IsTerminal(int(in.Fd())) {
			d := dialogue{in: bufio.NewReader(in), out: cmd.OutOrStdout(), given: given, secret: func() (string, error) {
				text, err := term.ReadPassword(int(in.Fd()))
				return string(text), err
			}}
			if err := d.ask(a); err != nil {
				return err
			}
		}
		files, err := a.files(os.Getenv)
		if err == nil {
			err = files.write(force)
		}
		if err != nil {
			return err
		}
		printNext(cmd.OutOrStdout(), a, files)
		return nil
	}
	flags := cmd.Flags()
	flags.StringVar(&a.host, "host", "", "the name of the gateway in DNS (default: only this machine, by HTTP)")
	flags.BoolVar(&a.internalCA, "internal-ca", false, "certificates of Caddy's own CA, for a name that is not public")
	flags.StringArrayVar(&a.providers, "provider", nil, "openai, openrouter, anthropic, gemini, mistral, test, or NAME=URL of an OpenAI-compatible server; may be repeated (default: test)")
	flags.StringVar(&a.key, "key", defaultKey, "the name of the first key")
	flags.StringVar(&a.budget, "budget", "", "of that key, such as \"1M tokens/day\"; money, such as 20usd/month, needs --catalog (default: none)")
	flags.StringVar(&a.catalog, "catalog", "", "a file with the prices of models, see docs/catalog.md (default: none)")
	flags.StringArrayVar(&a.workstations, "workstation", nil, "NAME=HOST:PORT of a VNC server; may be repeated (default: none)")
	flags.StringVar(&a.caddyfile, "output", "Caddyfile", "the Caddyfile to write")
	flags.StringVar(&a.env, "secrets", "gatehouse.env", "the file with the secrets to write")
	flags.BoolVar(&force, "force", false, "replace files that exist; secrets stay, with the key")
	return cmd
}

// printNext says what to do with the files.
func printNext(w io.Writer, a *answers, f *files) {
	url := "http://127.0.0.1:8080"
	if a.host != "" {
		url = "https://" + a.host
	}
	fmt.Fprintf(w, "Wrote %s, and %s with the secrets (mode 600).\n\n", a.caddyfile, a.env)
	for _, name := range f.missing {
		fmt.Fprintf(w, "%s is empty in %s: the provider is left out until you fill it in.\n\n", name, a.env)
	}
	caddy := os.Args[0] // it may not be in the PATH
	fmt.Fprintf(w, "Start it:    %s run --config %s --envfile %s\n", caddy, a.caddyfile, a.env)
	fmt.Fprintf(w, "Sign in:     %s/console/ with GATEWAY_API_KEY of %s\n", url, a.env)
	fmt.Fprintf(w, "Call it:     . ./%s; curl -H \"Authorization: Bearer $GATEWAY_API_KEY\" %s/v1/models\n", a.env, url)
	if len(a.workstations) > 0 {
		name, _, _ := strings.Cut(a.workstations[0], "=")
		fmt.Fprintf(w, "See it:      %s/console/workstations/%s/desktop, or: %s gatehouse desktop --help\n", url, name, caddy)
	}
	fmt.Fprintf(w, "Check it:    (set -a; . ./%s; %s gatehouse check --config %s)\n", a.env, caddy, a.caddyfile)
}
