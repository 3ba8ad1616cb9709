package postgres

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/jackc/pgx/v5"
	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
	"github.com/gatehouse-proxy/gatehouse/internal/postgres"
	"github.com/gatehouse-proxy/gatehouse/internal/store"
)

// copyRows is how many rows of a copy are in memory, and are written by one statement.
const copyRows = 2000

// ErrCopied means that rows were copied before.
var ErrCopied = errors.New("calls are there already")

// Copied is what CopyTo has written.
type Copied struct {
	Rows int64 // calls
	Nano int64 // what they cost, in nano-USD
	// LeftOut counts the rows of days that are not kept, and damaged ones. Sums have the former.
	LeftOut int64
}

// copySums reads sums that rows do not have any more, up to before a time.
const copySums = "SELECT start, tenant, key, model, provider, code, data FROM %s WHERE start < ?"

// MakeDays makes the partitions of the days that are kept, for CopyTo.
func MakeDays(ctx context.Context, db *postgres.DB, keep time.Duration) error {
	p := partitions{db: db, logger: zap.NewNop()}
	now, err := p.read(ctx)
	if err != nil {
		return err
	}
	return p.make(ctx, now.Add(-keep).UnixNano()/activity.Days.Unit, now.UnixNano()/activity.Days.Unit)
}

// CopyTo copies the activity of one gateway into the tables of Schema, and adds each row to a
// digest. The hours and days of rows are summed again; those of which rows were deleted are copied.
// What it has written is right if it returns no error: it has read the sums again. It wraps
// ErrCopied if one of the rows was there before.
func CopyTo(ctx context.Context, tx pgx.Tx, from *store.Store, digest io.Writer) (Copied, error) {
	c := copying{tx: tx, digest: digest, added: map[*activity.Level]activity.Sums{}, node: "copy " + rand.Text()}
	err := tx.QueryRow(ctx, "SELECT first, until, EXISTS (SELECT FROM activity) FROM activity_partitions").Scan(&c.first, &c.until, &c.merges)
	if err != nil {
		return Copied{}, err
	}
	source, err := from.Reader().BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return Copied{}, err
	}
	defer func() { _ = source.Rollback() }()
	if err := source.QueryRowContext(ctx, "SELECT pruned FROM activity_rollup").Scan(&c.pruned); err != nil {
		return Copied{}, err
	}
	if err := c.rows(ctx, source); err != nil {
		return Copied{}, err
	}
	for _, l := range []*activity.Level{&activity.Hours, &activity.Days} {
		if err := c.sums(ctx, source, l); err != nil {
			return Copied{}, err
		}
	}
	if err := run(ctx, tx, "UPDATE activity_partitions SET incomplete = greatest(incomplete, $1)", min(c.pruned, c.until-1)); err != nil {
		return Copied{}, err
	}
	return c.copied, c.check(ctx)
}

// copying is a copy under way.
type copying struct {
	tx           pgx.Tx
	digest       io.Writer
	node         string // of the sums that it adds
	first, until int64  // the days that have a partition
	pruned       int64  // the last day of which the source has deleted rows
	merges       bool   // there were rows before

	whole, part []queuedRow     // that wait: of days whose sums are those of rows, of others
	waiting     activity.RollUp // sums of rows that are left out
	copied      Copied
	rowed       activity.Sums                     // that rows have added to both levels
	added       map[*activity.Level]activity.Sums // that were copied
}

// rows copies the rows.
func (c *copying) rows(ctx context.Context, source *sql.Tx) error {
	rows, err := source.QueryContext(ctx, "SELECT tenant, created_at, data FROM activity ORDER BY seq")
	if err != nil {
		return err
	}
	defer rows.Close()
	c.waiting.Reset()
	for n := 1; rows.Next(); n++ {
		var tenant, data []byte
		var created int64
		if err := rows.Scan(&tenant, &created, &data); err != nil {
			return err
		}
		fmt.Fprintf(c.digest, "%q %d %x\n", tenant, created, data)
		c.addRow(tenant, created, data)
		if n%copyRows == 0 {
			if err := c.write(ctx); err != nil {
				return err
			}
		}
	}
	if err := rows.Err(); err != nil {
		return err
	}
	return c.write(ctx)
}

// addRow queues a row, or leaves it out.
func (c *copying) addRow(tenant []byte, created int64, data []byte) {
	var r activity.Record
	if activity.Decode(data, &r) != nil {
		c.copied.LeftOut++
		return
	}
	created = min(created, c.until*activity.Days.Unit-1) // as every writer does
	summed := created/activity.Days.Unit > c.pruned
	r.Tenant, r.CreatedAt = string(tenant), time.Unix(0, created)
	switch row := rowOf(&r, data); {
	case created < c.first*activity.Days.Unit:
		c.copied.LeftOut++
		if summed {
			_ = c.waiting.Add(r.Tenant, created, data) // it was just read
			sums := activity.SumsOf(&r)
			c.rowed.Add(&sums)
		}
	case summed:
		c.whole = append(c.whole, row)
	default:
		c.part = append(c.part, row)
	}
}

