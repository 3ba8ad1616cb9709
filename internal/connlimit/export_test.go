package connlimit

const (
	MaxFailing  = maxFailing
	MaxHeld     = maxHeld
	MaxNameless = maxNameless
)

// Sizes counts what is kept: networks with half-open connections, failing networks, addresses
// without a name.
func (l *Limiter) Sizes() (networks, failing, nameless int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.networks), len(l.failing.entries), len(l.nameless.entries)
}
