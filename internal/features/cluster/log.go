package cluster

import (
	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
	postgresactivity "github.com/gatehouse-proxy/gatehouse/internal/activity/postgres"
	"github.com/gatehouse-proxy/gatehouse/internal/cluster"
	"github.com/gatehouse-proxy/gatehouse/internal/postgres"
)

// sharedLog keeps the records of all gateways of a cluster, and lets each see those of the others.
type sharedLog struct {
	*postgresactivity.Log
	sync *postgres.Sync
}

// newSharedLog adds the log's table to the writer and its event to the node, which have not
// started. Name is that of this gateway.
func newSharedLog(node *cluster.Node, name string, db *postgres.DB, w *postgres.Writer, keep activity.Retention, logger *zap.Logger) sharedLog {
	others := flushes{node}
	sync := postgres.NewSync(w, others, logger)
	others.on(sync.Answer)
	log := postgresactivity.New(postgresactivity.Config{DB: db, Writer: w, Node: name, Keep: keep, Sync: sync.Wait, Logger: logger})
	return sharedLog{log, sync}
}

// Close ends the work behind the log. The writer is closed after it.
func (l sharedLog) Close() {
	l.Log.Close()
	l.sync.Close()
}
