package valkey

import (
	"errors"
	"fmt"
	"sync/atomic"
	"time"
)

const (
	// mostUnderWay bounds the messages that wait for an answer. The library's queue has 1024 places,
	// and does not heed a deadline when they are taken.
	mostUnderWay = 512
	// mostImportant is the bound for those that keep a lease or heal a cluster.
	mostImportant = mostUnderWay + 64
	// mostMisses in a row shut the gate.
	mostMisses = 3
)

var (
	errTooMany      = fmt.Errorf("%d messages are under way", mostUnderWay)
	errNotConnected = errors.New("there is no connection yet")
	errClosed       = errors.New("the client is closed")
)

// gate lets messages through while the server answers and not too many are under way. The zero value
// is open.
type gate struct {
	underWay atomic.Int64
	misses   atomic.Int64 // in a row
	shut     atomic.Pointer[shutReason]
	since    atomic.Int64 // Unix time (ns) of the last change of shut
}

type shutReason struct{ err error }

// enter counts a message, unless most are under way or the gate is shut.
func (g *gate) enter(most int64) error {
	if shut := g.shut.Load(); shut != nil {
		return shut.err
	}
	if g.underWay.Add(1) > most {
		g.leave()
		return errTooMany
	}
	return nil
}

func (g *gate) leave() { g.underWay.Add(-1) }

// answered counts an answer.
func (g *gate) answered() {
	if g.misses.Load() != 0 {
		g.misses.Store(0)
	}
}

// missed counts a message without an answer.
func (g *gate) missed(err error) {
	if g.misses.Add(1) >= mostMisses {
		g.close(err)
	}
}

// close shuts the gate.
func (g *gate) close(err error) {
	before := g.shut.Swap(&shutReason{err})
	if before == nil {
		g.since.Store(time.Now().UnixNano())
	}
}

// open lets messages through again.
func (g *gate) open() {
	g.misses.Store(0)
	if g.shut.Swap(nil) != nil {
		g.since.Store(time.Now().UnixNano())
	}
}

// reason returns why there is no connection.
func (g *gate) reason() error {
	if shut := g.shut.Load(); shut != nil {
		return shut.err
	}
	return errNotConnected
}

// Stats is how the client is at present.
type Stats struct {
	Up       bool
	Since    time.Time // it is up, or down
	Reason   string    // why it is down
	UnderWay int       // messages that wait for an answer
}

// stats returns how the gate is.
func (g *gate) stats() Stats {
	s := Stats{Up: true, Since: time.Unix(0, g.since.Load()), UnderWay: int(g.underWay.Load())}
	if shut := g.shut.Load(); shut != nil {
		s.Up, s.Reason = false, shut.err.Error()
	}
	return s
}
