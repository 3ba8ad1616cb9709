package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	caddycmd "github.com/caddyserver/caddy/v2/cmd"
	"github.com/spf13/cobra"

	"github.com/gatehouse-proxy/gatehouse/caddymodule/check"
	"github.com/gatehouse-proxy/gatehouse/internal/terminal"
)

// newCheckCommand is `caddy gatehouse check`.
func newCheckCommand() *cobra.Command {
	var config, adapter string
	var dial, asJSON bool
	cmd := &cobra.Command{
		Use: "check", Short: "Look for mistakes in a configuration, without starting it",
		Long: "Loads a configuration as caddy validate does, starts nothing, creates no file, and looks for what is\n" +
			"allowed and most likely a mistake: keys that can call nothing, models that nobody serves, limits that\n" +
			"never bind, missing prices, secrets in the open.\n\n" +
			"With --dial it also asks each provider for its list of models, which costs nothing, tries the engines of\n" +
			"a cluster and looks at their settings, and looks for the desktops' address. Without it nothing is sent.\n\n" +
			"The exit status is 0 for nothing but notes, 1 for warnings, and 2 for errors.",
		Example: "  caddy gatehouse check --config /etc/caddy/Caddyfile\n  caddy gatehouse check --dial --json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return printReport(cmd, check.Run(config, adapter, dial, time.Now()), asJSON)
		},
	}
	cmd.Flags().StringVar(&config, "config", "Caddyfile", "the configuration file")
	cmd.Flags().StringVar(&adapter, "adapter", "", "its adapter (default: caddyfile, none for .json)")
	cmd.Flags().BoolVar(&dial, "dial", false, "ask the providers and the DNS too")
	addJSON(cmd, &asJSON)
	return cmd
}

// errFound makes the exit status 1 without a text.
var errFound = errors.New("there are warnings")

// printReport prints the findings. Its error sets the exit status.
func printReport(cmd *cobra.Command, found []check.Finding, asJSON bool) error {
	out, worst := cmd.OutOrStdout(), check.Note
	for _, f := range found {
		worst = max(worst, f.Severity)
	}
	var err error
	if asJSON {
		encoder := json.NewEncoder(out)
		encoder.SetIndent("", "  ")
		err = encoder.Encode(append([]check.Finding{}, found...))
	} else {
		err = printFindings(out, found)
	}
	if err != nil || worst == check.Note {
		return err
	}
	cmd.SilenceErrors = true
	if worst == check.Warning {
		return errFound
	}
	// Caddy's main knows the exit status of such an error only.
	return caddycmd.WrapCommandFuncForCobra(func(caddycmd.Flags) (int, error) { return int(check.Failure), nil })(cmd, nil)
}

func printFindings(w io.Writer, found []check.Finding) error {
	var text strings.Builder
	var counts [check.Failure + 1]int
	for _, f := range found {
		counts[f.Severity]++
		fmt.Fprintf(&text, "%-9s%s\n", f.Severity, terminal.Printable(f.Subject))
		for line := range strings.Lines(terminal.Wrap(terminal.Printable(f.Problem))) {
			fmt.Fprintf(&text, "         %s\n", strings.TrimRight(line, "\n"))
		}
		if f.Advice != "" {
			for i, line := range slices.Collect(strings.Lines(terminal.Wrap(terminal.Printable(f.Advice)))) {
				mark := "   "
				if i == 0 {
					mark = "-> "
				}
				fmt.Fprintf(&text, "         %s%s\n", mark, strings.TrimRight(line, "\n"))
			}
		}
		text.WriteByte('\n')
	}
	fmt.Fprintf(&text, "%s, %s, %s\n", terminal.Plural(counts[check.Failure], "error"), terminal.Plural(counts[check.Warning], "warning"), terminal.Plural(counts[check.Note], "note"))
	_, err := io.WriteString(w, text.String())
	return err
}
