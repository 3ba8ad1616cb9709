package toolcall

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
)

const (
	// maxStreams is how many streams a key may keep open at one gateway: each session of a client has
	// one. They take no slot of the key's calls at once.
	maxStreams = 100
	// checkEvery is how often it is looked at whether the key of an open stream is still good.
	checkEvery = 2 * time.Second
)

// Causes of the end of a stream that would stay open.
var (
	errReplaced = errors.New("the configuration was replaced")
	errKeyEnded = errors.New("the key may not use the server any more")
)

// endedBy is what the client reads at the end of such a stream.
func endedBy(cause error) *apierror.Error {
	if errors.Is(cause, errKeyEnded) {
		return apierror.New(apierror.InvalidAPIKey, "the key was changed: it may not use this server any more")
	}
	return apierror.New(apierror.ShuttingDown, "the stream has ended, by the server or because the gateway's configuration was replaced: open it again")
}

// streams counts those that stay open, by key.
type streams struct {
	mu   sync.Mutex // guards the following
	open map[string]int
}

// enter counts one more. The error is a 429.
func (s *streams) enter(key string) (leave func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open[key] >= maxStreams {
		e := apierror.New(apierror.ConcurrencyLimitExceeded, "the key has %d streams open, which is the limit; close one of them", maxStreams)
		e.RefusedBy = "open streams of a key"
		return nil, e
	}
	if s.open == nil {
		s.open = make(map[string]int)
	}
	s.open[key]++
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.open[key]--; s.open[key] == 0 {
			delete(s.open, key)
		}
	}, nil
}

// watch ends a stream that stays open when its configuration was replaced, and when its key is not
// good any more. Until then it keeps its session. It ends with ctx.
func watch(ctx context.Context, s *session, end context.CancelCauseFunc) {
	ticker := time.NewTicker(checkEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.deps.Replaced:
			end(errReplaced)
			return
		case <-ticker.C:
		}
		if !s.deps.Holds(&s.req.Caller, s.server) {
			end(errKeyEnded)
			return
		}
		if s.id != "" {
			_ = s.use(ctx) // the server ends the stream of a session that is over
		}
	}
}
