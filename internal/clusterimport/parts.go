package clusterimport

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"math/big"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	postgresactivity "github.com/gatehouse-proxy/gatehouse/internal/activity/postgres"
	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
	postgresowners "github.com/gatehouse-proxy/gatehouse/internal/owners/postgres"
	sqliteowners "github.com/gatehouse-proxy/gatehouse/internal/owners/sqlite"
	"github.com/gatehouse-proxy/gatehouse/internal/postgres"
	"github.com/gatehouse-proxy/gatehouse/internal/runtimekeys"
	"github.com/gatehouse-proxy/gatehouse/internal/store"
)

// ledgerPart is what budgets have spent.
var ledgerPart = part{
	name:  "spent money and tokens",
	total: counted("SELECT count(*), coalesce(sum(spent), 0)::text FROM ledger"),
	move: func(ctx context.Context, tx pgx.Tx, s Source, digest hash.Hash) (total, error) {
		sum, n := new(big.Int), int64(0)
		statements := postgres.Statements{Tx: tx}
		for rows, err := range store.Rows(ctx, s.Store, "SELECT subject, budget, period, spent, version FROM ledger ORDER BY subject, budget, period") {
			if err != nil {
				return total{}, err
			}
			var subject, budget, period string
			var spent, calls int64
			if err := rows.Scan(&subject, &budget, &period, &spent, &calls); err != nil {
				return total{}, err
			}
			fmt.Fprintf(digest, "%q %q %q %d\n", subject, budget, period, spent)
			sum.Add(sum, big.NewInt(spent))
			n++
			if err := statements.Add(ctx, `INSERT INTO ledger (subject, budget, period, spent, calls) VALUES ($1, $2, $3, $4, $5)
				ON CONFLICT (subject, budget, period) DO UPDATE SET spent = ledger.spent + excluded.spent, calls = ledger.calls + excluded.calls`,
				subject, budget, period, spent, calls); err != nil {
				return total{}, err
			}
		}
		return total{rows: n, sum: sum.String()}, statements.Send(ctx)
	},
}

// keysPart is keys made at run time.
var keysPart = part{
	name: "keys made at run time", replaces: true,
	total: counted("SELECT count(*), '0' FROM api_key WHERE deleted_at = 0"),
	move: func(ctx context.Context, tx pgx.Tx, s Source, digest hash.Hash) (total, error) {
		var records []runtimekeys.Record
		err := runtimekeys.NewTable(s.Store).Load(ctx, func(r runtimekeys.Record) error {
			fmt.Fprintf(digest, "%s %d\n", hex.EncodeToString(r.ID[:]), r.Updated.UnixNano())
			records = append(records, r)
			return nil
		})
		if err != nil {
			return total{}, err
		}
		after, err := reserve(ctx, tx, len(records))
		if err != nil {
			return total{}, err
		}
		return total{rows: int64(len(records)), sum: "0"}, runtimekeys.CopyTo(ctx, tx, after, records)
	},
}

// workstationsPart is registrations and releases.
var workstationsPart = part{
	name: "workstations", replaces: true,
	total: counted("SELECT count(*), '0' FROM workstation WHERE value IS NOT NULL"),
	move: func(ctx context.Context, tx pgx.Tx, s Source, digest hash.Hash) (total, error) {
		records, err := desktop.ReadRecords(ctx, s.Storage)
		if err != nil {
			return total{}, err
		}
		seq, err := reserve(ctx, tx, len(records))
		if err != nil {
			return total{}, err
		}
		statements := postgres.Statements{Tx: tx}
		for _, r := range records {
			seq++
			digest.Write(r.Value)
			released := int64(0)
			if r.Released {
				released = seq
			}
			if err := statements.Add(ctx, `INSERT INTO workstation AS w (tenant, name, value, seq, released) VALUES ($1, $2, $3, $4, $5)
				ON CONFLICT (tenant, name) DO UPDATE SET value = excluded.value, seq = excluded.seq, released = greatest(w.released, excluded.released)`,
				r.ID.Tenant, r.ID.Name, string(r.Value), seq, released); err != nil {
				return total{}, err
			}
		}
		return total{rows: int64(len(records)), sum: "0"}, statements.Send(ctx)
	},
}

// ownersPart is who owns what providers store.
var ownersPart = part{
	name: "owners of stored responses", replaces: true,
	total: counted("SELECT count(*), '0' FROM owner"),
	move: func(ctx context.Context, tx pgx.Tx, s Source, _ hash.Hash) (total, error) {
		now := time.Now()
		copied, err := postgresowners.Copy(ctx, tx, sqliteowners.New(s.Store).List(ctx, now), now)
		return total{rows: copied, sum: "0"}, err
	},
}

// activityPart is calls, with the sums of their hours and days.
var activityPart = part{
	name: "calls",
	total: func(ctx context.Context, tx pgx.Tx) (total, error) {
		rows, nano, err := postgresactivity.Total(ctx, tx)
		return total{rows: rows, sum: strconv.FormatInt(nano, 10)}, err
	},
	move: func(ctx context.Context, tx pgx.Tx, s Source, digest hash.Hash) (total, error) {
		copied, err := postgresactivity.CopyTo(ctx, tx, s.Store, digest)
		if errors.Is(err, postgresactivity.ErrCopied) {
			err = fmt.Errorf("%w: %w", ErrTwice, err)
		}
		return total{copied.Rows, strconv.FormatInt(copied.Nano, 10), copied.LeftOut}, err
	},
}

// reserve takes numbers of the feed. It returns the one before them.
func reserve(ctx context.Context, tx pgx.Tx, n int) (after int64, err error) {
	err = tx.QueryRow(ctx, "UPDATE feed SET seq = seq + $1 RETURNING seq - $1", n).Scan(&after)
	return after, err
}
