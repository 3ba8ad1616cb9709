//go:build linux

package main

import (
	"bytes"
	"fmt"
	"strings"
)

// The upstream's answers, encoded once at start. The shapes are those of the OpenAI API (chat
// completions, Responses) with the fields that providers send.

const (
	// coalescedEvents is the number of events that one write of a coalesced stream carries.
	coalescedEvents = 64
	// pacedEvents is the number of flushes of a paced stream.
	pacedEvents = 40

	answerTokens = 150
	answerWords  = 110 // about 1 KB of JSON around them

	answerID  = "chatcmpl-BenchBenchBenchBenchBench"
	doneEvent = "data: [DONE]\n\n"
)

// Slots mark the parts of a template that differ from call to call. They are characters that JSON
// text cannot contain, so they never collide with the text around them.
const (
	slotTokens = "\x01" // the length of the request body: a truncated body shows in the answer
	slotID     = "\x02" // 16 hexadecimal digits: each Responses ID is a new entry where owners are recorded
)

// template is text with one kind of slot.
type template struct{ parts [][]byte }

func newTemplate(text, slot string) template {
	return template{bytes.Split([]byte(text), []byte(slot))}
}

func (t template) appendTo(dst, value []byte) []byte {
	for i, part := range t.parts {
		if i > 0 {
			dst = append(dst, value...)
		}
		dst = append(dst, part...)
	}
	return dst
}

func chatAnswer() template {
	return newTemplate(`{"id":"`+answerID+`","object":"chat.completion","created":1795000000,"model":"bench",`+
		`"choices":[{"index":0,"message":{"role":"assistant","content":"`+words(answerWords)+`","refusal":null,"annotations":[]},"logprobs":null,"finish_reason":"stop"}],`+
		`"usage":{"prompt_tokens":`+slotTokens+fmt.Sprintf(`,"completion_tokens":%d,"total_tokens":`, answerTokens)+slotTokens+
		`,"prompt_tokens_details":{"cached_tokens":0,"audio_tokens":0},"completion_tokens_details":{"reasoning_tokens":0,"audio_tokens":0}},`+
		`"service_tier":"default","system_fingerprint":"fp_bench"}`, slotTokens)
}

// chatEvents returns n events of a chat stream, the last with finish_reason. Like those of
// providers, they have a null usage if usage was requested.
func chatEvents(n int, withUsage bool) [][]byte {
	events := make([][]byte, n)
	usage := ""
	if withUsage {
		usage = `,"usage":null`
	}
	for i := range events {
		delta, finish := fmt.Sprintf(`{"content":" %s"}`, vocabulary[i%len(vocabulary)]), `null`
		switch i {
		case 0:
			delta = `{"role":"assistant","content":"","refusal":null}`
		case n - 1:
			delta, finish = `{}`, `"stop"`
		}
		events[i] = fmt.Appendf(nil, "data: {\"id\":\"%s\",\"object\":\"chat.completion.chunk\",\"created\":1795000000,\"model\":\"bench\","+
			"\"system_fingerprint\":\"fp_bench\",\"choices\":[{\"index\":0,\"delta\":%s,\"logprobs\":null,\"finish_reason\":%s}]%s}\n\n", answerID, delta, finish, usage)
	}
	return events
}

// chatEnd is the end of a chat stream: the usage chunk, if requested, and the end mark.
func chatEnd(withUsage bool) []byte {
	if !withUsage {
		return []byte(doneEvent)
	}
	return fmt.Appendf(nil, "data: {\"id\":\"%s\",\"object\":\"chat.completion.chunk\",\"created\":1795000000,\"model\":\"bench\","+
		"\"system_fingerprint\":\"fp_bench\",\"choices\":[],\"usage\":{\"prompt_tokens\":250,\"completion_tokens\":%d,\"total_tokens\":%d}}\n\n%s",
		answerID, answerTokens, 250+answerTokens, doneEvent)
}

