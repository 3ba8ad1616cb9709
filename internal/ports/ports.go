// Package ports finds other processes that listen on a TCP port of this one. Caddy listens with SO_REUSEPORT:
// two processes of one user share a port without an error, and the kernel spreads connections over both.
package ports

import (
	"fmt"
	"net/netip"
)

// Other is a listener of another process.
type Other struct {
	Address netip.AddrPort
	User    int    // the id of who runs the process
	PID     int    // 0 if this process may not see it
	Name    string // of its program; "" if PID is 0
}

// String names the process.
func (o Other) String() string {
	if o.PID == 0 {
		return fmt.Sprintf("another process, of the user %d", o.User)
	}
	return fmt.Sprintf("%s (process %d)", o.Name, o.PID)
}

// overlap reports whether a connection to one address may come to the other. The kernel lets :: take
// those to addresses of IPv4 too, unless the listener refuses that.
func overlap(a, b netip.AddrPort) bool {
	if a.Port() != b.Port() {
		return false
	}
	x, y := a.Addr().Unmap(), b.Addr().Unmap()
	all := func(any, other netip.Addr) bool { return any.IsUnspecified() && (any.Is6() || other.Is4()) }
	return x == y || all(x, y) || all(y, x)
}
