package toolcall

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/mcp"
	"github.com/gatehouse-proxy/gatehouse/internal/provider"
	"github.com/gatehouse-proxy/gatehouse/internal/request"
	"github.com/gatehouse-proxy/gatehouse/internal/toolserver"
)

// upstream is a request to an MCP server, and its answer. Its zero value was not sent.
type upstream struct {
	deps   *Deps
	req    *request.Request
	server *toolserver.Server
	open   bool // the answer may be silent for as long as it likes

	client   context.Context
	ctx      context.Context // of the upstream request
	cancel   context.CancelCauseFunc
	late     *time.Timer // ends an answer that takes longer than it may; nil for none
	end      func()      // of the request among those of the server
	body     io.Reader   // of the answer, without timeouts
	status   int         // of the answer; 0 before its header has come
	received int64       // bytes of the answer
	held     int64       // of the memory for answers
	served   bool        // the server may have worked on the request
	noted    bool        // its health knows how the request ended
}

// begin makes what the upstream request ends with: the client, a shutdown, its time.
func (u *upstream) begin(client context.Context) {
	u.client = client
	u.ctx, u.cancel = context.WithCancelCause(client)
	u.req.SetCancel(u.cancel)
	u.end = u.server.Begin()
	if limit := u.server.Timeouts.Call; limit > 0 && !u.open {
		u.late = time.AfterFunc(limit, func() { u.cancel(provider.ErrTooLong) })
	}
}

// send sends a request to the server and returns its answer, good or bad. One that met a connection
// which the server was closing is sent once more if it may run twice.
func (u *upstream) send(header http.Header, body []byte, again bool) (*http.Response, error) {
	sent := u.deps.Now()
	u.req.Outcome.Record.Attempts++
	u.req.Watch.Start(u.server.Timeouts.Header, u)
	pieces := provider.NewBody([][]byte{body}, u.req.Upload.Handover())
	resp, err := u.server.SendBody(u.ctx, u.req.HTTP.Method, header, pieces)
	if errors.Is(err, provider.ErrStale) && again {
		u.req.Outcome.Record.Attempts++
		resp, err = u.server.Resend(u.ctx, u.req.HTTP.Method, header, pieces)
	}
	u.req.Watch.Stop()
	u.req.Outcome.Phases.Provider += u.deps.Now().Sub(sent)
	pieces.Release()
	if err != nil {
		u.served = pieces.Delivered() && !errors.Is(err, provider.ErrRedirect)
		return nil, u.failure(err)
	}
	u.req.Upload.Free(pieces.Kept())
	u.status = resp.StatusCode
	u.served = resp.StatusCode < http.StatusMultipleChoices
	u.body = resp.Body
	resp.Body = &answerBody{resp.Body, u}
	return resp, nil
}

// Expire implements [watchdog.Waiter].
func (u *upstream) Expire() { u.cancel(provider.ErrSilent) }

// close ends the upstream request.
func (u *upstream) close() {
	if u.cancel == nil {
		return
	}
	if u.late != nil {
		u.late.Stop()
	}
	u.cancel(nil)
	u.end()
	u.deps.Answers.Give(u.held)
	u.held = 0
}

// maxStream is how many bytes an answer may have that ends, as a multiple of the longest message: what a
// server says while a tool works is short.
const maxStream = 16

// answerBody runs the idle timeout while the server is waited for, and not while a slow client is. Its
// errors are those of the gateway.
type answerBody struct {
	io.ReadCloser
	upstream *upstream
}

func (b *answerBody) Read(p []byte) (int, error) {
	u := b.upstream
	began := u.deps.Now()
	if !u.open {
		u.req.Watch.Start(u.server.Timeouts.Idle, u)
	}
	n, err := b.ReadCloser.Read(p)
	u.req.Watch.Stop()
	u.received += int64(n)
	u.req.Outcome.Phases.Provider += u.deps.Now().Sub(began)
	switch {
	case err != nil && err != io.EOF:
		return n, u.failure(err)
	case !u.open && u.received > maxStream*u.server.MaxResult:
		return n, u.unreadable(mcp.ErrTooLong)
	}
	return n, err
}

const (
	// freeAnswer is the largest buffer that does not count, in bytes: most answers fit it.
	freeAnswer = 256 << 10
	// answersWait is how long an answer waits for memory. Most are gone within a second.
	answersWait = 5 * time.Second
	// copies are how many of an answer exist at a time: as it came, filtered, redacted.
	copies = 2
)

