package gateway

import (
	"sync"

	"go.uber.org/zap"
)

// maxQueuedEvents bounds what waits for slow subscribers; further events are
// dropped and counted in the log.
const maxQueuedEvents = 1024

// Emitter hands an event to the subscribers of one configuration. It may block.
type Emitter func(name string, data map[string]any)

type event struct {
	name string
	data map[string]any
}

// events brings events to the subscribers of the newest configuration, one
// after another and never in the way of whoever has something to tell.
type events struct {
	queue chan event
	done  chan struct{} // closed when the worker has ended; nil before it began

	mu      sync.Mutex // guards the following
	emitter Emitter
	logger  *zap.Logger
	lost    int
	closed  bool
}

func newEvents() *events { return &events{queue: make(chan event, maxQueuedEvents)} }

// subscribe makes a configuration's subscribers the current ones; the first time it
// starts the worker, which ends with close.
func (e *events) subscribe(emitter Emitter, logger *zap.Logger) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.emitter, e.logger = emitter, logger
	if e.done == nil && !e.closed {
		e.done = make(chan struct{})
		go e.work(e.done)
	}
}

func (e *events) work(done chan<- struct{}) {
	defer close(done)
	for next := range e.queue {
		e.mu.Lock()
		emitter := e.emitter
		e.mu.Unlock()
		if emitter != nil {
			emitter(next.name, next.data)
		}
	}
}

// emit queues an event; it never waits.
func (e *events) emit(name string, data map[string]any) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed || e.done == nil {
		return
	}
	select {
	case e.queue <- event{name, data}:
		e.lost = 0
	default:
		if e.lost++; e.lost == 1 {
			e.logger.Warn("events are dropped: their subscribers are too slow")
		}
	}
}

// Emit queues an event for the subscribers of the newest configuration.
func (s *State) Emit(name string, data map[string]any) { s.events.emit(name, data) }

// close lets the queue run empty in the worker, which then ends. It does not
// wait: a subscriber may be the one who closes.
func (e *events) close() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.closed {
		e.closed = true
		close(e.queue)
	}
}
