package cluster

import (
	"context"
	"errors"
	"strconv"
	"time"

	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/internal/valkey"
)

const (
	// partTime is how long a part's Beat may take, and Stop waits for the engine.
	partTime = time.Second
	// startTime is how long Start waits until the ledger is whole.
	startTime = 2 * time.Second
	// healPause is between two attempts to heal something.
	healPause = 250 * time.Millisecond
)

// Start takes the lease. If the engine is away, the node goes on trying, and Start returns nil.
func (n *Node) Start(ctx context.Context) error {
	after, err := n.begin(ctx)
	if err != nil && !errors.Is(err, valkey.ErrUnavailable) {
		return err
	}
	var life context.Context
	life, n.stop = context.WithCancel(context.WithoutCancel(ctx))
	n.running.Go(func() { n.beats(life) })
	n.running.Go(func() { n.heals(life) })
	n.running.Go(func() { n.follow(life, after) })
	if err == nil {
		ctx, cancel := context.WithTimeout(ctx, startTime)
		defer cancel()
		_ = n.Await(ctx) // the node goes on without this one
	}
	return nil
}

// begin takes the first lease. A process of the same name that does not renew its lease is dead soon.
func (n *Node) begin(ctx context.Context) (after string, err error) {
	for end := time.Now().Add(n.config.Lease/3 + n.config.Beat/2); ; {
		after, err = n.enter(ctx)
		if !errors.Is(err, ErrNameTaken) || time.Now().After(end) {
			break
		}
		select {
		case <-ctx.Done():
			return "", ctx.Err()
		case <-time.After(n.config.Beat / 2):
		}
	}
	if err == nil {
		err = n.renew(ctx)
	}
	n.record(err)
	return after, err
}

// eventEntered has the name of a node that has taken a lease. The others beat at once, which shows them
// the node: if the engine loses everything, they have to know whom to wait for.
const eventEntered = "entered"

// enter takes a lease under a new ID. It returns the ID of the newest event.
func (n *Node) enter(ctx context.Context) (after string, err error) {
	n.mu.Lock()
	id, incarnation := n.state.id, n.state.incarnation
	n.mu.Unlock()
	reply, err := n.send(ctx, enterScript, id, "", []string{
		n.config.Node, n.process, n.lease(), layout, strconv.Itoa(incarnation), n.config.Hash(),
	})
	if err != nil {
		return "", err
	}
	words, err := reply.AsStrSlice()
	if err != nil {
		return "", err
	}
	if incarnation, err = strconv.Atoi(words[0]); err != nil {
		return "", err
	}
	_ = n.Publish(ctx, eventEntered, n.config.Node) // else they see it at their next beats
	n.mu.Lock()
	defer n.mu.Unlock()
	n.state.rejoin = !n.state.since.IsZero() // else it holds nothing
	if n.state.rejoin {
		n.counts.leasesLost.Add(1)
	}
	n.state.id = n.config.Node + "." + words[0]
	n.state.incarnation, n.state.leased, n.state.beaten = incarnation, true, false
	n.state.settle()
	return words[1], nil
}

// lease is the time of a lease for a script.
func (n *Node) lease() string { return strconv.FormatInt(n.config.Lease.Microseconds(), 10) }

// beats renews the lease until the node stops.
func (n *Node) beats(ctx context.Context) {
	tick := time.NewTicker(n.config.Beat)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		case <-n.beatNow:
		}
		if err := n.beat(ctx); err == nil && n.healthy() {
			n.beatParts(ctx)
		}
	}
}

// beat renews the lease, or takes a new one.
func (n *Node) beat(ctx context.Context) error {
	err := n.renew(ctx)
	if errors.Is(err, ErrLeaseLost) {
		if _, err = n.enter(ctx); err == nil {
			err = n.renew(ctx)
		}
	}
	if ctx.Err() == nil {
		n.record(err)
	}
	return err
}

// record keeps how the last beat went. It logs what has changed.
func (n *Node) record(err error) {
	n.mu.Lock()
	failed, first := n.state.failure, n.state.since.IsZero()
	n.state.failure = err
	if first || (err == nil) != (failed == nil) {
		n.state.since = time.Now()
	}
	n.mu.Unlock()
	switch {
	case err != nil && (failed == nil || failed.Error() != err.Error()):
		n.config.Logger.Error("the lease of this node cannot be renewed", zap.String("node", n.config.Node), zap.Error(err))
	case err == nil && failed != nil:
		n.config.Logger.Info("the lease of this node is renewed again", zap.String("node", n.ID()))
	}
}