// Hold implements [sse.Memory]: it makes size the bytes that the answer holds.
func (u *upstream) Hold(size int) error {
	if size <= freeAnswer {
		size = 0
	}
	more := copies*int64(size) - u.held
	if more > 0 && !u.deps.Answers.Wait(u.ctx, more, answersWait) {
		if err := context.Cause(u.ctx); err != nil {
			return u.failure(err)
		}
		e := apierror.New(apierror.GatewayBusy, "the gateway holds as many large answers as it can at present")
		e.RefusedBy = "gateway: answer_memory"
		return e
	}
	if more < 0 {
		u.deps.Answers.Give(-more)
	}
	u.held += more
	return nil
}

// failure returns what the caller gets for an error of the upstream request.
func (u *upstream) failure(err error) *apierror.Error {
	cause := context.Cause(u.ctx)
	switch {
	case u.client.Err() != nil, errors.Is(cause, errUnread):
		return request.ClientGone(err)
	case errors.Is(cause, request.ErrShutdown):
		return request.ShuttingDown(err)
	case errors.Is(cause, errReplaced), errors.Is(cause, errKeyEnded):
		return endedBy(cause)
	}
	limits := &u.server.Timeouts
	e := u.asked().Failure(err, cause, provider.Waits{Answered: u.status != 0, Begin: limits.Header, Idle: limits.Idle, Call: limits.Call})
	if errors.Is(err, provider.ErrRedirect) {
		return lasting(e)
	}
	return e
}

// lasting marks a failure that the same request would meet again.
func lasting(e *apierror.Error) *apierror.Error {
	e.RetryAfter = apierror.NoRetryAfter
	return e
}

// acted reports whether the server may have done what the request asks for.
func (u *upstream) acted() bool {
	return u.served || u.status >= http.StatusInternalServerError && u.status != http.StatusServiceUnavailable
}

// asked is the server, as errors name it.
func (u *upstream) asked() provider.Asked {
	return provider.Asked{Kind: "the MCP server", Name: u.server.Name, Shown: func(text string) string {
		return string(request.Conceal(u.req, []byte(text), u.server.Secrets()))
	}}
}

// unreadable is the failure of an answer whose messages cannot be read.
func (u *upstream) unreadable(err error) *apierror.Error {
	var known *apierror.Error
	switch {
	case errors.As(err, &known):
		return known
	case errors.Is(err, mcp.ErrTooLong):
		e := u.asked().Broken(err, "answered with more than the %d bytes of max_result", u.server.MaxResult)
		e.RefusedBy = "mcp " + u.server.Name + ": max_result"
		return lasting(e)
	}
	return lasting(u.asked().Unreadable(err))
}

// keptStatus are the refusals of a server that concern the request: their status is the client's.
var keptStatus = map[int]bool{
	http.StatusBadRequest: true, http.StatusNotFound: true, http.StatusNotAcceptable: true,
	http.StatusRequestEntityTooLarge: true, http.StatusUnsupportedMediaType: true, http.StatusUnprocessableEntity: true,
}

// refusal is what the caller gets for an answer whose status is no success.
func (u *upstream) refusal(resp *http.Response) *apierror.Error {
	status, name := resp.StatusCode, u.server.Name
	failure := func(code apierror.Code, format string) *apierror.Error {
		e := apierror.New(code, format, name, status)
		e.Provider, e.RetryAfter = name, provider.RetryAfter(resp.Header, u.deps.Now())
		return e
	}
	switch {
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		return lasting(failure(apierror.UpstreamAuth, "the MCP server %q refused the credential of the gateway (status %d)"))
	case status == http.StatusTooManyRequests:
		return failure(apierror.UpstreamRateLimited, "the MCP server %q limits the rate of requests (status %d)")
	case status == http.StatusMethodNotAllowed && u.req.HTTP.Method != http.MethodPost:
		e := failure(apierror.MethodNotAllowed, "the MCP server %q does not have this method (status %d)")
		e.Allow = []string{http.MethodPost}
		return e
	case keptStatus[status]:
		e := failure(apierror.UpstreamRejected, "the MCP server %q refused the request (status %d)")
		e.Status = status
		return e
	case status == http.StatusServiceUnavailable:
		return failure(apierror.UpstreamOverloaded, "the MCP server %q is overloaded (status %d)")
	}
	return failure(apierror.UpstreamError, "the MCP server %q failed (status %d)")
}
