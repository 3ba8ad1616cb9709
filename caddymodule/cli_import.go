package caddymodule

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/certmagic"
	"github.com/spf13/cobra"
	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/caddymodule/offline"
	"github.com/gatehouse-proxy/gatehouse/internal/clusterimport"
	"github.com/gatehouse-proxy/gatehouse/internal/gateway"
	"github.com/gatehouse-proxy/gatehouse/internal/postgres"
	"github.com/gatehouse-proxy/gatehouse/internal/valkey"
)

// importing is what `caddy gatehouse cluster import` was asked to do.
type importing struct {
	config, adapter, from string
	asJSON                bool
	clusterimport.Options
}

// newImportCommand is `caddy gatehouse cluster import`.
func newImportCommand() *cobra.Command {
	i := new(importing)
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
			report, err := i.run(cmd.Context())
			if err != nil {
				return err
			}
			return i.print(o, report)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&i.config, "config", "Caddyfile", "the configuration file with the cluster block")
	flags.StringVar(&i.adapter, "adapter", "", "its adapter (default: caddyfile, none for .json)")
	flags.StringVar(&i.from, "from", "", "the data_dir of the gateway (default: that of the configuration)")
	flags.BoolVar(&i.DryRun, "dry-run", false, "keep nothing")
	flags.BoolVar(&i.Merge, "merge", false, "the cluster may have rows: spent money and calls are added, keys and workstations are replaced")
	addJSON(cmd, &i.asJSON)
	return cmd
}

func (i *importing) run(ctx context.Context) (clusterimport.Report, error) {
	c, _, err := offline.Load(i.config, i.adapter)
	if err != nil {
		return nil, err
	}
	if c.Built.Cluster == nil {
		return nil, errors.New("the configuration has no cluster block: it says where to move everything")
	}
	dir := i.from
	if dir == "" {
		dir = c.DataDir
	}
	if _, err := os.Stat(filepath.Join(dir, "gatehouse.db")); err != nil {
		return nil, fmt.Errorf("there is no database of a gateway: %w", err)
	}
	storage, done, err := loadStorage(c.Storage)
	if err != nil {
		return nil, err
	}
	defer done()
	st, err := gateway.OpenStopped(dir, zap.NewNop())
	if err != nil {
		return nil, err
	}
	defer func() { _ = st.Close() }()
	db, err := postgres.Open(c.Built.Cluster.Database)
	if err != nil {
		return nil, err
	}
	defer db.Close()
	engine := valkey.New(c.Built.Cluster.Engine)
	defer engine.Close()
	report, err := clusterimport.Run(ctx, clusterimport.Source{Store: st, Storage: storage},
		clusterimport.Target{DB: db, Engine: engine, Cluster: c.Built.Cluster.Name, Schemas: gateway.ClusterSchemas, Keep: c.Retention}, i.Options)
	if err != nil {
		return nil, errors.New(c.Hide(postgres.Explain(err).Error()))
	}
	return report, nil
}

// loadStorage returns Caddy's storage of a configuration. Done gives it back.
func loadStorage(raw json.RawMessage) (_ certmagic.Storage, done func(), err error) {
	if raw == nil {
		return caddy.DefaultStorage, func() {}, nil
	}
	ctx, cancel := caddy.NewContext(caddy.Context{Context: context.Background()})
	module, err := ctx.LoadModule(&caddy.Config{StorageRaw: raw}, "StorageRaw")
	if err != nil {
		cancel()
		return nil, nil, fmt.Errorf("storage: %w", err)
	}
	storage, err := module.(caddy.StorageConverter).CertMagicStorage()
	if err != nil {
		cancel()
		return nil, nil, fmt.Errorf("storage: %w", err)
	}
	return storage, cancel, nil
}

func (i *importing) print(o *operator, report clusterimport.Report) error {
	if i.asJSON {
		return o.printJSON(report)
	}
	err := o.table("WHAT\tMOVED\tSUM\tLEFT OUT\tBEFORE\tNOW", func(row func(...any)) {
		for _, p := range report {
			row(p.Name, p.Rows, p.Sum, p.LeftOut, p.Before, p.After)
		}
	})
	if err != nil {
		return err
	}
	said := "Everything is in PostgreSQL. Start the gateways of the cluster now; the first one loads the balances into Valkey."
	if i.DryRun {
		said = "Numbers and sums are right. Nothing was kept: it was a dry run."
	}
	_, err = fmt.Fprintln(o.out, "\n"+said)
	return err
}
