//go:build linux

package main

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/testkit/answers"
)

// The upstream's answers, encoded once at start.

const (
	// coalescedEvents is the number of events that one write of a coalesced stream carries.
	coalescedEvents = 64
	// pacedEvents is the number of flushes of a paced stream.
	pacedEvents = 40

	answerTokens = 150
	answerWords  = 110 // about 1 KB of JSON around them

	doneEvent = "data: [DONE]\n\n"
)

// The events of a stream that are not text deltas, in each API.
const aroundChat, aroundMessages, aroundResponses = 2, 6, 8

// Slots mark the parts of a template that differ from call to call. No text around them has the like.
const (
	slotTokens = "987654321" // the length of the request body: a truncated body shows in the answer
	slotID     = "@@"        // 16 hexadecimal digits: each Responses ID is a new entry where owners are recorded
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

// replyOf is an answer with this text, in pieces.
func replyOf(pieces ...string) *answers.Reply {
	return &answers.Reply{
		ID: "BenchBenchBenchBench", Model: "bench", Created: 1795000000, Text: pieces, Choices: 1, Finish: "stop",
		Usage: answers.Usage{Input: 250, Output: answerTokens}, Now: func() time.Time { return time.Unix(1795000000, 0) },
	}
}

// pieces are n words, each with a space before it.
func pieces(n int) []string {
	all := make([]string, n)
	for i := range all {
		all[i] = " " + vocabulary[i%len(vocabulary)]
	}
	return all
}

func encoded(events []answers.Event) [][]byte {
	all := make([][]byte, len(events))
	for i, e := range events {
		all[i] = e.Encode()
	}
	return all
}

func chatAnswer() template {
	r, slot := replyOf(words(answerWords)), 987_654_321
	r.Usage.Input = slot
	text := string(answers.Encode(r.ChatResult()))
	return newTemplate(strings.ReplaceAll(text, strconv.Itoa(slot+answerTokens), slotTokens), slotTokens)
}

// chatEvents returns n events of a chat stream, the last with finish_reason. Like those of
// providers, they have a null usage if usage was requested.
func chatEvents(n int, withUsage bool) [][]byte {
	return encoded(replyOf(pieces(n - aroundChat)...).ChatStream(withUsage))[:n]
}

// chatEnd is the end of a chat stream: the usage chunk, if requested, and the end mark.
func chatEnd(withUsage bool) []byte {
	return bytes.Join(encoded(replyOf().ChatStream(withUsage))[aroundChat:], nil)
}

// messageEvents is a whole stream of the Messages API of coalescedEvents events.
func messageEvents() []byte {
	return bytes.Join(encoded(replyOf(pieces(coalescedEvents-aroundMessages)...).MessageStream()), nil)
}

// geminiEvents is a stream of Gemini with as many texts as messageEvents.
func geminiEvents() []byte {
	var b strings.Builder
	event := func(candidate string, tokens int) {
		fmt.Fprintf(&b, "data: {\"candidates\":[{%s\"index\":0}],\"usageMetadata\":{\"promptTokenCount\":250,\"candidatesTokenCount\":%d,\"totalTokenCount\":%d},"+
			"\"modelVersion\":\"gemini-bench\",\"responseId\":\"BenchBenchBench\"}\r\n\r\n", candidate, tokens, 250+tokens)
	}
	for i := range coalescedEvents - aroundMessages {
		event(`"content":{"parts":[{"text":" `+vocabulary[i%len(vocabulary)]+`"}],"role":"model"},`, i+1)
	}
	event(`"content":{"role":"model"},"finishReason":"STOP",`, answerTokens)
	return []byte(b.String())
}

// responseEvents is a whole Responses stream of coalescedEvents events.
func responseEvents() template {
	asked, err := answers.ParseRequest([]byte(`{}`))
	if err != nil {
		panic("bench: " + err.Error())
	}
	r := replyOf(pieces(coalescedEvents - aroundResponses)...)
	r.ID, r.Settings = slotID, asked.Settings().With("store", true)
	return newTemplate(string(bytes.Join(encoded(r.ResponseStream()), nil)), slotID)
}
