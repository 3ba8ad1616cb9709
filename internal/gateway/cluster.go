package gateway

import (
	"context"
	"errors"
	"fmt"

	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/internal/cluster"
	"github.com/gatehouse-proxy/gatehouse/internal/postgres"
	"github.com/gatehouse-proxy/gatehouse/internal/store"
	"github.com/gatehouse-proxy/gatehouse/internal/valkey"
)

// Cluster is what this gateway shares with others. It is read when the first configuration of a
// process opens the stores.
type Cluster struct {
	Name     string
	Node     string // of this gateway; "": a random name, which is kept in the data directory
	Engine   valkey.Config
	Database string // the address of PostgreSQL
	// Configured is the block as it is written. Configurations of one process must have the same.
	Configured string
}

// shared has the engines of a cluster. One gateway has none.
type shared struct {
	name   string // of the cluster
	engine *valkey.Client
	node   *cluster.Node
	db     *postgres.DB
	writer *postgres.Writer
	feed   *postgres.Feed
}

// openShared connects to the engines of a cluster. Rows wait in st while PostgreSQL is away.
func openShared(ctx context.Context, c *Cluster, st *store.Store, logger *zap.Logger) (*shared, error) {
	db, err := postgres.Open(c.Database)
	if err != nil {
		return nil, err
	}
	engine := valkey.New(c.Engine)
	s := &shared{
		name:   c.Name,
		engine: engine, db: db, feed: postgres.NewFeed(db), writer: postgres.NewWriter(db, c.Node),
		node: cluster.New(cluster.Config{Name: c.Name, Node: c.Node, Engine: engine, Logger: logger}),
	}
	_ = st
	if err := db.Migrate(ctx, postgres.WriterSchema, postgres.FeedSchema); err != nil {
		return nil, errors.Join(fmt.Errorf("PostgreSQL: %w", err), s.close(ctx))
	}
	if err := errors.Join(s.writer.Start(ctx), s.node.Start(ctx)); err != nil {
		return nil, errors.Join(err, s.close(ctx))
	}
	return s, nil
}

// status returns what an operator should know of the cluster. It asks nobody.
func (s *shared) status() ClusterStatus {
	status := ClusterStatus{Name: s.name, Node: s.node.ID(), Nodes: []ClusterNode{}}
	status.Engine.WaitingFor = []string{}
	for _, id := range s.node.Nodes() {
		status.Nodes = append(status.Nodes, ClusterNode{ID: id, SameRules: true})
	}
	return status
}

// close gives back what the node holds.
func (s *shared) close(context.Context) error {
	s.node.Stop()
	s.engine.Close()
	s.db.Close()
	return nil
}
