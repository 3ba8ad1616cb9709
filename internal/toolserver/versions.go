package toolserver

import (
	"context"
	"sync"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/mcp"
	"github.com/gatehouse-proxy/gatehouse/internal/mcp/client"
)

const (
	// versionsKept is how long it counts which versions a server has: it is not asked more often.
	versionsKept = time.Minute
	// versionsWithin is how long the server may take to say it.
	versionsWithin = 5 * time.Second
)

// versions are those of the protocol that a server has, as it said when it was asked.
type versions struct {
	mu    sync.Mutex // guards the following, and asking
	known []string
	until time.Time
}

// VersionsOf returns which versions of the protocol clients can speak with a server: it is asked, at most
// once a minute. Of a server that does not say it, all that the gateway knows.
func VersionsOf(ctx context.Context, s *Server) []string {
	v := &s.versions
	v.mu.Lock()
	defer v.mu.Unlock()
	if now := s.now(); !now.Before(v.until) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), versionsWithin) // others wait for it too
		defer cancel()
		known, err := client.Supported(ctx, s.Send)
		if err != nil {
			known = mcp.Versions()
		}
		v.known, v.until = known, now.Add(versionsKept)
	}
	return v.known
}
