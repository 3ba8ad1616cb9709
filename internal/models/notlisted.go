package models

import (
	"maps"
	"strings"
	"sync"
	"time"

	"go.uber.org/zap"
)

const (
	// notListedPause is the time between two log lines about one model. Clients repeat their calls.
	notListedPause = time.Hour

	// maxNotListed bounds the names that are logged within it: callers can make up any.
	maxNotListed = 1000
)

// notListed logs the models that calls want and their provider does not list, which to a caller
// look like typing errors.
type notListed struct {
	now    func() time.Time
	redact func(name string) string
	logger *zap.Logger

	mu     sync.Mutex           // guards the following
	logged map[string]time.Time // by name
}

func (n *notListed) log(name string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	now := n.now()
	maps.DeleteFunc(n.logged, func(_ string, at time.Time) bool { return now.Sub(at) >= notListedPause })
	if _, known := n.logged[name]; known || len(n.logged) >= maxNotListed {
		return
	}
	if n.logged == nil {
		n.logged = make(map[string]time.Time)
	}
	n.logged[name] = now
	of, _, _ := strings.Cut(name, "/")
	n.logger.Warn("a call wants a model that its provider does not list; to serve it, "+notListedAdvice,
		zap.String("provider", of), zap.String("model", n.redact(name)))
}
