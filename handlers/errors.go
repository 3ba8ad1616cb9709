package handlers

import (
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"time"

	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
)

// fail notes the failure in the call and tells the client, unless an answer
// has begun or the client has left.
func (x *exchange) fail(e *apierror.Error) {
	x.call.Fail(e)
	if x.sent {
		return
	}
	if e.Code == apierror.ClientGone { // one that only stopped sending reads this, not an empty success
		x.sent = true
		x.w.WriteHeader(apierror.StatusClientGone)
		return
	}
	x.call.Finish()
	x.writeError(e)
	x.call.Drain(x.w, x.r)
}

// writeError answers in the family's error shape. The handler then returns nil
// to Caddy: an error returned there goes to its error routes and loses the shape.
func (x *exchange) writeError(e *apierror.Error) {
	if x.call == nil || !x.call.HasRead() {
		x.gateway.RefuseUpload(x.w, x.r)
	}
	h := x.w.Header()
	if e.Code == apierror.InvalidAPIKey {
		h.Set("WWW-Authenticate", `Bearer realm="gatehouse"`)
	}
	if e.Code == apierror.UpgradeRequired { // both fields are required: RFC 9110, 15.5.22 and 7.8
		h.Set("Upgrade", "HTTP/1.1")
		h.Set("Connection", "Upgrade")
	}
	if len(e.Allow) > 0 {
		h.Set("Allow", strings.Join(e.Allow, ", "))
	}
	if wait := e.Retry(); wait > 0 {
		h.Set("Retry-After", strconv.FormatInt(seconds(e, wait), 10))
		if e.Code == apierror.RateLimitExceeded || e.Code == apierror.ConcurrencyLimitExceeded {
			h.Set("Retry-After-Ms", strconv.FormatInt(milliseconds(wait), 10))
		}
	}
	if e.Rate != nil {
		x.family.showRefusedRate(h, e.Rate, x.gateway.Now())
	}
	if e.Final() {
		h.Set("X-Should-Retry", "false")
	}
	x.writeJSON(e.HTTPStatus(), x.family.appendError(nil, e))
}

// seconds rounds a wait up. The default wait of a 5xx is spread over twice its
// length, so that clients that failed together do not come back together.
func seconds(e *apierror.Error, wait time.Duration) int64 {
	if e.HTTPStatus() >= 500 && e.RetryAfter == 0 {
		wait += rand.N(wait)
	}
	return int64((wait + time.Second - 1) / time.Second)
}

// writeJSON sends a whole answer.
func (x *exchange) writeJSON(status int, body []byte) {
	h := x.w.Header()
	h["Content-Type"] = jsonContentType
	h["Content-Length"] = []string{strconv.Itoa(len(body))}
	x.sent = true
	x.w.WriteHeader(status)
	if x.r.Method != http.MethodHead {
		_, _ = x.w.Write(body) // a client that left is seen by the request's context
	}
}

var jsonContentType = []string{"application/json"}

// unauthenticated answers a request without a valid key.
func (x *exchange) unauthenticated(route string, err error) {
	x.gateway.Unauthenticated(route, zap.String("request_id", x.ids.RequestID), zap.String("remote", x.r.RemoteAddr))
	x.writeError(apierror.From(err))
}
