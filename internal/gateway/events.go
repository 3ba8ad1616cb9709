package gateway

import (
	"sync"

	"go.uber.org/zap"
)

// maxQueuedEvents bounds the events that wait for slow subscribers. Further events are dropped, and
// the log says so.
const maxQueuedEvents = 1024

// Emitter hands an event to the subscribers of one configuration. It may block.
type Emitter func(name string, data map[string]any)

type event struct {
	name string
	data map[string]any
}

// Observed reports whether a configuration has a subscriber for the events of that name.
type Observed func(name string) bool

// events brings events, one after another, to the subscribers of the current configuration. A slow
// subscriber delays other events, never the sender.
type events struct {
	queue chan event

	mu      sync.Mutex // guards the following
	emitter Emitter    // nil: no subscribers
	seen    Observed   // nil: all
	logger  *zap.Logger
	lost    int // dropped since the last one that was queued
	running bool
	closed  bool
}

func newEvents() *events { return &events{queue: make(chan event, maxQueuedEvents)} }

// subscribe makes the subscribers of a configuration the current ones. The first subscribe starts
// the goroutine that emits, which ends after close.
func (e *events) subscribe(emitter Emitter, seen Observed, logger *zap.Logger) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.emitter, e.seen, e.logger = emitter, seen, logger
	if !e.running && !e.closed {
		e.running = true
		go e.run()
	}
}

func (e *events) run() {
	for next := range e.queue {
		e.mu.Lock()
		emitter := e.emitter
		e.mu.Unlock()
		if emitter != nil {
			emitter(next.name, next.data)
		}
	}
}

// emit queues an event; it never waits. Without a subscribe before it the event is dropped.
func (e *events) emit(name string, data map[string]any) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed || !e.running {
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

// Emit queues an event for the subscribers of the current configuration.
func (s *State) Emit(name string, data map[string]any) { s.events.emit(name, data) }

// Observed reports whether Emit brings an event of that name to anybody now.
func (s *State) Observed(name string) bool {
	e := s.events
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.running && !e.closed && (e.seen == nil || e.seen(name))
}

// close lets the goroutine end when it has emitted what is queued. It does not wait: the caller may
// be a subscriber.
func (e *events) close() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.closed {
		e.closed = true
		close(e.queue)
	}
}
