package handlers

import (
	"encoding/json"
	"errors"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/request"

	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/internal/api"
	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
)

// fail notes the failure and answers with it. Nothing has been written yet.
func (x *Request) fail(e *apierror.Error) {
	x.Req.Outcome.Fail(e)
	x.Req.Finish()
	x.writeError(e)
	if e.Code != apierror.ClientGone {
		x.Req.Upload.Drain()
	}
}

// writeError answers in the family's error shape. The handler then returns nil to Caddy: an error
// returned there goes to Caddy's error routes and loses its shape.
func (x *Request) writeError(e *apierror.Error) {
	if e.Code == apierror.ClientGone { // a client that only stopped sending reads this instead of an empty success
		x.Writer.WriteHeader(apierror.StatusClientGone)
		return
	}
	if x.Req == nil || !x.Req.Upload.Complete() {
		request.PrepareRefusal(&x.Gateway.Requests().Deps.Deps, x.Writer, x.HTTP)
	}
	h := x.Writer.Header()
	if challenge := x.challenge(e); challenge != "" {
		h.Set("WWW-Authenticate", challenge)
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
			h.Set("Retry-After-Ms", strconv.FormatInt(api.Milliseconds(wait), 10))
		}
	}
	x.API.ShowRefusal(h, e, x.Gateway.Requests().Now())
	if e.Final() {
		h.Set("X-Should-Retry", "false")
	}
	body := x.API.AppendError(nil, e, x.IDs.RequestID)
	if x.Req != nil && len(x.Req.Extra) > 0 {
		body = append(append(append(body[:len(body)-1], ','), x.Req.Extra...), '}')
	}
	x.writeJSON(e.HTTPStatus(), body, func(body []byte) error {
		_, err := x.Writer.Write(body)
		return err
	})
}

// Challenger is a part of a gateway that says to a client which is refused at a resource where its
// person can sign in, see [Offered].
type Challenger interface {
	// Challenge returns the WWW-Authenticate of an answer with the status to who has a role, or to
	// nobody ("" as the role). It is "" where a sign-in does not help.
	Challenge(resource, role string, status int) string
}

// challenge returns the WWW-Authenticate of a refusal, "" for none.
func (x *Request) challenge(e *apierror.Error) string {
	role := ""
	switch {
	case e.Code == apierror.InvalidAPIKey:
	case e.Code == apierror.InsufficientScope && x.Req != nil && widens(&x.Req.Caller):
		role = x.Req.Caller.Configured()
	default:
		return ""
	}
	if at, ok := Offered[Challenger](x.Gateway); ok {
		if challenge := at.Challenge(resourceOf(x.API, x.Name), role, e.HTTPStatus()); challenge != "" {
			return challenge + x.invalidToken(e)
		}
	}
	if e.Code == apierror.InvalidAPIKey {
		return `Bearer realm="gatehouse"` + x.invalidToken(e)
	}
	return ""
}

// invalidToken is what a challenge says of a token that is not good; of a request without one it
// says nothing (RFC 6750, section 3.1).
func (x *Request) invalidToken(e *apierror.Error) string {
	if token := bearer(x.HTTP.Header); e.Code != apierror.InvalidAPIKey || token == "" || token == noKey {
		return ""
	}
	return `, error="invalid_token"`
}

// widens reports whether a new sign-in can give a caller more rights: a program whose person has
// signed in for less than the role has. What is for a resource has all that the role has there.
func widens(c *request.Caller) bool {
	return c.Issued && c.Limits != nil && c.Limits.Holder != nil && c.Limits.Holder.Resource == ""
}

// seconds rounds a wait up. The default wait of a 5xx is spread over twice its length, so that
// clients that failed together do not return together.
func seconds(e *apierror.Error, wait time.Duration) int64 {
	if e.HTTPStatus() >= 500 && e.RetryAfter == 0 {
		wait += rand.N(wait)
	}
	return int64((wait + time.Second - 1) / time.Second)
}

// Succeed answers 200, or returns the error.
func (x *Request) Succeed(body []byte, err error) error {
	if err != nil {
		return err
	}
	x.Req.Outcome.Succeed(http.StatusOK)
	x.writeJSON(http.StatusOK, body, x.Req.Write)
	return nil
}

// Reply answers with v as JSON.
func (x *Request) Reply(status int, v any) error {
	body, err := json.Marshal(v)
	if err != nil {
		return err
	}
	x.Req.Outcome.Succeed(status)
	x.writeJSON(status, body, x.Req.Write)
	return nil
}

// NoContent answers 204.
func (x *Request) NoContent() error {
	x.Req.Outcome.Succeed(http.StatusNoContent)
	x.Writer.WriteHeader(http.StatusNoContent)
	return nil
}

// Deliver answers with a secret. It reports whether the answer could be written.
func (x *Request) Deliver(status int, body []byte) bool {
	h := x.Writer.Header()
	h["Content-Type"] = jsonContentType
	h.Set("Content-Length", strconv.Itoa(len(body)))
	h.Set("Cache-Control", "no-store")
	x.Writer.WriteHeader(status)
	_, err := x.Writer.Write(body)
	if err == nil {
		err = http.NewResponseController(x.Writer).Flush()
	}
	if err != nil && !errors.Is(err, http.ErrNotSupported) {
		x.Req.Outcome.Fail(apierror.New(apierror.ClientGone, "the client left").WithCause(err))
		return false
	}
	x.Req.Outcome.Succeed(status)
	return true
}

// writeJSON sends a whole answer by write.
func (x *Request) writeJSON(status int, body []byte, write func([]byte) error) {
	h := x.Writer.Header()
	h["Content-Type"] = jsonContentType
	h["Content-Length"] = []string{strconv.Itoa(len(body))}
	x.Writer.WriteHeader(status)
	if x.HTTP.Method != http.MethodHead {
		_ = write(body) // the request's context shows that a client has left
	}
}

var jsonContentType = []string{"application/json"}

// unauthenticated answers a request without a valid key.
func (x *Request) unauthenticated(route string, err error) {
	request.Unauthenticated(&x.Gateway.Requests().Deps.Deps, route, zap.String("request_id", x.IDs.RequestID), zap.String("remote", x.HTTP.RemoteAddr))
	x.writeError(apierror.From(err))
}
