package activity

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/internal/postgres"
)

// syncTimeout is how long a query waits for rows that are on their way on other nodes. It then answers
// with what there is. While the database is away it does not wait.
const syncTimeout = 300 * time.Millisecond

// writeDelay is more than a row can have waited when its first write fails.
const writeDelay = 6 * time.Second

// PostgresConfig is what a PostgresLog needs.
type PostgresConfig struct {
	DB     *postgres.DB // with PostgresSchema
	Writer *postgres.Writer
	Node   string // the name of this gateway, of no other
	// Keep is how long rows are kept, as [Pruner] does, but by whole UTC days: a row is deleted up to a
	// day later. Size is the size of the partitions with their indexes, all gateways' together; today's is
	// kept whatever its size. The shortest of all gateways counts.
	Keep Retention
	// Sync waits until other gateways have written what they had appended; nil: there are none.
	Sync   func(ctx context.Context)
	Now    func() time.Time // the clock of retention, for a test; nil: the server's
	Logger *zap.Logger      // nil: none
}

// PostgresLog keeps the records of all gateways of a cluster.
type PostgresLog struct {
	sumReader

	db         *postgres.DB
	writer     *postgres.Writer
	node       string
	sync       func(ctx context.Context)
	partitions partitions
	flush      time.Duration // flushTimeout

	mu   sync.Mutex // guards the following
	keep Retention

	stop    context.CancelFunc // nil before Start
	stopped chan struct{}
}

// NewPostgresLog returns a log, and adds its table to the writer, which has not started.
func NewPostgresLog(c PostgresConfig) *PostgresLog {
	if c.Logger == nil {
		c.Logger = zap.NewNop()
	}
	if c.Sync == nil {
		c.Sync = func(context.Context) {}
	}
	l := &PostgresLog{
		db: c.DB, writer: c.Writer, node: c.Node, sync: c.Sync, keep: c.Keep,
		partitions: partitions{c.DB, c.Now, c.Logger, newClockGuard(c.Logger)}, flush: flushTimeout, stopped: make(chan struct{}),
	}
	l.sumReader = newSumReader(l)
	c.Writer.Add(postgres.Table{Name: rowsTable, Write: l.write})
	return l
}

// Start begins to make and drop partitions, until Close.
func (l *PostgresLog) Start() {
	ctx, cancel := context.WithCancel(context.Background())
	l.stop = cancel
	go func() {
		defer close(l.stopped)
		tick := time.NewTicker(maintainInterval)
		defer tick.Stop()
		for {
			if err := l.Maintain(ctx); err != nil && ctx.Err() == nil {
				l.partitions.logger.Warn("keeping the activity within its bounds", zap.Error(err))
			}
			select {
			case <-tick.C:
			case <-ctx.Done():
				return
			}
		}
	}()
}

// Maintain makes the partitions of the next days and of all that are kept, drops those that are too
// old or too large, and deletes old sums. It does nothing if another node did so less than nine minutes
// ago. Start calls it every ten.
func (l *PostgresLog) Maintain(ctx context.Context) error {
	l.mu.Lock()
	keep := l.keep
	l.mu.Unlock()
	return l.partitions.maintain(ctx, keep)
}

// Close ends what Start began. It does not flush.
func (l *PostgresLog) Close() {
	if l.stop != nil {
		l.stop()
		<-l.stopped
	}
}

// Retain changes how long rows are kept, after a reload.
func (l *PostgresLog) Retain(keep Retention) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.keep = keep
}

// Append implements Log. It takes about a microsecond. The writer counts a record that is dropped.
func (l *PostgresLog) Append(r *Record) {
	r.bound()
	l.writer.Append(rowsTable, appendRow(make([]byte, 0, minGroup), r))
}

// begin begins a query: calls that ended before, on any gateway, become visible, unless that takes too
// long. The caller must call cancel.
func (l *PostgresLog) begin(ctx context.Context) (_ context.Context, cancel func()) {
	ctx, cancel = context.WithTimeout(ctx, queryTimeout)
	var others sync.WaitGroup
	others.Go(func() {
		ctx, cancel := context.WithTimeout(ctx, syncTimeout)
		defer cancel()
		l.sync(ctx)
	})
	own, done := context.WithTimeout(ctx, l.flush)
	defer done()
	_ = l.writer.Flush(own) // the query itself says that the database is away
	others.Wait()
	return ctx, cancel
}

