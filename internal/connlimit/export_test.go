package connlimit

const (
	MaxFailing  = maxFailing
	MaxHeld     = maxHeld
	MaxNameless = maxNameless
)

// Sizes counts what is kept: networks with half-open connections, failing networks, addresses without a name.
func (b *Limiter) Sizes() (networks, failing, nameless int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.networks), len(b.failing.entries), len(b.nameless.entries)
}
