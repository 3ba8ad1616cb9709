package schema

import (
	"github.com/spf13/cobra"

	"github.com/gatehouse-proxy/gatehouse/caddymodule/cli"
)

func init() { cli.Add(newCommand) }

func newCommand() *cobra.Command {
	return &cobra.Command{
		Use: "schema", Short: "Print the JSON Schema of the configuration, for editors", Args: cobra.NoArgs,
		Long: "Prints the JSON Schema (2020-12) of Caddy's JSON configuration with the modules of Gatehouse that are in this\n" +
			"build. It is strict for what is Gatehouse's, and says nothing of other modules. It needs no running Caddy.",
		Example: "  caddy gatehouse schema > gatehouse.schema.json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			text, err := Make()
			if err == nil {
				_, err = cmd.OutOrStdout().Write(text)
			}
			return err
		},
	}
}
