// Package clusterimport moves what a single gateway has kept into the engines of a cluster.
//
//	report, err := clusterimport.Run(ctx, source, target, clusterimport.Options{DryRun: true})
//
// All of it is one transaction in PostgreSQL, which is committed only if what is there then is what was
// there before and what was moved. Valkey gets the balances from PostgreSQL, when the first gateway
// starts.
package clusterimport

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	postgresactivity "github.com/gatehouse-proxy/gatehouse/internal/activity/postgres"
	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
	"github.com/gatehouse-proxy/gatehouse/internal/postgres"
	"github.com/gatehouse-proxy/gatehouse/internal/store"
	"github.com/gatehouse-proxy/gatehouse/internal/valkey"
)

// Source is a single gateway that has stopped.
type Source struct {
	Store   *store.Store    // its database, which nobody else has open
	Storage desktop.Storage // with its registered workstations
}

// Target is the engines of a cluster none of whose gateways runs.
type Target struct {
	DB      *postgres.DB
	Engine  *valkey.Client
	Cluster string            // its name
	Schemas []postgres.Schema // of all that its gateways keep
	Keep    time.Duration     // how long its gateways keep rows
}

// Options say what may be done.
type Options struct {
	DryRun bool // nothing is kept: only tables are made
	Merge  bool // the target may have rows: spent money and calls are added, the rest is replaced
}

// Errors of Run. Nothing was changed.
var (
	ErrRunning  = errors.New("gateways of the cluster run: stop them first")
	ErrNotEmpty = errors.New("the cluster has rows already")
	ErrTwice    = errors.New("the same data was moved before")
	ErrCrashed  = errors.New("the gateway was killed with calls under way, which are not charged yet: start it once as it was, and stop it")
)

// Part is a kind of rows. Sum is of the amounts of spent money, in the units of the ledger, and of what
// calls cost, in nano-USD; 0 elsewhere.
type Part struct {
	Name    string `json:"name"`
	Rows    int64  `json:"rows"`     // that were moved
	Sum     string `json:"sum"`      // of them
	LeftOut int64  `json:"left_out"` // rows that the cluster would delete at once, and damaged ones
	Before  int64  `json:"before"`   // rows that were in the cluster
	After   int64  `json:"after"`    // rows that are there now
}

// Report is what was moved, or would be.
type Report []Part

// schema has a row for each import that added to sums: a second time would count them twice.
var schema = postgres.Schema{Name: "import", Steps: []string{
	"CREATE TABLE imported (digest text NOT NULL PRIMARY KEY, at timestamptz NOT NULL DEFAULT now())",
}}

// part moves one kind of rows.
type part struct {
	name string
	// total returns the rows of the table in PostgreSQL, and their sum.
	total func(ctx context.Context, tx pgx.Tx) (total, error)
	// move writes rows. Those that a second import would count twice are added to the digest. It
	// returns how many there were, and their sum.
	move func(ctx context.Context, tx pgx.Tx, s Source, digest hash.Hash) (total, error)
	// replaces says that a row of the source may take the place of one of the target.
	replaces bool
}

var parts = []part{ledgerPart, keysPart, workstationsPart, ownersPart, activityPart}

// total is a number of rows and the sum of what they have.
type total struct {
	rows    int64
	sum     string // a decimal number
	leftOut int64  // rows of the source that were not moved
}

// counted returns the total that a query answers.
func counted(query string) func(context.Context, pgx.Tx) (total, error) {
	return func(ctx context.Context, tx pgx.Tx) (t total, err error) {
		err = tx.QueryRow(ctx, query).Scan(&t.rows, &t.sum)
		return t, err
	}
}

// errDry takes a dry run back.
var errDry = errors.New("dry run")

// Run moves everything, or nothing.
func Run(ctx context.Context, from Source, to Target, o Options) (Report, error) {
	if err := checkIdle(ctx, from, to); err != nil {
		return nil, err
	}
	if err := to.DB.Migrate(ctx, append(slices.Clip(to.Schemas), schema)...); err != nil {
		return nil, err
	}
	if err := postgresactivity.MakeDays(ctx, to.DB, to.Keep); err != nil {
		return nil, err
	}
	var report Report
	err := pgx.BeginFunc(ctx, to.DB.Pool(), func(tx pgx.Tx) error {
		digest := sha256.New()
		for _, p := range parts {
			moved, err := p.run(ctx, tx, from, digest, o)
			if err != nil {
				return fmt.Errorf("%s: %w", p.name, err)
			}
			report = append(report, moved)
		}
		if err := recordImport(ctx, tx, digest.Sum(nil)); err != nil {
			return err
		}
		if o.DryRun {
			return errDry
		}
		return nil
	})
	switch {
	case errors.Is(err, errDry):
		return report, nil
	case err != nil:
		return report, err
	}
	// From now on the engine and the book have different balances.
	if _, err := run(ctx, to, forget); err != nil {
		return report, fmt.Errorf("everything is in PostgreSQL; before the first gateway starts, delete the key {gh:%s}e in Valkey: %w", to.Cluster, err)
	}
	return report, nil
}

// run moves a part and checks what is there then.
func (p *part) run(ctx context.Context, tx pgx.Tx, from Source, digest hash.Hash, o Options) (Part, error) {
	before, err := p.total(ctx, tx)
	if err != nil {
		return Part{}, err
	}
	if before.rows > 0 && !o.Merge {
		return Part{}, fmt.Errorf("%w: %d", ErrNotEmpty, before.rows)
	}
	moved, err := p.move(ctx, tx, from, digest)
	if err != nil {
		return Part{}, err
	}
	after, err := p.total(ctx, tx)
	if err != nil {
		return Part{}, err
	}
	if p.replaces {
		if after.rows < moved.rows || after.rows > before.rows+moved.rows {
			return Part{}, fmt.Errorf("%d rows were written over %d, and there are %d", moved.rows, before.rows, after.rows)
		}
	}
	var exact bool
	if err := tx.QueryRow(ctx, "SELECT $1::numeric + $2::numeric = $3::numeric", before.sum, moved.sum, after.sum).Scan(&exact); err != nil {
		return Part{}, err
	}
	if !exact || !o.Merge && after.rows != moved.rows {
		return Part{}, fmt.Errorf("%d rows with the sum %s were written, and there are %d with %s", moved.rows, moved.sum, after.rows, after.sum)
	}
	return Part{Name: p.name, Rows: moved.rows, Sum: moved.sum, LeftOut: moved.leftOut, Before: before.rows, After: after.rows}, nil
}

// recordImport keeps that these data were moved: a second time would count what was spent twice.
func recordImport(ctx context.Context, tx pgx.Tx, sum []byte) error {
	if nothing := sha256.Sum256(nil); bytes.Equal(sum, nothing[:]) {
		return nil // two gateways that have nothing are not the same
	}
	digest := hex.EncodeToString(sum)
	tag, err := tx.Exec(ctx, "INSERT INTO imported (digest) VALUES ($1) ON CONFLICT DO NOTHING", digest)
	if err != nil || tag.RowsAffected() == 1 {
		return err
	}
	var at time.Time
	if err := tx.QueryRow(ctx, "SELECT at FROM imported WHERE digest = $1", digest).Scan(&at); err != nil {
		return err
	}
	return fmt.Errorf("%w, at %s", ErrTwice, at.UTC().Format(time.RFC3339))
}
