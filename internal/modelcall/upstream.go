package modelcall

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/modelcall/wire"
	"github.com/gatehouse-proxy/gatehouse/internal/provider"
	"github.com/gatehouse-proxy/gatehouse/internal/redact"
	"github.com/gatehouse-proxy/gatehouse/internal/request"
	"github.com/gatehouse-proxy/gatehouse/internal/tracing"
)

// upstream is one request to a provider, and its answer.
type upstream struct {
	deps    *Deps
	request *request.Request
	trace   *callTrace
	meter   meter
	target  *target
	waits   waits
	buffer  *sharedBuffer // of the request; nil if this is its last use

	body    *provider.Body  // nil before send
	ctx     context.Context // of the upstream request
	cancel  context.CancelCauseFunc
	status  int       // of the answer; 0 before its header has come
	guessed []string  // secrets of the provider that are in a request which it refused
	answer  io.Reader // the answer's body, without timeouts
	drain   drain
	memory  answerMemory // from send on
}

// send posts the pieces to the provider and returns its answer, good or bad. The answer's body is
// guarded by the idle timeout. The upstream request ends with the client: its context is that of the
// client's request, never a module's. A request that met a connection which the provider was closing
// is sent once more on a new one; what is charged then is the second, or the estimate if that has no
// answer and either may have been worked on. Errors: 502, 503 on shutdown, or the client left.
func (u *upstream) send(client context.Context, s *wire.Sending) (*http.Response, error) {
	if err := client.Err(); err != nil {
		return nil, request.ClientGone(err)
	}
	q, record := u.request, u.request.Outcome.Record
	u.memory = answerMemory{of: u, all: u.deps.Answers}
	u.meter.sent = u.deps.Now()
	if u.buffer == nil {
		u.body = provider.NewBody(s.Body, q.Upload.Handover())
	} else {
		u.body = provider.NewBody(s.Body, u.buffer.hold(&q.Upload))
	}
	s.Body = nil // u.body releases it
	u.ctx, u.cancel = u.drain.context(client, u.deps, record.RequestID)
	q.SetCancel(u.cancel)
	if u.waits.call > 0 {
		u.waits.late = time.AfterFunc(u.waits.call, func() { u.cancel(provider.ErrTooLong) })
	}
	q.Watch.Start(u.waits.begin(s.Stream), u)
	record.Attempts++
	request := u.requestOf(s, u.body)
	resp, err := u.target.endpoint.Send(u.ctx, u.traced(request))
	if errors.Is(err, provider.ErrStale) {
		u.trace.endAttempt(0, tracing.StaleConnection)
		record.Attempts++
		again := u.deps.Now()
		q.Outcome.Phases.Provider += again.Sub(u.meter.sent)
		u.meter.sent = again
		resp, err = u.target.endpoint.Resend(u.ctx, u.traced(request))
	}
	q.Watch.Stop()
	u.waited(u.meter.sent)
	if err != nil {
		u.meter.unbilled = errors.Is(err, provider.ErrRedirect)
		return nil, u.failure(err)
	}
	u.status = resp.StatusCode
	u.meter.answered(resp.StatusCode)
	u.answer = resp.Body
	resp.Body = &answerBody{resp.Body, u}
	var repeat []byte
	if resp.StatusCode != http.StatusOK {
		u.guessed = u.guesses()
		repeat = u.plainStream(resp, s)
	}
	u.body.Release() // the transport repeats nothing after an answer
	if u.buffer == nil {
		q.Upload.Free(u.body.Kept())
	}
	switch {
	case s.Adapted != nil:
		return u.adapt(resp, s)
	case repeat != nil:
		if resp, err = u.repeat(s, resp, repeat); err == nil && resp.StatusCode == http.StatusOK {
			u.target.endpoint.NoteStreamOptionsRefused(u.target.model.Name)
		}
		return resp, err
	}
	return resp, nil
}

// maxGuessed is how much of a request is searched for guesses, in bytes: an error repeats a short text.
const maxGuessed = 1 << 20

