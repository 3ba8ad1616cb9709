package postgres

import (
	"context"
	"crypto/rand"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/internal/queue"
	"github.com/gatehouse-proxy/gatehouse/internal/store"
)

const (
	// retryInterval is the time between attempts while the database is away.
	retryInterval = time.Second
	// maxWaiting bounds the memory of rows that wait, in bytes: a busy gateway's of some 20 seconds.
	// Above it rows are dropped and counted.
	maxWaiting = 32 << 20
	// maxKept is that bound for rows of a Table that is Kept: they wait in memory only while the disk
	// does not take them either.
	maxKept = 4 * maxWaiting
)

// Table writes rows of one kind. A row is what the caller of Append has made of it: it may wait on
// disk while the database is away, and be written by a newer program.
type Table struct {
	Name string
	// Write writes rows, in the order in which they were appended. Other rows may be written in the
	// same transaction. Write must touch what other gateways touch too in an order of its keys, or
	// transactions would wait for one another in a circle. It may be called again with a part of the
	// rows. An error that is neither the database's nor the connection's means that a row is bad.
	Write func(ctx context.Context, tx pgx.Tx, rows [][]byte) error
	// Kept says that rows are money or ownership, not evidence: they do not count for the bounds of
	// what waits while the database is away, and are dropped only if neither disk nor memory takes
	// them.
	Kept bool
}

// Writer writes rows in batches. Each row is written once, whatever happens to the connection or the
// server, and in the order of Append. While the database is away, batches wait in the node's own
// SQLite. A killed process loses the rows of its last 50 ms, and those of the
// transaction under way.
type Writer struct {
	db     *DB
	node   string
	source string  // of this process, see node_batch
	tables []Table // by name
	spool  *spool  // nil: rows wait in memory
	logger *zap.Logger

	queue   *queue.Queue[entry]
	current *batch // taken from the queue, neither written nor spooled
	taken   uint64 // number of the last row that was taken
	state   state
	retryAt time.Time // while the database is away; used by run

	stop    chan struct{}
	stopped chan struct{}
	started sync.Once
}

// NewWriter returns a writer for a node. A node has one, and no two nodes have the same name.
func NewWriter(db *DB, node string, tables ...Table) *Writer {
	w := &Writer{
		db: db, node: node, source: rand.Text(), logger: zap.NewNop(), queue: queue.New[entry](),
		stop: make(chan struct{}), stopped: make(chan struct{}),
	}
	w.state.since = time.Now()
	w.Add(tables...)
	return w
}

// Add adds tables. It must be called before Start. Tables are written in the order of their names, on
// all nodes.
func (w *Writer) Add(tables ...Table) {
	w.tables = append(w.tables, tables...)
	slices.SortFunc(w.tables, func(a, b Table) int { return strings.Compare(a.Name, b.Name) })
}

// Spool makes rows wait in st, which has SpoolSchema, while the database is away: at most so many
// bytes, 0 for DefaultSpool. It must be called before Start. st must be closed after the Writer.
func (w *Writer) Spool(st *store.Store, bytes int64, logger *zap.Logger) {
	if bytes <= 0 {
		bytes = DefaultSpool
	}
	w.spool, w.logger = &spool{store: st, most: bytes}, logger
}

// Start begins to write, until Close. It does not need the database. Batches that an earlier process
// has left in the spool are written first.
func (w *Writer) Start(ctx context.Context) error {
	if w.spool != nil {
		if err := w.spool.load(ctx); err != nil {
			return err
		}
	}
	w.started.Do(func() { go w.run() })
	return nil
}

// Append queues a row of a table. It does not wait. The caller must not change the row afterwards.
func (w *Writer) Append(table string, row []byte) {
	i, ok := w.table(table)
	most := maxWaiting
	if ok && w.tables[i].Kept {
		most = maxKept
	}
	if ok && w.queue.Add(entry{i, row}, len(row), most-len(row)+1, nil) == nil {
		return
	}
	if w.queue.Drop(1) {
		w.logger.Error("rows are dropped: they wait for PostgreSQL, and neither the memory nor the disk for them is enough", zap.String("table", table))
	}
}

func (w *Writer) table(name string) (int, bool) {
	return slices.BinarySearchFunc(w.tables, name, func(t Table, name string) int { return strings.Compare(t.Name, name) })
}

// Flush returns when all rows that were appended before are in the database. It returns an error at
// once while the database is away; the rows are kept.
func (w *Writer) Flush(ctx context.Context) error {
	err := w.queue.Flush(ctx)
	if errors.Is(err, queue.ErrClosed) {
		return ErrUnavailable
	}
	return err
}

// Close writes what waits, or leaves it in the spool, and ends. It returns an error if rows are lost.
func (w *Writer) Close(ctx context.Context) error {
	started := true
	w.started.Do(func() { started = false })
	if started {
		close(w.stop)
		<-w.stopped
	} else {
		close(w.stopped)
	}
	err := w.finish(ctx)
	w.queue.Close()
	w.queue.Fail(ErrUnavailable)
	return err
}

// run writes until stop is closed.
func (w *Writer) run() {
	defer close(w.stopped)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	due := time.NewTimer(0)
	defer due.Stop()
	for {
		select {
		case <-w.queue.First:
			due.Reset(w.queue.Patience())
			continue
		case <-w.queue.Urgent:
		case <-due.C:
		case <-w.stop:
			return
		}
		due.Reset(w.work(ctx))
	}
}
