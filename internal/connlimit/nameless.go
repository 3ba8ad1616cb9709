package connlimit

import (
	"net/netip"
	"time"
)

const (
	// NamelessTTL is how long TakeNameless remembers: libvncclient reconnects after 1.8 s.
	NamelessTTL = 10 * time.Second
	// maxNameless bounds the addresses of TakeNameless, to about 1 MiB.
	maxNameless = 8192
)

// AddNameless remembers for NamelessTTL that the viewer at addr completed TLS without naming a host
// (SNI).
func (l *Limiter) AddNameless(addr netip.Addr) {
	l.HearNameless(addr, false)
	l.others()(addr, false)
}

// TakeNameless reports whether AddNameless was called for this very address within NamelessTTL, and
// forgets it: the next viewer from there may send a name. Of more than 8,192 such addresses the
// oldest is forgotten first.
func (l *Limiter) TakeNameless(addr netip.Addr) bool {
	taken := l.HearNameless(addr, true)
	if taken {
		l.others()(addr, true)
	}
	return taken
}

// Share is for several gateways behind one name: a viewer may reach another one when it reconnects.
// tell is called with each address that is added or taken here, on the goroutine of the viewer's
// connection. The others call HearNameless.
func (l *Limiter) Share(tell func(addr netip.Addr, taken bool)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.tell = tell
}

// HearNameless is AddNameless or, if taken, TakeNameless, without telling others.
func (l *Limiter) HearNameless(addr netip.Addr, taken bool) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if taken {
		return l.nameless.take(addr.Unmap(), l.elapsed())
	}
	l.nameless.touch(addr.Unmap(), l.elapsed())
	return false
}

func (l *Limiter) others() func(netip.Addr, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.tell
}
