package cluster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"go.uber.org/zap"
)

// Pauses between two questions whether the other nodes have finished.
const (
	recoverPause     = 20 * time.Millisecond
	longRecoverPause = 250 * time.Millisecond
)

// heals does what beats and scripts have found to be necessary, until the node stops.
func (n *Node) heals(ctx context.Context) {
	again := time.NewTimer(0)
	defer again.Stop()
	logged := ""
	for {
		select {
		case <-ctx.Done():
			return
		case <-n.work:
		case <-again.C:
		}
		err := n.heal(ctx)
		if err == nil || ctx.Err() != nil {
			logged = ""
			continue
		}
		if err.Error() != logged {
			logged = err.Error()
			n.config.Logger.Warn("the node is not whole yet", zap.String("node", n.ID()), zap.Error(err))
		}
		again.Reset(healPause)
	}
}

// heal makes the node whole: first the ledger, then what it holds, then what the dead have held.
func (n *Node) heal(ctx context.Context) error {
	n.mu.Lock()
	s := n.state
	n.mu.Unlock()
	if !s.leased || !s.beaten {
		return nil // the next beat takes a lease, and says what else is lost
	}
	if s.replay {
		if err := n.recover(ctx); err != nil {
			return err
		}
	}
	if s.rejoin {
		if err := n.parts.rejoin(ctx); err != nil {
			return err
		}
		n.mu.Lock()
		if n.state.id == s.id {
			n.state.rejoin = false
		}
		n.state.settle()
		n.mu.Unlock()
	}
	n.inspect(ctx)
	return n.reapDead(ctx)
}

// reapDead takes over what dead nodes held.
func (n *Node) reapDead(ctx context.Context) error {
	n.mu.Lock()
	dead := n.state.dead
	n.state.dead = nil
	n.mu.Unlock()
	for _, id := range dead {
		// After an error another node is asked, or this one again.
		if err := n.parts.reap(ctx, id); err != nil {
			return fmt.Errorf("dead node %s: %w", id, err)
		}
		if _, err := n.Run(ctx, reapedScript, id); err != nil {
			return err
		}
		n.counts.reaped.Add(1)
		n.config.Logger.Info("took over what a dead node held", zap.String("dead", id))
	}
	return nil
}

// recover says again what the engine may have lost. It returns when all nodes have done so.
func (n *Node) recover(ctx context.Context) error {
	started := time.Now()
	n.mu.Lock()
	known := slices.Clone(n.state.known) // an engine that has lost everything does not know them
	era := n.state.era
	n.mu.Unlock()
	id, how, err := n.step(ctx, "begin", era, known...)
	if err != nil {
		return err
	}
	wiped := how == "wiped"
	if wiped {
		if err := n.reload(ctx, id); err != nil {
			return err
		}
	}
	if err := n.parts.replay(ctx, wiped); err != nil {
		return err
	}
	if err := n.until(ctx, "done", id, func(answer string) (bool, error) { return answer == "open", nil }); err != nil {
		return err
	}
	n.mu.Lock()
	n.state.epoch, n.state.replay, n.state.healed = id, false, time.Now()
	n.state.settle()
	n.mu.Unlock()
	n.counts.recoveries.Add(1)
	n.config.Logger.Info("the ledger is whole", zap.String("node", n.ID()), zap.String("engine was", how),
		zap.String("epoch", id), zap.Duration("took", time.Since(started)))
	return nil
}

// reload puts back what PostgreSQL keeps, when all nodes have written there what they know.
func (n *Node) reload(ctx context.Context, id string) error {
	if err := n.parts.flush(ctx); err != nil {
		return err
	}
	return n.until(ctx, "flushed", id, func(answer string) (bool, error) {
		if answer != "load" {
			return answer == "loaded", nil
		}
		if err := n.parts.load(ctx); err != nil {
			return false, err
		}
		_, answer, err := n.step(ctx, "loaded", id)
		return answer == "loaded", err
	})
}

// until repeats a step of recover.lua until finished says so.
func (n *Node) until(ctx context.Context, step, id string, finished func(answer string) (bool, error)) error {
	for pause := recoverPause; ; pause = min(2*pause, longRecoverPause) {
		_, answer, err := n.step(ctx, step, id)
		if err != nil {
			return err
		}
		if ok, err := finished(answer); ok || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause):
		}
	}
}

// step runs recover.lua.
func (n *Node) step(ctx context.Context, step, id string, names ...string) (replication, answer string, err error) {
	args := append([]string{step, n.config.Node, n.lease(), id}, names...)
	reply, err := n.Run(ctx, recoverScript, args...)
	if err != nil {
		return "", "", fmt.Errorf("recovery: %s: %w", step, err)
	}
	words, err := reply.AsStrSlice()
	if err == nil && len(words) < 2 {
		err = errors.New("recovery: a strange answer")
	}
	if err != nil {
		return "", "", err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.state.waiting = words[2:]; words[1] == "open" && len(words) > 2 {
		n.state.era, n.state.waiting = words[2], nil
	}
	return words[0], words[1], nil
}