// guesses returns the secrets of the provider that are in the request. Its error may repeat the request.
func (u *upstream) guesses() []string {
	secrets := u.target.endpoint.Secrets()
	if len(secrets) == 0 {
		return nil
	}
	body, err := u.body.Open()
	if err != nil {
		return nil
	}
	sent, _ := io.ReadAll(io.LimitReader(body, maxGuessed))
	_, _ = io.Copy(io.Discard, body) // its bytes are given back when they are read
	return redact.Guessed(secrets, sent)
}

// shown returns a text of the provider as the caller may see it.
func (u *upstream) shown() func(string) string { return shown(u.request, u.target, u.guessed...) }

func (u *upstream) requestOf(s *wire.Sending, body *provider.Body) provider.Request {
	return provider.Request{
		Operation: s.Wire.Name, Name: cmp.Or(s.Response, u.target.model.Name), Body: body, Stream: s.StreamsUpstream(), Header: s.Header, Query: s.Query,
	}
}

// commit notes that no other attempt follows: the request need not be kept for as long as the answer
// may last.
func (u *upstream) commit() {
	if u.buffer != nil {
		u.buffer.release()
		u.buffer = nil
		if u.body != nil {
			u.request.Upload.Free(u.body.Kept())
		}
	}
}

// waited notes that the call has waited for its provider since that time.
func (u *upstream) waited(since time.Time) {
	pause := u.deps.Now().Sub(since)
	if u.waits.over.IsZero() { // else nothing is generated
		u.meter.waited(pause)
	}
	u.request.Outcome.Phases.Provider += pause
}

// Expire implements [watchdog.Waiter].
func (u *upstream) Expire() { u.cancel(provider.ErrSilent) }

// mayHaveBeenServed reports whether the provider may have worked on the request.
func (u *upstream) mayHaveBeenServed() bool {
	return u.meter.live || u.body != nil && (u.status != 0 || u.body.Delivered())
}

// close ends the upstream request.
func (u *upstream) close() {
	u.drain.stop()
	if u.waits.late != nil {
		u.waits.late.Stop()
	}
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
	u.request.Watch.Start(u.waits.next(began), u)
	n, err := b.ReadCloser.Read(p)
	u.request.Watch.Stop()
	u.waited(began)
	if err != nil && err != io.EOF {
		err = u.failure(err)
	}
	return n, err
}

// endless reports whether the attempt ended because a stream did not end after its answer.
func (u *upstream) endless() bool {
	return !u.waits.over.IsZero() && errors.Is(context.Cause(u.ctx), provider.ErrSilent)
}

// failure returns what the caller gets for an error of the upstream request.
func (u *upstream) failure(err error) *apierror.Error {
	cause := context.Cause(u.ctx)
	switch {
	case u.drain.client.Err() != nil:
		return request.ClientGone(err)
	case errors.Is(cause, request.ErrShutdown):
		return request.ShuttingDown(err)
	}
	asked := askedProvider(u.target.provider.Name)
	asked.Shown = shown(u.request, u.target)
	return asked.Failure(err, cause, provider.Waits{
		Answered: u.status != 0, Begin: u.deps.Now().Sub(u.meter.sent).Round(time.Millisecond), Idle: u.waits.idle, Call: u.waits.call,
	})
}

// askedProvider is a provider, as errors name it.
func askedProvider(name string) provider.Asked { return provider.Asked{Kind: "provider", Name: name} }

// sharedBuffer is the buffer of a request that several attempts send. It is given back when none of
// them reads it any more: a connection that was given up may read on for a while.
type sharedBuffer struct {
	free  func()
	users atomic.Int32 // attempts, and the call itself
}

// hold returns what ends one attempt's use of the buffer.
func (b *sharedBuffer) hold(u interface{ Handover() func() }) func() {
	if b.free == nil {
		b.free = u.Handover()
		b.users.Store(1)
	}
	b.users.Add(1)
	return b.release
}

func (b *sharedBuffer) release() {
	if b.users.Add(-1) == 0 {
		b.free()
	}
}
