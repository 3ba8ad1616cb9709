package valkey

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/internal/cluster"
	"github.com/gatehouse-proxy/gatehouse/internal/limits"
)

const (
	// reapSize is how many calls of a dead node one message takes.
	reapSize = 100
	// restateSize is how many calls one message says again.
	restateSize = 64
	// loadSize is how many balances one message brings in.
	loadSize = 256
)

// recovery is what a ledger does at the beats of its node, and makes whole again what an engine, or
// another gateway, has lost.
type recovery struct {
	engine  *engine
	calls   *calls
	outbox  *outbox
	book    *book
	crashed func(limits.Crash)
	logger  *zap.Logger

	restored atomic.Uint64 // settlements that the engine had lost
}

func (r *recovery) part() cluster.Part {
	return cluster.Part{Name: "ledger", Beat: r.beat, Rejoin: r.rejoin, Reap: r.reap, Replay: r.replay, Flush: r.flush, Load: r.load}
}

// beat deletes old rows of the book, now and then.
func (r *recovery) beat(ctx context.Context) error { return r.book.prune(ctx, r.engine.node.Now()) }

// rejoin states the calls under way under the new ID of the node. Those that were charged meanwhile stay
// so until their settlement puts it right.
func (r *recovery) rejoin(ctx context.Context) error {
	open := r.calls.open()
	for len(open) > 0 {
		n := min(len(open), restateSize)
		args := make([]string, 0, 2*n)
		for _, c := range open[:n] {
			args = append(args, c.id, c.hold)
		}
		if _, err := r.engine.run(ctx, restateScript, args...); err != nil {
			return fmt.Errorf("stating the calls under way: %w", err)
		}
		open = open[n:]
	}
	return nil
}

// replay says again what the engine may have lost. Behind the fence nothing else changes accounts, and
// the marks of calls come and go with their effects: so all of this may run twice. No settlement is under
// way meanwhile: its answer would come from an engine that is no more. An engine that had lost everything
// has the settlements in the balances of the book.
func (r *recovery) replay(ctx context.Context, wiped bool) error {
	r.outbox.sending.Lock()
	defer r.outbox.sending.Unlock()
	if !wiped {
		if err := r.settleAgain(ctx, r.calls.again()); err != nil {
			return err
		}
		if err := r.settleForTheDead(ctx); err != nil {
			return err
		}
	}
	return r.rejoin(ctx)
}

// settleForTheDead says again what others have settled since the engine was copied last: they may have
// died. What they say themselves has no effect a second time.
func (r *recovery) settleForTheDead(ctx context.Context) error {
	era, newest, err := r.copied(ctx)
	if err != nil || r.book.db == nil {
		return err
	}
	err = r.book.receipts(ctx, "", era, newest-clockSlack.Microseconds(), r.settleUnknown(ctx))
	if errors.Is(err, errReceipts) {
		r.logger.Warn("settlements of gateways that died are not said again before PostgreSQL answers", zap.Error(err))
		return nil
	}
	return err
}

// settleFor says again what a dead node has settled: it may have settled at a master that is no more.
func (r *recovery) settleFor(ctx context.Context, dead string) error {
	if r.book.db == nil || dead == r.engine.node.ID() { // its own: it stops
		return nil
	}
	oldest := r.engine.node.Now().Add(-receiptsKept).UnixMicro()
	reply, err := r.engine.node.Engine().Do(ctx, "HGET", r.engine.node.Key("rec"), "since")
	if err != nil {
		return err
	}
	if since, err := reply.AsInt64(); err == nil && since < oldest {
		return nil // there was no other master
	}
	era, _, err := r.copied(ctx)
	if err != nil {
		return err
	}
	return r.book.receipts(ctx, cluster.NameOf(dead), era, oldest, r.settleUnknown(ctx))
}

// settleUnknown sends settlements of other nodes again.
func (r *recovery) settleUnknown(ctx context.Context) func([]*call) error {
	return func(all []*call) error {
		return r.settleAgain(ctx, slices.DeleteFunc(all, func(c *call) bool { return r.calls.knows(c.id) }))
	}
}

