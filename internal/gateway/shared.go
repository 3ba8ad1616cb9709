package gateway

import (
	"context"
	"errors"
	"time"

	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
	"github.com/gatehouse-proxy/gatehouse/internal/connlimit"
	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
	"github.com/gatehouse-proxy/gatehouse/internal/limits"
	"github.com/gatehouse-proxy/gatehouse/internal/owners"
	"github.com/gatehouse-proxy/gatehouse/internal/store"
)

// Stores keep what a gateway knows. They are the same for all configurations of a process.
type Stores struct {
	Log    activity.Log
	Owners *owners.Owners
	Rates  limits.Rates
	Ledger limits.Ledger
}

// Cluster is what several gateways share. The first configuration of a process opens it.
type Cluster interface {
	// Block is how it is configured. Configurations of one process must have the same.
	Block() string
	// Open returns the stores that are shared. It needs no engine: one that is away is tried again.
	Open(ctx context.Context, local Local) (Shared, Stores, error)
}

// Shared is a cluster that is open.
type Shared interface {
	// Names returns the name of the cluster, and that of this gateway.
	Names() (cluster, node string)
	// HasPeers reports whether other gateways are alive.
	HasPeers() bool
	// CatchUp reads what others have changed, if it can.
	CatchUp(ctx context.Context)
	// RowsSize returns the size of the rows of the activity, in bytes.
	RowsSize(ctx context.Context) (int64, error)
	// Retain changes how long rows of the activity are kept.
	Retain(keep activity.Retention)
	// Close writes what waits and gives back what the gateway holds.
	Close() error
}

// Local is what a gateway has by itself.
type Local struct {
	Workstations *desktop.State
	Limiter      *limits.ConcurrencyLimiter
	Viewers      *connlimit.Limiter
	LimitsHash   func() string // of the current configuration
	Slots        *Slots

	// Set when the stores are opened.
	Dir    string       // of the data
	Store  *store.Store // rows wait in it while a database is away
	Keep   activity.Retention
	Hard   bool // a budget must not be exceeded
	Stores Stores
	Logger *zap.Logger
	Now    func() time.Time
}

// errOtherCluster refuses a reload: what a cluster shares is opened once a process.
var errOtherCluster = errors.New("the cluster block has changed, which a reload cannot do: restart the gateway")

// sameCluster reports whether two configurations share the same.
func sameCluster(a, b Cluster) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Block() == b.Block()
}
