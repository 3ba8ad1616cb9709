package guardrail_test

import (
	"github.com/gatehouse-proxy/gatehouse/internal/guardrail"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
)

// sent is an event as it is sent on.
type sent struct{ name, data []byte }

// wire is a guarded stream of a provider, whose events go on to the client.
type wire struct {
	*guardrail.Stream
	events openai.Events
	client openai.Stream
}

func newWire(set *guardrail.Set, api guardrail.Wire) *wire {
	w := &wire{Stream: set.Stream(api), client: openai.NewChatStream(openai.Call{})}
	if api == guardrail.Responses {
		w.client = openai.NewResponsesStream(openai.Call{})
	}
	return w
}

// push pushes an event of the provider and returns the events that are sent on.
func (w *wire) push(name, data string) ([]sent, *guardrail.Verdict, error) {
	events, v, err := w.Push(w.events.Next([]byte(name), []byte(data)))
	return w.pass(events), v, err
}

func (w *wire) pass(events []*openai.Event) (out []sent) {
	for _, e := range events {
		out = append(out, sent{e.Name, e.AppendTo(nil)})
		w.client.Data(nil, e)
	}
	return out
}

func (w *wire) close() ([]sent, *guardrail.Verdict) {
	events, v := w.Close()
	return w.pass(events), v
}
