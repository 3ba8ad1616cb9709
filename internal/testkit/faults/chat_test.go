package faults_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/testkit/faults"
)

func TestChatResultOfBothAPIs(t *testing.T) {
	_, addr := start(t)
	for _, tc := range []struct {
		path, id string
		absent   []string
		present  []string
	}{
		{chatV1, "chatcmpl-", []string{"provider"}, []string{"system_fingerprint", "service_tier"}},
		{chatRouter, "gen-", []string{"service_tier"}, []string{"system_fingerprint", "provider"}},
	} {
		r := post(t, addr, tc.path, chatBody("acme/echo:free", ""))
		if r.status != 200 || r.err != nil || r.header.Get("Content-Type") != "application/json" {
			t.Fatalf("%s: %+v", tc.path, r)
		}
		o := decode(t, r.body)
		if got := at(o, "model"); got != "acme/echo:free" {
			t.Errorf("%s: model %q, not the received name", tc.path, got)
		}
		if got := at(o, "choices", 0, "message", "content"); got != helloText {
			t.Errorf("%s: content %q", tc.path, got)
		}
		if id, _ := at(o, "id").(string); !strings.HasPrefix(id, tc.id) {
			t.Errorf("%s: id %q", tc.path, id)
		}
		if at(o, "created") != json.Number("1800000000") || at(o, "object") != "chat.completion" || finish(o) != "stop" {
			t.Errorf("%s: %s", tc.path, r.body)
		}
		if at(o, "usage", "prompt_tokens") != json.Number("2") || at(o, "usage", "completion_tokens") != json.Number("4") ||
			at(o, "usage", "total_tokens") != json.Number("6") {
			t.Errorf("%s: usage %v", tc.path, at(o, "usage"))
		}
		if hasCost := has(o, "usage", "cost"); hasCost != (tc.path == chatRouter) {
			t.Errorf("%s: cost present: %v", tc.path, hasCost)
		}
		for _, key := range tc.absent {
			if has(o, key) {
				t.Errorf("%s: has %q", tc.path, key)
			}
		}
		for _, key := range tc.present {
			if !has(o, key) {
				t.Errorf("%s: lacks %q", tc.path, key)
			}
		}
	}
}

func TestChatStreamOfOpenAI(t *testing.T) {
	_, addr := start(t)
	r := post(t, addr, chatV1, chatBody("echo", streaming))
	list, done := chunks(t, r)
	if !done || r.err != nil || !strings.HasPrefix(r.header.Get("Content-Type"), "text/event-stream") {
		t.Fatalf("done %v, err %v, header %v", done, r.err, r.header)
	}
	if content(list) != helloText || at(list[0], "choices", 0, "delta", "role") != "assistant" || finish(list[len(list)-1]) != "stop" {
		t.Errorf("%s", r.body)
	}
	for i, c := range list {
		if has(c, "usage") || has(c, "error") || len(at(c, "choices").([]any)) != 1 || at(c, "id") != at(list[0], "id") {
			t.Errorf("chunk %d: %v", i, c)
		}
	}
	if len(r.frames) != len(list)+1 {
		t.Errorf("%d writes for %d events", len(r.frames), len(list)+1)
	}

	list, _ = chunks(t, post(t, addr, chatV1, chatBody("echo", withUsage)))
	last := list[len(list)-1]
	if len(at(last, "choices").([]any)) != 0 || at(last, "usage", "total_tokens") != json.Number("6") {
		t.Errorf("last chunk %v", last)
	}
	for i, c := range list[:len(list)-1] {
		if !has(c, "usage") || at(c, "usage") != nil {
			t.Errorf("chunk %d: usage is not null: %v", i, c)
		}
	}
}

func TestChatStreamOfOpenRouter(t *testing.T) {
	_, addr := start(t)
	r := post(t, addr, chatRouter, chatBody("echo", streaming))
	list, done := chunks(t, r)
	if !done || content(list) != helloText || !strings.HasPrefix(string(r.body), ": OPENROUTER PROCESSING\n\n") {
		t.Errorf("%s", r.body)
	}
	last := list[len(list)-1]
	if finish(last) != "stop" || !has(last, "usage", "cost") || at(last, "provider") != "Fake" {
		t.Errorf("last chunk %v", last)
	}
	for i, c := range list[:len(list)-1] {
		if has(c, "usage") {
			t.Errorf("chunk %d has usage", i)
		}
	}
}

func TestToolCallsInterleaveAndEndOnceAnswered(t *testing.T) {
	_, addr := start(t)
	const tools = `,"tools":[{"type":"function","function":{"name":"add"}},{"type":"function","function":{"name":"sub"}}]`
	list, _ := chunks(t, post(t, addr, chatV1, chatBody("tools", streaming+tools)))
	var order []string
	arguments := map[string]string{}
	for _, c := range list {
		call := at(c, "choices", 0, "delta", "tool_calls", 0)
		if call == nil {
			continue
		}
		index := at(call, "index").(json.Number).String()
		order = append(order, index)
		arguments[index] += at(call, "function", "arguments").(string)
	}
	if got := strings.Join(order, ""); got != "01010101" {
		t.Errorf("fragments of the calls come as %q", got)
	}
	for index, text := range arguments {
		if !json.Valid([]byte(text)) {
			t.Errorf("arguments of %s: %q", index, text)
		}
	}
	if finish(list[len(list)-1]) != "tool_calls" {
		t.Errorf("finish reason %v", finish(list[len(list)-1]))
	}

	o := decode(t, post(t, addr, chatV1, chatBody("tools", tools)).body)
	calls, _ := at(o, "choices", 0, "message", "tool_calls").([]any)
	if len(calls) != 2 || at(calls[0], "function", "name") != "add" || at(calls[1], "function", "name") != "sub" {
		t.Errorf("calls %v", calls)
	}

	o = decode(t, post(t, addr, chatV1, `{"model":"tools","messages":[{"role":"user","content":"hello there"},
		{"role":"assistant","content":null,"tool_calls":[]},{"role":"tool","tool_call_id":"x","content":"42"}]}`).body)
	if at(o, "choices", 0, "message", "content") != helloText || finish(o) != "stop" {
		t.Errorf("after the tool's answer: %v", o)
	}
}

func TestPromptIsTheTextOfTheLastUserMessage(t *testing.T) {
	_, addr := start(t)
	r := post(t, addr, chatV1, `{"model":"echo","messages":[{"role":"user","content":"old"},{"role":"assistant","content":"x"},
		{"role":"user","content":[{"type":"text","text":"a"},{"type":"image_url","image_url":{"url":"data:,"}},{"type":"text","text":"b"}]}]}`)
	if got := at(decode(t, r.body), "choices", 0, "message", "content"); got != "You said: a\nb" {
		t.Errorf("got %q", got)
	}
}

func TestReasoningUsesTheNamesOfTheAPI(t *testing.T) {
	_, addr := start(t)
	for path, key := range map[string]string{chatV1: "reasoning_content", chatRouter: "reasoning"} {
		list, _ := chunks(t, post(t, addr, path, chatBody("reasoning", streaming)))
		var thought strings.Builder
		for _, c := range list {
			s, _ := at(c, "choices", 0, "delta", key).(string)
			thought.WriteString(s)
		}
		if thought.String() != faults.ReasoningText || content(list) != helloText {
			t.Errorf("%s: thought %q, said %q", path, thought.String(), content(list))
		}
		o := decode(t, post(t, addr, path, chatBody("reasoning", "")).body)
		if at(o, "choices", 0, "message", key) != faults.ReasoningText {
			t.Errorf("%s: %v", path, o)
		}
	}
}
