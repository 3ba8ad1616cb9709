package gateway

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/provider"
)

// Causes of a cancelled upstream request, found again by context.Cause.
var (
	errSilent   = errors.New("nothing arrived in time")
	errShutdown = errors.New("the gateway is shutting down")
)

// Send forwards a body, made of pieces of what ReadBody returned and of edits,
// to the admitted provider and returns its answer, good or bad, with the
// answer's body guarded by the idle timeout. What ReadBody returned must not be
// used after Send. The upstream request ends when client does: that is the
// request's own context, never a module's. A request that met a connection which
// the provider was closing is sent once more, on a new one; what is charged is
// the second, or the estimate if that has no answer and either may have been worked on.
func (c *Call) Send(client context.Context, op provider.Operation, pieces [][]byte, stream bool) (*http.Response, error) {
	if err := client.Err(); err != nil {
		return nil, apierror.New(apierror.ClientGone, "the client left").WithCause(err)
	}
	received := c.buffer
	c.buffer = nil
	c.seen.sent, c.seen.bytes = c.gateway.now(), int64(len(received))
	body := provider.NewBody(pieces, func() { giveBuffer(received) })
	c.sent = body
	ctx, cancel := c.upstreamContext(client)
	c.entry.SetCancel(cancel)
	c.silence(cancel)
	c.await(c.gateway.timeouts.Header)
	c.Record.Attempts++
	if c.quota.splice && c.quota.output != c.quota.demand.Output {
		c.Record.OutputCap = c.quota.output
	}
	resp, err := c.provider.Send(ctx, op, body, stream)
	if errors.Is(err, provider.ErrStale) {
		c.Record.Attempts++
		c.seen.sent = c.gateway.now()
		resp, err = c.provider.Resend(ctx, op, body, stream)
	}
	c.arrived()
	c.seen.waited(c.gateway.now().Sub(c.seen.sent))
	if err != nil {
		c.seen.refused = errors.Is(err, provider.ErrRedirect)
		return nil, c.failure(client, ctx, err)
	}
	c.answered = true
	c.seen.answeredWith(resp.StatusCode)
	// No retry follows an answer: what was sent need not be kept for as
	// long as a stream may last.
	body.Release()
	c.giveMemory(body.Kept())
	c.answer = resp.Body
	resp.Body = &guardedBody{ReadCloser: resp.Body, call: c, client: client, ctx: ctx}
	return resp, nil
}

const (
	lingerTime  = 5 * time.Millisecond
	lingerBytes = 4 << 10
)

// Linger reads the answer to its end after all that matters has been read. The
// end usually lies behind it in the same packet, and a connection whose answer
// was not read to the end cannot be used again.
func (c *Call) Linger() {
	c.await(lingerTime)
	_, _ = io.CopyN(io.Discard, c.answer, lingerBytes) // it is the end, or not
	c.arrived()
}

func (c *Call) silence(cancel context.CancelCauseFunc) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.silent = cancel
}

// guardedBody lets the idle timeout run while the provider is waited for, and
// not while a slow client is, and tells in the gateway's words why a read failed.
type guardedBody struct {
	io.ReadCloser
	call        *Call
	client, ctx context.Context
}

func (b *guardedBody) Read(p []byte) (int, error) {
	began := b.call.gateway.now()
	b.call.await(b.call.gateway.timeouts.Idle)
	n, err := b.ReadCloser.Read(p)
	b.call.arrived()
	b.call.seen.waited(b.call.gateway.now().Sub(began))
	if err != nil && err != io.EOF {
		err = b.call.failure(b.client, b.ctx, err)
	}
	return n, err
}

// failure turns an error of the upstream leg into what the caller is told.
func (c *Call) failure(client, upstream context.Context, err error) *apierror.Error {
	name := c.provider.Name
	switch cause := context.Cause(upstream); {
	case client.Err() != nil:
		return apierror.New(apierror.ClientGone, "the client left").WithCause(err)
	case errors.Is(cause, errSilent) && !c.answered:
		return upstreamFault(apierror.UpstreamTimeout, name, err, "provider %q did not answer within %s", name, c.gateway.timeouts.Header)
	case errors.Is(cause, errSilent):
		return upstreamFault(apierror.UpstreamTimeout, name, err, "provider %q sent nothing for %s", name, c.gateway.timeouts.Idle)
	case errors.Is(cause, errShutdown):
		return apierror.New(apierror.ShuttingDown, "the gateway is shutting down").WithCause(err)
	case errors.Is(err, provider.ErrRedirect):
		return upstreamFault(apierror.UpstreamError, name, err, "provider %q answered with a redirect, which is not followed", name)
	case c.answered:
		return upstreamFault(apierror.UpstreamError, name, err, "provider %q broke off its answer", name)
	default:
		return upstreamFault(apierror.UpstreamError, name, err, "provider %q could not be reached", name)
	}
}

func upstreamFault(code apierror.Code, name string, cause error, format string, args ...any) *apierror.Error {
	e := apierror.New(code, format, args...).WithCause(cause)
	e.Provider = name
	return e
}
