package gateway

import (
	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
	"github.com/gatehouse-proxy/gatehouse/internal/cluster"
	"github.com/gatehouse-proxy/gatehouse/internal/postgres"
)

// clusterLog keeps the records of all gateways of a cluster, and lets each see those of the others.
type clusterLog struct {
	*activity.PostgresLog
	sync *postgres.Sync
}

// newClusterLog adds the log's table to the writer and its event to the node, which have not started.
// Name is that of this gateway.
func newClusterLog(node *cluster.Node, name string, db *postgres.DB, w *postgres.Writer, keep activity.Retention, logger *zap.Logger) clusterLog {
	others := flushes{node}
	sync := postgres.NewSync(w, others, logger)
	others.on(sync.Answer)
	log := activity.NewPostgresLog(activity.PostgresConfig{DB: db, Writer: w, Node: name, Keep: keep, Sync: sync.Wait, Logger: logger})
	return clusterLog{log, sync}
}

// Close ends the work behind the log. The writer is closed after it.
func (l clusterLog) Close() {
	l.PostgresLog.Close()
	l.sync.Close()
}
