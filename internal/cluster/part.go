package cluster

import (
	"context"
	"errors"
	"fmt"
)

// Part is a part of the gateway that keeps something in the engine. All functions may be nil. All but
// Beat run one after the other; one that has failed runs again.
type Part struct {
	Name string
	// Beat runs after each renewal of the lease. It has a second.
	Beat func(ctx context.Context) error
	// Rejoin states everything that this node holds, under its new ID: the old one was taken for dead.
	Rejoin func(ctx context.Context) error
	// Reap takes over what a dead node held; dead is its ID. It may run again after an error, and
	// on another node. A node that stops calls Reap with its own ID while its lease is alive.
	Reap func(ctx context.Context, dead string) error
	// Replay says again what the engine may have lost: a replica was promoted, it was restarted, or
	// this node was cut off in the meantime. wiped: it had lost everything, and Load has put back what
	// PostgreSQL keeps.
	Replay func(ctx context.Context, wiped bool) error

	// Flush writes to PostgreSQL what this node alone knows: the engine has lost everything. What ends
	// between Flush and Replay must not get into the balances that Load reads.
	Flush func(ctx context.Context) error
	// Load puts back what PostgreSQL keeps. It runs on one node, when all have flushed. It may run
	// again after an error, and on another node.
	Load func(ctx context.Context) error
}

// parts are those that have joined a node.
type parts []Part

// each runs a function of all parts that have it, and stops at an error.
func (all parts) each(ctx context.Context, what string, choose func(Part) func(context.Context) error) error {
	for _, p := range all {
		if f := choose(p); f != nil {
			if err := f(ctx); err != nil {
				return fmt.Errorf("%s: %s: %w", p.Name, what, err)
			}
		}
	}
	return nil
}

func (all parts) rejoin(ctx context.Context) error {
	return all.each(ctx, "rejoin", func(p Part) func(context.Context) error { return p.Rejoin })
}

func (all parts) flush(ctx context.Context) error {
	return all.each(ctx, "flush", func(p Part) func(context.Context) error { return p.Flush })
}

func (all parts) load(ctx context.Context) error {
	return all.each(ctx, "load", func(p Part) func(context.Context) error { return p.Load })
}

func (all parts) replay(ctx context.Context, wiped bool) error {
	return all.each(ctx, "replay", func(p Part) func(context.Context) error {
		if p.Replay == nil {
			return nil
		}
		return func(ctx context.Context) error { return p.Replay(ctx, wiped) }
	})
}

// reap runs all parts, also after one that has failed: the places and desktops of a dead node are free
// while its money has to wait for PostgreSQL.
func (all parts) reap(ctx context.Context, dead string) error {
	var failed []error
	for i := range all {
		failed = append(failed, all[i:i+1].each(ctx, "reap", func(p Part) func(context.Context) error {
			if p.Reap == nil {
				return nil
			}
			return func(ctx context.Context) error { return p.Reap(ctx, dead) }
		}))
	}
	return errors.Join(failed...)
}
