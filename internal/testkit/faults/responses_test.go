package faults_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/testkit/faults"
)

// kinds returns the types of a Responses stream and checks what holds for each
// event: the event line repeats the type, the numbers count up.
func kinds(t *testing.T, r reply) (list []map[string]any, types []string) {
	t.Helper()
	var name string
	for line := range strings.SplitSeq(string(r.body), "\n") {
		if n, ok := strings.CutPrefix(line, "event: "); ok {
			name = n
		}
		d, ok := strings.CutPrefix(line, "data: ")
		if !ok || d == "[DONE]" || !json.Valid([]byte(d)) {
			continue
		}
		o := decode(t, []byte(d))
		if at(o, "type") != name || at(o, "sequence_number") != json.Number(fmt.Sprint(len(list))) {
			t.Errorf("event %q, number %d: %s", name, len(list), d)
		}
		list, types = append(list, o), append(types, strings.TrimPrefix(name, "response."))
	}
	return list, types
}

func TestResponseItemsOtherThanText(t *testing.T) {
	_, addr := start(t)
	for model, want := range map[string]string{
		"tools": "created in_progress output_item.added output_item.added" +
			strings.Repeat(" function_call_arguments.delta", 6) + strings.Repeat(" function_call_arguments.done", 2) +
			" output_item.done output_item.done completed",
		"reasoning": "created in_progress output_item.added reasoning_summary_part.added" +
			strings.Repeat(" reasoning_summary_text.delta", 4) + " reasoning_summary_text.done reasoning_summary_part.done output_item.done" +
			" output_item.added content_part.added" + strings.Repeat(" output_text.delta", 4) +
			" output_text.done content_part.done output_item.done completed",
		"refusal": "created in_progress output_item.added content_part.added" + strings.Repeat(" refusal.delta", 6) +
			" refusal.done content_part.done output_item.done completed",
	} {
		if _, types := kinds(t, post(t, addr, respV1, responsesBody(model, streaming))); strings.Join(types, " ") != want {
			t.Errorf("%s\ngot  %s\nwant %s", model, strings.Join(types, " "), want)
		}
	}
	r := post(t, addr, respV1, `{"model":"tools","input":[{"role":"user","content":"hi"},{"type":"function_call_output","call_id":"x","output":"1"}]}`)
	if at(decode(t, r.body), "output", 0, "content", 0, "text") != "You said: hi" {
		t.Errorf("after the tool's answer: %s", r.body)
	}
}

func TestResponseEndings(t *testing.T) {
	_, addr := start(t)
	for model, want := range map[string]string{
		"length":          "incomplete",
		"content-filter":  "incomplete",
		"response-failed": "failed",
		"err-mid-stream":  "error",
		"err-first-event": "error",
		"cut-clean":       "output_text.delta",
		"cut-mid-stream":  "output_text.delta",
		"malformed":       "completed",
		"unknown-event":   "completed",
		"done":            "completed",
	} {
		r := post(t, addr, respV1, responsesBody(model, streaming))
		list, types := kinds(t, r)
		if got := types[len(types)-1]; got != want {
			t.Errorf("%s ends with %s", model, got)
		}
		if wantErr := map[bool]error{true: io.ErrUnexpectedEOF}[model == "cut-mid-stream"]; r.err != wantErr {
			t.Errorf("%s: body ends with %v", model, r.err)
		}
		last, body := list[len(list)-1], string(r.body)
		ok := true
		switch model {
		case "length":
			ok = at(last, "response", "incomplete_details", "reason") == "max_output_tokens"
		case "response-failed":
			ok = at(last, "response", "error", "code") == "server_error" && at(last, "response", "status") == "failed"
		case "err-mid-stream":
			ok = has(last, "error", "param") && !has(last, "message") && strings.Contains(body, faults.SecretText)
		case "err-first-event":
			ok = len(list) == 1
		case "malformed":
			ok = strings.Count(body, "data: ") == len(list)+1
		case "unknown-event":
			ok = strings.Contains(body, "event: response.fake_mystery\n")
		case "done":
			ok = strings.HasSuffix(body, "data: [DONE]\n\n")
		}
		if !ok {
			t.Errorf("%s: %s", model, body)
		}
	}
}

func TestResponseShapes(t *testing.T) {
	_, addr := start(t)
	for model, text := range map[string]string{
		"no-usage": `"usage":null`, "float-created": `"created_at":1800000000.25`, "null-fields": `"usage":null`,
		"empty-deltas": `"delta":""`, "crlf": "event: response.created\r\n", "no-space": "event:response.created\n",
	} {
		r := post(t, addr, respV1, responsesBody(model, streaming))
		if i := bytes.LastIndex(r.body, []byte("response.completed")); i < 0 || !bytes.Contains(r.body, []byte(text)) {
			t.Errorf("%s lacks %s: %s", model, text, r.body)
		}
	}
	if r := post(t, addr, respV1, responsesBody("sloppy", streaming)); bytes.Contains(r.body, []byte("sequence_number")) {
		t.Error("sloppy numbers its events")
	}
	if r := post(t, addr, respV1, responsesBody("response-failed", "")); at(decode(t, r.body), "status") != "failed" {
		t.Errorf("response-failed: %s", r.body)
	}
	if r := post(t, addr, respV1, responsesBody("burst-3", "")); bytes.Count(r.body, []byte("event: response.output_text.delta")) != 3 || len(r.frames) != 1 {
		t.Errorf("burst-3: %d writes: %s", len(r.frames), r.body)
	}
}
