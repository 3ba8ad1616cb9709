package modelcall

import (
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/openai/params"
	"github.com/gatehouse-proxy/gatehouse/internal/openrouter"
	"github.com/gatehouse-proxy/gatehouse/internal/request"
)

// tried are the attempts of a call whose caller asks for openrouter_metadata. It is nil
// for others: begin, end, writer and member take nil.
type tried struct {
	asked    *params.Request
	to       *routed
	attempts []openrouter.RouterAttempt
	status   *int // of the attempt that is under way; nil: it has ended
}

// newTried returns nil if the caller does not ask, or has an API without the member.
func newTried(q *request.Request, asked *params.Request, to *routed) *tried {
	if q.Outcome.Record.Family != "openrouter" || !openrouter.WantsMetadata(q.HTTP.Header) {
		return nil
	}
	return &tried{asked: asked, to: to}
}

// writer returns what writes openrouter_metadata, nil for none.
func (m *tried) writer() func() []byte {
	if m == nil {
		return nil
	}
	return m.object
}

// begin notes that an attempt begins, whose status will be known there.
func (m *tried) begin(t *target, status *int) {
	if m != nil {
		m.attempts, m.status = append(m.attempts, openrouter.RouterAttempt{Endpoint: endpointOf(t)}), status
	}
}

// end notes that the last attempt ended.
func (m *tried) end() {
	if m != nil {
		m.update()
		m.status = nil
	}
}

// update notes the status of the last attempt, 0 for none.
func (m *tried) update() {
	if m.status != nil {
		m.attempts[len(m.attempts)-1].Status = *m.status
	}
}

func endpointOf(t *target) openrouter.Endpoint {
	return openrouter.Endpoint{Provider: t.accountName(), Model: t.model.ID}
}

// object returns openrouter_metadata as far as the call has come.
func (m *tried) object() []byte {
	m.update()
	o := openrouter.Metadata{Requested: m.asked.Model, Strategy: "direct", Attempts: m.attempts}
	for _, t := range m.to.targets {
		o.Available = append(o.Available, endpointOf(t))
		if t.alias {
			o.Strategy = "alias"
		}
	}
	if m.to.listed {
		o.Strategy = "fallback"
	}
	return o.Append(nil)
}

// member is openrouter_metadata as a member of the body of a refusal, nil unless the caller asks for it
// and the call has got as far as to have targets.
func (m *tried) member() []byte {
	if m == nil || len(m.to.targets) == 0 {
		return nil
	}
	return append([]byte(`"`+openai.MetadataKey+`":`), m.object()...)
}