// copied returns when the balances of the engine were loaded from the book last, and the newest
// settlement that it had when it was promoted, as long as the fence is shut. Both are its time in
// microseconds, 0 for never.
func (r *recovery) copied(ctx context.Context) (era, newest int64, err error) {
	reply, err := r.engine.node.Engine().Do(ctx, "MGET", r.engine.node.Key("era"), r.engine.node.Key("l"))
	if err != nil {
		return 0, 0, err
	}
	parts, err := reply.ToArray()
	if err != nil || len(parts) != 2 {
		return 0, 0, errAnswer
	}
	if text, err := parts[0].ToString(); err == nil {
		if era, err = parseEra(text); err != nil {
			return 0, 0, err
		}
	}
	if text, err := parts[1].ToString(); err == nil {
		if newest, err = strconv.ParseInt(text, 10, 64); err != nil {
			return 0, 0, errAnswer
		}
	}
	return era, newest, nil
}

// settleAgain sends settlements again. The book has them already; if it has a crash of the call too, that
// is taken back.
func (r *recovery) settleAgain(ctx context.Context, again []*call) error {
	lost := 0
	for len(again) > 0 {
		n := min(len(again), batchSize)
		settled, err := r.engine.settle(ctx, "", again[:n])
		if err != nil {
			return fmt.Errorf("sending settlements again: %w", err)
		}
		for i, c := range again[:n] {
			if lines := settled.lines[i]; lines != nil && !c.crashed {
				r.book.uncrash(c.id, lines)
			}
		}
		lost += n - strings.Count(settled.letters, string(endedBefore))
		again = again[n:]
	}
	if lost > 0 {
		r.restored.Add(uint64(lost))
		r.logger.Warn("the engine had lost settlements, and has them again", zap.Int("calls", lost))
	}
	return nil
}

// flush writes the settlements that the engine has answered to the book. The fence is shut: the others
// wait in the outbox until the balances are loaded.
func (r *recovery) flush(ctx context.Context) error {
	r.outbox.sending.Lock()
	r.calls.forget()
	r.outbox.sending.Unlock()
	if err := r.book.writer.Flush(ctx); err != nil {
		return fmt.Errorf("writing what was spent: %w", err)
	}
	return nil
}

// load fills an engine that has lost everything with the balances of the book.
func (r *recovery) load(ctx context.Context) error {
	if r.book.db == nil {
		return nil
	}
	var args []string
	send := func() error {
		if len(args) == 0 {
			return nil
		}
		_, err := r.engine.run(ctx, loadScript, args...)
		args = args[:0]
		return err
	}
	err := r.book.running(ctx, r.engine.node.Now(), func(account string, begins, ends time.Time, spent int64) error {
		args = append(args, account, number(seconds(begins)), ending(ends), number(min(max(spent, 0), limits.MaxSharedBudget)))
		if len(args) < 4*loadSize {
			return nil
		}
		return send()
	})
	if err = errors.Join(err, send()); err != nil {
		return fmt.Errorf("loading what was spent: %w", err)
	}
	return nil
}

// reap charges the calls of a dead node what they had reserved. A crash stays in a list of the engine
// until it is in the book.
func (r *recovery) reap(ctx context.Context, dead string) error {
	if err := r.settleFor(ctx, dead); err != nil {
		return err
	}
	var written []string
	for {
		reply, err := r.engine.run(ctx, reapScript, append([]string{dead, strconv.Itoa(reapSize)}, written...)...)
		if err != nil {
			return fmt.Errorf("charging the calls of a node that died: %w", err)
		}
		crashes, err := reply.AsStrSlice()
		if err != nil || len(crashes) == 0 {
			return err
		}
		for _, crash := range crashes {
			r.crash(crash)
		}
		if err := r.book.writer.Flush(ctx); err != nil {
			return fmt.Errorf("writing the calls of a node that died: %w", err)
		}
		r.logger.Warn("calls of a gateway that died were charged what they had reserved", zap.String("node", dead), zap.Int("calls", len(crashes)))
		written = crashes
	}
}

// crash writes a call of a dead node.
func (r *recovery) crash(text string) {
	id, hold, ok := cutCall(text)
	at, lines, err := parseHold(hold)
	if !ok || err != nil {
		r.logger.Error("a call of a gateway that died cannot be read", zap.Error(errors.Join(err, errAnswer)))
		return
	}
	r.book.crash(id, lines)
	if r.crashed == nil {
		return
	}
	c := limits.Crash{Call: id, At: at}
	for i := range lines {
		c.Charge(lines[i].budget.Unit, lines[i].amount)
	}
	r.crashed(c)
}

// cutCall reads "<length>:<call><hold>".
func cutCall(text string) (id, hold string, ok bool) {
	length, rest, ok := strings.Cut(text, ":")
	n, err := strconv.Atoi(length)
	if !ok || err != nil || n < 0 || n > len(rest) {
		return "", "", false
	}
	return rest[:n], rest[n:], true
}
