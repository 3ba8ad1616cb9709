package gateway

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
	sqliteactivity "github.com/gatehouse-proxy/gatehouse/internal/activity/sqlite"
	"github.com/gatehouse-proxy/gatehouse/internal/limits/sqlite"
	"github.com/gatehouse-proxy/gatehouse/internal/owners"
	sqliteowners "github.com/gatehouse-proxy/gatehouse/internal/owners/sqlite"
	"github.com/gatehouse-proxy/gatehouse/internal/store"
)

// stores is the database of a data directory. The first generation opens it, and later ones use the
// same: it is closed after the last.
type stores struct {
	dir       string
	committed func(time.Duration)         // called after each group commit
	failed    func(error)                 // called after each write that failed
	closed    chan struct{}               // closed by close
	once      sync.Once                   // for closed
	opened    atomic.Pointer[store.Store] // the same as store, for scrapes: mu is held while the database is opened or closed

	local Local // what the gateway has by itself; for a cluster

	mu      sync.Mutex   // guards the following
	store   *store.Store // nil before open
	pruner  *sqliteactivity.Pruner
	cluster Cluster                // of the configuration that opened the database; nil: this gateway is the only one
	shared  atomic.Pointer[Shared] // nil without a cluster; scrapes read it without mu
	tables  Stores
}

// localSchemas are the tables in the database of a data directory.
var localSchemas = []store.Schema{sqliteactivity.Schema, sqliteowners.Schema, sqlite.LedgerSchema, sqlite.RateSchema}

// OpenStopped opens the database of a gateway that does not run, to read it. Also are the tables of
// features that are read.
func OpenStopped(dir string, logger *zap.Logger, also ...store.Schema) (*store.Store, error) {
	return store.Open(dir, store.Options{Schemas: append(slices.Clip(localSchemas), also...), Logger: logger})
}

// opening is what the stores are opened for.
type opening struct {
	cluster  Cluster // nil: this gateway is the only one
	features []Feature
	hard     bool // a budget is hard, or one made at run time may be
	keep     activity.Retention
	logger   *zap.Logger
}

// open opens the database unless it is open, and what the cluster shares. Retain changes later how
// long rows are kept.
func (s *stores) open(ctx context.Context, o opening, now func() time.Time) (Stores, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.store != nil {
		return s.tables, nil
	}
	logger, pruner := o.logger, sqliteactivity.NewPruner(now, o.keep, o.logger)
	schemas := slices.Clip(localSchemas)
	for _, f := range o.features {
		schemas = append(schemas, f.Schemas...)
	}
	opened, err := store.Open(s.dir, store.Options{
		Schemas:   schemas,
		Prune:     []store.PruneFunc{pruner.Prune, sqliteowners.Prune(now), sqlite.PruneLedger(now), sqlite.PruneRates(now)},
		Logger:    logger,
		Committed: s.committed,
		Failed:    s.failed,
	})
	if err != nil {
		return Stores{}, err
	}
	rates, err := sqlite.NewRates(ctx, opened, now)
	if err != nil {
		return Stores{}, errors.Join(fmt.Errorf("rates: %w", opened.Explain(err)), opened.Close())
	}
	ledger, crashed, err := sqlite.OpenLedger(ctx, opened)
	if err != nil {
		return Stores{}, errors.Join(fmt.Errorf("ledger: %w", opened.Explain(err)), opened.Close())
	}
	s.tables = Stores{Log: sqliteactivity.New(opened), Owners: owners.New(sqliteowners.New(opened), now), Rates: rates, Ledger: ledger}
	if o.cluster != nil {
		local := s.local
		local.Dir, local.Store, local.Keep, local.Hard, local.Stores = s.dir, opened, o.keep, o.hard, s.tables
		local.Logger, local.Now = logger, now
		var shared Shared
		if shared, s.tables, err = o.cluster.Open(ctx, local); err != nil {
			return Stores{}, errors.Join(err, opened.Close())
		}
		s.shared.Store(&shared)
	}
	for _, f := range o.features {
		if f.Open == nil {
			continue
		}
		if err := f.Open(ctx, opened); err != nil {
			return Stores{}, errors.Join(opened.Explain(err), opened.Close())
		}
	}
	s.store, s.pruner, s.cluster = opened, pruner, o.cluster
	s.opened.Store(opened)
	RecordCrashes(s.tables.Log, logger, crashed)
	return s.tables, nil
}

// retain changes how long the open database keeps activity rows.
func (s *stores) retain(keep activity.Retention) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pruner.Set(keep)
	if shared := s.inCluster(); shared != nil {
		shared.Retain(keep)
	}
}

// inCluster returns the cluster that is open, nil without one.
func (s *stores) inCluster() Shared {
	if shared := s.shared.Load(); shared != nil {
		return *shared
	}
	return nil
}

// catchUp reads what other gateways have changed, if there are any.
func (s *stores) catchUp(ctx context.Context) {
	if shared := s.inCluster(); shared != nil {
		shared.CatchUp(ctx)
	}
}

// hasPeers reports whether other gateways of a cluster are alive.
func (s *stores) hasPeers() bool {
	shared := s.inCluster()
	return shared != nil && shared.HasPeers()
}

// checkCluster returns an error if the database was opened for another cluster, or for none.
func (s *stores) checkCluster(c Cluster) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.store != nil && !sameCluster(s.cluster, c) {
		return errOtherCluster
	}
	return nil
}

// status returns what an operator should know of the database.
func (s *stores) status() store.Status {
	if opened := s.opened.Load(); opened != nil {
		return opened.Status()
	}
	return store.Status{Err: store.ErrClosed}
}

// dropped returns how many rows were lost because the database could not be written in time.
func (s *stores) dropped() uint64 {
	if opened := s.opened.Load(); opened != nil {
		return opened.Dropped()
	}
	return 0
}

// close writes the rows that are queued and closes the database, if it was opened. Closing it again
// is no error.
func (s *stores) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.once.Do(func() { close(s.closed) })
	if s.store == nil {
		return nil
	}
	if shared := s.inCluster(); shared != nil {
		if err := shared.Close(); err != nil {
			return errors.Join(err, s.store.Close())
		}
	}
	if err := s.store.Close(); !errors.Is(err, store.ErrClosed) {
		return err
	}
	return nil
}
