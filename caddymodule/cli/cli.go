// Package cli is the command caddy gatehouse. Most of its subcommands ask the admin API of a running
// Caddy; check, key new and cluster import read a configuration instead.
package cli

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	caddycmd "github.com/caddyserver/caddy/v2/cmd"
	"github.com/spf13/cobra"

	"github.com/gatehouse-proxy/gatehouse/internal/keys"
)

func init() {
	caddycmd.RegisterCommand(caddycmd.Command{
		Name:  "gatehouse",
		Short: "Tools for Gatehouse",
		Long: "Shows what a running Gatehouse does, and changes what can be changed without a reload. The commands\n" +
			"ask the admin endpoint of the running Caddy and see all tenants; check, key new and version need no running Caddy.",
		CobraFunc: func(cmd *cobra.Command) {
			group(cmd)
			key := group(&cobra.Command{Use: "key", Short: "Gateway keys: of the configuration (new), and those made at run time"})
			key.AddCommand(newKeyCommand())
			key.AddCommand(newKeyCommands()...)
			cmd.AddCommand(
				key,
				newWorkstationCommand(),
				newBudgetCommand(),
				newProvidersCommand(),
				newMCPCommand(),
				newHealthCommand(),
				newClusterCommand(),
				newActivityCommand(),
				newSeriesCommand(),
				newLimitsCommand(),
				newSessionsCommand(),
				newSignInsCommand(),
				newDrainCommand(),
				newWhyCommand(),
				newCheckCommand(),
				newBackupCommand(),
			)
			for _, newCommand := range added {
				cmd.AddCommand(newCommand())
			}
		},
	})
}

// added are the commands of other packages.
var added []func() *cobra.Command

// Add adds a subcommand that is no operator's. It must be called before the program begins.
func Add(newCommand func() *cobra.Command) { added = append(added, newCommand) }

func newKeyCommand() *cobra.Command {
	var name string
	var scopes []string
	cmd := &cobra.Command{
		Use:     "new --name NAME --scope SCOPE…",
		Short:   "Print a new key for the configuration, once, and the Caddyfile lines with its hash",
		Example: "  caddy gatehouse key new --name ci --scope chat:write --scope models:read",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return printNewKey(cmd.OutOrStdout(), rand.Reader, name, scopes)
		},
	}
	cmd.Flags().StringVar(&name, "name", "", "name of the key (required)")
	cmd.Flags().StringArrayVar(&scopes, "scope", nil, "a permission, such as chat:write; may be repeated (required)")
	for _, needed := range []string{"name", "scope"} {
		_ = cmd.MarkFlagRequired(needed) // it exists
	}
	return cmd
}

// fileKey is the line of a key in a key_file.
type fileKey struct {
	Name   string   `json:"name"`
	Hashes []string `json:"hashes"`
	Scopes []string `json:"scopes"`
}

func printNewKey(w io.Writer, random io.Reader, name string, scopes []string) error {
	secret, err := keys.NewSecret(random)
	if err != nil {
		return err
	}
	// What the keyring refuses at load is refused here, before anybody is given the key.
	if _, err := keys.NewKeyring([]keys.Spec{{Name: name, Secrets: []string{secret}, Scopes: scopes}}); err != nil {
		return err
	}
	hash := keys.Hash(secret)
	line, err := json.Marshal(fileKey{name, []string{hash}, scopes})
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "The key, shown only now:\n\n%s\n\nFor the gatehouse block of the Caddyfile:\n\nkey %s {\n\thash %s\n\tscopes %s\n}\n\nOr for a key_file:\n\n%s\n",
		secret, name, hash, strings.Join(scopes, " "), line)
	return err
}
