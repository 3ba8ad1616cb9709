package activity

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
)

// sumKey is which row of the roll-up a tally goes to.
type sumKey struct {
	start                              int64
	tenant, key, model, provider, code string
}

func (k sumKey) compare(other sumKey) int {
	return cmp.Or(cmp.Compare(k.start, other.start), cmp.Compare(k.tenant, other.tenant), cmp.Compare(k.key, other.key),
		cmp.Compare(k.model, other.model), cmp.Compare(k.provider, other.provider), cmp.Compare(k.code, other.code))
}

// owner is the part of a key by which rows are bounded.
func (k sumKey) owner() sumKey { return sumKey{start: k.start, tenant: k.tenant, key: k.key} }

// folding is what is added to one table of sums.
type folding struct {
	*level
	all map[sumKey][]*tally
	old map[sumKey][]byte // the rows that exist
}

// fold adds the tallies to the sums of a node. The caller holds the locks of their days, so nobody
// else changes them. Both tables are read, and then written, in one round trip each: others wait for
// the rows of this transaction.
func (u *rollupWriter) fold(ctx context.Context, tx pgx.Tx, node string) error {
	if len(u.tallies) == 0 {
		return nil
	}
	var read, put pgx.Batch
	both := []folding{{level: &hours}, {level: &days}}
	for i := range both {
		f := &both[i]
		f.all, f.old = map[sumKey][]*tally{}, map[sumKey][]byte{}
		for i := range u.tallies {
			t := &u.tallies[i]
			k := sumKey{t.hour * hours.unit / f.unit, t.tenant, t.key, t.model, t.provider, t.code}
			f.all[k] = append(f.all[k], t)
		}
		readRows(&read, f.level, node, slices.Collect(maps.Keys(f.all)), f.old)
	}
	if err := tx.SendBatch(ctx, &read).Close(); err != nil {
		return fmt.Errorf("reading the sums: %w", err)
	}
	for i := range both {
		if err := both[i].bound(ctx, tx, node); err != nil {
			return fmt.Errorf("adding to %s: %w", both[i].table, err)
		}
		both[i].put(&put, u, node)
	}
	if err := tx.SendBatch(ctx, &put).Close(); err != nil {
		return fmt.Errorf("writing the sums: %w", err)
	}
	return nil
}

// bound gives a key that has too many rows one of the model "" for all others.
func (f *folding) bound(ctx context.Context, tx pgx.Tx, node string) error {
	missing := map[sumKey]int{} // owners of rows that do not exist yet
	for k := range f.all {
		if _, ok := f.old[k]; !ok && k.model != "" {
			missing[k.owner()] = 0
		}
	}
	if err := countSums(ctx, tx, f.level, node, missing); err != nil {
		return err
	}
	var others []sumKey
	for _, k := range slices.SortedFunc(maps.Keys(f.all), sumKey.compare) {
		if _, ok := f.old[k]; ok || k.model == "" {
			continue
		}
		if missing[k.owner()] < f.maxKey {
			missing[k.owner()]++
			continue
		}
		nameless := k
		nameless.model = ""
		f.all[nameless] = append(f.all[nameless], f.all[k]...)
		delete(f.all, k)
		if _, ok := f.old[nameless]; !ok {
			others = append(others, nameless)
		}
	}
	if len(others) == 0 {
		return nil
	}
	var read pgx.Batch
	readRows(&read, f.level, node, others, f.old)
	return tx.SendBatch(ctx, &read).Close()
}

// keyColumns are the columns of keys, in their order, as arguments of subjects.
func keyColumns(keys []sumKey) []any {
	start := make([]int64, len(keys))
	var names [5][][]byte
	for i, k := range keys {
		start[i] = k.start
		for at, name := range [...]string{k.tenant, k.key, k.model, k.provider, k.code} {
			names[at] = append(names[at], []byte(name))
		}
	}
	return []any{start, names[0], names[1], names[2], names[3], names[4]}
}

const subjectColumns = "start, tenant, key, model, provider, code"

// readRows asks for the rows of a node that exist.
func readRows(b *pgx.Batch, l *level, node string, keys []sumKey, found map[sumKey][]byte) {
	b.Queue("SELECT "+subjectColumns+", data FROM "+l.table+` JOIN
		unnest($1::bigint[], $2::bytea[], $3::bytea[], $4::bytea[], $5::bytea[], $6::bytea[]) AS k(`+subjectColumns+") USING ("+subjectColumns+") WHERE node = $7",
		append(keyColumns(keys), node)...).Query(func(rows pgx.Rows) error {
		var start int64
		var names [5][]byte
		var data []byte
		_, err := pgx.ForEachRow(rows, []any{&start, &names[0], &names[1], &names[2], &names[3], &names[4], &data}, func() error {
			found[sumKey{start, string(names[0]), string(names[1]), string(names[2]), string(names[3]), string(names[4])}] = bytes.Clone(data)
			return nil
		})
		return err
	})
}

