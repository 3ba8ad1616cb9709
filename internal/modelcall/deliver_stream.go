package modelcall

import (
	"context"
	"errors"
	"io"
	"mime"
	"net/http"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/guardrail"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/provider"
	"github.com/gatehouse-proxy/gatehouse/internal/sse"
)

const (
	// maxEvent bounds one event of a provider, in bytes: an inline image has a few MB.
	maxEvent = 16 << 20
	// maxBatch is how many bytes of events that have already come are gathered for one write.
	maxBatch = 64 << 10
)

// streaming is the delivery of an answer event by event.
type streaming struct {
	call   *call
	events openai.Events     // of the provider
	stream openai.Stream     // writes the caller's events
	guard  *guardrail.Stream // nil: no guardrail reads the answer
	writer *eventWriter
	batch  batch
}

// deliverStream forwards a streamed answer.
func (c *call) deliverStream(ctx context.Context, t *target, s *sending) error {
	d := streaming{call: c, stream: s.answer.stream()}
	d.writer = newEventWriter(c.w, &c.deps.Timeouts, c.deps.Now, c.showRates, idleEventOf(c.op.kind(), c.r.Header))
	defer d.writer.stop()
	defer d.batch.drop()
	resp, err := c.upstream.send(ctx, t, s)
	if err != nil {
		return d.end(ctx, apierror.From(err))
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return d.end(ctx, providerError(resp, c.deps.Now(), c.Redact, c.Record.Provider))
	}
	if media, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")); media != "text/event-stream" {
		return d.end(ctx, nonsense(c.Record.Provider, errors.New("no event stream but "+media)))
	}
	if d.guard = c.guard.set.Stream(wireOf(s.operation)); d.guard != nil {
		defer func() { c.noteRedacted(d.guard.Redacted()) }()
	}
	return d.end(ctx, d.forward(resp.Body))
}

// forward sends events until the stream is done. It returns why it stopped before that.
func (d *streaming) forward(body io.Reader) *apierror.Error {
	c := d.call
	events := sse.NewReader(body, maxEvent)
	defer events.Release()
	for !d.stream.Done() {
		event, err := events.Next()
		if err == io.EOF {
			return d.endGuard()
		}
		if err != nil {
			return brokenAnswer(c.Record.Provider, err)
		}
		if event.Comment {
			continue
		}
		c.firstToken(c.deps.Now)
		c.meter.event(event.Name, event.Data)
		if refusal := d.take(event); refusal != nil {
			c.meter.lastEvent(event.Data)
			return refusal
		}
		if d.stream.Done() || events.Buffered() && len(d.batch.bytes()) < maxBatch {
			continue // an end is written in end: a failure may still become a status
		}
		if err := d.writer.send(d.batch.bytes()); err != nil && !c.drains() {
			d.batch.drop()
			return clientGone(err)
		}
		d.batch.drop()
	}
	c.upstream.linger()
	return d.endGuard()
}

// take adds to the batch what the client gets for an event. After a refusal only the end may follow.
func (d *streaming) take(event sse.Event) *apierror.Error {
	next := d.events.Next(event.Name, event.Data)
	defer next.Release()
	if d.guard == nil {
		d.batch.set(d.stream.Data(d.batch.bytes(), next))
		return nil
	}
	events, verdict, err := d.guard.Push(next)
	d.pass(events)
	switch {
	case err != nil:
		return nonsense(d.call.Record.Provider, err)
	case verdict != nil:
		return blocked(verdict)
	}
	return nil
}

// endGuard adds what the guardrails held back to the batch, at the end of the provider's stream.
func (d *streaming) endGuard() *apierror.Error {
	if d.guard == nil {
		return nil
	}
	events, verdict := d.guard.Close()
	d.pass(events)
	if verdict != nil {
		return blocked(verdict)
	}
	return nil
}

func (d *streaming) pass(events []*openai.Event) {
	for _, e := range events {
		d.batch.set(d.stream.Data(d.batch.bytes(), e))
	}
}

// end writes the rest of the batch and the one end of the stream: the family's own, or its error. A
// failure before the provider said anything, and before anything was written, is returned and becomes
// a status; whether the first words and the failure came in one packet makes no difference. Nothing
// more is written to a client that has left.
func (d *streaming) end(ctx context.Context, failure *apierror.Error) error {
	c, out, written := d.call, d.batch.bytes(), false
	if failure == nil {
		failure = c.clientLeftWhileDraining(ctx)
	}
	if failure == nil {
		out, failure, written = d.close(out)
	}
	if failure != nil {
		gone := failure.Code == apierror.ClientGone
		unwritten := (gone || !d.stream.Summary().Text) && d.writer.abandon()
		if gone || unwritten {
			_, _ = d.stream.Close(nil, failure) // completes the summary
			c.summarize(d.stream.Summary())
			if unwritten {
				return failure
			}
			c.Fail(failure)
			return nil
		}
		if !written {
			out, _ = d.stream.Close(out, failure) // it ends for the first time: there is no error
		}
	}
	writeErr := d.writer.finish(out, failure != nil)
	d.batch.set(out)
	c.summarize(d.stream.Summary())
	switch {
	case failure != nil:
		c.Fail(failure)
	case writeErr != nil:
		c.Fail(clientGone(writeErr))
	default:
		c.Succeed(http.StatusOK)
	}
	return nil
}

// close ends the stream after the provider's body has ended. A failure that the provider reported is
// already written in the caller's form.
func (d *streaming) close(out []byte) (_ []byte, failure *apierror.Error, written bool) {
	c := d.call
	out, err := d.stream.Close(out, nil)
	switch {
	case err == nil:
		return out, nil, false
	case errors.Is(err, openai.ErrCut):
		if !c.meter.received() {
			c.meter.markUnbilled()
		}
		return out, providerFailure(apierror.UpstreamError, c.Record.Provider, err, "provider %q broke off its answer", c.Record.Provider), false
	}
	if !d.stream.Summary().Text {
		c.meter.markUnbilled()
	}
	return out, apierror.From(err), true
}

// wireOf returns the form of the provider's events.
func wireOf(op provider.Operation) guardrail.Wire {
	if op == provider.Responses {
		return guardrail.Responses
	}
	return guardrail.Chat
}

// summarize notes what the answer said of itself, also if it ended badly.
func (c *call) summarize(s openai.Summary) {
	c.Record.UpstreamID, c.Record.FinishReason, c.Record.NativeFinishReason = s.UpstreamID, s.Finish, s.NativeFinish
	c.meter.summarize(s)
}

// batch is what waits to be written. It has a pooled buffer only while something waits: for most of a
// stream's life nothing does.
type batch struct{ buffer *[]byte }

func (b *batch) bytes() []byte {
	if b.buffer == nil {
		b.buffer = buffers.Get().(*[]byte)
		*b.buffer = (*b.buffer)[:0]
	}
	return *b.buffer
}

func (b *batch) set(grown []byte) { *b.buffer = grown }

func (b *batch) drop() {
	if b.buffer != nil {
		keepBuffer(b.buffer)
		b.buffer = nil
	}
}
