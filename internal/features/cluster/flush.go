package cluster

import (
	"context"
	"strconv"

	"github.com/gatehouse-proxy/gatehouse/internal/cluster"
)

// flushes is how the nodes of a cluster ask one another to write their rows, for [postgres.Sync].
//
//	T fl     hash: "asked" -> the last number; node -> the last number that it has answered
//	event    flush: a number; write what waits, then answer it
type flushes struct{ node *cluster.Node }

const (
	// flushEvent is the kind of the event.
	flushEvent = "flush"
	// firstNumber is less than the microseconds since 1970. Numbers of an engine that has lost its
	// keys go on from there, so that they are higher than those before.
	firstNumber = 1 << 40
)

// others are the IDs of the other live nodes.
func (f flushes) others() (ids []string) {
	for _, id := range f.node.Nodes() {
		if id != f.node.ID() {
			ids = append(ids, id)
		}
	}
	return ids
}

// Alone implements [postgres.Peers].
func (f flushes) Alone() bool { return len(f.others()) == 0 }

// Ask implements [postgres.Peers].
func (f flushes) Ask(ctx context.Context) (int64, error) {
	number, err := f.add(ctx, 1)
	if err == nil && number < firstNumber {
		number, err = f.add(ctx, f.node.Now().UnixMicro())
	}
	if err != nil {
		return 0, err
	}
	return number, f.node.Publish(ctx, flushEvent, strconv.FormatInt(number, 10))
}

func (f flushes) add(ctx context.Context, n int64) (int64, error) {
	reply, err := f.node.Engine().Do(ctx, "HINCRBY", f.node.Key("fl"), "asked", strconv.FormatInt(n, 10))
	if err != nil {
		return 0, err
	}
	return reply.AsInt64()
}

// Answer implements [postgres.Peers].
func (f flushes) Answer(ctx context.Context, number int64) error {
	_, err := f.node.Engine().Do(ctx, "HSET", f.node.Key("fl"), f.node.ID(), strconv.FormatInt(number, 10))
	return err
}

// Answered implements [postgres.Peers].
func (f flushes) Answered(ctx context.Context, number int64) (bool, error) {
	others := f.others()
	if len(others) == 0 {
		return true, nil
	}
	reply, err := f.node.Engine().Do(ctx, "HMGET", f.node.Key("fl"), others...)
	if err != nil {
		return false, err
	}
	answers, err := reply.ToArray()
	if err != nil {
		return false, err
	}
	for _, answer := range answers {
		n, _ := answer.AsInt64() // nothing counts as 0: it has answered nothing yet
		if n < number {
			return false, nil
		}
	}
	return true, nil
}

// on calls answer with each number that is asked. It must be called before the node starts.
func (f flushes) on(answer func(number int64)) {
	f.node.On(flushEvent, func(text string) {
		if number, err := strconv.ParseInt(text, 10, 64); err == nil {
			answer(number)
		}
	})
}
