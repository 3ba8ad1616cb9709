package valkey

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/limits"
	"github.com/gatehouse-proxy/gatehouse/internal/queue"
)

const (
	// maxWaiting is how many settlements may wait for the engine before no more calls begin: minutes of
	// calls. They take up to 150 MiB. Those of the calls under way come on top.
	maxWaiting = 1 << 18
	// batch is how many settlements go into one message.
	batchSize = 64
	// groupTime is the least time between two messages, unless somebody flushes: the engine does five
	// settlements of a message in the time of one alone.
	groupTime = 5 * time.Millisecond
	// sendTimeout bounds one message; what it has done is found out by the next.
	sendTimeout = 2 * time.Second
	// firstPause and longestPause are the times between two attempts to send a message.
	firstPause, longestPause = 5 * time.Millisecond, 500 * time.Millisecond
)

// outbox sends settlements to the engine, in their order, one message at a time: so the engine only
// has to remember its answer to the last one. Nothing is dropped.
type outbox struct {
	send    func(ctx context.Context, number uint64, batch []*call) error
	sending sync.Mutex // held while a message is under way
	pause   func(ctx context.Context, after error, pause time.Duration) error
	most    int // may wait

	queue *queue.Queue[*call]
	end   context.CancelFunc
	done  chan struct{}
}

func newOutbox(send func(context.Context, uint64, []*call) error, pause func(context.Context, error, time.Duration) error) *outbox {
	ctx, end := context.WithCancel(context.Background())
	o := &outbox{send: send, pause: pause, most: maxWaiting, queue: queue.New[*call](), end: end, done: make(chan struct{})}
	go o.run(ctx)
	return o
}

// full reports whether no more calls should begin.
func (o *outbox) full() bool { return o.length() >= o.most }

// length returns how many settlements wait.
func (o *outbox) length() int { return o.queue.Status().Items }

// add queues a settlement.
func (o *outbox) add(c *call) { _ = o.queue.Add(c, 0, 1, nil) } // it has no bound of its own

// flush returns when all settlements that were added before are answered.
func (o *outbox) flush(ctx context.Context) error {
	err := o.queue.Flush(ctx)
	if errors.Is(err, queue.ErrClosed) {
		return limits.ErrUnavailable
	}
	return err
}

// close ends the sending. What waits is not sent any more: flush before.
func (o *outbox) close() {
	o.end()
	<-o.done
	o.queue.Close()
	o.queue.Fail(limits.ErrUnavailable)
}

func (o *outbox) run(ctx context.Context) {
	defer close(o.done)
	group := time.NewTimer(0)
	defer group.Stop()
	for number := uint64(1); ; number++ {
		select {
		case <-group.C:
		case <-o.queue.Urgent:
		case <-ctx.Done():
			return
		}
		batch, last := o.next(ctx)
		group.Reset(groupTime)
		if batch == nil || !o.deliver(ctx, number, batch) {
			return
		}
		o.queue.Settle(last)
	}
}

// next waits for settlements and takes those of a message.
func (o *outbox) next(ctx context.Context) (batch []*call, last uint64) {
	for {
		if batch, last = o.queue.Take(batchSize, nil); len(batch) > 0 {
			return batch, last
		}
		select {
		case <-o.queue.First:
		case <-o.queue.Urgent:
		case <-ctx.Done():
			return nil, 0
		}
	}
}

// deliver sends a message until it is answered.
func (o *outbox) deliver(ctx context.Context, number uint64, batch []*call) bool {
	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		err := o.attempt(ctx, number, batch)
		if err == nil {
			return true
		}
		if o.pause(ctx, err, pause) != nil {
			return false
		}
	}
}

func (o *outbox) attempt(ctx context.Context, number uint64, batch []*call) error {
	o.sending.Lock()
	defer o.sending.Unlock()
	ctx, cancel := context.WithTimeout(ctx, sendTimeout)
	defer cancel()
	return o.send(ctx, number, batch)
}

// wait returns after a while, or with the error of the context.
func wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
