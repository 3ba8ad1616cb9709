package modelcall

import (
	"context"
	"fmt"
	"io"
	"mime"
	"net/http"

	"github.com/gatehouse-proxy/gatehouse/internal/admission"
	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/modelcall/wire"
	"github.com/gatehouse-proxy/gatehouse/internal/request"
	"github.com/gatehouse-proxy/gatehouse/internal/sound"
)

// typed is the delivery of an answer whose Content-Type decides how it passes: see [wire.Wire.Typed].
type typed struct {
	attempt   *attempt
	guard     *admission.Guard
	rates     shownLimits
	newWriter func() *eventWriter
	choices   int64
	open      bool // another attempt can follow
}

func (t *typed) deliver(ctx context.Context, s *wire.Sending) delivery {
	a := t.attempt
	u := &a.upstream
	resp, err := u.send(ctx, s)
	if err != nil {
		return failed(apierror.From(err))
	}
	defer func() { _ = resp.Body.Close() }()
	defer u.memory.release()
	if resp.StatusCode != http.StatusOK {
		return failed(providerError(resp, u.deps.Now(), a.shown(), a.provider()))
	}
	switch media, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")); {
	case media == "text/event-stream":
		return t.events(ctx, resp, s)
	case media == "application/json":
		return readWhole(ctx, a, t.guard, t.rates, s, resp)
	case s.Wire.IsText(media):
		return t.text(ctx, resp)
	case s.Wire.PassesBytes(media):
		return deliverBytes(ctx, a, t.rates, resp)
	default:
		return failed(askedProvider(a.provider()).Unreadable(fmt.Errorf("the answer of %s is %q", s.Wire.Name, media)))
	}
}

// events forwards an answer that turned out to be a stream. Once the client has got some of it no other
// attempt follows.
func (t *typed) events(ctx context.Context, resp *http.Response, s *wire.Sending) delivery {
	w := t.newWriter()
	defer w.stop()
	d := newStreaming(t.attempt, t.guard, w, s, t.choices, t.open)
	delivered := d.read(ctx, resp, s)
	if delivered.end != nil && delivered.end(delivered.failure) != nil {
		return failed(delivered.failure)
	}
	d.release()
	return delivery{failure: delivered.failure}
}

// text forwards an answer that is plain text: in one piece, for guardrails read it.
func (t *typed) text(ctx context.Context, resp *http.Response) delivery {
	a, u := t.attempt, &t.attempt.upstream
	q := u.request
	received, err := readAll(nil, resp.Body, resp.ContentLength, &u.memory)
	if err != nil {
		return failed(brokenAnswer(a.provider(), err))
	}
	u.meter.wholeAnswer(len(received))
	judged, refusal := t.guard.Text(ctx, received)
	if refusal == nil && ctx.Err() != nil && u.drains() {
		refusal = request.ClientGone(ctx.Err())
	}
	if refusal != nil {
		return failed(apierror.From(refusal))
	}
	a.succeed()
	q.Outcome.Succeed(http.StatusOK)
	_ = writeWhole(q, t.rates, resp.Header["Content-Type"], judged)
	return delivery{}
}

// deliverBytes forwards an answer as it comes. A failure before the first byte can become a status;
// after it the client's connection breaks, so that a part never looks whole.
func deliverBytes(ctx context.Context, a *attempt, rates shownLimits, resp *http.Response) delivery {
	u := &a.upstream
	q, heard, buffer := u.request, sound.New(resp.Header.Get("Content-Type")), make([]byte, maxPassed)
	defer heard.Close()
	for begun, gone := false, error(nil); ; {
		n, err := resp.Body.Read(buffer)
		if n > 0 && !begun {
			begun = true
			a.commit()
			q.Outcome.FirstEvent(u.deps.Now)
			rates.set(q.Writer.Header())
			beginBytes(q, resp)
		}
		if heard.Add(buffer[:n]); n > 0 && gone == nil {
			if gone = writePiece(a, buffer[:n]); gone == nil {
				gone = flush(http.NewResponseController(q.Writer))
			}
		}
		switch {
		case gone != nil && (err == io.EOF || !u.drains()):
			err = request.ClientGone(gone)
		case err == nil:
			continue
		case !begun:
			u.meter.markUnbilled()
			return failed(brokenAnswer(a.provider(), err))
		}
		u.meter.heard = heard.Close()
		if err == io.EOF {
			a.succeed()
			q.Outcome.Succeed(http.StatusOK)
			return delivery{}
		}
		return cutOff(a, brokenAnswer(a.provider(), err))
	}
}

// beginBytes writes the header of an answer of bytes. It has no length: what is recorded of the call is
// there when its end has come.
func beginBytes(q *request.Request, resp *http.Response) {
	h := q.Writer.Header()
	nameLeftOut(h, q.Outcome.LeftOut)
	h["Content-Type"] = resp.Header["Content-Type"]
	h["X-Accel-Buffering"] = noBuffering
	q.Writer.WriteHeader(http.StatusOK)
}
