package desktop

import (
	"encoding/hex"
	"fmt"
	"io"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Session is one viewer at one workstation, from Join to Leave. It counts, in lists and limits, until it
// has ended.
type Session struct {
	ID          string // "vnc-" and 16 hex digits
	Workstation ID
	Started     time.Time // set by Join

	Up, Down atomic.Int64 // bytes viewer to workstation and back; the relay counts

	Input *Input // its part in who holds the input

	sessions *sessions
	emit     emitter
	kind     sessionKind // set before it begins

	mu     sync.Mutex    // guards the following
	record SessionRecord // as the store has it; Until may come forward
	ended  chan struct{} // closed by end
	onEnd  []*ending
	out    *ending // takes it out of the store; the first of onEnd
	over   over
}

// sessionKind says which sessions the store does not know.
type sessionKind int

const (
	ordinary sessionKind = iota
	preview              // see Preview: it is in no list
	waiting              // for its workstation, see Watch: it opens never
)

// over is what a session knows of its end.
type over struct {
	at    time.Time
	left  bool        // Leave was called
	early *time.Timer // comes before the time that Until returned at first; nil: none
}

// ending is a function that OnEnd was given.
type ending struct {
	f    func()
	over chan struct{} // closed when f has returned; nil until it begins
}

// begin is called with the session's lock held.
func (e *ending) begin() {
	e.over = make(chan struct{})
	go func() {
		defer close(e.over)
		e.f()
	}()
}

func newSessionID(random io.Reader) (string, error) {
	var raw [8]byte
	if _, err := io.ReadFull(random, raw[:]); err != nil {
		return "", fmt.Errorf("reading randomness: %w", err)
	}
	return "vnc-" + hex.EncodeToString(raw[:]), nil
}

// open notes that the store has the session, unless it has ended meanwhile: then it returns why.
func (x *Session) open(stored SessionRecord, now time.Time) Reason {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.record.Ended != "" {
		return x.record.Ended
	}
	sooner := x.record.Until // by a revocation that came meanwhile
	x.record, x.Started = stored, stored.Started
	x.out = &ending{f: func() { x.sessions.leave(x) }}
	x.onEnd = append(x.onEnd, x.out)
	if !sooner.IsZero() {
		x.limit(sooner, now)
	}
	return ""
}

// token is that of the session.
func (x *Session) token() *Token {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.record.Token
}

// snapshot returns the session as the store should have it; ok is false before it opens and after its
// end.
func (x *Session) snapshot() (r SessionRecord, ok bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.record, !x.record.Started.IsZero() && x.record.Ended == ""
}

// end ends a session by a key, "" for an unknown one. A session that has ended already keeps its first
// reason.
func (x *Session) end(why Reason, by string, now time.Time) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.record.Ended != "" {
		return false
	}
	x.record.Ended, x.record.EndedBy, x.over.at = why, by, now
	if x.over.early != nil {
		x.over.early.Stop()
	}
	close(x.ended)
	for _, e := range x.onEnd {
		e.begin()
	}
	x.onEnd = nil
	return true
}

// settle brings the session to what the store says.
func (x *Session) settle(stored *SessionRecord, now time.Time) {
	if stored.Ended != "" {
		x.end(stored.Ended, stored.EndedBy, now)
		return
	}
	x.endIn(stored.Until, now)
}

// clockNoise is how much the times of a session differ by the clocks of gateways.
const clockNoise = 100 * time.Millisecond

// endIn ends a session at a time, if that is before its own end.
func (x *Session) endIn(at, now time.Time) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.record.Started.IsZero() && (x.record.Until.IsZero() || at.Before(x.record.Until)) {
		x.record.Until = at // for open
		return
	}
	x.limit(at, now)
}

// limit is endIn for a session that has opened; mu is held.
func (x *Session) limit(at, now time.Time) {
	if x.record.Started.IsZero() || x.record.Ended != "" || !at.Add(clockNoise).Before(x.record.Until) {
		return
	}
	if x.over.early != nil {
		x.over.early.Stop()
	}
	x.record.Until = at
	x.over.early = time.AfterFunc(at.Sub(now), func() { x.End(ReasonRemoved) })
}

// Ended is closed when the session must close: released, replaced, ended by hand, removed, shut
// down. The relay then closes both connections and calls Leave.
func (x *Session) Ended() <-chan struct{} { return x.ended }

// OnEnd runs f, in a goroutine of its own, when the session must close. Stop takes that back; where
// f has begun it waits for it. It does what context.AfterFunc would, without a context and its table
// for each open session.
func (x *Session) OnEnd(f func()) (stop func()) {
	e := &ending{f: f}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.record.Ended != "" {
		e.begin()
	} else {
		x.onEnd = append(x.onEnd, e)
	}
	return func() {
		x.mu.Lock()
		begun := e.over
		if begun == nil {
			x.onEnd = slices.DeleteFunc(x.onEnd, func(other *ending) bool { return other == e })
		}
		x.mu.Unlock()
		if begun != nil {
			<-begun
		}
	}
}

// Why is the reason of the end, "" while the session is open.
func (x *Session) Why() Reason {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.record.Ended
}

// EndedBy is the key that released the workstation, took it, or ended the session by hand; "" where none
// did, or this gateway was not told which.
func (x *Session) EndedBy() string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.record.EndedBy
}

// Until is when the relay must end the session at the latest. If that time comes forward later, the
// session ends by itself.
func (x *Session) Until() time.Time {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.record.Until
}

// End ends the session for a reason that the relay has found. The first reason stays. Leave must
// still be called.
func (x *Session) End(r Reason) { x.end(r, "", x.sessions.now()) }

// Leave says that both connections are closed; only the first call counts. Without an End before
// it, the viewer left. Once its last session has ended, the token can be used again for a while.
func (x *Session) Leave() {
	x.End(ReasonViewer)
	x.mu.Lock()
	first := !x.over.left
	x.over.left = true
	x.mu.Unlock()
	if first && x.kind == preview {
		x.sessions.remove(x)
	}
	if !first || x.kind == preview {
		return
	}
	<-x.out.over
	x.sessions.remove(x)
	x.emit(EventSessionClosed, func() map[string]any {
		data := x.data()
		data["reason"] = string(x.record.Ended) // it changes no more
		data["seconds"] = x.over.at.Sub(x.Started).Seconds()
		data["bytes_up"] = x.Up.Load()
		data["bytes_down"] = x.Down.Load()
		return data
	})
}

func (x *Session) data() map[string]any {
	t := x.token()
	data := map[string]any{
		"tenant": x.Workstation.Tenant, "workstation": x.Workstation.Name, "session": x.ID,
		"token": t.Hash.id(), "key": t.Issuer.Key, "viewer": x.record.Viewer.String(), "security": x.record.Security,
	}
	if role := Role(t.Issuer, t.Guest); role != "" {
		data["role"] = role
	}
	if t.Guest.Host != "" {
		data["joined"] = t.Guest.Host
	}
	return data
}

// Format prints the ID only.
func (x *Session) Format(f fmt.State, _ rune) { fmt.Fprint(f, x.ID) }
