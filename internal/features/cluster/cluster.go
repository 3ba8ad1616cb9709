// Package cluster is the feature by which several gateways serve as one: it puts together what they
// share in Valkey and PostgreSQL.
package cluster

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"go.uber.org/zap"

	postgresactivity "github.com/gatehouse-proxy/gatehouse/internal/activity/postgres"
	pgsignins "github.com/gatehouse-proxy/gatehouse/internal/authserver/postgres"
	"github.com/gatehouse-proxy/gatehouse/internal/cluster"
	workstationrecords "github.com/gatehouse-proxy/gatehouse/internal/desktop/postgres"
	desktops "github.com/gatehouse-proxy/gatehouse/internal/desktop/valkey"
	programs "github.com/gatehouse-proxy/gatehouse/internal/features/authserver"
	"github.com/gatehouse-proxy/gatehouse/internal/features/console"
	makekeys "github.com/gatehouse-proxy/gatehouse/internal/features/runtimekeys"
	"github.com/gatehouse-proxy/gatehouse/internal/gateway"
	"github.com/gatehouse-proxy/gatehouse/internal/limits"
	valkeylimits "github.com/gatehouse-proxy/gatehouse/internal/limits/valkey"
	"github.com/gatehouse-proxy/gatehouse/internal/owners"
	postgresowners "github.com/gatehouse-proxy/gatehouse/internal/owners/postgres"
	"github.com/gatehouse-proxy/gatehouse/internal/postgres"
	"github.com/gatehouse-proxy/gatehouse/internal/runtimekeys"
	"github.com/gatehouse-proxy/gatehouse/internal/valkey"
	"github.com/gatehouse-proxy/gatehouse/internal/websession"
)

// Config is what this gateway shares with others. It implements [gateway.Cluster].
type Config struct {
	Name     string
	Node     string // of this gateway; "": a random name, which is kept in the data directory
	Engine   valkey.Config
	Database string // the address of PostgreSQL
	// DatabasePassword is asked at each connection, instead of that of the address: a secret file
	// may change. It may be nil.
	DatabasePassword func() (string, error)
	// Configured is the block as it is written. Configurations of one process must have the same.
	Configured string
}

// shared has the engines of a cluster and what is kept in them. One gateway has none.
type shared struct {
	name     string // of the cluster
	engine   *valkey.Client
	node     *cluster.Node
	db       *postgres.DB
	writer   *postgres.Writer
	feed     *postgres.Feed
	desktops *desktops.Desktops
	ledger   *valkeylimits.Ledger
	rates    *valkeylimits.Rates
	log      sharedLog
	signedIn *websession.Shared
	others   *presence

	logger *zap.Logger
	cancel context.CancelFunc // of migrate
	done   sync.WaitGroup
}

const (
	// migrationRetry is the wait before a database that was away is asked again.
	migrationRetry = 5 * time.Second
	// leaveTimeout bounds what a gateway says to the engines before it ends.
	leaveTimeout = 5 * time.Second
)

// Schemas are the tables in PostgreSQL.
var Schemas = []postgres.Schema{
	postgres.WriterSchema, postgres.FeedSchema, postgresactivity.Schema, postgresowners.Schema,
	valkeylimits.PostgresSchema, runtimekeys.PostgresSchema, workstationrecords.Schema, pgsignins.Schema,
}

// Block implements [gateway.Cluster].
func (c *Config) Block() string { return c.Configured }

// Open makes a gateway a node of its cluster. It needs no engine: one that is away is tried again
// and again. It fails if a newer program has used one.
func (c *Config) Open(ctx context.Context, local gateway.Local) (gateway.Shared, gateway.Stores, error) {
	if c.Node == "" {
		var err error
		if c.Node, err = nodeName(local.Dir); err != nil {
			return nil, gateway.Stores{}, fmt.Errorf("the name of this node: %w", err)
		}
	}
	s, stores, err := openShared(ctx, c, local)
	if err != nil {
		return nil, gateway.Stores{}, fmt.Errorf("cluster %s: %w", c.Name, err)
	}
	keptIn(local.Slots).shared.Store(s)
	console.SignedIn(local.Slots, local.Now).Share(s.signedIn)
	return s, stores, nil
}

