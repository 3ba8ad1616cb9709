package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/gatehouse-proxy/gatehouse/caddymodule/migrate"
)

// newImportCommand is `caddy gatehouse cluster import`.
func newImportCommand() *cobra.Command {
	var i migrate.Import
	asJSON := false
	cmd := &cobra.Command{
		Use: "import", Short: "Move what a single gateway has kept into the engines of a cluster", Args: cobra.NoArgs,
		Long: "Moves spent money and tokens, keys made at run time, registered workstations, owners of stored responses,\n" +
			"and calls with their sums, of a gateway that has stopped, into Valkey and PostgreSQL, as the cluster block of --config names them. All of it is one\n" +
			"transaction, which is kept only if numbers and sums are right; the gateway's own files stay as they are.\n\n" +
			"No gateway of the cluster may run. A cluster that has rows is refused, unless --merge adds to them; the\n" +
			"same data is never moved twice. With --dry-run all is tried and nothing kept, but that tables are made.",
		Example: "  caddy gatehouse cluster import --config /etc/caddy/Caddyfile --dry-run\n" +
			"  caddy gatehouse cluster import --config /etc/caddy/Caddyfile --from /var/lib/gatehouse-alone",
		RunE: func(cmd *cobra.Command, _ []string) error {
			o := &operator{out: cmd.OutOrStdout()}
			moved, err := i.Run(cmd.Context())
			switch {
			case err != nil:
				return err
			case asJSON:
				return o.printJSON(moved)
			}
			return printMoved(o, moved, i.DryRun)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&i.Config, "config", "Caddyfile", "the configuration file with the cluster block")
	flags.StringVar(&i.Adapter, "adapter", "", "its adapter (default: caddyfile, none for .json)")
	flags.StringVar(&i.From, "from", "", "the data_dir of the gateway (default: that of the configuration)")
	flags.BoolVar(&i.DryRun, "dry-run", false, "keep nothing")
	flags.BoolVar(&i.Merge, "merge", false, "the cluster may have rows: spent money and calls are added, keys and workstations are replaced")
	addJSON(cmd, &asJSON)
	return cmd
}

func printMoved(o *operator, moved migrate.Report, dryRun bool) error {
	err := o.table("WHAT\tMOVED\tSUM\tLEFT OUT\tBEFORE\tNOW", func(row func(...any)) {
		for _, p := range moved {
			row(p.Name, p.Rows, p.Sum, p.LeftOut, p.Before, p.After)
		}
	})
	if err != nil {
		return err
	}
	said := "Everything is in PostgreSQL. Start the gateways of the cluster now; the first one loads the balances into Valkey."
	if dryRun {
		said = "Numbers and sums are right. Nothing was kept: it was a dry run."
	}
	_, err = fmt.Fprintln(o.out, "\n"+said)
	return err
}
