package modelcall

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/provider"
)

// Causes of a cancelled upstream request, which context.Cause returns.
var errSilent = errors.New("nothing arrived in time")

// upstream is the exchange with the provider.
type upstream struct {
	deps    *Deps
	request *Request
	meter   *meter

	provider *provider.Provider
	body     *provider.Body // nil before send
	client   context.Context
	ctx      context.Context // of the upstream request
	cancel   context.CancelCauseFunc
	answered bool      // the header of the answer has come
	answer   io.Reader // the answer's body, without timeouts
	drain    drain
}

// send posts the pieces to the provider and returns its answer, good or bad. The answer's body is
// guarded by the idle timeout. The upstream request ends with the client: its context is that of the
// client's request, never a module's. A request that met a connection which the provider was closing
// is sent once more on a new one; what is charged then is the second, or the estimate if that has no
// answer and either may have been worked on. Errors: 502, 503 on shutdown, or the client left.
func (u *upstream) send(client context.Context, t *target, s *sending) (*http.Response, error) {
	if err := client.Err(); err != nil {
		return nil, clientGone(err)
	}
	q := u.request
	u.provider, u.client = t.provider, client
	u.meter.start(u.deps.Now(), q.Upload.Len())
	u.body = provider.NewBody(s.body, q.Upload.Handover())
	s.body = nil // u.body releases it
	u.ctx, u.cancel = u.drain.context(client, u.deps, q.Record.RequestID)
	q.entry.SetCancel(u.cancel)
	q.watch.Start(u.deps.Timeouts.Header, u)
	q.Record.Attempts++
	request := provider.Request{Operation: s.operation, Body: u.body, Stream: s.stream, Header: s.header, Query: s.query}
	resp, err := t.endpoint.Send(u.ctx, request)
	if errors.Is(err, provider.ErrStale) {
		q.Record.Attempts++
		u.meter.sent = u.deps.Now()
		resp, err = t.endpoint.Resend(u.ctx, request)
	}
	q.watch.Stop()
	u.meter.waited(u.deps.Now().Sub(u.meter.sent))
	if err != nil {
		u.meter.unbilled = errors.Is(err, provider.ErrRedirect)
		return nil, u.failure(err)
	}
	u.answered = true
	u.meter.answered(resp.StatusCode)
	// No retry follows an answer: the request need not be kept for as long as a stream may last.
	u.body.Release()
	q.Upload.Free(u.body.Kept())
	u.answer = resp.Body
	resp.Body = &answerBody{resp.Body, u}
	return resp, nil
}

// Expire implements [watchdog.Waiter].
func (u *upstream) Expire() { u.cancel(errSilent) }

const (
	lingerTime  = 5 * time.Millisecond
	lingerBytes = 4 << 10
)

// linger reads the answer to its end after everything of interest was read. The end is usually in the
// same packet, and a connection whose answer was not read to its end cannot be used again.
func (u *upstream) linger() {
	u.request.watch.Start(lingerTime, u)
	_, _ = io.CopyN(io.Discard, u.answer, lingerBytes) // whether it was the end does not matter
	u.request.watch.Stop()
}

// mayHaveBeenServed reports whether the provider may have worked on the request.
func (u *upstream) mayHaveBeenServed() bool {
	return u.body != nil && (u.answered || u.body.Delivered())
}

// close ends the upstream request.
func (u *upstream) close() {
	u.drain.stop()
	if u.cancel != nil {
		u.cancel(nil)
	}
}

// answerBody runs the idle timeout while the provider is waited for, and not while a slow client is.
// Its errors are those of the gateway.
type answerBody struct {
	io.ReadCloser
	upstream *upstream
}

func (b *answerBody) Read(p []byte) (int, error) {
	u := b.upstream
	began := u.deps.Now()
	u.request.watch.Start(u.deps.Timeouts.Idle, u)
	n, err := b.ReadCloser.Read(p)
	u.request.watch.Stop()
	u.meter.waited(u.deps.Now().Sub(began))
	if err != nil && err != io.EOF {
		err = u.failure(err)
	}
	return n, err
}

// failure returns what the caller gets for an error of the upstream request.
func (u *upstream) failure(err error) *apierror.Error {
	name := u.provider.Name
	switch cause := context.Cause(u.ctx); {
	case u.client.Err() != nil:
		return clientGone(err)
	case errors.Is(cause, errSilent) && !u.answered:
		return providerFailure(apierror.UpstreamTimeout, name, err, "provider %q did not answer within %s", name, u.deps.Timeouts.Header)
	case errors.Is(cause, errSilent):
		return providerFailure(apierror.UpstreamTimeout, name, err, "provider %q sent nothing for %s", name, u.deps.Timeouts.Idle)
	case errors.Is(cause, ErrShutdown):
		return apierror.New(apierror.ShuttingDown, "the gateway is shutting down").WithCause(err)
	case errors.Is(err, provider.ErrRedirect):
		return providerFailure(apierror.UpstreamError, name, err, "provider %q answered with a redirect, which is not followed", name)
	case u.answered:
		return providerFailure(apierror.UpstreamError, name, err, "provider %q broke off its answer", name)
	default:
		return providerFailure(apierror.UpstreamError, name, err, "provider %q could not be reached", name)
	}
}

// ErrShutdown is the cause with which the calls of a gateway that shuts down are interrupted.
var ErrShutdown = errors.New("the gateway is shutting down")

func providerFailure(code apierror.Code, name string, cause error, format string, args ...any) *apierror.Error {
	e := apierror.New(code, format, args...).WithCause(cause)
	e.Provider = name
	return e
}
