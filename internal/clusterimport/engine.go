package clusterimport

import (
	"context"
	"fmt"

	"github.com/gatehouse-proxy/gatehouse/internal/valkey"
)

// Scripts about the nodes of a cluster. KEYS[1] is the tag of its keys, {gh:NAME}; T nodes has the ends
// of their leases in microseconds, T e says for which state of the engine the ledger is whole. Without
// it the first gateway that starts loads the balances from PostgreSQL.
const countNodes = `
local t = redis.call('TIME')
local running = redis.call('ZCOUNT', KEYS[1] .. 'nodes', string.format('(%.0f', t[1] * 1000000 + t[2]), '+inf')
`

var (
	living = valkey.NewScript("import-nodes", countNodes+"return running")
	forget = valkey.NewScript("import-forget", countNodes+"if running == 0 then redis.call('DEL', KEYS[1] .. 'e') end return running")
)

// run runs a script, which answers how many gateways run.
func run(ctx context.Context, to Target, script *valkey.Script) (int64, error) {
	reply, err := to.Engine.Run(ctx, script, []string{"{gh:" + to.Cluster + "}"}, nil)
	if err != nil {
		return 0, err
	}
	running, err := reply.AsInt64()
	if err == nil && running > 0 {
		err = fmt.Errorf("%w: %d of them, or wait 15 seconds if they were killed", ErrRunning, running)
	}
	return running, err
}

// checkIdle refuses a source that is not settled, and a cluster that is at work.
func checkIdle(ctx context.Context, from Source, to Target) error {
	var held int
	if err := from.Store.Reader().QueryRowContext(ctx, "SELECT count(*) FROM hold").Scan(&held); err != nil {
		return err
	}
	if held > 0 {
		return ErrCrashed
	}
	_, err := run(ctx, to, living)
	return err
}
