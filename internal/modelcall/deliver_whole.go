package modelcall

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/gatehouse-proxy/gatehouse/internal/admission"
	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/modelcall/wire"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/request"
)

const (
	// maxAnswer bounds a provider's whole answer, in bytes: images inside an answer reach some tens
	// of MB.
	maxAnswer = 64 << 20
	// maxPooled is the largest buffer worth keeping for the next answer.
	maxPooled = 256 << 10
)

// deliverWhole forwards an answer in one piece.
func deliverWhole(ctx context.Context, a *attempt, g *admission.Guard, rates shownLimits, s *wire.Sending) delivery {
	u := &a.upstream
	resp, err := u.send(ctx, s)
	if err != nil {
		return failed(apierror.From(err))
	}
	defer func() { _ = resp.Body.Close() }()
	defer u.memory.release()
	if resp.StatusCode != http.StatusOK {
		failure := providerError(resp, u.deps.Now(), a.shown(), a.provider())
		if s.Wire.Optional && lacksRoute(failure, resp.StatusCode) {
			failure = askedProvider(a.provider()).Broken(failure.Cause, "does not have %s", u.request.Outcome.Record.Route)
			failure.Code = apierror.ModelNotCallable
		}
		return failed(failure)
	}
	if s.Wire.Passes && (g.Set == nil || !g.Set.JudgesAnswers()) {
		if head := beginning(resp); head != nil {
			return deliverPassed(ctx, a, rates, s, resp, head)
		}
	}
	return readWhole(ctx, a, g, rates, s, resp)
}

// readWhole forwards an answer that has begun.
func readWhole(ctx context.Context, a *attempt, g *admission.Guard, rates shownLimits, s *wire.Sending, resp *http.Response) delivery {
	u, err := &a.upstream, error(nil)
	q, memory := u.request, &u.memory
	received := buffers.Get().(*[]byte)
	defer keepBuffer(received)
	if *received, err = readAll((*received)[:0], resp.Body, resp.ContentLength, memory); err != nil {
		if s.Adapted != nil { // which has the usage before its failure
			_, summary, _ := s.Answer.Whole(nil, *received)
			u.meter.summarize(summary)
		}
		return failed(brokenAnswer(a.provider(), err))
	}
	u.meter.wholeAnswer(len(*received))
	u.trace.answered(*received)
	if len(*received) == 0 {
		u.meter.markUnbilled()
	}
	judged, refusal := g.Answer(ctx, *received)
	if judged == nil {
		judged = *received
	}
	out := buffers.Get().(*[]byte)
	converted, summary, err := s.Answer.Whole((*out)[:0], judged) // of a refused answer too: its usage is real
	*out = converted
	a.summarize(summary)
	gone := u.leftWhileDraining(ctx)
	switch {
	case refusal != nil:
		return failed(apierror.From(refusal))
	case gone != nil:
		return failed(gone)
	case err != nil:
		if openai.ParseProviderError(*received) != (openai.ProviderError{}) {
			u.meter.markUnbilled()
		}
		return failed(brokenAnswer(a.provider(), err))
	}
	if failure, body := summary.Err, converted; failure != nil { // the answer says itself that it failed; so does the record
		u.meter.markUnbilled()
		return delivery{failure: failure, end: func(*apierror.Error) error {
			q.Outcome.Fail(failure)
			_ = writeJSON(q, rates, body)
			return nil
		}}
	}
	if cap(*received) > maxPooled { // not while a slow client reads
		*received = nil
	}
	_ = memory.hold(wholeAnswer, cap(converted)/2) // there is one copy now, seldom larger than two were
	a.succeed()
	q.Outcome.Succeed(http.StatusOK)
	if writeJSON(q, rates, converted) == nil { // else HTTP/2 may still read it
		keepBuffer(out)
	}
	return delivery{}
}

// writeJSON writes an answer of JSON.
func writeJSON(q *request.Request, rates shownLimits, body []byte) error {
	return writeWhole(q, rates, jsonContentType, body)
}

// writeWhole writes an answer in one piece. An error only says that the client may not have got it: the
// request's context shows that it has left.
func writeWhole(q *request.Request, rates shownLimits, contentType []string, body []byte) error {
	w := q.Writer
	h := w.Header()
	rates.set(h)
	nameLeftOut(h, q.Outcome.LeftOut)
	h["Content-Type"] = contentType
	h["Content-Length"] = []string{strconv.Itoa(len(body))}
	w.WriteHeader(http.StatusOK)
	return q.Write(body)
}

var jsonContentType = []string{"application/json"}

// leftOutHeader names the fields that the provider did not get, because it ignores them.
const leftOutHeader = "X-Gatehouse-Left-Out"

func nameLeftOut(h http.Header, fields []string) {
	if len(fields) > 0 {
		h.Set(leftOutHeader, strings.Join(fields, ", "))
	}
}

var errAnswerTooLarge = apierror.New(apierror.UpstreamError, "the provider's answer has more than %d bytes", maxAnswer)

// readAll appends all of r to dst, within the memory for answers. Announced is the Content-Length or
// -1.
func readAll(dst []byte, r io.Reader, announced int64, m *answerMemory) ([]byte, error) {
	if announced > maxAnswer {
		return dst, errAnswerTooLarge
	}
	if need := int(announced) + 1; need > cap(dst) {
		if err := m.hold(wholeAnswer, need); err != nil {
			return dst, err
		}
		dst = make([]byte, 0, need)
	}
	for {
		if len(dst) == cap(dst) {
			size := min(2*max(cap(dst), bytes.MinRead), maxAnswer+1)
			if err := m.hold(wholeAnswer, size); err != nil {
				return dst, err
			}
			dst = append(make([]byte, 0, size), dst...)
		}
		n, err := r.Read(dst[len(dst):cap(dst)])
		dst = dst[:len(dst)+n]
		switch {
		case err == io.EOF:
			return dst, nil
		case err != nil:
			return dst, err
		case len(dst) > maxAnswer:
			return dst, errAnswerTooLarge
		}
	}
}

// buffers holds answers on their way. None is ever a request's, which the upstream connection may
// still read.
var buffers = sync.Pool{New: func() any { b := make([]byte, 0, 4<<10); return &b }}

func keepBuffer(b *[]byte) {
	if cap(*b) <= maxPooled {
		buffers.Put(b)
	}
}
