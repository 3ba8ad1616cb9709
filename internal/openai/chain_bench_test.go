package openai_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/guardrail"
	"github.com/gatehouse-proxy/gatehouse/internal/guardrail/judge"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/openrouter"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/chatonmessages"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/chatonresponses"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/conversation"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/responsesonchat"
)

// wireEvent is an event as a provider sends it.
type wireEvent struct{ name, data []byte }

const benchPieces = 64

// pieces are the texts of the events, as a model writes prose and code.
var pieces = strings.SplitAfter(strings.Repeat("Here is a function that reads 42 lines of `main.go` and, unless it fails, returns {\\\"ok\\\": true}\\n\\tfor i := range n { total += i } ", 8), " ")[:benchPieces]

func chatWire() (events []wireEvent) {
	head := `{"id":"chatcmpl-ABCDEFGHIJKLMNOPQRSTUVWXYZ012","object":"chat.completion.chunk","created":1700000000,"model":"echo-2024-07-18",` +
		`"service_tier":"default","system_fingerprint":"fp_0123456789","choices":[`
	add := func(rest string) { events = append(events, wireEvent{data: []byte(head + rest)}) }
	add(`{"index":0,"delta":{"role":"assistant","content":"","refusal":null},"logprobs":null,"finish_reason":null}]}`)
	for _, p := range pieces {
		add(`{"index":0,"delta":{"content":"` + p + `"},"logprobs":null,"finish_reason":null}]}`)
	}
	add(`{"index":0,"delta":{},"logprobs":null,"finish_reason":"stop"}]}`)
	add(`],"usage":` + usage + `}`)
	return append(events, wireEvent{data: []byte("[DONE]")})
}

func responsesWire() (events []wireEvent) {
	n := 0
	add := func(typ, rest string) {
		events = append(events, wireEvent{[]byte(typ), fmt.Appendf(nil, `{"type":"%s","sequence_number":%d,%s}`, typ, n, rest)})
		n++
	}
	response := func(status, output, usage string) string {
		return `"response":{"id":"resp_0123456789abcdef","object":"response","created_at":1700000000,"status":"` + status +
			`","error":null,"incomplete_details":null,"instructions":"Be brief.","model":"echo-2024-07-18","output":[` + output + `],"tools":[],"usage":` + usage + `}`
	}
	item := `"output_index":0,"item_id":"msg_0123456789abcdef","content_index":0,`
	text := strings.Join(pieces, "")
	part := `{"type":"output_text","text":"` + text + `","annotations":[],"logprobs":[]}`
	message := func(status, content string) string {
		return `{"id":"msg_0123456789abcdef","type":"message","status":"` + status + `","role":"assistant","content":[` + content + `]}`
	}
	add("response.created", response("in_progress", "", "null"))
	add("response.in_progress", response("in_progress", "", "null"))
	add("response.output_item.added", `"output_index":0,"item":`+message("in_progress", ""))
	add("response.content_part.added", item+`"part":{"type":"output_text","text":"","annotations":[],"logprobs":[]}`)
	for i, p := range pieces {
		add("response.output_text.delta", item+`"delta":"`+p+`","logprobs":[],"obfuscation":"`+"aZ3kQ9xLmP0tRw7y"[:1+i%16]+`"`)
	}
	add("response.output_text.done", item+`"text":"`+text+`","logprobs":[]`)
	add("response.content_part.done", item+`"part":`+part)
	add("response.output_item.done", `"output_index":0,"item":`+message("completed", part))
	add("response.completed", response("completed", message("completed", part), `{"input_tokens":9,"output_tokens":64,"total_tokens":73}`))
	return events
}

func messagesWire() (events []wireEvent) {
	add := func(typ, rest string) {
		events = append(events, wireEvent{[]byte(typ), fmt.Appendf(nil, `{"type":"%s"%s}`, typ, rest)})
	}
	add("message_start", `,"message":{"id":"msg_0123456789abcdefghijkl","type":"message","role":"assistant","model":"claude-haiku-4-5-20251001","content":[],`+
		`"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":9,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":1,"service_tier":"standard"}}`)
	add("content_block_start", `,"index":0,"content_block":{"type":"text","text":""}`)
	add("ping", "")
	for _, p := range pieces {
		add("content_block_delta", `,"index":0,"delta":{"type":"text_delta","text":"`+p+`"}`)
	}
	add("content_block_stop", `,"index":0`)
	add("message_delta", `,"delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"input_tokens":9,"output_tokens":64}`)
	add("message_stop", "")
	return events
}

func guarded(b *testing.B) guardrail.Set {
	g, err := judge.Compile(judge.Spec{Name: "all", Rules: []judge.Rule{
		{Action: judge.Deny, Detector: judge.Secrets},
		{Action: judge.Redact, Detector: judge.Email},
		{Action: judge.Redact, Detector: judge.Card},
	}})
	if err != nil {
		b.Fatal(err)
	}
	return judge.Join([]guardrail.Guardrail{g})
}

type benchIDs struct{}

