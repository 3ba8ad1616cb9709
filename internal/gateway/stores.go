package gateway

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
	"github.com/gatehouse-proxy/gatehouse/internal/limits"
	"github.com/gatehouse-proxy/gatehouse/internal/limits/sqlite"
	"github.com/gatehouse-proxy/gatehouse/internal/owners"
	sqliteowners "github.com/gatehouse-proxy/gatehouse/internal/owners/sqlite"
	"github.com/gatehouse-proxy/gatehouse/internal/postgres"
	"github.com/gatehouse-proxy/gatehouse/internal/runtimekeys"
	"github.com/gatehouse-proxy/gatehouse/internal/store"
	"github.com/gatehouse-proxy/gatehouse/internal/websession"
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

	clustered      atomic.Pointer[shared]            // the same as shared, for scrapes
	signedInShared atomic.Pointer[websession.Shared] // the same as in tables, for scrapes

	sharing sharing // what gateways of a cluster share; of one, only its keys and those who are signed in

	mu      sync.Mutex   // guards the following
	store   *store.Store // nil before open
	pruner  *activity.Pruner
	cluster *Cluster // of the configuration that opened the database; nil: this gateway is the only one
	shared  *shared  // of cluster
	tables  tables
}

// tables keep their rows in the database. They are the same for all generations.
type tables struct {
	log    activity.Log
	own    *owners.Owners
	rates  limits.Rates
	ledger limits.Ledger
	// signedIn are those who are signed in to the console, nil without a cluster: one gateway keeps them
	// in memory.
	signedIn *websession.Shared
}

// localSchemas are the tables in the database of a data directory.
var localSchemas = []store.Schema{activity.Schema, sqliteowners.Schema, sqlite.LedgerSchema, sqlite.RateSchema, runtimekeys.Schema, postgres.SpoolSchema, runtimekeys.SnapshotSchema}

// OpenStopped opens the database of a gateway that does not run, to read it.
func OpenStopped(dir string, logger *zap.Logger) (*store.Store, error) {
	return store.Open(dir, store.Options{Schemas: localSchemas, Logger: logger})
}

// open opens the database unless it is open, and what gen's cluster shares. Retain changes later how
// long rows are kept.
func (s *stores) open(ctx context.Context, gen *generation, now func() time.Time) (tables, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.store != nil {
		return s.tables, nil
	}
	logger, pruner := gen.logger, activity.NewPruner(now, gen.keep, gen.logger)
	opened, err := store.Open(s.dir, store.Options{
		Schemas:   localSchemas,
		Prune:     []store.PruneFunc{pruner.Prune, sqliteowners.Prune(now), sqlite.PruneLedger(now), sqlite.PruneRates(now)},
		Logger:    logger,
		Committed: s.committed,
		Failed:    s.failed,
	})
	if err != nil {
		return tables{}, err
	}
	rates, err := sqlite.NewRates(ctx, opened, now)
	if err != nil {
		return tables{}, errors.Join(fmt.Errorf("rates: %w", opened.Explain(err)), opened.Close())
	}
	ledger, crashed, err := sqlite.OpenLedger(ctx, opened)
	if err != nil {
		return tables{}, errors.Join(fmt.Errorf("ledger: %w", opened.Explain(err)), opened.Close())
	}
	s.tables = tables{log: activity.New(opened), own: owners.New(sqliteowners.New(opened), now), rates: rates, ledger: ledger}
	if gen.cluster != nil {
		if gen.cluster.Node == "" {
			if gen.cluster.Node, err = nodeName(s.dir); err != nil {
				return tables{}, errors.Join(fmt.Errorf("the name of this node: %w", err), opened.Close())
			}
		}
		share := s.sharing
		share.cluster, share.dir, share.store, share.keep, share.local, share.localRates = gen.cluster, s.dir, opened, gen.keep, s.tables, rates
		share.hard, share.logger, share.now = gen.hard, logger, now
		if s.shared, s.tables, err = openShared(ctx, share); err != nil {
			return tables{}, errors.Join(fmt.Errorf("cluster %s: %w", gen.cluster.Name, err), opened.Close())
		}
	}
	if s.shared == nil {
		if err := s.sharing.keys.Open(ctx, runtimekeys.NewTable(opened)); err != nil {
			return tables{}, errors.Join(opened.Explain(err), opened.Close())
		}
	}
	s.store, s.pruner, s.cluster = opened, pruner, gen.cluster
	s.opened.Store(opened)
	s.clustered.Store(s.shared)
	s.signedInShared.Store(s.tables.signedIn)
	recordCrashes(s.tables.log, logger, crashed)
	return s.tables, nil
}

// retain changes how long the open database keeps activity rows.
func (s *stores) retain(keep activity.Retention) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pruner.Set(keep)
	if s.shared != nil {
		s.shared.log.Retain(keep)
	}
}

// signedIn returns those who are signed in to the console.
func (s *stores) signedIn() websession.Store {
	if shared := s.signedInShared.Load(); shared != nil {
		return shared
	}
	return s.sharing.signedIn
}

// hasPeers reports whether other gateways of a cluster are alive.
func (s *stores) hasPeers() bool {
	shared := s.clustered.Load()
	return shared != nil && shared.node.Count() > 1
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
	if s.shared != nil {
		if err := s.shared.close(); err != nil {
			return errors.Join(err, s.store.Close())
		}
	}
	if err := s.store.Close(); !errors.Is(err, store.ErrClosed) {
		return err
	}
	return nil
}
