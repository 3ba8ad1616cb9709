package modelcall

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/guardrail"
	"github.com/gatehouse-proxy/gatehouse/internal/guardrail/judge"
	"github.com/gatehouse-proxy/gatehouse/internal/modelcall/wire"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
)

// nowhere is a client of whom nothing is kept.
type nowhere struct{ header http.Header }

func (n nowhere) Header() http.Header         { return n.header }
func (n nowhere) Write(p []byte) (int, error) { return len(p), nil }
func (n nowhere) WriteHeader(int)             {}
func (n nowhere) FlushError() error           { return nil }

// BenchmarkForward is what is done with 64 events that came together, and with each event of a stream
// that come one at a time.
func BenchmarkForward(b *testing.B) {
	g, err := judge.Compile(judge.Spec{Name: "all", Rules: []judge.Rule{
		{Action: judge.Deny, Detector: judge.Secrets},
		{Action: judge.Redact, Detector: judge.Email},
		{Action: judge.Redact, Detector: judge.Card},
	}})
	if err != nil {
		b.Fatal(err)
	}
	answer := openai.Call{Model: "acme/m", ID: "gen-1", Created: 1, Provider: "acme"}
	vocabulary := []string{"time", "be", "number", "people", "way", "water", "call", "oil"}
	var chat, responses strings.Builder
	for i := range 64 {
		word := vocabulary[i%len(vocabulary)]
		fmt.Fprintf(&chat, "data: %s\n\n", event(" "+word))
		name := "response.output_text.delta"
		fmt.Fprintf(&responses, "event: %s\ndata: {\"type\":\"%s\",\"sequence_number\":%d,\"item_id\":\"msg_0123456789abcdef\",\"output_index\":0,"+
			"\"content_index\":0,\"delta\":\" %s\",\"logprobs\":[]}\n\n", name, name, i, word)
	}
	for _, c := range []struct {
		name, events string
		stream       func() openai.Stream
		set          guardrail.Set
		form         guardrail.Wire
		paced        bool
	}{
		{"chat", chat.String(), func() openai.Stream { return openai.NewChatStream(answer) }, nil, guardrail.Chat, false},
		{"chat-guarded", chat.String(), func() openai.Stream { return openai.NewChatStream(answer) }, judge.Join([]guardrail.Guardrail{g}), guardrail.Chat, false},
		{"chat-paced", chat.String(), func() openai.Stream { return openai.NewChatStream(answer) }, nil, guardrail.Chat, true},
		{"responses", responses.String(), func() openai.Stream { return openai.NewResponsesStream(answer) }, nil, guardrail.Responses, false},
		{"responses-guarded", responses.String(), func() openai.Stream { return openai.NewResponsesStream(answer) }, judge.Join([]guardrail.Guardrail{g}), guardrail.Responses, false},
	} {
		b.Run(c.name, func(b *testing.B) {
			r := newRig(b, answering(200, chatAnswerBody))
			call := r.begin(b, hello)
			defer call.req.Finish()
			attemptOf(call).upstream.memory = answerMemory{all: &r.answers}
			timeouts := DefaultTimeouts
			b.ReportAllocs()
			for b.Loop() {
				w := newEventWriter(nowhere{http.Header{}}, &timeouts, time.Now, wire.Heartbeat{}, func(http.Header) {})
				d := streamings.Get().(*streaming)
				d.attempt, d.stream, d.writer, d.guarded, d.guard, d.sent = call.attempt, c.stream(), w, c.set.Stream(c.form), &call.guard, true
				d.keeps, _ = d.stream.(keeper)
				source := &events{c.events, c.paced}
				if refusal := d.forward(source, wire.Chat.Routes[0].Wire); refusal != nil {
					b.Fatal(refusal)
				}
				d.batch.drop()
				d.release()
				w.stop()
			}
		})
	}
}

// events are read at once, or one at a time.
type events struct {
	left  string
	paced bool
}

func (e *events) Read(p []byte) (int, error) {
	if e.left == "" {
		return 0, io.EOF
	}
	n := len(e.left)
	if e.paced {
		n = strings.Index(e.left, "\n\n") + 2
	}
	n = copy(p, e.left[:n])
	e.left = e.left[n:]
	return n, nil
}
