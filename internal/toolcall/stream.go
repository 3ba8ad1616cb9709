package toolcall

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/mcp"
	"github.com/gatehouse-proxy/gatehouse/internal/provider"
	"github.com/gatehouse-proxy/gatehouse/internal/request"
)

// stream forwards an answer event by event.
type stream struct {
	call    *call
	answers *mcp.Reader
	events  *eventWriter
	named   bool   // an event had an id: the client can continue there
	edited  []byte // the buffer of events that are not as they came
}

// forward writes the header and all events. A failure after it is an event, or the end of the stream.
func (s *stream) forward(ctx context.Context) error {
	c := s.call
	q := c.req
	h := q.Writer.Header()
	h["Content-Type"], h["Cache-Control"], h["X-Accel-Buffering"] = eventStreamContentType, noStore, noBuffering
	q.Outcome.Record.Stream = true
	q.Writer.WriteHeader(http.StatusOK)
	s.events = newEventWriter(c)
	defer s.events.stop()
	var out []byte // the event before
	for final := false; ; {
		// The last event goes with the end of the answer.
		if err := s.events.send(out, !final && !s.answers.Buffered()); err != nil {
			return s.end(request.ClientGone(err))
		}
		if final {
			break
		}
		var failure *apierror.Error
		if out, final, failure = s.next(ctx); failure != nil {
			return s.end(failure)
		}
		q.Outcome.FirstEvent(c.deps.Now)
	}
	provider.Linger(c.upstream.body, &q.Watch, &c.upstream)
	q.Outcome.Succeed(http.StatusOK)
	return nil
}

// errOver is the end of a stream that needs no answer.
var errOver = apierror.New(apierror.Internal, "the stream is over")

// next returns the next event as the client may see it. Final reports whether it answers the request.
func (s *stream) next(ctx context.Context) (out []byte, final bool, failure *apierror.Error) {
	c := s.call
	event, err := s.answers.Next()
	switch {
	case err == io.EOF && (!c.isRequest() || c.open() || c.era == mcp.Sessions && s.named):
		return nil, false, errOver
	case err == io.EOF:
		return nil, false, c.upstream.asked().Broken(err, "ended its stream without an answer")
	case err != nil:
		return nil, false, c.upstream.unreadable(err)
	}
	s.named = s.named || hasID(event.Raw)
	if event.Message == nil {
		return event.Raw, false, nil
	}
	shown, final, err := c.shown(ctx, event.Message)
	if err != nil {
		failure := apierror.From(err)
		if failure.Code == apierror.GuardrailBlocked && c.open() && !final { // one message of many is left out
			return nil, false, nil
		}
		return nil, false, failure
	}
	if bytes.Equal(shown, event.Message) {
		return event.Raw, final, nil
	}
	s.edited = event.AppendWith(s.edited[:0], shown)
	return s.edited, final, nil
}

// end ends the stream with a failure. A client that waits for an answer gets it as an event.
func (s *stream) end(failure *apierror.Error) error {
	c := s.call
	q := c.req
	s.events.stop()
	if failure == errOver || errors.Is(context.Cause(c.upstream.ctx), errReplaced) {
		q.Outcome.Succeed(http.StatusOK)
		failure = endedBy(errReplaced)
		if !c.open() || !c.isRequest() {
			return nil
		}
	} else {
		q.Outcome.Fail(failure)
		_ = c.upstream.note(failure)
	}
	if !c.isRequest() || failure.Code == apierror.ClientGone {
		return nil
	}
	out := append(s.edited[:0], "event: message\ndata: "...)
	out = append(mcp.AppendError(out, c.message.ID, errorOf(c, failure)), "\n\n"...)
	_ = q.Write(out)                                 // the request's context shows that a client has left
	_ = http.NewResponseController(q.Writer).Flush() // a process that shuts down may be gone by then
	return nil
}

// hasID reports whether an event has a field id.
func hasID(raw []byte) bool {
	for line := range bytes.FieldsFuncSeq(raw, func(r rune) bool { return r == '\n' || r == '\r' }) {
		if bytes.HasPrefix(line, []byte("id:")) {
			return true
		}
	}
	return false
}
