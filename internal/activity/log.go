package activity

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"
	"unsafe"

	"github.com/gatehouse-proxy/gatehouse/internal/store"
)

// queryTimeout bounds a query that reads very many rows; readers are few and shared.
const queryTimeout = 10 * time.Second

// Log appends records to a store and finds them again.
type Log struct {
	store   *store.Store
	maxDays int // the constant of this name; less in a test
}

// New returns the log kept in st, which was opened with Schema.
func New(st *store.Store) *Log { return &Log{store: st, maxDays: maxDays} }

// row is a Record as the store's operation: the conversion costs no allocation.
type row Record

// inserts are the statements of ApplyBatch, the largest first: each is prepared once.
var inserts = []insert{makeInsert(16), makeInsert(4), makeInsert(1)}

type insert struct {
	rows  int
	query string
}

const valuesPerRow = 3

func makeInsert(rows int) insert {
	const values = "(?, ?, ?)"
	return insert{rows, "INSERT OR FAIL INTO activity (tenant, created_at, data) VALUES " + strings.Repeat(values+", ", rows-1) + values}
}

// Append queues r and returns in about a microsecond. With a full queue it returns within 100 ms; r
// is then dropped, and the store counts it. The caller must not use r afterwards. Its strings
// should not be parts of a large body: the queue would hold the whole body.
func (l *Log) Append(r *Record) {
	r.bound()
	_ = l.store.Submit((*row)(r)) // the store counts a lost record; the call does not fail for it
}

// Droppable returns true: a record is evidence, not money.
func (r *row) Droppable() bool { return true }

// Size also counts texts that others hold: it errs on the high side.
func (r *row) Size() int {
	size := int(unsafe.Sizeof(*r))
	for _, s := range (*Record)(r).texts() {
		size += len(*s)
	}
	return size
}

func (r *row) Apply(tx *store.Tx) error { return r.ApplyBatch(tx, []store.Op{r}) }

// ApplyBatch writes many rows with one statement: most of a row's cost is the statement.
func (r *row) ApplyBatch(tx *store.Tx, ops []store.Op) error {
	args := make([]any, 0, inserts[0].rows*valuesPerRow)
	var data []byte
	for rest := ops; len(rest) > 0; {
		insert := inserts[len(inserts)-1]
		for _, larger := range inserts {
			if larger.rows <= len(rest) {
				insert = larger
				break
			}
		}
		args, data = args[:0], data[:0]
		for _, op := range rest[:insert.rows] {
			r := (*Record)(op.(*row))
			start := len(data)
			data = r.encode(data)
			args = append(args, r.Tenant, r.CreatedAt.UnixNano(), data[start:])
		}
		if _, err := tx.Exec(insert.query, args...); err != nil {
			return err
		}
		rest = rest[insert.rows:]
	}
	return saveIDs(tx, ops)
}

// columns are in the order that scan reads.
const columns = "seq, created_at, data"

// scan sets all of r. tenant is its tenant.
func (r *Record) scan(rows *sql.Rows, tenant string) (seq int64, err error) {
	var created int64
	var data sql.RawBytes
	if err := rows.Scan(&seq, &created, &data); err != nil {
		return 0, err
	}
	r.Tenant, r.CreatedAt = tenant, time.Unix(0, created).UTC()
	return seq, r.decode(data)
}

// ask begins a query. It flushes, so that calls that ended before are visible. The caller must call
// cancel.
func (l *Log) ask(ctx context.Context) (_ context.Context, cancel func(), err error) {
	ctx, cancel = context.WithTimeout(ctx, queryTimeout)
	if err := l.store.Flush(ctx); err != nil {
		return ctx, cancel, fmt.Errorf("committing the records before a query: %w", err)
	}
	return ctx, cancel, nil
}

// read calls visit with each row until it returns false.
func (l *Log) read(ctx context.Context, visit func(*sql.Rows) (more bool, err error), query string, args ...any) error {
	rows, err := l.store.Reader().QueryContext(ctx, query, args...)
	if err != nil {
		return fmt.Errorf("querying the activity: %w", err)
	}
	more := true
	for more && err == nil && rows.Next() {
		more, err = visit(rows)
	}
	if err = errors.Join(err, rows.Err(), rows.Close()); err != nil {
		return fmt.Errorf("reading the activity: %w", l.store.Explain(err))
	}
	return nil
}
