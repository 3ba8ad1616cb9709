package postgres

import (
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
)

// Columns are the values of a record's row in PostgreSQL: tenant, created_at, seq, request_h,
// upstream_h, data.
func Columns(r *activity.Record) []any {
	var row queuedRow
	if err := row.read(appendRow(nil, r)); err != nil {
		panic(err)
	}
	return []any{row.tenant, row.created, row.seq, row.request, row.upstream, row.data}
}

// PassTime makes the monotonic clock of retention go on.
func (l *Log) PassTime(d time.Duration) {
	l.partitions.guard.Began = l.partitions.guard.Began.Add(-d)
}