// renew runs beat.lua, and says what has to be healed.
func (n *Node) renew(ctx context.Context) error {
	n.mu.Lock()
	id, leased := n.state.id, n.state.leased
	n.mu.Unlock()
	if !leased {
		return ErrLeaseLost
	}
	sent := time.Now()
	config := n.config.Hash()
	reply, err := n.send(ctx, beatScript, id, "", []string{n.config.Node, n.lease(), config})
	received := time.Now()
	if err != nil {
		if errors.Is(err, ErrLeaseLost) {
			n.config.Logger.Warn("this node was taken for dead", zap.String("node", id))
			n.lost(id)
		}
		return err
	}
	words, err := reply.AsStrSlice()
	if err != nil {
		return err
	}
	a, err := readAnswer(words)
	if err != nil {
		return err
	}
	n.clock.measure(sent, received, a.now)
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.state.at.IsZero() && a.epoch == a.replication {
		n.state.epoch, n.state.era = a.epoch, a.era // a new process has nothing to say again
	}
	n.state.last, n.state.at, n.state.beaten = a, received, true
	if a.epoch == a.replication {
		n.state.known = n.state.known[:0]
		for _, p := range a.peers {
			n.state.known = append(n.state.known, NameOf(p.id))
		}
	}
	if (n.state.epoch != a.replication || a.epoch != a.replication || n.state.era != a.era) && sent.After(n.state.healed) {
		n.state.replay = true
	}
	if a.dead != "" {
		n.state.dead = append(n.state.dead, a.dead)
	}
	n.state.settle()
	if !n.state.healthy() || len(n.state.dead) > 0 || n.state.inspected != a.replication {
		wake(n.work)
	}
	if differ := n.state.compare(config); len(differ) > 0 {
		n.config.Logger.Warn("the limits of nodes differ: each counts with its own", zap.String("node", id), zap.Strings("others", differ))
	}
	return nil
}

// beatParts tells the parts that the lease was renewed.
func (n *Node) beatParts(ctx context.Context) {
	for _, p := range n.parts {
		if p.Beat == nil {
			continue
		}
		ctx, cancel := context.WithTimeout(ctx, partTime)
		if err := p.Beat(ctx); err != nil && ctx.Err() == nil {
			n.config.Logger.Warn("a part of the node has missed a beat", zap.String("part", p.Name), zap.Error(err))
		}
		cancel()
	}
}

// healthy reports whether nothing has to be healed.
func (n *Node) healthy() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.state.healthy()
}

// lost says that the lease of an ID has ended.
func (n *Node) lost(id string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.state.id == id {
		n.state.leased = false
		n.state.settle()
	}
}

// notice starts the healing after an error of a script that ran under an ID and an epoch.
func (n *Node) notice(err error, id, epoch string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	switch {
	case errors.Is(err, ErrLeaseLost) && n.state.id == id:
		n.state.leased = false
	case errors.Is(err, ErrFenced) && n.state.epoch == epoch:
		n.state.replay = true
		wake(n.work)
	case !errors.Is(err, ErrClock):
		return
	}
	n.state.settle()
	wake(n.beatNow)
}

// wake fills a channel of one place.
func wake(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// Stop gives the lease back, and with it what the parts hold.
func (n *Node) Stop() {
	n.stop()
	n.running.Wait()
	n.mu.Lock()
	id, leased := n.state.id, n.state.leased
	n.state.leased = false
	n.state.settle()
	n.mu.Unlock()
	if !leased {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), partTime)
	defer cancel()
	nothing := "1"
	if err := n.parts.reap(ctx, id); err != nil {
		nothing = "" // another node does it
		n.config.Logger.Warn("the node has not given everything back", zap.String("node", id), zap.Error(err))
	}
	if _, err := n.send(ctx, leaveScript, id, "", []string{n.config.Node, nothing}); err != nil {
		n.config.Logger.Warn("the node has not given its lease back", zap.String("node", id), zap.Error(err))
	}
}