// messageEvents is a whole stream of the Messages API of coalescedEvents events.
func messageEvents() []byte {
	var b strings.Builder
	event := func(kind, fields string) {
		fmt.Fprintf(&b, "event: %s\ndata: {\"type\":\"%s\"%s}\n\n", kind, kind, fields)
	}
	const around = 5 // the events that are not text deltas
	event("message_start", `,"message":{"id":"msg_BenchBenchBench","type":"message","role":"assistant","model":"bench","content":[],"stop_reason":null,`+
		`"stop_sequence":null,"usage":{"input_tokens":250,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":1}}`)
	event("content_block_start", `,"index":0,"content_block":{"type":"text","text":""}`)
	for i := range coalescedEvents - around {
		event("content_block_delta", `,"index":0,"delta":{"type":"text_delta","text":" `+vocabulary[i%len(vocabulary)]+`"}`)
	}
	event("content_block_stop", `,"index":0`)
	event("message_delta", fmt.Sprintf(`,"delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":%d}`, answerTokens))
	event("message_stop", "")
	return []byte(b.String())
}

// geminiEvents is a stream of Gemini with as many texts as messageEvents.
func geminiEvents() []byte {
	var b strings.Builder
	event := func(candidate string, tokens int) {
		fmt.Fprintf(&b, "data: {\"candidates\":[{%s\"index\":0}],\"usageMetadata\":{\"promptTokenCount\":250,\"candidatesTokenCount\":%d,\"totalTokenCount\":%d},"+
			"\"modelVersion\":\"gemini-bench\",\"responseId\":\"BenchBenchBench\"}\r\n\r\n", candidate, tokens, 250+tokens)
	}
	for i := range coalescedEvents - 5 {
		event(`"content":{"parts":[{"text":" `+vocabulary[i%len(vocabulary)]+`"}],"role":"model"},`, i+1)
	}
	event(`"content":{"role":"model"},"finishReason":"STOP",`, answerTokens)
	return []byte(b.String())
}

// responseEvents is a whole Responses stream of coalescedEvents events.
func responseEvents() template {
	var b strings.Builder
	number := 0
	event := func(kind, fields string) {
		fmt.Fprintf(&b, "event: %s\ndata: {\"type\":\"%s\",\"sequence_number\":%d,%s}\n\n", kind, kind, number, fields)
		number++
	}
	const around = 8 // the events that are not text deltas
	deltas := coalescedEvents - around
	text := words(deltas)
	part := `{"type":"output_text","text":"` + text + `","annotations":[],"logprobs":[]}`
	item := `{"id":"msg_` + slotID + `","type":"message","status":"completed","role":"assistant","content":[` + part + `]}`
	at := `"item_id":"msg_` + slotID + `","output_index":0,"content_index":0`

	event("response.created", `"response":`+responseObject("in_progress", "[]", "null"))
	event("response.in_progress", `"response":`+responseObject("in_progress", "[]", "null"))
	event("response.output_item.added", `"output_index":0,"item":{"id":"msg_`+slotID+`","type":"message","status":"in_progress","role":"assistant","content":[]}`)
	event("response.content_part.added", at+`,"part":{"type":"output_text","text":"","annotations":[],"logprobs":[]}`)
	for i := range deltas {
		event("response.output_text.delta", at+`,"delta":" `+vocabulary[i%len(vocabulary)]+`","logprobs":[]`)
	}
	event("response.output_text.done", at+`,"text":"`+text+`","logprobs":[]`)
	event("response.content_part.done", at+`,"part":`+part)
	event("response.output_item.done", `"output_index":0,"item":`+item)
	event("response.completed", `"response":`+responseObject("completed", "["+item+"]",
		fmt.Sprintf(`{"input_tokens":250,"input_tokens_details":{"cached_tokens":0},"output_tokens":%d,"output_tokens_details":{"reasoning_tokens":0},"total_tokens":%d}`,
			answerTokens, 250+answerTokens)))
	return newTemplate(b.String(), slotID)
}

func responseObject(status, output, usage string) string {
	return `{"id":"resp_` + slotID + `","object":"response","created_at":1795000000,"status":"` + status + `","error":null,"incomplete_details":null,` +
		`"instructions":null,"max_output_tokens":null,"model":"bench","output":` + output + `,"parallel_tool_calls":true,"previous_response_id":null,` +
		`"reasoning":{"effort":null,"summary":null},"store":true,"temperature":1.0,"text":{"format":{"type":"text"}},"tool_choice":"auto","tools":[],` +
		`"top_p":1.0,"truncation":"disabled","usage":` + usage + `,"metadata":{}}`
}