// write writes the rows that wait, and their sums.
func (c *copying) write(ctx context.Context) error {
	for _, rows := range []*[]queuedRow{&c.whole, &c.part} {
		if len(*rows) == 0 {
			continue
		}
		w := rowBatch{tx: c.tx, node: c.node, rows: *rows}
		w.sums.Reset()
		read := len(w.rows)
		if _, err := w.lock(ctx); err != nil {
			return err
		}
		if err := w.insert(ctx); err != nil {
			return err
		}
		fresh := w.sums.Sum()
		missing := int64(read) - fresh.Requests
		if missing > 0 && c.merges {
			return fmt.Errorf("%d %w", missing, ErrCopied)
		}
		c.copied.LeftOut += missing // the source has them twice
		c.copied.Rows += fresh.Requests
		c.copied.Nano += fresh.CostNano
		if rows == &c.whole {
			c.rowed.Add(&fresh)
			if err := w.sums.Fold(nodeSums{ctx, c.tx, c.node}, nil); err != nil {
				return err
			}
		}
		*rows = (*rows)[:0]
	}
	defer c.waiting.Reset()
	return c.waiting.Fold(nodeSums{ctx, c.tx, c.node}, nil)
}

// sums copies the stored sums of days whose rows are gone. Sums of other days are made from rows.
func (c *copying) sums(ctx context.Context, source *sql.Tx, l *activity.Level) error {
	rows, err := source.QueryContext(ctx, fmt.Sprintf(copySums, l.Table), (c.pruned+1)*(activity.Days.Unit/l.Unit))
	if err != nil {
		return err
	}
	defer rows.Close()
	var all activity.Sums
	tables, batch := nodeSums{ctx, c.tx, c.node}, activity.SumBatch{Level: l, Data: map[activity.SumKey][]byte{}}
	for rows.Next() {
		var k activity.SumKey
		var sums []byte
		if err := rows.Scan(&k.Start, &k.Tenant, &k.Key, &k.Model, &k.Provider, &k.Code, &sums); err != nil {
			return err
		}
		var s activity.Sums
		if _, _, err := s.Read(sums, k.Code != ""); err != nil {
			continue // a damaged row counts in no query either
		}
		all.Add(&s)
		fmt.Fprintf(c.digest, "%s %v %x\n", l.Table, k, sums)
		batch.Keys, batch.Data[k] = append(batch.Keys, k), sums
		if len(batch.Keys) == copyRows {
			if err := tables.Write(batch); err != nil {
				return err
			}
			batch.Keys = batch.Keys[:0]
			clear(batch.Data)
		}
	}
	if err := rows.Err(); err != nil {
		return err
	}
	c.added[l] = all
	return tables.Write(batch)
}

// check reads the sums that were written.
func (c *copying) check(ctx context.Context) error {
	for _, l := range []*activity.Level{&activity.Hours, &activity.Days} {
		want := c.added[l]
		want.Add(&c.rowed)
		query := "SELECT data, code <> '' FROM " + l.Table + " WHERE node = $1"
		got, err := sumAll(ctx, c.tx, query, func(data []byte, failed bool) (s activity.Sums, err error) {
			_, _, err = s.Read(data, failed)
			return s, err
		}, c.node)
		if err != nil {
			return err
		}
		if got != want {
			return fmt.Errorf("the sums in %s are %+v, and should be %+v", l.Table, got, want)
		}
	}
	return nil
}

// Total returns how many calls are in PostgreSQL, and what they cost, in nano-USD. It reads all of them.
func Total(ctx context.Context, tx pgx.Tx) (rows, nano int64, err error) {
	sums, err := sumAll(ctx, tx, "SELECT data, false FROM activity", func(data []byte, _ bool) (activity.Sums, error) {
		var r activity.Record
		err := activity.Borrow(data, &r)
		return activity.SumsOf(&r), err
	})
	return sums.Requests, sums.CostNano, err
}

// sumAll adds up what read makes of each row of a query.
func sumAll(
	ctx context.Context, tx pgx.Tx, query string, read func(data []byte, failed bool) (activity.Sums, error), args ...any,
) (all activity.Sums, err error) {
	rows, err := tx.Query(ctx, query, args...)
	if err != nil {
		return all, err
	}
	var data []byte
	var failed bool
	_, err = pgx.ForEachRow(rows, []any{&data, &failed}, func() error {
		s, err := read(data, failed)
		all.Add(&s)
		return err
	})
	return all, err
}

// rowOf returns the row of a record whose data are encoded already.
func rowOf(r *activity.Record, data []byte) queuedRow {
	row := queuedRow{created: r.CreatedAt.UnixNano(), seq: hashOf(r.ID), request: hashOf(r.RequestID), upstream: hashOf(r.UpstreamID), tenant: []byte(r.Tenant), data: data}
	if row.seq == 0 { // no ID: the same row always gets the same number
		row.seq = hashOf(string(binary.BigEndian.AppendUint64(data, uint64(row.created))))
	}
	return row
}
