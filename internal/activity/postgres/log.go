// Package postgres keeps the activity of all gateways of a cluster.
package postgres

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
	"github.com/gatehouse-proxy/gatehouse/internal/postgres"
)

// syncTimeout is how long a query waits for rows that are on their way on other nodes. It then
// answers with what there is. While the database is away it does not wait.
const syncTimeout = 300 * time.Millisecond

// writeDelay is more than a row can have waited when its first write fails.
const writeDelay = 6 * time.Second

// Config is what a Log needs.
type Config struct {
	DB     *postgres.DB // with Schema
	Writer *postgres.Writer
	Node   string // the name of this gateway, of no other
	// Keep is how long rows are kept, as [Pruner] does, but by whole UTC days: a row is deleted up
	// to a day later. Size is the size of the partitions with their indexes, all gateways'
	// together; today's is kept whatever its size. The shortest of all gateways counts.
	Keep activity.Retention
	// Sync waits until other gateways have written what they had appended; nil: there are none.
	Sync   func(ctx context.Context)
	Now    func() time.Time // the clock of retention, for a test; nil: the server's
	Flush  time.Duration    // how long a query waits for the rows of this node; 0: flushTimeout
	Logger *zap.Logger      // nil: none
}

// Log keeps the records of all gateways of a cluster.
type Log struct {
	activity.Reader

	db         *postgres.DB
	writer     *postgres.Writer
	node       string
	sync       func(ctx context.Context)
	partitions partitions
	flush      time.Duration

	mu   sync.Mutex // guards the following
	keep activity.Retention

	stop    context.CancelFunc // nil before Start
	stopped chan struct{}
}

// source is what the Reader of a log reads.
type source struct{ log *Log }

// New returns a log, and adds its table to the writer, which has not started.
func New(c Config) *Log {
	if c.Logger == nil {
		c.Logger = zap.NewNop()
	}
	if c.Sync == nil {
		c.Sync = func(context.Context) {}
	}
	l := &Log{
		db: c.DB, writer: c.Writer, node: c.Node, sync: c.Sync, keep: c.Keep,
		partitions: partitions{c.DB, c.Now, c.Logger, activity.NewClockGuard(c.Logger)},
		flush:      cmp.Or(c.Flush, activity.FlushTimeout), stopped: make(chan struct{}),
	}
	l.Reader = activity.NewReader(source{l})
	c.Writer.Add(postgres.Table{Name: rowsTable, Write: l.write})
	return l
}

// Start begins to make and drop partitions, until Close.
func (l *Log) Start() {
	ctx, cancel := context.WithCancel(context.Background())
	l.stop = cancel
	go func() {
		defer close(l.stopped)
		tick := time.NewTicker(maintainInterval)
		defer tick.Stop()
		for {
			if err := Maintain(ctx, l); err != nil && ctx.Err() == nil {
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

// Maintain makes the partitions of the next days and of all that a log keeps, drops those that are
// too old or too large, and deletes old sums. It does nothing if another node did so less than nine
// minutes ago. Start calls it every ten.
func Maintain(ctx context.Context, l *Log) error {
	l.mu.Lock()
	keep := l.keep
	l.mu.Unlock()
	return l.partitions.maintain(ctx, keep)
}

// Close ends what Start began. It does not flush.
func (l *Log) Close() {
	if l.stop != nil {
		l.stop()
		<-l.stopped
	}
}

// Retain changes how long rows are kept, after a reload.
func (l *Log) Retain(keep activity.Retention) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.keep = keep
}

// Append implements [activity.Log]. It takes about a microsecond. The writer counts a record that is dropped.
func (l *Log) Append(r *activity.Record) {
	activity.Bound(r)
	l.writer.Append(rowsTable, appendRow(make([]byte, 0, usualRow), r))
}

// begin begins a query: calls that ended before, on any gateway, become visible, unless that takes
// too long. The caller must call cancel.
func (l *Log) begin(ctx context.Context) (_ context.Context, cancel func()) {
	ctx, cancel = context.WithTimeout(ctx, activity.QueryTimeout)
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

// BlockedSince implements [activity.Log], for the calls of this node.
func (l *Log) BlockedSince() time.Time {
	if s := l.writer.Status(); s.Err != nil && s.Waiting > 0 {
		return s.Since.Add(-writeDelay)
	}
	return time.Time{}
}

// explain returns the error of a query.
func explain(err error) error {
	if err == nil || activity.Refused(err) {
		return err
	}
	return fmt.Errorf("reading the activity: %w", postgres.Explain(err))
}

// Walk implements [activity.Engine].
func (s source) Walk(ctx context.Context, f *activity.Filter, visit func(seq int64, r *activity.Record) bool) error {
	ctx, cancel := s.log.begin(ctx)
	defer cancel()
	w := walker{from: s.log.db.Pool(), batch: firstBatch}
	if f.Limit > 0 {
		w.batch = f.Limit + 1
	}
	return explain(w.walk(ctx, f, visit))
}

// byHash returns the newest rows whose IDs have a hash, newest first. The number of rows with a
// provider's ID is bounded: a provider may give one ID to all of its answers.
const byHash = `SELECT tenant, created_at, data FROM (
	(SELECT tenant, created_at, seq, data FROM activity WHERE %[1]s seq = $1 ORDER BY created_at DESC LIMIT $2) UNION ALL
	(SELECT tenant, created_at, seq, data FROM activity WHERE %[1]s request_h = $1 ORDER BY created_at DESC LIMIT $2) UNION ALL
	(SELECT tenant, created_at, seq, data FROM activity WHERE %[1]s upstream_h = $1 ORDER BY created_at DESC LIMIT $3)
	) AS found ORDER BY created_at DESC, seq DESC`

// Find implements [activity.Engine].
func (s source) Find(ctx context.Context, tenant, id string) (found activity.Record, ok bool, err error) {
	ctx, cancel := s.log.begin(ctx)
	defer cancel()
	cond, args := "", []any{hashOf(id), activity.MaxCandidates, activity.MaxCandidates}
	if tenant != "" {
		cond, args = "tenant = $4 AND", append(args, []byte(tenant))
	}
	rows, err := s.log.db.Pool().Query(ctx, fmt.Sprintf(byHash, cond), args...)
	if err != nil {
		return activity.Record{}, false, explain(err)
	}
	defer rows.Close()
	for !ok && rows.Next() {
		var r activity.Record
		var tenant, data []byte
		var created int64
		if err = rows.Scan(&tenant, &created, &data); err == nil {
			err = activity.Decode(data, &r)
		}
		if err != nil {
			return activity.Record{}, false, explain(err)
		}
		r.Tenant, r.CreatedAt = string(tenant), time.Unix(0, created).UTC()
		if ok = r.ID == id || r.RequestID == id || r.UpstreamID == id; ok {
			found = r
		}
	}
	rows.Close()
	return found, ok, explain(rows.Err())
}

// Rebuild implements [activity.Log], day after day from the newest on. Days of which rows were
// deleted stay as they are. Answers are complete all the time.
func (l *Log) Rebuild(ctx context.Context) (rows int, err error) {
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
