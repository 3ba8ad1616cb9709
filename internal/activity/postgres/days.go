package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
	"github.com/gatehouse-proxy/gatehouse/internal/postgres"
)

// A partition has the rows of a UTC day: activity_d20260504. A row of another time is moved to the
// nearest day that has one: a wild clock must not fail a batch.
//
// A partition is made as a table of its own and then attached, which locks nobody out. There is no
// default partition: attaching would read it. To drop a partition, the span of days is shortened
// first, then it is detached concurrently, which waits for queries under way but stops none, then
// it is dropped. Each step can be repeated after a failure.

const (
	// daysAhead is how many days have a partition before they begin: the gateways may be off, or
	// the server busy, for so long.
	daysAhead = 7
	// maxNewDays is how many partitions one transaction makes.
	maxNewDays = 30
	// maintainInterval is how often one of the nodes makes and drops partitions.
	maintainInterval = 10 * time.Minute
	// stepTimeout bounds each step, detachTimeout the wait for queries under way.
	stepTimeout, detachTimeout = 20 * time.Second, 30 * time.Second
	// lockTimeout is how long a table that is dropped waits for a lock, while others wait behind it.
	lockTimeout = "SET LOCAL lock_timeout = '2s'"
)

// partitions makes and drops the days of the table activity.
type partitions struct {
	db     *postgres.DB
	now    func() time.Time // nil: the clock of the server
	logger *zap.Logger
	guard  *activity.ClockGuard
}

func partition(day int64) string {
	return "activity_d" + time.Unix(0, day*activity.Days.Unit).UTC().Format("20060102")
}

// clock is the time of the server, because a gateway whose date is wrong must not drop what all
// have written.
func (p *partitions) clock(ctx context.Context, tx pgx.Tx) (now time.Time, err error) {
	if p.now != nil {
		return p.now(), nil
	}
	var micros int64
	err = tx.QueryRow(ctx, "SELECT (extract(epoch FROM now()) * 1000000)::bigint").Scan(&micros)
	return time.UnixMicro(micros), err
}

// cover returns the days that have a partition, from first to before until. Today is one of them.
// It begins with a lock of the node, in the same round trip.
func (p *partitions) cover(ctx context.Context, tx pgx.Tx, node string) (first, until int64, err error) {
	var b pgx.Batch
	b.Queue(lockNode, nodeLocks, node)
	var micros int64
	b.Queue("SELECT first, until, (extract(epoch FROM now()) * 1000000)::bigint FROM activity_partitions").QueryRow(func(row pgx.Row) error {
		return row.Scan(&first, &until, &micros)
	})
	if err := tx.SendBatch(ctx, &b).Close(); err != nil {
		return 0, 0, err
	}
	now := time.UnixMicro(micros)
	if p.now != nil {
		now = p.now()
	}
	if today := now.UnixNano() / activity.Days.Unit; until <= today {
		return p.add(ctx, tx, today-1, today+daysAhead+1)
	}
	return first, until, nil
}

// add makes the partitions from one day to before another that do not exist, and those between them
// and the others, but none of a day that was dropped.
func (p *partitions) add(ctx context.Context, tx pgx.Tx, from, to int64) (first, until int64, err error) {
	if err := run(ctx, tx, "SELECT pg_advisory_xact_lock($1::int, 0)", locks); err != nil {
		return 0, 0, err
	}
	var pruned int64
	if err := tx.QueryRow(ctx, "SELECT first, until, pruned FROM activity_partitions").Scan(&first, &until, &pruned); err != nil {
		return 0, 0, err
	}
	from = max(from, pruned+1)
	if first == until {
		first, until = from, from
	}
	for day := from; day < to; day++ {
		if day >= first && day < until {
			day = until - 1
			continue
		}
		if err := attach(ctx, tx, day); err != nil {
			return 0, 0, err
		}
	}
	for day := until; day < from; day++ { // the gateways were off for long
		if err := attach(ctx, tx, day); err != nil {
			return 0, 0, err
		}
	}
	first, until = min(first, from), max(until, to)
	return first, until, run(ctx, tx, "UPDATE activity_partitions SET first = $1, until = $2", first, until)
}

