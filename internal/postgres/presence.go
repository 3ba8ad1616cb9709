package postgres

import "context"

const (
	// seeNode says that a node lives. Those that did so within a minute are counted.
	seeNode = `WITH seen AS (
		INSERT INTO node_seen (node, at) VALUES ($1, now()) ON CONFLICT (node) DO UPDATE SET at = excluded.at
	), gone AS (
		DELETE FROM node_seen WHERE at < now() - interval '1 day' AND node <> $1
	)
	SELECT count(*) + 1 FROM node_seen WHERE at > now() - interval '1 minute' AND node <> $1`
	forgetNode = "DELETE FROM node_seen WHERE node = $1"
)

// See says that a node lives, and returns how many do, with this one: those that said so within the
// last minute. It needs WriterSchema.
func (db *DB) See(ctx context.Context, node string) (nodes int, err error) {
	err = db.pool.QueryRow(ctx, seeNode, node).Scan(&nodes)
	return nodes, Explain(err)
}

// Forget says that a node lives no longer.
func (db *DB) Forget(ctx context.Context, node string) error {
	_, err := db.pool.Exec(ctx, forgetNode, node)
	return Explain(err)
}