// BlockedSince implements Log, for the calls of this node.
func (l *PostgresLog) BlockedSince() time.Time {
	if s := l.writer.Status(); s.Err != nil && s.Waiting > 0 {
		return s.Since.Add(-writeDelay)
	}
	return time.Time{}
}

// explain returns the error of a query.
func explain(err error) error {
	var param *ParamError
	if err == nil || errors.As(err, &param) || errors.Is(err, ErrBadCursor) || errors.Is(err, ErrTooManyDays) {
		return err
	}
	return fmt.Errorf("reading the activity: %w", postgres.Explain(err))
}

// walk implements the log of a sumReader.
func (l *PostgresLog) walk(ctx context.Context, f Filter, visit func(seq int64, r *Record) bool) error {
	if err := f.check(); err != nil {
		return err
	}
	ctx, cancel := l.begin(ctx)
	defer cancel()
	w := walker{from: l.db.Pool(), batch: firstBatch}
	if f.Limit > 0 {
		w.batch = f.Limit + 1
	}
	return explain(w.walk(ctx, &f, visit))
}

// Query implements Log.
func (l *PostgresLog) Query(ctx context.Context, f Filter) (Page, error) { return page(ctx, l.walk, f) }

// Find implements Log.
func (l *PostgresLog) Find(ctx context.Context, tenant, id string) (found Record, ok bool, err error) {
	return l.find(ctx, "tenant = $4 AND", id, []byte(tenant))
}

// FindAny implements Log.
func (l *PostgresLog) FindAny(ctx context.Context, id string) (found Record, ok bool, err error) {
	return l.find(ctx, "", id)
}

// byHash returns the newest rows whose IDs have a hash, newest first. The number of rows with a
// provider's ID is bounded: a provider may give one ID to all of its answers.
const byHash = `SELECT tenant, created_at, data FROM (
	(SELECT tenant, created_at, seq, data FROM activity WHERE %[1]s seq = $1 ORDER BY created_at DESC LIMIT $2) UNION ALL
	(SELECT tenant, created_at, seq, data FROM activity WHERE %[1]s request_h = $1 ORDER BY created_at DESC LIMIT $2) UNION ALL
	(SELECT tenant, created_at, seq, data FROM activity WHERE %[1]s upstream_h = $1 ORDER BY created_at DESC LIMIT $3)
	) AS found ORDER BY created_at DESC, seq DESC`

func (l *PostgresLog) find(ctx context.Context, cond, id string, args ...any) (found Record, ok bool, err error) {
	if id == "" || len(id) > maxText {
		return Record{}, false, nil
	}
	ctx, cancel := l.begin(ctx)
	defer cancel()
	args = append([]any{hashOf(id), maxCandidates, maxCandidates}, args...)
	rows, err := l.db.Pool().Query(ctx, fmt.Sprintf(byHash, cond), args...)
	if err != nil {
		return Record{}, false, explain(err)
	}
	defer rows.Close()
	for !ok && rows.Next() {
		var r Record
		var tenant, data []byte
		var created int64
		if err := rows.Scan(&tenant, &created, &data); err != nil {
			return Record{}, false, explain(err)
		}
		if err := r.decode(data); err != nil {
			return Record{}, false, explain(err)
		}
		r.Tenant, r.CreatedAt = string(tenant), time.Unix(0, created).UTC()
		if ok = r.ID == id || r.RequestID == id || r.UpstreamID == id; ok {
			found = r
		}
	}
	rows.Close()
	return found, ok, explain(rows.Err())
}

// Rebuild implements Log, day after day from the newest on. Days of which rows were deleted stay as
// they are. Answers are complete all the time.
func (l *PostgresLog) Rebuild(ctx context.Context) (rows int, err error) {
	_ = l.writer.Flush(ctx)
	var first, until int64
	if err := l.db.Pool().QueryRow(ctx, "SELECT greatest(first, incomplete + 1), until FROM activity_partitions").Scan(&first, &until); err != nil {
		return 0, explain(err)
	}
	for day := until - 1; day >= first; day-- {
		n, err := l.rebuildDay(ctx, day)
		if rows += n; err != nil {
			return rows, explain(err)
		}
	}
	return rows, nil
}