func attach(ctx context.Context, tx pgx.Tx, day int64) error {
	name := partition(day)
	if err := run(ctx, tx, "CREATE TABLE IF NOT EXISTS "+name+" (LIKE activity INCLUDING DEFAULTS)"); err != nil {
		return err
	}
	const query = "ALTER TABLE activity ATTACH PARTITION %s FOR VALUES FROM (%d) TO (%d)"
	return run(ctx, tx, fmt.Sprintf(query, name, day*activity.Days.Unit, (day+1)*activity.Days.Unit))
}

// maintain makes and drops partitions, and deletes old sums, unless another node has done so a
// moment ago or does so now.
func (p *partitions) maintain(ctx context.Context, keep activity.Retention) error {
	var mine bool
	err := p.step(ctx, func(ctx context.Context, tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, "UPDATE activity_partitions SET busy = now() + make_interval(secs => $1) WHERE busy < now()", (maintainInterval * 9 / 10).Seconds())
		mine = tag.RowsAffected() > 0
		return err
	})
	if err != nil || !mine {
		return err
	}
	err = p.tidy(ctx, keep)
	if err != nil { // another node tries at once
		err = errors.Join(err, p.step(ctx, func(ctx context.Context, tx pgx.Tx) error {
			return run(ctx, tx, "UPDATE activity_partitions SET busy = now()")
		}))
	}
	return err
}

// tidy is maintain without its lease.
func (p *partitions) tidy(ctx context.Context, keep activity.Retention) error {
	keep = keep.OrDefault()
	now, err := p.read(ctx)
	if err != nil {
		return err
	}
	today, oldest := now.UnixNano()/activity.Days.Unit, now.Add(-keep.Age).UnixNano()/activity.Days.Unit
	if err := p.make(ctx, oldest, today); err != nil {
		return err
	}
	if err := p.sweep(ctx); err != nil {
		return err
	}
	day, size, err := p.oldest(ctx)
	if err != nil {
		return err
	}
	held := p.guard.Holds(now, time.Duration((oldest-day)*activity.Days.Unit))
	for day < today && (day < oldest && !held || size > keep.Size) {
		if err := p.drop(ctx, day); err != nil {
			return err
		}
		p.logger.Info("the activity of a day is deleted", zap.String("day", activity.Date(day)), zap.Bool("by_size", held || day >= oldest))
		if day, size, err = p.oldest(ctx); err != nil {
			return err
		}
	}
	if held {
		return nil
	}
	return p.pruneSums(ctx, now.Add(-keep.Series).UnixNano()/activity.Days.Unit)
}

// read reads the clock.
func (p *partitions) read(ctx context.Context) (now time.Time, err error) {
	err = p.step(ctx, func(ctx context.Context, tx pgx.Tx) (err error) {
		now, err = p.clock(ctx, tx)
		return err
	})
	return now, err
}

// make makes the partitions that are missing from the oldest day on to some days after today.
func (p *partitions) make(ctx context.Context, oldest, today int64) error {
	for to := today + daysAhead + 1; to > oldest; to -= maxNewDays {
		if err := p.step(ctx, func(ctx context.Context, tx pgx.Tx) error {
			if err := run(ctx, tx, lockTimeout); err != nil {
				return err
			}
			_, _, err := p.add(ctx, tx, max(oldest, to-maxNewDays), to)
			return err
		}); err != nil {
			return err
		}
	}
	return nil
}

// step runs a transaction.
func (p *partitions) step(ctx context.Context, do func(context.Context, pgx.Tx) error) error {
	ctx, cancel := context.WithTimeout(ctx, stepTimeout)
	defer cancel()
	return postgres.Explain(pgx.BeginFunc(ctx, p.db.Pool(), func(tx pgx.Tx) error { return do(ctx, tx) }))
}

