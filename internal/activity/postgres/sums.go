package postgres

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
)

// keyColumns are the columns of keys, in their order, as arguments of subjects.
func keyColumns(keys []activity.SumKey) []any {
	start := make([]int64, len(keys))
	var names [5][][]byte
	for i, k := range keys {
		start[i] = k.Start
		for at, name := range [...]string{k.Tenant, k.Key, k.Model, k.Provider, k.Code} {
			names[at] = append(names[at], []byte(name))
		}
	}
	return []any{start, names[0], names[1], names[2], names[3], names[4]}
}

// nodeSums are the sums of a node. The caller holds the locks of their days, so nobody else changes
// them.
type nodeSums struct {
	ctx  context.Context // of the transaction
	tx   pgx.Tx
	node string
}

func (s nodeSums) Read(rows ...activity.SumBatch) error {
	var b pgx.Batch
	for _, r := range rows {
		b.Queue("SELECT "+activity.SumColumns+", data FROM "+r.Table+` JOIN
			unnest($1::bigint[], $2::bytea[], $3::bytea[], $4::bytea[], $5::bytea[], $6::bytea[]) AS k(`+activity.SumColumns+`)
			USING (`+activity.SumColumns+") WHERE node = $7", append(keyColumns(r.Keys), s.node)...).Query(func(rows pgx.Rows) error {
			var start int64
			var names [5][]byte
			var data []byte
			_, err := pgx.ForEachRow(rows, []any{&start, &names[0], &names[1], &names[2], &names[3], &names[4], &data}, func() error {
				k := activity.SumKey{Start: start, Tenant: string(names[0]), Key: string(names[1]), Model: string(names[2]), Provider: string(names[3])}
				k.Code = string(names[4])
				r.Data[k] = bytes.Clone(data)
				return nil
			})
			return err
		})
	}
	return s.tx.SendBatch(s.ctx, &b).Close()
}

func (s nodeSums) Count(l *activity.Level, of map[activity.SumKey]int) error {
	args := keyColumns(slices.Collect(maps.Keys(of)))[:3]
	rows, err := s.tx.Query(s.ctx, "SELECT start, tenant, key, count(*) FROM "+l.Table+` JOIN
		unnest($1::bigint[], $2::bytea[], $3::bytea[]) AS k(start, tenant, key) USING (start, tenant, key) WHERE node = $4 GROUP BY 1, 2, 3`, append(args, s.node)...)
	if err != nil {
		return err
	}
	var start, n int64
	var tenant, key []byte
	_, err = pgx.ForEachRow(rows, []any{&start, &tenant, &key, &n}, func() error {
		of[activity.SumKey{Start: start, Tenant: string(tenant), Key: string(key)}] = int(n)
		return nil
	})
	return err
}

func (s nodeSums) Write(rows ...activity.SumBatch) error {
	var b pgx.Batch
	for _, r := range rows {
		data := make([][]byte, len(r.Keys))
		for i, k := range r.Keys {
			data[i] = r.Data[k]
		}
		b.Queue("INSERT INTO "+r.Table+" ("+activity.SumColumns+", node, data) SELECT "+activity.SumColumns+`, $8, data FROM
			unnest($1::bigint[], $2::bytea[], $3::bytea[], $4::bytea[], $5::bytea[], $6::bytea[], $7::bytea[]) AS k(`+activity.SumColumns+`, data)
			ON CONFLICT (`+activity.SumColumns+", node) DO UPDATE SET data = excluded.data", append(keyColumns(r.Keys), data, s.node)...)
	}
	return s.tx.SendBatch(s.ctx, &b).Close()
}

const (
	// rebuildTimeout bounds the rebuild of one day.
	rebuildTimeout = 5 * time.Minute
	// rebuildBatch is how many rows are read at a time.
	rebuildBatch = 5000
)

// rebuildDay makes the sums of a day again from its rows. New rows of that day wait meanwhile, in
// the writers or their spools.
func (l *Log) rebuildDay(ctx context.Context, day int64) (rows int, err error) {
	ctx, cancel := context.WithTimeout(ctx, rebuildTimeout)
	defer cancel()
	err = pgx.BeginFunc(ctx, l.db.Pool(), func(tx pgx.Tx) error {
		perDay := activity.Days.Unit / activity.Hours.Unit
		if err := run(ctx, tx, "SELECT pg_advisory_xact_lock($1::int, $2::int)", locks, int32(day)); err != nil {
			return err
		}
		if err := run(ctx, tx, "DELETE FROM activity_hours WHERE start >= $1 AND start < $2", day*perDay, (day+1)*perDay); err != nil {
			return err
		}
		if err := run(ctx, tx, "DELETE FROM activity_days WHERE start = $1", day); err != nil {
			return err
		}
		var u activity.RollUp
		u.Reset()
		f := activity.Filter{AllTenants: true, From: time.Unix(0, day*activity.Days.Unit), To: time.Unix(0, (day+1)*activity.Days.Unit)}
		found := walker{from: tx, batch: rebuildBatch}
		err := found.raw(ctx, &f, func(_ int64, tenant []byte, created int64, data []byte) (bool, error) {
			rows++
			_ = u.Add(string(tenant), created, data) // a damaged row is in no sum of rows either
			if rows%rebuildBatch > 0 {
				return true, nil
			}
			found.after = func() error { // the rows of the batch are read
				defer u.Reset()
				return u.Fold(nodeSums{ctx, tx, ""}, nil)
			}
			return true, nil
		})
		if err != nil {
			return err
		}
		return u.Fold(nodeSums{ctx, tx, ""}, nil)
	})
	return rows, err
}

// pruneSumsBatch is how many rows of sums are deleted at a time.
const pruneSumsBatch = 5000

// pruneSums deletes sums of days before one, and what is noted of crashed rows that are dropped.
func (p *partitions) pruneSums(ctx context.Context, before int64) error {
	for _, q := range []struct {
		table, cond string
		start       int64
	}{
		{"activity_hours", "start < $1", before * (activity.Days.Unit / activity.Hours.Unit)},
		{"activity_days", "start < $1", before},
		{"activity_crashed", "created_at < (SELECT first * $1::bigint FROM activity_partitions)", activity.Days.Unit},
	} {
		for more := true; more; {
			err := p.step(ctx, func(ctx context.Context, tx pgx.Tx) error {
				tag, err := tx.Exec(ctx, fmt.Sprintf("DELETE FROM %[1]s WHERE ctid = ANY(ARRAY(SELECT ctid FROM %[1]s WHERE %[2]s LIMIT %[3]d))", q.table, q.cond, pruneSumsBatch), q.start)
				more = tag.RowsAffected() == pruneSumsBatch
				return err
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}