func openShared(ctx context.Context, config *Config, c gateway.Local) (*shared, gateway.Stores, error) {
	db, err := postgres.OpenWith(config.Database, config.DatabasePassword)
	if err != nil {
		return nil, gateway.Stores{}, err
	}
	engine, kept := config.Engine, keptIn(c.Slots)
	engine.Observe = func(message string, took time.Duration, outcome valkey.Outcome) {
		kept.collectors.Message(message, took, outcome == valkey.Answered || outcome == valkey.Refused)
	}
	s := &shared{name: config.Name, engine: valkey.New(engine), db: db, writer: postgres.NewWriter(db, config.Node), logger: c.Logger}
	s.others = newPresence(c.Dir, seen{db, config.Node}, c.Logger)
	judge := engineJudge{hard: c.Hard, distrust: func(err error) { s.ledger.Distrust(err) }, logger: c.Logger}
	s.node = cluster.New(cluster.Config{
		Name: config.Name, Node: config.Node, Engine: s.engine, Logger: c.Logger, Hash: c.LimitsHash, Judge: judge.judge, Expected: s.others.count,
	})
	s.feed = postgres.NewFeed(postgres.FeedConfig{DB: db, Logger: c.Logger, Publish: func(ctx context.Context) error {
		return s.node.Publish(ctx, eventFeed, "")
	}})
	s.node.On(eventFeed, func(string) { s.feed.Wake() })
	shareNameless(c.Viewers, s.node, config.Node)
	s.writer.Spool(c.Store, c.Keep.Size, c.Logger)
	s.desktops = desktops.New(desktops.Config{
		State: c.Workstations, Node: s.node, Feed: s.feed, Records: workstationrecords.NewRecords(db, s.feed, c.Workstations.Apply),
	})
	s.log = newSharedLog(s.node, config.Node, db, s.writer, c.Keep, c.Logger)
	opened := c.Stores
	s.signedIn = websession.NewShared(s.node, c.Now)
	s.writer.Add(valkeylimits.BookTable(config.Node))
	s.ledger = valkeylimits.NewLedger(valkeylimits.LedgerConfig{
		Node: s.node, Writer: s.writer, DB: db, Logger: c.Logger,
		Crashed: func(crash limits.Crash) { gateway.RecordCrashes(s.log, c.Logger, []limits.Crash{crash}) },
	})
	s.rates = valkeylimits.NewRates(valkeylimits.RatesConfig{Node: s.node, Local: c.Stores.Rates, Limiter: c.Limiter, Logger: c.Logger})
	opened.Log, opened.Ledger, opened.Rates = s.log, s.ledger, s.rates
	opened.Owners = owners.New(postgresowners.New(postgresowners.Config{
		DB: db, Writer: s.writer, Engine: s.engine, Key: s.node.Key, Now: c.Now, Logger: c.Logger,
	}), c.Now)
	if err := s.start(ctx, c); err != nil {
		return nil, gateway.Stores{}, errors.Join(err, s.Close())
	}
	return s, opened, nil
}

// eventFeed says that the feed has a new number.
const eventFeed = "feed"

func (s *shared) start(ctx context.Context, c gateway.Local) error {
	err := s.db.Migrate(ctx, Schemas...)
	if err != nil && !errors.Is(err, postgres.ErrUnavailable) {
		return err
	}
	background, cancel := context.WithCancel(context.Background())
	s.cancel = cancel
	if err != nil {
		s.logger.Error("PostgreSQL is away: what needs it is not available", zap.Error(err))
		s.done.Go(func() { s.migrate(background) })
	}
	s.others.ask(ctx, time.Now())
	s.done.Go(func() { s.others.follow(background) })
	keys := makekeys.KeptIn(c.Slots, c.Now)
	made := runtimekeys.NewPostgresTable(runtimekeys.PostgresConfig{
		DB: s.db, Feed: s.feed, Store: c.Store, Now: c.Now, Logger: c.Logger, Changed: keys.Changed,
	})
	signedIn := pgsignins.New(pgsignins.Config{DB: s.db, Feed: s.feed, Now: c.Now, Logger: c.Logger})
	if err := errors.Join(keys.Keys.Open(ctx, made), programs.KeptIn(c.Slots, c.Now).Open(ctx, signedIn), s.writer.Start(ctx), s.node.Start(ctx)); err != nil {
		return err
	}
	if err := s.checkEngine(ctx, c.Hard); err != nil {
		return err
	}
	s.log.Start()
	s.feed.Start(background)
	s.desktops.Start()
	return nil
}

// checkEngine refuses an engine that would lose what was spent. One that is away is judged when it
// is back.
func (s *shared) checkEngine(ctx context.Context, hard bool) error {
	ctx, cancel := context.WithTimeout(ctx, leaveTimeout)
	defer cancel()
	server, err := s.engine.Inspect(ctx, s.node.Key(""))
	if errors.Is(err, valkey.ErrUnavailable) {
		s.logger.Error("Valkey is away: this gateway has its part of the limits, and nothing is spent under a hard budget",
			zap.Int("gateways", s.node.Count()), zap.Error(err))
		return nil
	}
	if err != nil {
		return err
	}
	return refused(server.Check(hard))
}

// migrate tries again until the database answers.
func (s *shared) migrate(ctx context.Context) {
	retry := time.NewTicker(migrationRetry)
	defer retry.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-retry.C:
		}
		switch err := s.db.Migrate(ctx, Schemas...); {
		case err == nil:
			s.logger.Info("PostgreSQL is there, and its tables are up to date")
			if err := postgresactivity.Maintain(ctx, s.log.Log); err != nil {
				s.logger.Warn("keeping the activity within its bounds", zap.Error(err))
			}
			return
		case !errors.Is(err, postgres.ErrUnavailable):
			s.logger.Error("the tables in PostgreSQL cannot be used", zap.Error(err))
		}
	}
}

// Close writes what waits and gives back what the node holds.
func (s *shared) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), leaveTimeout)
	defer cancel()
	if s.cancel != nil {
		s.cancel()
	}
	s.desktops.Close()
	s.log.Close()
	err := errors.Join(s.rates.Close(ctx), s.ledger.Close(ctx))
	s.feed.Stop()
	s.node.Stop() // may append rows
	err = errors.Join(err, s.writer.Close(ctx))
	s.done.Wait()
	s.others.leave(ctx)
	s.engine.Close()
	s.db.Close()
	return err
}
