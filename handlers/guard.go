package handlers

import (
	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/gateway"
	"github.com/gatehouse-proxy/gatehouse/internal/guardrail"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/provider"
	"github.com/gatehouse-proxy/gatehouse/internal/sse"
)

// admitText has the guardrails judge the request. A redacted body is parsed again; its members are
// the same in number and order.
func (x *exchange) admitText(b *jsonscan.Body) error {
	judged, err := x.call.AdmitText(x.r.Context(), b.Data())
	if err != nil || judged == nil {
		return err
	}
	return b.Parse(judged)
}

// streamJudge is what stands between a provider's events and the stream that
// the client gets: the call's guardrails, or nothing.
type streamJudge struct {
	x       *exchange
	events  openai.Events
	guard   *guardrail.Stream // nil: nothing reads the answer
	forward openai.Stream
}

func newStreamJudge(x *exchange, op provider.Operation, forward openai.Stream) streamJudge {
	wire := guardrail.Chat
	if op == provider.Responses {
		wire = guardrail.Responses
	}
	return streamJudge{x: x, guard: x.call.JudgeStream(wire), forward: forward}
}

// data takes one event of the provider's and appends what the client gets now.
// After a refusal nothing more may be sent but the end that tells of it.
func (j *streamJudge) data(dst []byte, event sse.Event) ([]byte, *apierror.Error) {
	next := j.events.Next(event.Name, event.Data)
	defer next.Release()
	if j.guard == nil {
		return j.forward.Data(dst, next), nil
	}
	events, verdict, err := j.guard.Push(next)
	dst = j.pass(dst, events)
	if err != nil {
		return dst, j.x.broken("gave an answer that makes no sense", err)
	}
	return j.verdict(dst, verdict)
}

// end passes on what is held when the provider's stream has ended.
func (j *streamJudge) end(dst []byte) ([]byte, *apierror.Error) {
	if j.guard == nil {
		return dst, nil
	}
	events, verdict := j.guard.Close()
	return j.verdict(j.pass(dst, events), verdict)
}

// note tells the call what was taken out of its answer.
func (j *streamJudge) note() {
	if j.guard != nil {
		j.x.call.NoteRedacted(j.guard.Redacted())
	}
}

func (j *streamJudge) pass(dst []byte, events []*openai.Event) []byte {
	for _, e := range events {
		dst = j.forward.Data(dst, e)
	}
	return dst
}

func (j *streamJudge) verdict(dst []byte, v *guardrail.Verdict) ([]byte, *apierror.Error) {
	if v == nil {
		return dst, nil
	}
	return dst, gateway.Blocked(v)
}
