package gateway

import (
	"sync"
	"time"

	"go.uber.org/zap"
)

const (
	// lackingPause is how long a name that a provider does not list is not logged again.
	lackingPause = time.Hour
	// maxLacking bounds the names that are remembered for it: callers make them up.
	maxLacking = 1000
)

// lackingNames are names that callers asked for and that are missing in the list of their provider.
type lackingNames struct {
	mu     sync.Mutex // guards the following
	logged map[string]time.Time
}

// first reports whether the name was not logged in the last hour, and notes that it is.
func (l *lackingNames) first(name string) bool {
	now := time.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	if at, ok := l.logged[name]; ok && now.Sub(at) < lackingPause {
		return false
	}
	if l.logged == nil || len(l.logged) >= maxLacking {
		l.logged = make(map[string]time.Time)
	}
	l.logged[name] = now
	return true
}

// noteLacking tells the operator of a model that a caller misses.
func (d *discovery) noteLacking(provider, name string) {
	if d.lacking.first(name) {
		d.logger.Warn("a call names a model that the provider does not list; if the provider has it, name it with models, or set discover off",
			zap.String("provider", provider), zap.String("model", d.redact(name)))
	}
}
