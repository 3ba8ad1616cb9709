package postgres

import (
	"context"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/internal/queue"
)

const (
	// pollInterval is how often a gateway that waits looks for answers: a batch takes some
	// milliseconds.
	pollInterval = 10 * time.Millisecond
	// answerTimeout bounds a flush for other gateways. They have stopped waiting long before.
	answerTimeout = 2 * time.Second
)

// Peers are the other gateways of a cluster.
type Peers interface {
	// Alone reports whether there are no others.
	Alone() bool
	// Ask makes the others call [Sync.Answer] with a number, which is higher than all before.
	Ask(ctx context.Context) (number int64, err error)
	// Answer tells the others that what this gateway had appended when it heard of a number is in the
	// database.
	Answer(ctx context.Context, number int64) error
	// Answered reports whether all live gateways have answered this number, or a higher one.
	Answered(ctx context.Context, number int64) (bool, error)
}

// Sync makes a query on one gateway see what was appended on others. The one that asks waits until
// each has flushed its Writer. Numbers, not clocks, say which answers are new enough:
//
//	A:  ask 7                      has everybody answered 7 or more? … then the query runs
//	B:         flush, answer 7
//	C:         flush, answer 7
type Sync struct {
	writer *Writer
	peers  Peers
	logger *zap.Logger

	number  atomic.Int64 // the highest that was asked
	asked   chan struct{}
	stop    context.CancelFunc
	stopped chan struct{}
}

// NewSync returns a Sync that answers until Close.
func NewSync(w *Writer, p Peers, logger *zap.Logger) *Sync {
	ctx, cancel := context.WithCancel(context.Background())
	s := &Sync{writer: w, peers: p, logger: logger, asked: make(chan struct{}, 1), stop: cancel, stopped: make(chan struct{})}
	go func() {
		defer close(s.stopped)
		for {
			select {
			case <-s.asked:
				s.flush(ctx)
			case <-ctx.Done():
				return
			}
		}
	}()
	return s
}

// Close ends what answers others.
func (s *Sync) Close() {
	s.stop()
	<-s.stopped
}

// Answer flushes the Writer and answers a number, soon. Those who ask meanwhile share the next answer.
// It does not wait.
func (s *Sync) Answer(number int64) {
	for old := s.number.Load(); old < number && !s.number.CompareAndSwap(old, number); old = s.number.Load() {
	}
	queue.Signal(s.asked)
}

func (s *Sync) flush(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	number := s.number.Load()
	err := s.writer.Flush(ctx)
	if err == nil {
		err = s.peers.Answer(ctx, number)
	}
	if err != nil {
		s.logger.Debug("flushing for another gateway", zap.Error(err))
	}
}

// Wait returns when all other gateways have written what they had appended before, or ctx ends. It
// returns at once if they cannot be asked.
func (s *Sync) Wait(ctx context.Context) {
	if s.peers.Alone() {
		return
	}
	number, err := s.peers.Ask(ctx)
	if err != nil {
		return
	}
	poll := time.NewTicker(pollInterval)
	defer poll.Stop()
	for {
		select {
		case <-poll.C:
		case <-ctx.Done():
			return
		}
		if done, err := s.peers.Answered(ctx, number); done || err != nil {
			return
		}
	}
}
