package responsesocket

import (
	"context"
	"sync"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
)

// The default limits of connections.
const (
	DefaultPerKey = 10
	DefaultMost   = 1000
)

// Limits bound the connections of a process.
type Limits struct {
	PerKey int // of one key
	Most   int // of all keys
}

// Process is what the connections of all configurations of a process share.
type Process struct {
	mu     sync.Mutex // guards the following
	open   int
	keys   map[string]*ofKey
	states states
}

// ofKey is what is counted of a key.
type ofKey struct {
	open    int
	warmUps window
}

// NewProcess returns a process without connections.
func NewProcess() *Process {
	return &Process{keys: map[string]*ofKey{}, states: states{most: MaxStates}}
}

// Sockets are the open connections of a configuration.
type Sockets struct {
	*Process
	limits Limits
	now    func() time.Time

	ended *end // of new connections; nil while they may come
	all   map[*socket]struct{}
}

// NewSockets returns the connections of a configuration: none yet.
func NewSockets(p *Process, l Limits, now func() time.Time) *Sockets {
	return &Sockets{Process: p, limits: l, now: now, all: map[*socket]struct{}{}}
}

// Accepts reports whether connections may open: not when the configuration ends. Clients then go on
// over HTTP.
func (s *Sockets) Accepts() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ended == nil
}

// enter counts a connection that is about to open. The error is 429 or 503.
func (s *Sockets) enter(key string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	k := s.keys[key]
	refused := func(by, format string, n int) error {
		e := apierror.New(apierror.ConcurrencyLimitExceeded, format, n)
		e.RefusedBy = "gateway: responses_websocket " + by
		return e
	}
	switch {
	case s.ended != nil:
		return apierror.New(apierror.ShuttingDown, "the configuration of this connection was replaced; try again on a new connection")
	case k != nil && k.open >= s.limits.PerKey:
		return refused("per_key", "the key has %d open WebSockets, which is as many as it may have", k.open)
	case s.open >= s.limits.Most:
		return refused("connections", "the gateway has %d open WebSockets, which is as many as it may have", s.open)
	case k == nil:
		k = new(ofKey)
		s.keys[key] = k
	}
	k.open++
	s.open++
	return nil
}

// add lists a connection that is open.
func (s *Sockets) add(new *socket) {
	s.mu.Lock()
	s.all[new] = struct{}{}
	ended := s.ended
	s.mu.Unlock()
	if ended != nil { // while it opened
		new.end(ended)
	}
}

// leave is the end of a connection that enter has counted.
func (s *Sockets) leave(key string, gone *socket) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.all, gone)
	s.open--
	k := s.keys[key]
	if k.open--; k.open == 0 && !k.warmUps.counts(s.now()) {
		delete(s.keys, key)
	}
}

// warmUp counts a warm-up of a key. It reports false if that is too many.
func (s *Sockets) warmUp(key string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	k := s.keys[key]
	return k == nil || k.warmUps.take(s.now(), maxWarmUps) // nil: the client has left
}

// Open returns how many connections are open, of all configurations.
func (s *Sockets) Open() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.open
}

func (s *Sockets) list() (all []*socket) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for one := range s.all {
		all = append(all, one)
	}
	return all
}

// lookEach is how often connections are looked at: one whose key was deleted ends within a second.
const lookEach = 500 * time.Millisecond

// Watch ends connections that are idle or old, or whose key may not call any more, until ctx ends.
func (s *Sockets) Watch(ctx context.Context) {
	tick := time.NewTicker(lookEach)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			s.look()
		}
	}
}

func (s *Sockets) look() {
	now := s.now()
	for _, one := range s.list() {
		begun, idle := one.age()
		switch age := now.Sub(begun); {
		case !one.still():
			one.end(&endKey)
		case !idle.IsZero() && now.Sub(idle) >= IdleTime:
			one.end(&endIdle)
		case !idle.IsZero() && age >= LifeTime:
			one.end(&endLife)
		case age >= LongestLife:
			one.end(&endLongest)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for key, k := range s.keys {
		if k.open == 0 && !k.warmUps.counts(now) {
			delete(s.keys, key)
		}
	}
}

// Replaced ends all connections of a configuration that another one has replaced: idle ones at
// once, the others after their turn.
func (s *Sockets) Replaced() { s.endAll(&endReplaced) }

// Drain is Replaced for a process that exits. It waits until all have ended, or ctx has.
func (s *Sockets) Drain(ctx context.Context) {
	s.endAll(&endShutdown)
	tick := time.NewTicker(lookEach / 10)
	defer tick.Stop()
	for s.Open() > 0 { // those of older configurations, too
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

func (s *Sockets) endAll(e *end) {
	s.mu.Lock()
	if s.ended == nil {
		s.ended = e
	}
	s.mu.Unlock()
	for _, one := range s.list() {
		one.end(e)
	}
}

// window counts what happens in a minute.
type window struct {
	begun time.Time
	n     int
}

// take counts one more, and reports whether that is at most so many.
func (w *window) take(now time.Time, most int) bool {
	if !w.counts(now) {
		*w = window{begun: now}
	}
	w.n++
	return w.n <= most
}

// counts reports whether anything was counted in the last minute.
func (w *window) counts(now time.Time) bool { return w.n > 0 && now.Sub(w.begun) < time.Minute }
