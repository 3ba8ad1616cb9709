package toolcall

import (
	"net/url"
	"strings"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/request"
)

// checkOrigin refuses a request that a page of another site has made (MCP 2026-07-28, Streamable HTTP,
// "Security Warning"). Programs send no Origin. What the site itself allows by the header
// Access-Control-Allow-Origin, which it has set by now, is allowed here.
func checkOrigin(q *request.Request) error {
	origin := q.HTTP.Header.Get("Origin")
	if origin == "" {
		return nil
	}
	allowed := q.Writer.Header().Get("Access-Control-Allow-Origin")
	if at, err := url.Parse(origin); err == nil && strings.EqualFold(at.Host, q.HTTP.Host) || allowed == "*" || strings.EqualFold(allowed, origin) {
		return nil
	}
	e := apierror.New(apierror.InsufficientScope, "pages of %q may not ask this server: the site must allow it with the header Access-Control-Allow-Origin", q.Caller.SafeName(origin))
	e.RefusedBy = "site: Access-Control-Allow-Origin"
	return e
}