func (benchIDs) NewID(prefix string) string { return prefix + "_0123456789abcdef" }
func (benchIDs) Unix() int64                { return 1700000000 }

func benchBody(b *testing.B, text string) *jsonscan.Body {
	var body jsonscan.Body
	if err := body.Parse([]byte(text)); err != nil {
		b.Fatal(err)
	}
	return &body
}

// BenchmarkChain is all that is done with the events of a stream between their decoding as SSE and
// the write to the client: 64 pieces of text and what stands around them.
func BenchmarkChain(b *testing.B) {
	set := guarded(b)
	_, asked, err := responsesonchat.Request(benchBody(b, `{"model":"fake/echo","stream":true,"input":"hi"}`), true, responsesonchat.Options{UpstreamModel: "echo"})
	if err != nil {
		b.Fatal(err)
	}
	_, askedChat, err := chatonresponses.Request(conversation.OfChat(benchBody(b, `{"model":"fake/echo","stream":true,"messages":[{"role":"user","content":"hi"}]}`)), true, chatonresponses.Options{UpstreamModel: "echo"})
	if err != nil {
		b.Fatal(err)
	}
	_, askedMessages, err := chatonmessages.Request(conversation.OfChat(benchBody(b, `{"model":"fake/echo","stream":true,"messages":[{"role":"user","content":"hi"}]}`)), true, chatonmessages.Options{UpstreamModel: "echo"})
	if err != nil {
		b.Fatal(err)
	}
	chat, responses, messages := chatWire(), responsesWire(), messagesWire()
	second := openrouter.Call{Call: newCall(), Cost: func(openai.Usage) []byte { return []byte("0.5") }}
	for _, c := range []struct {
		name   string
		set    guardrail.Set
		wire   guardrail.Wire
		events []wireEvent
		stream func() openai.Stream
	}{
		{"chat", nil, guardrail.Chat, chat, func() openai.Stream { return openai.NewChatStream(newCall()) }},
		{"openrouter", nil, guardrail.Chat, chat, func() openai.Stream { return openrouter.NewChatStream(second) }},
		{"responses", nil, guardrail.Responses, responses, func() openai.Stream { return openai.NewResponsesStream(newCall()) }},
		{"chat-guarded", set, guardrail.Chat, chat, func() openai.Stream { return openai.NewChatStream(newCall()) }},
		{"responses-guarded", set, guardrail.Responses, responses, func() openai.Stream { return openai.NewResponsesStream(newCall()) }},
		{"chat-to-responses", nil, guardrail.Chat, chat, func() openai.Stream { return responsesonchat.NewStream(asked, newCall(), benchIDs{}) }},
		{"responses-to-chat", nil, guardrail.Responses, responses, func() openai.Stream {
			return chatonresponses.NewStream(askedChat, newCall(), openai.NewChatStream(newCall()))
		}},
		{"chat-to-responses-guarded", set, guardrail.Chat, chat, func() openai.Stream { return responsesonchat.NewStream(asked, newCall(), benchIDs{}) }},
		{"responses-to-chat-guarded", set, guardrail.Responses, responses, func() openai.Stream {
			return chatonresponses.NewStream(askedChat, newCall(), openai.NewChatStream(newCall()))
		}},
		{"messages-to-chat", nil, guardrail.Chat, messages, func() openai.Stream {
			return chatonmessages.NewStream(askedMessages, newCall(), openai.NewChatStream(newCall()))
		}},
		{"messages-to-openrouter", nil, guardrail.Chat, messages, func() openai.Stream {
			return chatonmessages.NewStream(askedMessages, newCall(), openrouter.NewChatStream(second))
		}},
		{"messages-to-responses", nil, guardrail.Chat, messages, func() openai.Stream {
			return chatonmessages.NewStreamTo(askedMessages, newCall(), responsesonchat.NewStream(asked, newCall(), benchIDs{}))
		}},
	} {
		b.Run(c.name, func(b *testing.B) {
			var dst []byte
			b.ReportAllocs()
			for b.Loop() {
				dst = passWire(b, dst[:0], c.set.Stream(c.wire), c.stream(), c.events)
			}
		})
	}
}

// passWire passes the events of a provider through all steps.
func passWire(b *testing.B, dst []byte, guard guardrail.Stream, s openai.Stream, wire []wireEvent) []byte {
	pass := func(events []*openai.Event, v *guardrail.Verdict, err error) {
		if v != nil || err != nil {
			b.Fatal(v, err)
		}
		for _, e := range events {
			dst = s.Data(dst[:0], e)
		}
	}
	var events openai.Events
	for _, w := range wire {
		e := events.Next(w.name, w.data)
		if guard == nil {
			dst = s.Data(dst[:0], e)
		} else {
			pass(guard.Push(e))
		}
		e.Release()
	}
	if guard != nil {
		events, v := guard.Close()
		pass(events, v, nil)
	}
	dst, err := s.Close(dst[:0], nil)
	if err != nil {
		b.Fatal(err)
	}
	return dst
}
