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
	node := cluster.New(cluster.Config{Name: c.Name, Node: c.Node, Engine: engine, Logger: logger})
	feed := postgres.NewFeed(postgres.FeedConfig{DB: db, Logger: logger, Publish: func(ctx context.Context) error {
		return node.Publish(ctx, "feed", "")
	}})
	node.On("feed", func(string) { feed.Wake() })
	s := &shared{engine: engine, db: db, node: node, feed: feed, writer: postgres.NewWriter(db, c.Node)}
	_ = st
	if err := db.Migrate(ctx, postgres.WriterSchema, postgres.FeedSchema); err != nil {
		return nil, errors.Join(fmt.Errorf("PostgreSQL: %w", err), s.close(ctx))
	}
	if err := errors.Join(s.writer.Start(ctx), s.node.Start(ctx)); err != nil {
		return nil, errors.Join(err, s.close(ctx))
	}
	s.feed.Start(ctx)
	return s, nil
}

// close gives back what the node holds.
func (s *shared) close(context.Context) error {
	s.feed.Stop()
	s.node.Stop()
	s.engine.Close()
	s.db.Close()
	return nil
}
