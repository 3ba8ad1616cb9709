package toolcall

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"time"

	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/mcp"
	"github.com/gatehouse-proxy/gatehouse/internal/request"
)

const (
	// sessionIdle is how long a session may be unused.
	sessionIdle = time.Hour
	// maxSession bounds the id of a session, in bytes: servers use UUIDs and signed tokens.
	maxSession = 2048

	sessionKind = "mcp_session"
)

// session is that of a request of the older versions. Its id is the server's. Owners know to which key
// and server it belongs, so that any gateway of a cluster serves it, and nobody else's requests reach it.
type session struct {
	deps   *Deps
	req    *request.Request
	server string
	id     string // "" for none
}

// find refuses a session that is not the caller's, or not of this server, as one that does not exist.
func (s *session) find(ctx context.Context) error {
	values := s.req.HTTP.Header.Values(mcp.HeaderSession)
	if len(values) == 0 {
		return nil
	}
	if len(values) > 1 || !validSession(values[0]) {
		return errNoSession()
	}
	s.id = values[0]
	return s.use(ctx)
}

// use keeps the session of the caller for another hour.
func (s *session) use(ctx context.Context) error {
	owned, err := s.deps.Owners.Hold(ctx, sessionKind, s.account(), s.key(s.id), s.req.Caller.Tenant, sessionIdle)
	switch {
	case err != nil:
		return apierror.New(apierror.LedgerUnavailable, "who owns the session cannot be looked up now").WithCause(err)
	case !owned:
		return errNoSession()
	}
	return nil
}

// shown returns the session that the header of an answer names to the client, "" for none: that of the
// request or, if begins, a new one, which the caller owns from now on.
func (s *session) shown(h http.Header, begins bool) (string, error) {
	id := h.Get(mcp.HeaderSession)
	switch {
	case id == "" || id != s.id && !begins:
		return "", nil
	case id == s.id:
		return id, nil
	case !validSession(id):
		return "", apierror.New(apierror.UpstreamError, "the MCP server %q gave a session an id that is too long or has odd characters", s.server)
	}
	if err := s.deps.Owners.Keep(sessionKind, s.account(), s.key(id), s.req.Caller.Tenant, sessionIdle); err != nil {
		return "", apierror.New(apierror.LedgerUnavailable, "who owns the session cannot be recorded now").WithCause(err)
	}
	return id, nil
}

// ended notes that the server has ended the session, or does not know it.
func (s *session) ended() {
	if s.id == "" {
		return
	}
	if err := s.deps.Owners.Forget(sessionKind, s.account(), s.key(s.id), s.req.Caller.Tenant); err != nil {
		s.deps.Sampled().Warn("the owner of a session was not forgotten", zap.String("request_id", s.req.Outcome.Record.RequestID), zap.Error(err))
	}
}

// account names the server among those that have ids.
func (s *session) account() string { return "mcp:" + s.server }

// key is the id in owners of a session of the caller's key. It is a hash: who knows the id of a session
// can use it at the server.
func (s *session) key(id string) string {
	sum := sha256.Sum256([]byte(s.req.Caller.Name + "/" + id))
	return hex.EncodeToString(sum[:])
}

// validSession reports whether an id has only visible characters of ASCII (MCP 2025-11-25, "Session
// Management").
func validSession(id string) bool {
	for i := range len(id) {
		if id[i] < '!' || id[i] > '~' {
			return false
		}
	}
	return id != "" && len(id) <= maxSession
}

func errNoSession() error {
	return apierror.New(apierror.NotFound, "the session does not exist: begin a new one with initialize")
}
