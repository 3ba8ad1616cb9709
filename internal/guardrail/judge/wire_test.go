package judge_test

import (
	"github.com/gatehouse-proxy/gatehouse/internal/gemini"
	"github.com/gatehouse-proxy/gatehouse/internal/guardrail"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
)

// sent is an event as it is sent on.
type sent struct{ name, data []byte }

// wire is a guarded stream of a provider, whose events go on to the client.
type wire struct {
	guardrail.Stream
	events openai.Events
	client openai.Stream
}

func newWire(set guardrail.Set, api guardrail.Wire) *wire {
	w := &wire{Stream: set.Stream(api), client: openai.NewChatStream(openai.Call{})}
	switch api {
	case guardrail.Responses:
		w.client = openai.NewResponsesStream(openai.Call{})
	case guardrail.Generate:
		w.client = gemini.NewStream(openai.Call{Model: "g/m"}, 1)
	case guardrail.Messages:
		w.client = messagesStream{}
	}
	return w
}

// messagesStream passes the events of a Messages stream on. Deltas with one string may be repeated.
type messagesStream struct{ openai.Stream }

func (messagesStream) Data(dst []byte, e *openai.Event) []byte {
	if !e.Repeats() {
		learnDelta(e)
	}
	dst = append(append(append(dst, "event: "...), e.Name...), "\ndata: "...)
	return append(e.AppendTo(dst), "\n\n"...)
}

func (messagesStream) Summary() (s openai.Summary) { return s }

func learnDelta(e *openai.Event) {
	members, err := e.Members()
	i, ok := jsonscan.Find(e.Data, members, "delta")
	if err != nil || !ok {
		return
	}
	var vars [openai.Variables]openai.Variable
	at := members[i].ValueStart
	for _, m := range jsonscan.Members(members[i].Value(e.Data), nil) {
		if m.Kind == '"' && string(m.Key(e.Data[at:])) != "type" {
			vars[openai.VarText] = openai.Variable{Start: at + m.ValueStart, End: at + m.ValueEnd}
		}
	}
	e.Learn(vars)
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