// oldest returns the first day, and the size of all partitions with their indexes.
func (p *partitions) oldest(ctx context.Context) (day, size int64, err error) {
	err = p.step(ctx, func(ctx context.Context, tx pgx.Tx) error {
		return tx.QueryRow(ctx, `SELECT first, (SELECT coalesce(sum(pg_total_relation_size(inhrelid)), 0)::bigint FROM pg_inherits WHERE inhparent = 'activity'::regclass)
			FROM activity_partitions`).Scan(&day, &size)
	})
	return day, size, err
}

// Size returns how much of the database the rows of a log use, in bytes, with their indexes.
func Size(ctx context.Context, l *Log) (size int64, err error) {
	_, size, err = l.partitions.oldest(ctx)
	return size, explain(err)
}

// drop drops the first day.
func (p *partitions) drop(ctx context.Context, day int64) error {
	err := p.step(ctx, func(ctx context.Context, tx pgx.Tx) error {
		return run(ctx, tx, "UPDATE activity_partitions SET first = $1, pruned = $2", day+1, day)
	})
	if err != nil {
		return err
	}
	if err := p.detach(ctx, "ALTER TABLE activity DETACH PARTITION "+partition(day)+" CONCURRENTLY"); err != nil {
		return err
	}
	return p.sweep(ctx)
}

// detach has a deadline instead of lock_timeout, which would stay with a connection of PgBouncer:
// the statement cannot be in a transaction.
func (p *partitions) detach(ctx context.Context, statement string) error {
	ctx, cancel := context.WithTimeout(ctx, detachTimeout)
	defer cancel()
	_, err := p.db.Pool().Exec(ctx, statement)
	return postgres.Explain(err)
}

// sweep goes on with days that were being dropped when their node failed.
func (p *partitions) sweep(ctx context.Context) error {
	var attached, pending, detached []string
	err := p.step(ctx, func(ctx context.Context, tx pgx.Tx) error {
		rows, err := tx.Query(ctx, `SELECT c.relname, i.inhrelid IS NOT NULL, coalesce(i.inhdetachpending, false)
			FROM pg_class c LEFT JOIN pg_inherits i ON i.inhrelid = c.oid, activity_partitions p
			WHERE c.relkind = 'r' AND c.relnamespace = (SELECT relnamespace FROM pg_class WHERE oid = 'activity'::regclass)
			AND c.relname ~ '^activity_d[0-9]{8}$' AND c.relname < 'activity_d' || to_char(to_timestamp(p.first * 86400) AT TIME ZONE 'UTC', 'YYYYMMDD')`)
		if err != nil {
			return err
		}
		var name string
		var in, leaving bool
		_, err = pgx.ForEachRow(rows, []any{&name, &in, &leaving}, func() error {
			switch {
			case leaving:
				pending = append(pending, name)
			case in:
				attached = append(attached, name)
			default:
				detached = append(detached, name)
			}
			return nil
		})
		return err
	})
	if err != nil {
		return err
	}
	for _, name := range pending {
		if err := p.detach(ctx, "ALTER TABLE activity DETACH PARTITION "+name+" FINALIZE"); err != nil {
			return err
		}
	}
	for _, name := range attached {
		if err := p.detach(ctx, "ALTER TABLE activity DETACH PARTITION "+name+" CONCURRENTLY"); err != nil {
			return err
		}
	}
	for _, name := range append(append(pending, attached...), detached...) {
		err := p.step(ctx, func(ctx context.Context, tx pgx.Tx) error {
			if err := run(ctx, tx, lockTimeout); err != nil {
				return err
			}
			return run(ctx, tx, "DROP TABLE IF EXISTS "+name)
		})
		if err != nil {
			return err
		}
	}
	return nil
}
