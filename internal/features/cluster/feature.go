package cluster

import (
	"context"
	"strings"
	"sync/atomic"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
	postgresactivity "github.com/gatehouse-proxy/gatehouse/internal/activity/postgres"
	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/gateway"
	"github.com/gatehouse-proxy/gatehouse/internal/metrics"
	"github.com/gatehouse-proxy/gatehouse/internal/policy"
	"github.com/gatehouse-proxy/gatehouse/internal/postgres"
	"github.com/gatehouse-proxy/gatehouse/internal/report"
	"github.com/gatehouse-proxy/gatehouse/internal/store"
)

// kept outlives a configuration.
type kept struct {
	shared     atomic.Pointer[shared] // nil without a cluster
	collectors *metrics.ClusterCollectors
}

func keptIn(s *gateway.Slots) *kept {
	return gateway.Kept(s, func() *kept {
		k := new(kept)
		k.collectors = metrics.NewClusterCollectors(k.values)
		return k
	})
}

// Cluster is what a gateway says of its cluster.
type Cluster struct{ kept *kept }

// Feature shows the cluster that the process has opened, if it has one; see [Config.Open].
func Feature(c gateway.Core) gateway.Feature {
	k := keptIn(c.Slots)
	return gateway.Feature{
		Offers:  Cluster{k},
		Schemas: []store.Schema{postgres.SpoolSchema},
		Apply: func() {
			if s := k.shared.Load(); s != nil {
				s.desktops.KeepOpen(c.Requests.Limits.OnStoreFailure == policy.FailOpen)
			}
		},
		Status: func() []report.PartStatus {
			if s := k.shared.Load(); s != nil {
				return clusterParts(s.status())
			}
			return nil
		},
		Gauges: k.collectors.All(),
	}
}

// Cluster returns the state of the cluster. It asks nobody: the state is that of the last beat.
func (c Cluster) Cluster() (report.ClusterStatus, error) {
	s := c.kept.shared.Load()
	if s == nil {
		return report.ClusterStatus{}, apierror.New(apierror.NotFound, "this gateway is the only one: its configuration has no cluster block")
	}
	return s.status(), nil
}

// Names implements [gateway.Shared].
func (s *shared) Names() (cluster, node string) {
	node = s.node.Status().ID
	if i := strings.LastIndexByte(node, '.'); i > 0 { // the rest is the incarnation
		node = node[:i]
	}
	return s.name, node
}

// HasPeers implements [gateway.Shared].
func (s *shared) HasPeers() bool { return s.node.Count() > 1 }

// CatchUp implements [gateway.Shared]. The feed says in the log that it cannot be read.
func (s *shared) CatchUp(ctx context.Context) { _ = s.feed.CatchUp(ctx) }

// RowsSize implements [gateway.Shared].
func (s *shared) RowsSize(ctx context.Context) (int64, error) {
	return postgresactivity.Size(ctx, s.log.Log)
}

// Retain implements [gateway.Shared].
func (s *shared) Retain(keep activity.Retention) { s.log.Retain(keep) }
