package modelcall

import (
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"sync"

	"github.com/gatehouse-proxy/gatehouse/internal/admission"
	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/guardrail"
	"github.com/gatehouse-proxy/gatehouse/internal/modelcall/wire"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/provider"
	"github.com/gatehouse-proxy/gatehouse/internal/request"
	"github.com/gatehouse-proxy/gatehouse/internal/sse"
)

// streaming is the delivery of an answer event by event.
type streaming struct {
	attempt *attempt
	choices int64                                   // that the caller asks for
	reader  sse.Reader                              // of the provider's body
	events  openai.Events                           // of the provider
	stream  openai.Stream                           // writes the caller's events
	keeps   keeper                                  // stream, if it keeps text; else nil
	guard   *admission.Guard                        // of the call
	guarded guardrail.Stream                        // nil: no guardrail reads the answer
	usage   func(event []byte) (openai.Usage, bool) // of the wire
	writer  *eventWriter
	batch   batch

	hold  bool // nothing is sent before the first piece of the answer: another target may have to give it
	sent  bool // something of this answer was sent
	ended bool // the provider's last event has come
}

// keeper is a translation that repeats the text of the answer at its end.
type keeper interface {
	// Kept returns how many bytes it holds.
	Kept() int
}

// streamings has deliveries that have ended: one has a KiB of memory.
var streamings = sync.Pool{New: func() any { return new(streaming) }}

// release gives the memory of the delivery to others.
func (d *streaming) release() {
	if s, ok := d.stream.(interface{ Release() }); ok {
		s.Release()
	}
	d.events.Reset()
	*d = streaming{events: d.events}
	streamings.Put(d)
}

// deliverStream forwards a streamed answer with so many choices. Open says that another attempt can
// follow.
func deliverStream(ctx context.Context, a *attempt, g *admission.Guard, w *eventWriter, s *wire.Sending, choices int64, open bool) delivery {
	d := newStreaming(a, g, w, s, choices, open)
	delivered := d.deliver(ctx, s)
	if delivered.end == nil {
		d.release()
	}
	return delivered
}

func newStreaming(a *attempt, g *admission.Guard, w *eventWriter, s *wire.Sending, choices int64, open bool) *streaming {
	w.name(s.LeftOut)
	d := streamings.Get().(*streaming)
	d.attempt, d.choices, d.stream, d.guard, d.writer, d.hold = a, choices, s.Answer.Stream(), g, w, open
	d.keeps, _ = d.stream.(keeper)
	d.usage = s.Wire.Usage
	return d
}

func (d *streaming) deliver(ctx context.Context, s *wire.Sending) delivery {
	a := d.attempt
	u := &a.upstream
	resp, err := u.send(ctx, s)
	if err != nil {
		return d.end(ctx, apierror.From(err))
	}
	defer func() { _ = resp.Body.Close() }()
	defer u.memory.release()
	if resp.StatusCode != http.StatusOK {
		return d.end(ctx, providerError(resp, u.deps.Now(), a.shown(), a.provider()))
	}
	return d.read(ctx, resp, s)
}

// read forwards an answer that has begun.
func (d *streaming) read(ctx context.Context, resp *http.Response, s *wire.Sending) delivery {
	a := d.attempt
	u := &a.upstream
	body := io.Reader(resp.Body)
	switch media, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")); media {
	case "text/event-stream":
	case "application/json":
		var refusal *apierror.Error
		if body, refusal = wholeAsEvents(a, resp, s.Wire); refusal != nil {
			return d.end(ctx, refusal)
		}
	default:
		return d.end(ctx, askedProvider(a.provider()).Unreadable(errors.New("no event stream but "+media)))
	}
	if d.guard.Set != nil {
		d.guarded = d.guard.Set.Stream(s.Wire.Guardrail)
	}
	if d.guarded != nil {
		defer func() { d.guard.Redacted(d.guarded.Redacted()) }()
	}
	delivered := d.end(ctx, d.forward(body, s.Wire))
	if d.ended {
		provider.Linger(u.answer, &u.request.Watch, u) // by now the end of the body has usually come
	}
	return delivered
}

// end writes the rest of the batch and the one end of the stream: the family's own, or its error. With
// a failure of which nothing was sent, another target can be asked; without one the failure becomes a
// status, or the error of the stream if the client has got 200 already. Whether the first words and the
// failure came in one packet makes no difference. Nothing more is written to a client that has left.
func (d *streaming) end(ctx context.Context, failure *apierror.Error) delivery {
	written := false
	if failure == nil {
		failure = d.attempt.upstream.leftWhileDraining(ctx)
	}
	if failure == nil {
		failure, written = d.close()
	}
	switch {
	case failure == nil:
		d.attempt.succeed()
		d.finish(nil)
	case failure.Code == apierror.ClientGone:
		defer d.forget(failure)
		if d.writer.abandon() {
			return failed(failure)
		}
		d.attempt.upstream.request.Outcome.Fail(failure)
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
	d.attempt.summarize(d.stream.Summary())
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
	q := d.attempt.upstream.request
	d.commit()
	q.WatchWrite()
	writeErr := d.writer.finish(d.batch.bytes(), failure != nil)
	q.Watch.Stop()
	d.batch.written(writeErr)
	d.attempt.summarize(d.stream.Summary())
	switch {
	case failure != nil:
		q.Outcome.Fail(failure)
	case writeErr != nil:
		q.Outcome.Fail(request.ClientGone(writeErr))
	default:
		q.Outcome.Succeed(http.StatusOK)
	}
}

// close ends the stream after the provider's body has ended. A failure that the provider reported is
// already written in the caller's form.
func (d *streaming) close() (failure *apierror.Error, written bool) {
	m := &d.attempt.upstream.meter
	out, err := d.stream.Close(d.batch.bytes(), nil)
	d.batch.set(out)
	switch {
	case err == nil:
		return nil, false
	case errors.Is(err, openai.ErrCut):
		if !m.received() {
			m.markUnbilled()
		}
		return askedProvider(d.attempt.provider()).Broken(err, "broke off its answer"), false
	}
	if !d.stream.Summary().Text {
		m.markUnbilled()
	}
	return apierror.From(err), true
}
