package modelcall

import (
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"sync"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/guardrail"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/provider"
	"github.com/gatehouse-proxy/gatehouse/internal/sse"
)

// streaming is the delivery of an answer event by event.
type streaming struct {
	call   *call
	reader sse.Reader        // of the provider's body
	events openai.Events     // of the provider
	stream openai.Stream     // writes the caller's events
	keeps  keeper            // stream, if it keeps text; else nil
	guard  *guardrail.Stream // nil: no guardrail reads the answer
	writer *eventWriter
	batch  batch

	attempts *attempts
	hold     bool // nothing is sent before the first piece of the answer: another target may have to give it
	sent     bool // something of this answer was sent
	ended    bool // the provider's last event has come
}

// keeper is a translation that repeats the text of the answer at its end.
type keeper interface {
	// Kept returns how many bytes it holds.
	Kept() int
}

// streamings has deliveries that have ended: one has a KiB of memory.
var streamings = sync.Pool{New: func() any { return new(streaming) }}

// newStreaming returns the delivery of an answer. It may be released when it has ended.
func newStreaming(c *call, stream openai.Stream, w *eventWriter) *streaming {
	d := streamings.Get().(*streaming)
	d.call, d.stream, d.writer = c, stream, w
	d.keeps, _ = stream.(keeper)
	return d
}

// release gives the memory of the delivery to others.
func (d *streaming) release() {
	if s, ok := d.stream.(interface{ Release() }); ok {
		s.Release()
	}
	d.events.Reset()
	*d = streaming{events: d.events}
	streamings.Put(d)
}

// deliverStream forwards a streamed answer.
func (c *call) deliverStream(ctx context.Context, a *attempts, s *sending, w *eventWriter) delivery {
	w.name(s.leftOut)
	d := newStreaming(c, s.answer.stream(), w)
	d.attempts, d.hold = a, a.open()
	delivered := d.deliver(ctx, s)
	if delivered.end == nil {
		d.release()
	}
	return delivered
}

func (d *streaming) deliver(ctx context.Context, s *sending) delivery {
	c := d.call
	resp, err := c.upstream.send(ctx, s)
	if err != nil {
		return d.end(ctx, apierror.From(err))
	}
	defer func() { _ = resp.Body.Close() }()
	defer c.upstream.memory.release()
	if resp.StatusCode != http.StatusOK {
		return d.end(ctx, providerError(resp, c.deps.Now(), c.shown(c.upstream.target.endpoint), c.Record.Provider))
	}
	body := io.Reader(resp.Body)
	switch media, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")); media {
	case "text/event-stream":
	case "application/json":
		var refusal *apierror.Error
		if body, refusal = wholeAsEvents(c, resp, s.operation); refusal != nil {
			return d.end(ctx, refusal)
		}
	default:
		return d.end(ctx, nonsense(c.Record.Provider, errors.New("no event stream but "+media)))
	}
	if d.guard = c.guard.set.Stream(wireOf(s.operation)); d.guard != nil {
		defer func() { c.guard.redacted(d.guard.Redacted()) }()
	}
	delivered := d.end(ctx, d.forward(body, s.operation))
	if d.ended {
		c.upstream.linger() // by now the end of the body has usually come
	}
	return delivered
}

// end writes the rest of the batch and the one end of the stream: the family's own, or its error. With
// a failure of which nothing was sent, another target can be asked; without one the failure becomes a
// status, or the error of the stream if the client has got 200 already. Whether the first words and the
// failure came in one packet makes no difference. Nothing more is written to a client that has left.
func (d *streaming) end(ctx context.Context, failure *apierror.Error) delivery {
	c, written := d.call, false
	if failure == nil {
		failure = c.clientLeftWhileDraining(ctx)
	}
	if failure == nil {
		failure, written = d.close()
	}
	switch {
	case failure == nil:
		d.attempts.succeeded()
		d.finish(nil)
	case failure.Code == apierror.ClientGone:
		defer d.forget(failure)
		if d.writer.abandon() {
			return failed(failure)
		}
		c.Fail(failure)
	case !d.sent && !d.stream.Summary().Text:
		return delivery{failure: failure, end: func(told *apierror.Error) error {
			if d.writer.abandon() {
				d.forget(told)
				return told
			}
			if written { // the provider's own failure, which ends this stream
				told = failure
			}
			d.fail(told, written)
			return nil
		}}
	default:
		d.fail(failure, written)
	}
	return delivery{failure: failure}
}

// forget drops what was not sent.
func (d *streaming) forget(failure *apierror.Error) {
	_, _ = d.stream.Close(nil, failure) // completes the summary
	d.call.summarize(d.stream.Summary())
	d.batch.drop()
}

// fail ends the stream with a failure. Written says that the batch has it already.
func (d *streaming) fail(failure *apierror.Error, written bool) {
	if !written {
		out, _ := d.stream.Close(d.batch.bytes(), failure) // it ends for the first time: there is no error
		d.batch.set(out)
	}
	d.finish(failure)
}

// finish writes the rest of the batch, and notes how the call ended.
func (d *streaming) finish(failure *apierror.Error) {
	c := d.call
	d.commit()
	c.watchWrite()
	writeErr := d.writer.finish(d.batch.bytes(), failure != nil)
	c.watch.Stop()
	d.batch.written(writeErr)
	c.summarize(d.stream.Summary())
	switch {
	case failure != nil:
		c.Fail(failure)
	case writeErr != nil:
		c.Fail(clientGone(writeErr))
	default:
		c.Succeed(http.StatusOK)
	}
}

// close ends the stream after the provider's body has ended. A failure that the provider reported is
// already written in the caller's form.
func (d *streaming) close() (failure *apierror.Error, written bool) {
	c := d.call
	out, err := d.stream.Close(d.batch.bytes(), nil)
	d.batch.set(out)
	switch {
	case err == nil:
		return nil, false
	case errors.Is(err, openai.ErrCut):
		if !c.meter.received() {
			c.meter.markUnbilled()
		}
		return providerFailure(apierror.UpstreamError, c.Record.Provider, err, "provider %q broke off its answer", c.Record.Provider), false
	}
	if !d.stream.Summary().Text {
		c.meter.markUnbilled()
	}
	return apierror.From(err), true
}

// wireOf returns the form of the provider's events.
func wireOf(op provider.Operation) guardrail.Wire {
	switch op {
	case provider.Responses:
		return guardrail.Responses
	case provider.Messages:
		return guardrail.Messages
	}
	return guardrail.Chat
}

// summarize notes what the answer said of itself, also if it ended badly.
func (c *call) summarize(s openai.Summary) {
	c.Record.UpstreamID, c.Record.FinishReason, c.Record.NativeFinishReason = s.UpstreamID, s.Finish, s.NativeFinish
	c.meter.summarize(s)
}
