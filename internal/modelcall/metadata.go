package modelcall

import (
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/openrouter"
)

// tried are the attempts of a call whose caller asks for openrouter_metadata.
type tried struct {
	call     *call
	attempts []openrouter.RouterAttempt
	ended    bool // the last one
}

// newTried returns nil if the caller does not ask, or has an API without the member.
func newTried(c *call) *tried {
	if c.Record.Family != "openrouter" || !openrouter.WantsMetadata(c.r.Header) {
		return nil
	}
	return &tried{call: c}
}

// writer returns what writes openrouter_metadata, nil for none.
func (m *tried) writer() func() []byte {
	if m == nil {
		return nil
	}
	return m.object
}

// begin notes that an attempt begins.
func (m *tried) begin(t *target) {
	if m != nil {
		m.attempts, m.ended = append(m.attempts, openrouter.RouterAttempt{Endpoint: endpointOf(t)}), false
	}
}

// end notes that the last attempt ended with a status of the provider, 0 for none.
func (m *tried) end(status int) {
	if m != nil {
		m.attempts[len(m.attempts)-1].Status, m.ended = status, true
	}
}

func endpointOf(t *target) openrouter.Endpoint {
	return openrouter.Endpoint{Provider: t.accountName(), Model: t.model.ID}
}

// object returns openrouter_metadata as far as the call has come.
func (m *tried) object() []byte {
	c := m.call
	o := openrouter.Metadata{Requested: c.asked.Model, Strategy: "direct", Attempts: m.attempts}
	if n := len(o.Attempts); n > 0 && !m.ended {
		o.Attempts[n-1].Status = c.upstream.status
	}
	for _, t := range c.targets {
		o.Available = append(o.Available, endpointOf(t))
		if t.alias {
			o.Strategy = "alias"
		}
	}
	if c.listed {
		o.Strategy = "fallback"
	}
	return o.Append(nil)
}

// AddMetadata adds openrouter_metadata to the body of a refusal, a JSON object, if the caller asks for
// it and the call has got as far as to have targets.
func (q *Request) AddMetadata(body []byte) []byte {
	if q == nil || q.call == nil || q.call.tried == nil || len(q.call.targets) == 0 {
		return body
	}
	body = append(body[:len(body)-1], `,"`+openai.MetadataKey+`":`...)
	return append(append(body, q.call.tried.object()...), '}')
}
