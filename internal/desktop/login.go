package desktop

import (
	"context"
	"errors"
	"maps"
	"sync"
	"time"
)

const (
	// maxLogins is how many workstations are remembered that were logged in to, or failed.
	maxLogins = 4096
	// maxConnecting bounds the viewers of one workstation that log in or wait for a login: a
	// lecture that opens one shared desktop. Without it, one issued address could take every file
	// descriptor while its workstation is silent.
	maxConnecting = 128
	// maxConnectingInAll bounds those of all workstations, for the same reason.
	maxConnectingInAll = 1024
)

// backoffs are how long a workstation is not dialled again after a failed login. Xvnc shuts out an
// address that fails five times, and all viewers come from the gateway's. A workstation that does
// not answer costs each viewer the whole timeout.
var backoffs = map[RefusalCode]time.Duration{
	WorkstationPassword:    30 * time.Second,
	WorkstationBlacklisted: 30 * time.Second,
	WorkstationUnreachable: 5 * time.Second,
	WorkstationTimeout:     5 * time.Second,
}

var (
	errBackoff      = errors.New("it failed a moment ago and is not asked again yet")
	errSharedFailed = errors.New("the login of another viewer, under way at the time, failed")
	errConnecting   = errors.New("too many viewers wait for this workstation, or for all of them")
)

// logins are the gateway's logins to workstations.
type logins struct {
	now func() time.Time

	mu         sync.Mutex // guards the following, and every login and attempt
	byID       map[ID]*login
	connecting int // viewers of all workstations that log in or wait for a login
}

// login is what is known of the gateway's logins to one workstation.
type login struct {
	provedBy   int64    // the number of the service whose login was right; 0: none
	attempt    *attempt // under way while none was right, else nil
	connecting int      // viewers that try or wait

	failedBy int64 // the number of the service that failed: another may know a better password
	why      RefusalCode
	until    time.Time // when it may be asked again
}

// attempt is a login for whose outcome others wait.
type attempt struct {
	number int64         // of the service that tries
	over   chan struct{} // closed when why is set
	why    RefusalCode   // "" if it was right
}

// Login lets the caller log in to a workstation. done must be called once, with the code of the
// failure or "". One that is not the workstation's says nothing of it. Until a login of this service was right, one caller at a time tries, and those
// that come meanwhile share its failure: many at once with a wrong password would have the gateway
// shut out. After some failures callers are refused at once for a while, until a reload or another
// registration. A caller that may not log in gets a nil done, the code for its viewer, and the
// cause for the log.
func (w *Service) Login(ctx context.Context, id ID) (done func(why RefusalCode), why RefusalCode, cause error) {
	g, number := &w.state.logins, w.config.number
	l := g.startConnecting(id)
	if l == nil {
		return nil, RefusedTooManyConnections, errConnecting
	}
	for {
		mine, other, why := g.startAttempt(l, number)
		if why != "" {
			g.stopConnecting(id, l)
			return nil, why, errBackoff
		}
		if other == nil {
			return func(why RefusalCode) { g.finish(id, l, number, mine, why) }, "", nil
		}
		select {
		case <-other.over:
			if other.why.ofWorkstation() && other.number == number {
				g.stopConnecting(id, l)
				return nil, other.why, errSharedFailed
			}
		case <-ctx.Done():
			g.stopConnecting(id, l)
			return nil, WorkstationTimeout, ctx.Err()
		}
	}
}

// startConnecting counts the caller at a workstation; nil where there are too many.
func (g *logins) startConnecting(id ID) *login {
	g.mu.Lock()
	defer g.mu.Unlock()
	l := g.byID[id]
	if g.connecting >= maxConnectingInAll || l != nil && l.connecting >= maxConnecting {
		return nil
	}
	if l == nil {
		if len(g.byID) >= maxLogins {
			maps.DeleteFunc(g.byID, func(_ ID, l *login) bool { return l.connecting == 0 })
		}
		l = new(login)
		g.byID[id] = l
	}
	l.connecting++
	g.connecting++
	return l
}

// startAttempt returns why the workstation is not asked now, the attempt to wait for, or the
// caller's own; nothing where a login was right and callers need not wait for each other.
func (g *logins) startAttempt(l *login, number int64) (mine, other *attempt, why RefusalCode) {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case l.failedBy == number && g.now().Before(l.until):
		return nil, nil, l.why
	case l.provedBy == number:
		return nil, nil, ""
	case l.attempt != nil:
		return nil, l.attempt, ""
	}
	l.attempt = &attempt{number: number, over: make(chan struct{})}
	return l.attempt, nil, ""
}

func (g *logins) finish(id ID, l *login, number int64, mine *attempt, why RefusalCode) {
	g.mu.Lock()
	switch {
	case why == "":
		l.provedBy, l.failedBy = number, 0
	case why.ofWorkstation():
		l.provedBy, l.failedBy = 0, 0
		if during := backoffs[why]; during > 0 {
			l.failedBy, l.why, l.until = number, why, g.now().Add(during)
		}
	}
	if mine != nil {
		l.attempt = nil
		mine.why = why
		close(mine.over)
	}
	g.mu.Unlock()
	g.stopConnecting(id, l)
}

// stopConnecting ends what startConnecting began. A login of which nothing is known is forgotten.
func (g *logins) stopConnecting(id ID, l *login) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.connecting--
	l.connecting--
	if l.connecting == 0 && l.provedBy == 0 && l.failedBy == 0 && g.byID[id] == l {
		delete(g.byID, id)
	}
}

// forget has a workstation asked again at once: its address or login has changed. Attempts at the
// old one share nothing with those from now on.
func (g *logins) forget(id ID) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.byID, id)
}
