// Package socket is what WebSockets of callers have in common, whatever is said over them: how many
// a key may have, how their messages are read, when they end and why.
//
//	sockets := socket.NewSockets(process, kind, limits, now) // those of a configuration
//	err := sockets.Enter(key)                                // 429 503, before the answer
//	sockets.Add(conn)
//	upload, data, err := messages.Next()                       // an error may be an [End]
//	sockets.Leave(key, conn)
//
// A connection holds nothing of the handler that has accepted it, and no configuration holds a
// connection: one that is replaced tells its connections to end.
package socket

import (
	"context"
	"sync"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
)

const (
	// LifeTime is when a connection ends that is idle, and LongestLife when one ends after its
	// response: OpenAI ends them after an hour.
	LifeTime    = 55 * time.Minute
	LongestLife = time.Hour
)

// Conn is an open connection. Its methods may be called by any goroutine.
type Conn interface {
	// End ends it at once, or after the response that is being made.
	End(*End)
	// Age returns since when it is open, and since when it is idle, the zero time if it is not.
	Age() (begun, idle time.Time)
	// Still reports whether its key is good.
	Still() bool
}

// Kind is what is different between the connections of two APIs.
type Kind struct {
	Option string        // of the configuration
	Idle   time.Duration // how long a connection stays open without a response that is made
	Rested *End          // the end of one that was idle for so long
}

// Limits bound the connections of a process.
type Limits struct {
	PerKey int // of one key
	Most   int // of all keys
}

// Process is what the connections of one kind of all configurations of a process share.
type Process struct {
	mu   sync.Mutex // guards the following
	open int
	keys map[string]*ofKey
}

// ofKey is what is counted of a key.
type ofKey struct {
	open   int
	events Window
}

// NewProcess returns a process without connections.
func NewProcess() *Process { return &Process{keys: map[string]*ofKey{}} }

// Sockets are the open connections of one kind of a configuration.
type Sockets struct {
	*Process
	kind   Kind
	limits Limits
	now    func() time.Time

	ended *End // of new connections; nil while they may come
	all   map[Conn]struct{}
}

// NewSockets returns the connections of a configuration: none yet.
func NewSockets(p *Process, k Kind, l Limits, now func() time.Time) *Sockets {
	return &Sockets{Process: p, kind: k, limits: l, now: now, all: map[Conn]struct{}{}}
}

// Accepts reports whether connections may open: not when the configuration ends.
func (s *Sockets) Accepts() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ended == nil
}

// Enter counts a connection of a key that is about to open. The error is 429 or 503.
func (s *Sockets) Enter(key string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	k := s.keys[key]
	refused := func(by, format string, n int) error {
		e := apierror.New(apierror.ConcurrencyLimitExceeded, format, n)
		e.RefusedBy = "gateway: " + s.kind.Option + " " + by
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

// Add lists a connection that is open.
func (s *Sockets) Add(opened Conn) {
	s.mu.Lock()
	s.all[opened] = struct{}{}
	ended := s.ended
	s.mu.Unlock()
	if ended != nil { // while it opened
		opened.End(ended)
	}
}

// Leave is the end of a connection that Enter has counted, nil for one that never opened.
func (s *Sockets) Leave(key string, gone Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.all, gone)
	s.open--
	k := s.keys[key]
	if k.open--; k.open == 0 && !k.events.counts(s.now()) {
		delete(s.keys, key)
	}
}

// Take counts an event of a key. It reports false if there were more than so many in a minute.
func (s *Sockets) Take(key string, most int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	k := s.keys[key]
	return k == nil || k.events.Take(s.now(), most) // nil: the client has left
}

// Open returns how many connections are open, of all configurations.
func (p *Process) Open() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.open
}

func (s *Sockets) list() (all []Conn) {
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
		begun, idle := one.Age()
		switch age := now.Sub(begun); {
		case !one.Still():
			one.End(&BadKey)
		case !idle.IsZero() && now.Sub(idle) >= s.kind.Idle:
			one.End(s.kind.Rested)
		case !idle.IsZero() && age >= LifeTime:
			one.End(&Old)
		case age >= LongestLife:
			one.End(&HourLong)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for key, k := range s.keys {
		if k.open == 0 && !k.events.counts(now) {
			delete(s.keys, key)
		}
	}
}

// Replaced ends all connections of a configuration that another one has replaced: idle ones at
// once, the others after their response.
func (s *Sockets) Replaced() { s.endAll(&Replaced) }

// Drain is Replaced for a process that exits. It waits until all have ended, or ctx has.
func (s *Sockets) Drain(ctx context.Context) {
	s.endAll(&Shutdown)
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

func (s *Sockets) endAll(e *End) {
	s.mu.Lock()
	if s.ended == nil {
		s.ended = e
	}
	s.mu.Unlock()
	for _, one := range s.list() {
		one.End(e)
	}
}

// Window counts what happens in a minute.
type Window struct {
	begun time.Time
	n     int
}

// Take counts one more, and reports whether that is at most so many.
func (w *Window) Take(now time.Time, most int) bool {
	if !w.counts(now) {
		*w = Window{begun: now}
	}
	w.n++
	return w.n <= most
}

// counts reports whether anything was counted in the last minute.
func (w *Window) counts(now time.Time) bool { return w.n > 0 && now.Sub(w.begun) < time.Minute }
