// Package migrate moves what a single gateway has kept into the engines of a cluster, as the cluster
// block of a configuration names them.
//
//	moved, err := (&migrate.Import{Config: "/etc/caddy/Caddyfile"}).Run(ctx)
package migrate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/certmagic"
	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/caddymodule/offline"
	"github.com/gatehouse-proxy/gatehouse/internal/clusterimport"
	"github.com/gatehouse-proxy/gatehouse/internal/features/cluster"
	"github.com/gatehouse-proxy/gatehouse/internal/gateway"
	"github.com/gatehouse-proxy/gatehouse/internal/postgres"
	"github.com/gatehouse-proxy/gatehouse/internal/runtimekeys"
	"github.com/gatehouse-proxy/gatehouse/internal/valkey"
)

// Import is a configuration and how to move to its cluster.
type Import struct {
	Config  string // the file with the cluster block
	Adapter string // "": caddyfile, and none for .json
	From    string // the data_dir of the gateway; "": the configuration's
	clusterimport.Options
}

// Report is what was moved.
type Report = clusterimport.Report

// Run moves everything, or fails and keeps nothing.
func (i *Import) Run(ctx context.Context) (Report, error) {
	c, _, err := offline.Load(i.Config, i.Adapter)
	if err != nil {
		return nil, err
	}
	if offline.Cluster(c) == nil {
		return nil, errors.New("the configuration has no cluster block: it says where to move everything")
	}
	dir := i.From
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
	st, err := gateway.OpenStopped(dir, zap.NewNop(), runtimekeys.Schema, postgres.SpoolSchema, runtimekeys.SnapshotSchema)
	if err != nil {
		return nil, err
	}
	defer func() { _ = st.Close() }()
	db, err := postgres.Open(offline.Cluster(c).Database)
	if err != nil {
		return nil, err
	}
	defer db.Close()
	engine := valkey.New(offline.Cluster(c).Engine)
	defer engine.Close()
	moved, err := clusterimport.Run(ctx, clusterimport.Source{Store: st, Storage: storage},
		clusterimport.Target{DB: db, Engine: engine, Cluster: offline.Cluster(c).Name, Schemas: cluster.Schemas, Keep: c.Retention.OrDefault().Age}, i.Options)
	if err != nil {
		return nil, errors.New(c.Hide(postgres.Explain(err).Error()))
	}
	return moved, nil
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
