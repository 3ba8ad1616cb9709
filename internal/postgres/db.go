// Package postgres keeps what several gateways share and must not lose.
//
//	db, err := postgres.Open(dsn)
//	err = db.Migrate(ctx, postgres.WriterSchema, postgresactivity.Schema)
//	w := postgres.NewWriter(db, "gw-1")            // rows, in batches, each written once
//	w.Spool(st, logger)                            // where batches wait while the database is away
//	log := postgresactivity.New(…, w, …)        // adds its table
//	err = w.Start(ctx)
//	w.Append("activity", row)
//	feed := postgres.NewFeed(db)                   // changes that all gateways follow
//
// # PgBouncer
//
// It may stand in front, also in transaction mode: statements are not prepared
// (default_query_exec_mode=exec), nothing is kept in a session, and locks end with their transaction.
// A DSN with a mode of its own overrides that.
package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

const (
	// connectTimeout bounds the making of a connection, unless the DSN has connect_timeout.
	connectTimeout = 3 * time.Second
	// idleTime is how long a connection stays open for the next query: a server has few connections,
	// and all gateways share them.
	idleTime = time.Minute
	// maxConnections is how many queries a gateway runs at once, unless the DSN has pool_max_conns.
	// The Writer has one more of its own, so that no query delays rows.
	maxConnections = 8
)

// ErrUnavailable is wrapped if the server cannot be reached, or did not answer in time.
var ErrUnavailable = errors.New("PostgreSQL does not answer")

// DB is a pool of connections. It is safe for concurrent use.
type DB struct {
	pool    *pgxpool.Pool
	writing *pgxpool.Pool // one connection, for the Writer
}

// Open returns the database of an address (a URL or "host=… dbname=…"). It does not connect.
func Open(dsn string) (*DB, error) { return OpenWith(dsn, nil) }

// OpenWith is Open with a password that is asked for at each new connection, instead of that of the
// address; nil for that one.
func OpenWith(dsn string, password func() (string, error)) (*DB, error) {
	config, err := pgxpool.ParseConfig(dsn)
	if err != nil {
		return nil, errors.New("the address of PostgreSQL is not valid") // err may show a password
	}
	if !strings.Contains(dsn, "default_query_exec_mode") {
		config.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeExec
	}
	if !strings.Contains(dsn, "connect_timeout") {
		config.ConnConfig.ConnectTimeout = connectTimeout
	}
	if !strings.Contains(dsn, "pool_max_conns") {
		config.MaxConns = maxConnections
	}
	if password != nil {
		config.BeforeConnect = func(_ context.Context, c *pgx.ConnConfig) (err error) {
			c.Password, err = password()
			return err
		}
	}
	config.MaxConnIdleTime = idleTime
	one := config.Copy()
	one.MaxConns, one.MinConns, one.MinIdleConns = 1, 0, 0
	db := &DB{}
	if db.pool, err = pgxpool.NewWithConfig(context.Background(), config); err != nil {
		return nil, errors.New("the address of PostgreSQL is not valid")
	}
	if db.writing, err = pgxpool.NewWithConfig(context.Background(), one); err != nil {
		db.pool.Close()
		return nil, errors.New("the address of PostgreSQL is not valid")
	}
	return db, nil
}

// Pool returns the connections, for queries. Each must have a context with a deadline.
func (db *DB) Pool() *pgxpool.Pool { return db.pool }

// Close ends all connections. It waits for queries under way.
func (db *DB) Close() {
	db.pool.Close()
	db.writing.Close()
}

// Explain returns an error without what the address or rows have, for logs and operators. It wraps
// ErrUnavailable if the server could not be reached or did not answer in time.
func Explain(err error) error {
	var refused *pgconn.PgError
	var connect *pgconn.ConnectError
	switch {
	case err == nil || errors.Is(err, ErrUnavailable):
		return err
	case errors.As(err, &refused):
		if ofRow(refused.Code) { // the message may show a value
			return fmt.Errorf("PostgreSQL refuses a row (SQLSTATE %s)", refused.Code)
		}
		if away(refused.Code) {
			return fmt.Errorf("%w: %s (SQLSTATE %s)", ErrUnavailable, refused.Message, refused.Code)
		}
		return fmt.Errorf("PostgreSQL: %s (SQLSTATE %s)", refused.Message, refused.Code)
	case errors.As(err, &connect):
		return fmt.Errorf("%w: %w", ErrUnavailable, connect.Unwrap()) // without the user and the database
	case errors.Is(err, context.Canceled):
		return err
	case unanswered(err):
		return fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	return err
}

// unanswered reports whether a statement has failed without an answer of the server.
func unanswered(err error) bool {
	var network interface{ Timeout() bool } // net.Error, context.DeadlineExceeded
	return errors.As(err, &network) || pgconn.SafeToRetry(err) || isClosed(err)
}

func isClosed(err error) bool {
	text := err.Error()
	return strings.Contains(text, "EOF") || strings.Contains(text, "conn closed") || strings.Contains(text, "closed pool")
}

// ofRow reports whether a SQLSTATE says that the values of a row are at fault: data exceptions,
// constraints and values that are too large.
func ofRow(code string) bool {
	return strings.HasPrefix(code, "22") || strings.HasPrefix(code, "23") || code == "54000"
}

// away reports whether a SQLSTATE says that the server cannot work now: connection exceptions, a lack
// of resources, a shutdown, a replica, a transaction in which this gateway was paused.
func away(code string) bool {
	return code == "25006" || code == "25P03" || strings.HasPrefix(code, "08") || strings.HasPrefix(code, "53") || strings.HasPrefix(code, "57P")
}
