package activity

import "time"

// SetMaxDays lets a test reach the bound of Daily with few rows.
func (l *SQLiteLog) SetMaxDays(n int) { l.maxDays = n }

// SetMaxNamedRows lets a test reach the bound of the records that Daily reads.
func (l *SQLiteLog) SetMaxNamedRows(n int) { l.maxRows = n }

// Columns are the values of a record's row in PostgreSQL: tenant, created_at, seq, request_h,
// upstream_h, data.
func Columns(r *Record) []any {
	var row postgresRow
	if err := row.read(appendRow(nil, r)); err != nil {
		panic(err)
	}
	return []any{row.tenant, row.created, row.seq, row.request, row.upstream, row.data}
}

// Patient makes queries wait as long as they may for rows that are on their way: this machine may have
// no time for them.
func (l *PostgresLog) Patient() { l.flush = queryTimeout }

// Patient is that of PostgresLog.
func (l *SQLiteLog) Patient() { l.flush = queryTimeout }

// PassTime makes the monotonic clock of retention go on.
func (l *PostgresLog) PassTime(d time.Duration) {
	l.partitions.guard.began = l.partitions.guard.began.Add(-d)
}

// SetMaxSeriesRows lets a test reach the bounds of series that read records with few rows.
func (l *SQLiteLog) SetMaxSeriesRows(n int) { l.maxSeries = seriesRows{n, n} }

// SetMaxSeriesRows is that of SQLiteLog.
func (l *PostgresLog) SetMaxSeriesRows(n int) { l.maxSeries = seriesRows{n, n} }
