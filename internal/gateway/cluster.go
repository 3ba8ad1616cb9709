package gateway

import (
	"context"
	"errors"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
	"github.com/gatehouse-proxy/gatehouse/internal/cluster"
	"github.com/gatehouse-proxy/gatehouse/internal/connlimit"
	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
	workstationrecords "github.com/gatehouse-proxy/gatehouse/internal/desktop/postgres"
	desktops "github.com/gatehouse-proxy/gatehouse/internal/desktop/valkey"
	"github.com/gatehouse-proxy/gatehouse/internal/limits"
	valkeylimits "github.com/gatehouse-proxy/gatehouse/internal/limits/valkey"
	"github.com/gatehouse-proxy/gatehouse/internal/owners"
	postgresowners "github.com/gatehouse-proxy/gatehouse/internal/owners/postgres"
	"github.com/gatehouse-proxy/gatehouse/internal/postgres"
	"github.com/gatehouse-proxy/gatehouse/internal/runtimekeys"
	"github.com/gatehouse-proxy/gatehouse/internal/store"
	"github.com/gatehouse-proxy/gatehouse/internal/valkey"
	"github.com/gatehouse-proxy/gatehouse/internal/websession"
)

// Cluster is what this gateway shares with others. It is read when the first configuration of a
// process opens the stores.
type Cluster struct {
	Name     string
	Node     string // of this gateway; "": a random name, which is kept in the data directory
	Engine   valkey.Config
	Database string // the address of PostgreSQL
	// DatabasePassword is asked at each connection, instead of that of the address: a secret file may
	// change. It may be nil.
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
	log      clusterLog
	others   *presence

	logger *zap.Logger
	cancel context.CancelFunc // of migrate
	done   sync.WaitGroup
}

// sharing is what a gateway shares, or keeps to itself without a cluster.
type sharing struct {
	signedIn     *websession.Memory // to the console
	workstations *desktop.State
	limiter      *limits.ConcurrencyLimiter
	viewers      *connlimit.Limiter
	keys         *runtimekeys.Keys
	keyChanged   func(before, after *runtimekeys.Key) // on any gateway
	limitsHash   func() string                        // of the current configuration

	// Set when the stores are opened.
	cluster    *Cluster
	dir        string       // of the data
	store      *store.Store // rows wait in it while PostgreSQL is away
	keep       activity.Retention
	hard       bool // a budget must not be exceeded
	localRates limits.Rates
	local      tables
	logger     *zap.Logger
	now        func() time.Time
}

const (
	// migrationRetry is the wait before a database that was away is asked again.
	migrationRetry = 5 * time.Second
	// leaveTimeout bounds what a gateway says to the engines before it ends.
	leaveTimeout = 5 * time.Second
)

// ClusterSchemas are the tables in PostgreSQL.
var ClusterSchemas = []postgres.Schema{postgres.WriterSchema, postgres.FeedSchema, activity.PostgresSchema, postgresowners.Schema, valkeylimits.PostgresSchema, runtimekeys.PostgresSchema, workstationrecords.Schema}

// openShared makes a gateway a node of its cluster. It needs no engine: one that is away is tried
// again and again. It fails if a newer program has used one.
func openShared(ctx context.Context, c sharing) (*shared, tables, error) {
	db, err := postgres.OpenWith(c.cluster.Database, c.cluster.DatabasePassword)
	if err != nil {
		return nil, tables{}, err
	}
	s := &shared{name: c.cluster.Name, engine: valkey.New(c.cluster.Engine), db: db, writer: postgres.NewWriter(db, c.cluster.Node), logger: c.logger}
	s.others = newPresence(c.dir, seen{db, c.cluster.Node}, c.logger)
	judge := engineJudge{hard: c.hard, distrust: func(err error) { s.ledger.Distrust(err) }, logger: c.logger}
	s.node = cluster.New(cluster.Config{
		Name: c.cluster.Name, Node: c.cluster.Node, Engine: s.engine, Logger: c.logger, Hash: c.limitsHash, Judge: judge.judge, Expected: s.others.count,
	})
	s.feed = postgres.NewFeed(postgres.FeedConfig{DB: db, Logger: c.logger, Publish: func(ctx context.Context) error {
		return s.node.Publish(ctx, eventFeed, "")
	}})
	s.node.On(eventFeed, func(string) { s.feed.Wake() })
	shareNameless(c.viewers, s.node, c.cluster.Node)
	s.writer.Spool(c.store, c.keep.Size, c.logger)
	s.desktops = desktops.New(desktops.Config{
		State: c.workstations, Node: s.node, Feed: s.feed, Records: workstationrecords.NewRecords(db, s.feed, c.workstations.Apply),
	})
	s.log = newClusterLog(s.node, c.cluster.Node, db, s.writer, c.keep, c.logger)
	opened := c.local
	opened.signedIn = websession.NewShared(s.node, c.now)
	s.writer.Add(valkeylimits.BookTable(c.cluster.Node))
	s.ledger = valkeylimits.NewLedger(valkeylimits.LedgerConfig{
		Node: s.node, Writer: s.writer, DB: db, Logger: c.logger,
		Crashed: func(crash limits.Crash) { recordCrashes(s.log, c.logger, []limits.Crash{crash}) },
	})
	s.rates = valkeylimits.NewRates(valkeylimits.RatesConfig{Node: s.node, Local: c.localRates, Limiter: c.limiter, Logger: c.logger})
	opened.log, opened.ledger, opened.rates = s.log, s.ledger, s.rates
	opened.own = owners.New(postgresowners.New(postgresowners.Config{
		DB: db, Writer: s.writer, Engine: s.engine, Key: s.node.Key, Now: c.now, Logger: c.logger,
	}), c.now)
	if err := s.start(ctx, c); err != nil {
		return nil, tables{}, errors.Join(err, s.close())
	}
	return s, opened, nil
}

// eventFeed says that the feed has a new number.
const eventFeed = "feed"

func (s *shared) start(ctx context.Context, c sharing) error {
	err := s.db.Migrate(ctx, ClusterSchemas...)
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
	made := runtimekeys.NewPostgresTable(runtimekeys.PostgresConfig{
		DB: s.db, Feed: s.feed, Store: c.store, Now: c.now, Logger: c.logger, Changed: c.keyChanged,
	})
	if err := errors.Join(c.keys.Open(ctx, made), s.writer.Start(ctx), s.node.Start(ctx)); err != nil {
		return err
	}
	if err := s.checkEngine(ctx, c.hard); err != nil {
		return err
	}
	s.log.Start()
	s.feed.Start(background)
	s.desktops.Start()
	return nil
}

// checkEngine refuses an engine that would lose what was spent. One that is away is judged when it is
// back.
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
		switch err := s.db.Migrate(ctx, ClusterSchemas...); {
		case err == nil:
			s.logger.Info("PostgreSQL is there, and its tables are up to date")
			if err := s.log.Maintain(ctx); err != nil {
				s.logger.Warn("keeping the activity within its bounds", zap.Error(err))
			}
			return
		case !errors.Is(err, postgres.ErrUnavailable):
			s.logger.Error("the tables in PostgreSQL cannot be used", zap.Error(err))
		}
	}
}

// close writes what waits and gives back what the node holds.
func (s *shared) close() error {
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