// countSums counts the rows of some keys of a node.
func countSums(ctx context.Context, tx pgx.Tx, l *level, node string, of map[sumKey]int) error {
	if len(of) == 0 {
		return nil
	}
	args := keyColumns(slices.Collect(maps.Keys(of)))[:3]
	rows, err := tx.Query(ctx, "SELECT start, tenant, key, count(*) FROM "+l.table+` JOIN
		unnest($1::bigint[], $2::bytea[], $3::bytea[]) AS k(start, tenant, key) USING (start, tenant, key) WHERE node = $4 GROUP BY 1, 2, 3`, append(args, node)...)
	if err != nil {
		return err
	}
	var start, n int64
	var tenant, key []byte
	_, err = pgx.ForEachRow(rows, []any{&start, &tenant, &key, &n}, func() error {
		of[sumKey{start: start, tenant: string(tenant), key: string(key)}] = int(n)
		return nil
	})
	return err
}

// put writes the rows with their tallies added.
func (f *folding) put(b *pgx.Batch, u *rollupWriter, node string) {
	keys := slices.SortedFunc(maps.Keys(f.all), sumKey.compare)
	data := make([][]byte, len(keys))
	for i, k := range keys {
		row := f.old[k]
		for _, t := range f.all[k] {
			row = u.appendSum(nil, row, t)
		}
		data[i] = row
	}
	insertSums(b, f.level, node, keys, data)
}

// insertSums writes rows of a node in place of those that exist.
func insertSums(b *pgx.Batch, l *level, node string, keys []sumKey, data [][]byte) {
	b.Queue("INSERT INTO "+l.table+" ("+subjectColumns+", node, data) SELECT "+subjectColumns+`, $8, data FROM
		unnest($1::bigint[], $2::bytea[], $3::bytea[], $4::bytea[], $5::bytea[], $6::bytea[], $7::bytea[]) AS k(`+subjectColumns+`, data)
		ON CONFLICT (`+subjectColumns+", node) DO UPDATE SET data = excluded.data", append(keyColumns(keys), data, node)...)
}

const (
	// rebuildTimeout bounds the rebuild of one day.
	rebuildTimeout = 5 * time.Minute
	// rebuildBatch is how many rows are read at a time.
	rebuildBatch = 5000
)

// rebuildDay makes the sums of a day again from its rows. New rows of that day wait meanwhile, in the
// writers or their spools.
func (l *PostgresLog) rebuildDay(ctx context.Context, day int64) (rows int, err error) {
	ctx, cancel := context.WithTimeout(ctx, rebuildTimeout)
	defer cancel()
	err = pgx.BeginFunc(ctx, l.db.Pool(), func(tx pgx.Tx) error {
		perDay := days.unit / hours.unit
		if err := run(ctx, tx, "SELECT pg_advisory_xact_lock($1::int, $2::int)", locks, int32(day)); err != nil {
			return err
		}
		if err := run(ctx, tx, "DELETE FROM activity_hours WHERE start >= $1 AND start < $2", day*perDay, (day+1)*perDay); err != nil {
			return err
		}
		if err := run(ctx, tx, "DELETE FROM activity_days WHERE start = $1", day); err != nil {
			return err
		}
		var u rollupWriter
		u.reset()
		f := Filter{AllTenants: true, From: time.Unix(0, day*days.unit), To: time.Unix(0, (day+1)*days.unit)}
		found := walker{from: tx, batch: rebuildBatch}
		err := found.raw(ctx, &f, func(_ int64, tenant []byte, created int64, data []byte) (bool, error) {
			rows++
			_ = u.add(string(tenant), created, data) // a damaged row is in no sum of rows either
			if rows%rebuildBatch > 0 {
				return true, nil
			}
			found.after = func() error { // the rows of the batch are read
				defer u.reset()
				return u.fold(ctx, tx, "")
			}
			return true, nil
		})
		if err != nil {
			return err
		}
		return u.fold(ctx, tx, "")
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
		{"activity_hours", "start < $1", before * (days.unit / hours.unit)},
		{"activity_days", "start < $1", before},
		{"activity_crashed", "created_at < (SELECT first * $1::bigint FROM activity_partitions)", days.unit},
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
