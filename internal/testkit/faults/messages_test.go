package faults_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/testkit/faults"
)

func TestMessagesAreAnsweredUnderBothPrefixes(t *testing.T) {
	_, addr := start(t)
	for _, path := range []string{messagesV1, "/api/v1/messages", messagesV1 + "?beta=true"} {
		r := post(t, addr, path, messagesBody("acme/echo", ""))
		m := decode(t, r.body)
		if r.status != 200 || at(m, "content", 0, "text") != helloText || at(m, "usage", "input_tokens") != json.Number("2") ||
			!strings.HasPrefix(r.header.Get("Request-Id"), "req_") || r.header.Get("X-Request-Id") != "" {
			t.Errorf("%s: %d %v %s", path, r.status, r.header, r.body)
		}
	}
	r := post(t, addr, messagesV1+"/count_tokens", strings.Replace(messagesBody("echo", ""), `"max_tokens":2000,`, "", 1))
	if r.status != 200 || string(r.body) != `{"input_tokens":2}` {
		t.Errorf("%d %s", r.status, r.body)
	}
}

// messageOddities says of each model what its stream of messages must hold, and what not.
var messageOddities = map[string]struct{ has, lacks string }{
	"echo":              {`"text":"there"`, ""},
	"null-fields":       {`"stop_details":null`, ""},
	"sloppy":            {`"type":"message_start"`, `"id"`},
	"no-usage":          {`"type":"message_stop"`, `"usage"`},
	"usage-each":        {`"stop_reason":null,"stop_sequence":null},"usage":{"output_tokens":3}`, ""},
	"usage-more":        {`"output_tokens":4000`, ""},
	"usage-zero":        {`"output_tokens":0`, ""},
	"no-done":           {`"stop_reason":"end_turn"`, `message_stop`},
	"done":              {"event: message_stop\ndata: {\"type\":\"message_stop\"}\n\ndata: [DONE]\n\n", ""},
	"finish-eos":        {`"stop_reason":"eos"`, ""},
	"length":            {`"stop_reason":"max_tokens"`, ""},
	"content-filter":    {`"stop_reason":"refusal"`, ""},
	"crlf":              {"event: message_stop\r\n", ""},
	"comments":          {": still here", ""},
	"empty-deltas":      {`"text":""}}`, ""},
	"unknown-event":     {"event: fake_mystery\n", ""},
	"err-mid-stream":    {"event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"api_error\"", "message_stop"},
	"response-failed":   {"event: error\n", "message_stop"},
	"reasoning":         {`"type":"signature_delta"`, ""},
	"redacted-thinking": {`{"type":"redacted_thinking","data":"`, "thinking_delta"},
	"refusal":           {`"stop_reason":"refusal","stop_sequence":null,"stop_details":{"type":"refusal"`, "content_block"},
	"tools":             {`"type":"tool_use","id":"toolu_fake_1_1","name":"get_time","input":{}`, "text_delta"},
	"cache-usage":       {`"input_tokens":2,"cache_creation_input_tokens":50,"cache_read_input_tokens":100,"cache_creation":{"ephemeral_5m_input_tokens":20,"ephemeral_1h_input_tokens":30}`, ""},
	"no-event-lines":    {`"type":"message_stop"`, "event:"},
	"pings":             {"event: ping\ndata: {\"type\":\"ping\"}\n\nevent: message_stop", ""},
	"stop-sequence":     {`"stop_reason":"stop_sequence","stop_sequence":"END"`, ""},
	"pause-turn":        {`"stop_reason":"pause_turn"`, ""},
	"context-window":    {`"stop_reason":"model_context_window_exceeded"`, ""},
	"hosted-tools":      {`"type":"citations_delta"`, ""},
	"unknown-block":     {`"content_block":{"type":"fake_block"`, ""},
	"no-stream":         {`"stop_reason":"end_turn"`, "data:"},
}

func TestMessageOddities(t *testing.T) {
	for model, want := range messageOddities {
		t.Run(model, func(t *testing.T) {
			_, addr := start(t)
			r := post(t, addr, messagesV1, messagesBody(model, streaming))
			if r.status != 200 || !bytes.Contains(r.body, []byte(want.has)) || want.lacks != "" && bytes.Contains(r.body, []byte(want.lacks)) {
				t.Errorf("%d %s", r.status, r.body)
			}
			if bytes.Contains(r.body, []byte("sequence_number")) {
				t.Error("the events are numbered")
			}
		})
	}
}

func TestHostedToolsStandBeforeTheTextThatCitesThem(t *testing.T) {
	_, addr := start(t)
	m := decode(t, post(t, addr, messagesV1, messagesBody("hosted-tools", "")).body)
	var kinds []any
	for i := range 3 {
		kinds = append(kinds, at(m, "content", i, "type"))
	}
	if fmt.Sprint(kinds) != "[server_tool_use web_search_tool_result text]" || at(m, "content", 2, "citations", 0, "type") != "web_search_result_location" ||
		at(m, "usage", "server_tool_use", "web_search_requests") != json.Number("1") {
		t.Errorf("%v", m)
	}
}

func TestCachesAreInTheUsageOfAllAPIs(t *testing.T) {
	_, addr := start(t)
	chat := decode(t, post(t, addr, chatV1, chatBody("cache-usage", "")).body)
	if at(chat, "usage", "prompt_tokens") != json.Number("152") || at(chat, "usage", "prompt_tokens_details", "cached_tokens") != json.Number("100") {
		t.Errorf("%v", at(chat, "usage"))
	}
	ask := decode(t, post(t, addr, respV1, responsesBody("cache-usage", "")).body)
	if at(ask, "usage", "input_tokens_details", "cache_write_tokens") != json.Number("50") {
		t.Errorf("%v", at(ask, "usage"))
	}
}

func TestMessagesErrorsAreInAnthropicsForm(t *testing.T) {
	_, addr := start(t)
	for model, kind := range map[string]string{
		"err-400": "invalid_request_error", "err-401": "authentication_error", "err-403": "permission_error", "err-413": "request_too_large",
		"err-429": "rate_limit_error", "err-500": "api_error", "err-529": "overloaded_error", "unheard-of": "not_found_error",
	} {
		r := post(t, addr, messagesV1, messagesBody(model, streaming))
		e := decode(t, r.body)
		if e["type"] != "error" || at(e, "error", "type") != kind || e["request_id"] != r.header.Get("Request-Id") || at(e, "error", "details") != nil {
			t.Errorf("%s: %d %s", model, r.status, r.body)
		}
		if text := at(e, "error", "message").(string); kind != "not_found_error" && (!strings.Contains(text, "canary-key") || !strings.Contains(text, faults.SecretText)) {
			t.Errorf("%s leaks nothing: %s", model, text)
		}
	}
	if r := post(t, addr, messagesV1, `{"model":"echo","messages":[]}`); r.status != 400 || !bytes.Contains(r.body, []byte("messages: at least one")) {
		t.Errorf("%d %s", r.status, r.body)
	}
}
