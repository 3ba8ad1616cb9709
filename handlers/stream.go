package handlers

import (
	"errors"
	"io"
	"mime"
	"net/http"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/provider"
	"github.com/gatehouse-proxy/gatehouse/internal/sse"
)

const (
	// maxEvent bounds one event of a provider: an inline image is a few MB.
	maxEvent = 16 << 20
	// maxBatch is how many bytes of events that are there already are
	// gathered for one write.
	maxBatch = 64 << 10
)

// stream sends the body upstream and forwards the answer event by event.
func (x *exchange) stream(op provider.Operation, body [][]byte, s openai.Stream) error {
	line := newClientLine(x)
	defer line.stop()
	resp, err := x.call.Send(x.r.Context(), op, body, true)
	if err != nil {
		return x.endStream(line, s, nil, apierror.From(err))
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return x.endStream(line, s, nil, apierror.From(x.providerError(resp)))
	}
	if media, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")); media != "text/event-stream" {
		return x.endStream(line, s, nil, apierror.From(x.brokenAnswer(errors.New("no event stream but "+media))))
	}
	var batch batch
	defer batch.drop()
	judge := newStreamJudge(x, op, s)
	defer judge.note()
	events := sse.NewReader(resp.Body, maxEvent)
	defer events.Release()
	for !s.Done() {
		event, err := events.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return x.endStream(line, s, batch.bytes(), apierror.From(x.brokenAnswer(err)))
		}
		if event.Comment {
			continue
		}
		x.call.Event(event.Name, event.Data)
		out, refusal := judge.data(batch.bytes(), event)
		batch.set(out)
		if refusal != nil {
			x.call.UseOf(event.Data)
			return x.endStream(line, s, batch.bytes(), refusal)
		}
		if s.Done() || events.Buffered() && len(batch.bytes()) < maxBatch {
			continue // an end goes out in endStream: a failure may still become a status
		}
		if err := line.send(batch.bytes()); err != nil && !x.call.Drains() {
			return x.endStream(line, s, nil, clientGone(err))
		}
		batch.drop()
	}
	if s.Done() {
		x.call.Linger()
	}
	out, refusal := judge.end(batch.bytes())
	batch.set(out)
	return x.endStream(line, s, batch.bytes(), refusal)
}

// batch is what waits to be written, in a shared buffer that it has only as
// long as something waits: most of a stream's life nothing does.
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

// endStream sends what is left and the one end of the stream: the family's
// own, or its error. A failure before the provider said anything, and before
// anything was sent, is an ordinary answer with a status; whether the first
// words and the failure came in one packet makes no difference.
func (x *exchange) endStream(line *clientLine, s openai.Stream, out []byte, failure *apierror.Error) error {
	if err := x.r.Context().Err(); err != nil && failure == nil && x.call.Drains() {
		failure = clientGone(err)
	}
	told := false
	if failure == nil {
		var err error
		out, err = s.Close(out, nil)
		switch {
		case errors.Is(err, openai.ErrCut):
			failure = x.broken("broke off its answer", err)
			if !x.call.Heard() {
				x.call.SaidNothing()
			}
		case err != nil: // the provider's own, which s has put into words
			failure, told = apierror.From(err), true
			if !s.Summary().Text {
				x.call.SaidNothing()
			}
		}
	}
	if failure != nil {
		if failure.Code == apierror.ClientGone || !s.Summary().Text && line.abandon() {
			_, _ = s.Close(nil, failure) // completes the summary
			x.call.Summarise(s.Summary())
			return failure
		}
		if !told {
			out, _ = s.Close(out, failure) // ends for the first time: no error
		}
	}
	sendErr := line.finish(out, failure != nil)
	x.call.Summarise(s.Summary())
	switch {
	case failure != nil:
		x.call.Fail(failure)
	case sendErr != nil:
		x.call.Fail(clientGone(sendErr))
	default:
		x.call.Succeed(http.StatusOK)
	}
	return nil
}

func clientGone(err error) *apierror.Error {
	return apierror.New(apierror.ClientGone, "the client left").WithCause(err)
}
