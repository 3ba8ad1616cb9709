package gateway

import (
	"errors"
	"sync"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
	"github.com/gatehouse-proxy/gatehouse/internal/report"
	"github.com/gatehouse-proxy/gatehouse/internal/request"
	"github.com/gatehouse-proxy/gatehouse/internal/vncsession"
)

// drainInterval is how often a process that drains looks whether a desktop is left.
const drainInterval = 250 * time.Millisecond

// Drain is the exit of a process whose desktops may go on for a time. Its listeners are closed by then,
// and its stores and its place in the cluster stay until the last desktop has ended.
type Drain struct {
	since     time.Time
	limit     time.Duration // 0: desktops end at once
	over      chan struct{} // closed by now
	now       func()        // has an effect once
	desktops  *desktop.State
	interrupt func(cause error) (found bool) // calls and sessions
	peers     func() bool                    // whether other gateways of a cluster are alive
}

func newDrain(s *State, limit time.Duration) *Drain {
	d := &Drain{
		since: time.Now(), limit: limit, over: make(chan struct{}),
		desktops: s.Workstations, interrupt: s.generations.interrupt, peers: s.stores.hasPeers,
	}
	d.now = sync.OnceFunc(func() { close(d.over) })
	return d
}

// Wait interrupts all model calls, and returns when no desktop is open, when the limit has passed since
// the exit began, or after an EndDrain. Browsers connect to another gateway by themselves. They are asked
// to as soon as there is one, otherwise when only they are left: the next process serves them.
func (d *Drain) Wait() {
	d.interrupt(errors.Join(request.ErrShutdown, vncsession.ErrDrain))
	limit := time.NewTimer(time.Until(d.since.Add(d.limit)))
	defer limit.Stop()
	tick := time.NewTicker(drainInterval)
	defer tick.Stop()
	for asked := false; d.desktops.Open() > 0; {
		if !asked && (d.peers() || d.desktops.OpenBut(vncsession.SecurityBrowser) == 0) {
			asked = true
			d.interrupt(vncsession.ErrMove)
		}
		select {
		case <-tick.C:
		case <-limit.C:
			return
		case <-d.over:
			return
		}
	}
}

// DrainStatus returns whether the process exits, and what it waits for.
func (v VNC) DrainStatus() report.DrainStatus {
	state := v.gateway.state
	status := report.DrainStatus{Sessions: state.Workstations.Open()}
	if d := state.exit.Load(); d != nil {
		until := d.since.Add(d.limit)
		status.Draining, status.Since, status.Until = true, &d.since, &until
	}
	return status
}

// EndDrain ends the desktops of a process that exits. It reports whether it does.
func (v VNC) EndDrain() bool {
	d := v.gateway.state.exit.Load()
	if d == nil {
		return false
	}
	d.desktops.EndAll(desktop.ReasonShutdown)
	d.now()
	return true
}
