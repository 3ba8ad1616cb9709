package faults_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/gatehouse-proxy/gatehouse/internal/testkit/faults"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/jsontest"
)

// streamOddities says of each model what its chat stream must show.
var streamOddities = map[string]func(t *testing.T, r reply){
	"null-fields": func(t *testing.T, r reply) {
		list, _ := chunks(t, r)
		for _, key := range []string{"usage", "system_fingerprint", "error"} {
			if !has(list[1], key) || at(list[1], key) != nil {
				t.Errorf("%s is not null: %v", key, list[1])
			}
		}
		for _, key := range []string{"role", "tool_calls"} {
			if !has(list[1], "choices", 0, "delta", key) || at(list[1], "choices", 0, "delta", key) != nil {
				t.Errorf("delta.%s is not null: %v", key, list[1])
			}
		}
		if at(list[len(list)-1], "usage", "total_tokens") == nil {
			t.Error("the usage chunk has lost its usage")
		}
	},
	"sloppy": func(t *testing.T, r reply) {
		for _, word := range []string{`"id"`, `"object"`, `"created"`, `"index"`, `"role"`} {
			if bytes.Contains(r.body, []byte(word)) {
				t.Errorf("%s is there", word)
			}
		}
	},
	"float-created": func(t *testing.T, r reply) {
		if !jsontest.Has(t, r.body, `{"created":1800000000.25}`) {
			t.Error("created has no fraction")
		}
	},
	"no-usage": func(t *testing.T, r reply) {
		if bytes.Contains(r.body, []byte(`"usage"`)) {
			t.Error("usage is there")
		}
	},
	"usage-inline": func(t *testing.T, r reply) {
		list, _ := chunks(t, r)
		last := list[len(list)-1]
		if finish(last) != "stop" || at(last, "usage", "total_tokens") != json.Number("6") {
			t.Errorf("last chunk %v", last)
		}
	},
	"usage-each": func(t *testing.T, r reply) {
		list, _ := chunks(t, r)
		var totals []string
		for _, c := range list {
			totals = append(totals, at(c, "usage", "total_tokens").(json.Number).String())
		}
		if got := strings.Join(totals, " "); got != "2 3 4 5 6 6" {
			t.Errorf("totals %s", got)
		}
	},
	"usage-always": func(t *testing.T, r reply) {
		list, _ := chunks(t, r)
		if last := list[len(list)-1]; len(at(last, "choices").([]any)) != 0 || at(last, "usage", "total_tokens") == nil {
			t.Errorf("last chunk %v", last)
		}
	},
	"usage-all":  usesOutput("50"),
	"usage-more": usesOutput("100"),
	"usage-zero": usesOutput("0"),
	"no-done": func(t *testing.T, r reply) {
		list, done := chunks(t, r)
		if done || content(list) != helloText {
			t.Errorf("done %v, text %q", done, content(list))
		}
	},
	"finish-eos":     finishes("eos"),
	"length":         finishes("length"),
	"content-filter": finishes("content_filter"),
	"crlf": func(t *testing.T, r reply) {
		if n := bytes.Count(r.body, []byte("\n")); n == 0 || n != bytes.Count(r.body, []byte("\r\n")) {
			t.Errorf("%d line feeds without CR in %q", n, r.body)
		}
	},
	"no-space": func(t *testing.T, r reply) {
		if bytes.Contains(r.body, []byte("data: ")) || !bytes.HasPrefix(r.body, []byte("data:{")) {
			t.Errorf("%.80q", r.body)
		}
	},
	"comments": func(t *testing.T, r reply) {
		if comments, events := bytes.Count(r.body, []byte(": still here\n\n")), len(data(r.body, "\n")); comments != events {
			t.Errorf("%d comments for %d events", comments, events)
		}
	},
	"role-each": func(t *testing.T, r reply) {
		list, _ := chunks(t, r)
		for _, c := range list[:len(list)-1] {
			if at(c, "choices", 0, "delta", "role") != "assistant" {
				t.Errorf("no role in %v", c)
			}
		}
	},
	"empty-deltas": func(t *testing.T, r reply) {
		if n := jsontest.Count(t, r.body, `{"delta":{}}`); n != 5 { // one a piece, one with the finish reason
			t.Errorf("%d empty deltas", n)
		}
	},
	"id-changes": func(t *testing.T, r reply) {
		list, _ := chunks(t, r)
		ids := map[any]bool{}
		for _, c := range list {
			ids[at(c, "id")] = true
		}
		if len(ids) != len(list) {
			t.Errorf("%d ids in %d chunks", len(ids), len(list))
		}
	},
	"unicode-split": func(t *testing.T, r reply) {
		list, _ := chunks(t, r)
		if content(list) != faults.UnicodeText {
			t.Errorf("text %q", content(list))
		}
		if !slices.ContainsFunc(r.frames, func(f []byte) bool { return !utf8.Valid(f) }) {
			t.Error("no write ends inside a character")
		}
	},
	"byte-wise": func(t *testing.T, r reply) {
		if len(r.frames) != len(r.body) {
			t.Errorf("%d writes for %d bytes", len(r.frames), len(r.body))
		}
	},
	"huge": func(t *testing.T, r reply) {
		list, _ := chunks(t, r)
		if n := len(content(list)); n != faults.HugeBytes || len(list) < 32 {
			t.Errorf("%d bytes in %d chunks", n, len(list))
		}
	},
	"huge-chunk": func(t *testing.T, r reply) {
		longest := 0
		for _, d := range data(r.body, "\n") {
			longest = max(longest, len(d))
		}
		if longest < faults.HugeChunkBytes {
			t.Errorf("longest line has %d bytes", longest)
		}
	},
	"gzip": func(t *testing.T, r reply) {
		zr, err := gzip.NewReader(bytes.NewReader(r.body))
		if err != nil || r.header.Get("Content-Encoding") != "gzip" {
			t.Fatalf("%v, %v", err, r.header)
		}
		r.body, err = io.ReadAll(zr)
		list, done := chunks(t, r)
		if err != nil || !done || content(list) != helloText {
			t.Errorf("%v: %q", err, r.body)
		}
		if len(r.frames) < len(list) {
			t.Errorf("%d writes for %d events: not flushed", len(r.frames), len(list))
		}
	},
	"cut-clean": func(t *testing.T, r reply) {
		list, done := chunks(t, r)
		if r.err != nil || done || content(list) != "You said: " || finish(list[len(list)-1]) != nil {
			t.Errorf("err %v, done %v: %s", r.err, done, r.body)
		}
	},
	"cut-mid-stream": func(t *testing.T, r reply) {
		list, done := chunks(t, r)
		if r.err != io.ErrUnexpectedEOF || done || content(list) != "You said: " {
			t.Errorf("err %v, done %v: %s", r.err, done, r.body)
		}
	},
	"cut-reset": func(t *testing.T, r reply) {
		if !isReset(r.err) {
			t.Errorf("err %v", r.err)
		}
	},
	"err-mid-stream":  failsMidStream,
	"response-failed": failsMidStream,
	"err-first-event": func(t *testing.T, r reply) {
		if list, done := chunks(t, r); len(list) != 1 || done || at(list[0], "error", "message") == nil {
			t.Errorf("%s", r.body)
		}
	},
	"malformed": func(t *testing.T, r reply) {
		broken := 0
		for _, d := range data(r.body, "\n") {
			if d != "[DONE]" && !json.Valid([]byte(d)) {
				broken++
			}
		}
		if broken != 1 || !bytes.HasSuffix(r.body, []byte("data: [DONE]\n\n")) {
			t.Errorf("%d broken events: %s", broken, r.body)
		}
	},
	"empty": func(t *testing.T, r reply) {
		if r.status != 200 || len(r.body) != 0 || r.err != nil {
			t.Errorf("%+v", r)
		}
	},
	"wrong-type-200": func(t *testing.T, r reply) {
		list, done := chunks(t, r)
		if r.header.Get("Content-Type") != "application/json" || !done || content(list) != helloText {
			t.Errorf("%v: %s", r.header, r.body)
		}
	},
	"no-stream": func(t *testing.T, r reply) {
		if at(decode(t, r.body), "choices", 0, "message", "content") != helloText {
			t.Errorf("%s", r.body)
		}
	},
	"refusal": func(t *testing.T, r reply) {
		list, _ := chunks(t, r)
		var text strings.Builder
		for _, c := range list {
			s, _ := at(c, "choices", 0, "delta", "refusal").(string)
			text.WriteString(s)
		}
		if text.String() != faults.RefusalText || content(list) != "" {
			t.Errorf("%s", r.body)
		}
	},
}

func finishes(reason string) func(*testing.T, reply) {
	return func(t *testing.T, r reply) {
		if list, _ := chunks(t, r); finish(list[len(list)-2]) != reason {
			t.Errorf("finish reason %v", finish(list[len(list)-2]))
		}
	}
}

func failsMidStream(t *testing.T, r reply) {
	list, done := chunks(t, r)
	last := list[len(list)-1]
	message, _ := at(last, "error", "message").(string)
	if done || r.err != nil || content(list) != "You said: " || has(last, "choices") {
		t.Errorf("done %v, err %v: %s", done, r.err, r.body)
	}
	if !strings.Contains(message, "canary-key") || !strings.Contains(message, faults.SecretText) {
		t.Errorf("message %q leaks nothing", message)
	}
}

func TestStreamOddities(t *testing.T) {
	_, addr := start(t)
	for model, check := range streamOddities {
		t.Run(model, func(t *testing.T) {
			extra := withUsage
			switch model {
			case "usage-always":
				extra = streaming
			case "usage-all", "usage-more":
				extra += `,"max_tokens":50`
			}
			check(t, post(t, addr, chatV1, chatBody(model, extra)))
		})
	}
}

// usesOutput wants this many tokens of output in the usage.
func usesOutput(tokens string) func(*testing.T, reply) {
	return func(t *testing.T, r reply) {
		list, _ := chunks(t, r)
		if got := at(list[len(list)-1], "usage", "completion_tokens"); fmt.Sprint(got) != tokens {
			t.Errorf("completion tokens %v, want %s", got, tokens)
		}
	}
}

// testedElsewhere are the models whose name promises nothing about the shape of
// a chat stream; each has a test of its own in the file named.
var testedElsewhere = map[string]string{
	"agent": "agent_test", "echo": "chat_test", "tools": "chat_test", "reasoning": "chat_test",
	"html-502": "errors_test", "not-json-200": "errors_test", "error-200": "errors_test",
	"redirect-307": "errors_test", "leaky-headers": "errors_test", "no-answer": "endings_test",
	"stall": "endings_test", "step": "endings_test", "delayed-headers": "endings_test",
	"done": "responses_test", "unknown-event": "responses_test",
	"hang": "failover_test", "late": "failover_test", "reset": "failover_test", "overloaded": "failover_test",
	"spend-cap": "failover_test", "too-long": "failover_test", "azure-filter": "failover_test", "no-prefill": "failover_test",
	"cache-usage": "messages_test", "no-event-lines": "messages_test", "pings": "messages_test", "redacted-thinking": "messages_test",
	"stop-sequence": "messages_test", "pause-turn": "messages_test", "context-window": "messages_test", "hosted-tools": "messages_test",
	"unknown-block": "messages_test",
}

func TestEveryBehaviourHasATest(t *testing.T) {
	names := faults.Behaviours()
	for _, name := range names {
		_, here := streamOddities[name]
		_, elsewhere := testedElsewhere[name]
		if here == elsewhere {
			t.Errorf("%q: a test here %v, elsewhere %v", name, here, elsewhere)
		}
	}
	if len(names) != len(streamOddities)+len(testedElsewhere) {
		t.Errorf("%d names, %d tests", len(names), len(streamOddities)+len(testedElsewhere))
	}
}

func TestMidStreamErrorOfOpenRouterIsAFullChunk(t *testing.T) {
	_, addr := start(t)
	list, done := chunks(t, post(t, addr, chatRouter, chatBody("err-mid-stream", streaming)))
	last := list[len(list)-1]
	if done || at(last, "object") != "chat.completion.chunk" || finish(last) != "error" ||
		at(last, "error", "code") != json.Number("502") || at(last, "error", "metadata", "error_type") != "provider_unavailable" {
		t.Errorf("%v", last)
	}
}

func TestOdditiesWithoutStream(t *testing.T) {
	_, addr := start(t)
	get := func(model string) reply { return post(t, addr, chatV1, chatBody(model, "")) }

	r := get("null-fields")
	if !jsontest.Has(t, r.body, `{"tool_calls":null}`) || !jsontest.Has(t, r.body, `{"usage":null,"system_fingerprint":null}`) {
		t.Errorf("null-fields: %s", r.body)
	}
	if r = get("sloppy"); bytes.Contains(r.body, []byte(`"id"`)) || bytes.Contains(r.body, []byte(`"role"`)) {
		t.Errorf("sloppy: %s", r.body)
	}
	if r = get("no-usage"); bytes.Contains(r.body, []byte(`"usage"`)) {
		t.Errorf("no-usage: %s", r.body)
	}
	if r = get("huge"); len(r.body) < faults.HugeBytes || r.err != nil {
		t.Errorf("huge: %d bytes, %v", len(r.body), r.err)
	}
	if r = get("gzip"); r.header.Get("Content-Encoding") != "gzip" || !bytes.HasPrefix(r.body, []byte{0x1f, 0x8b}) {
		t.Errorf("gzip: %v", r.header)
	}
	if r = get("malformed"); r.status != 200 || json.Valid(r.body) || r.err != nil {
		t.Errorf("malformed: %+v", r)
	}
	if r = get("empty"); r.status != 200 || len(r.body) != 0 {
		t.Errorf("empty: %+v", r)
	}
	if r = get("cut-mid-stream"); r.err != io.ErrUnexpectedEOF || len(r.body) == 0 {
		t.Errorf("cut-mid-stream: %+v", r)
	}
	if r = get("cut-reset"); !isReset(r.err) {
		t.Errorf("cut-reset: %v", r.err)
	}
	if r = get("wrong-type-200"); r.header.Get("Content-Type") != "text/plain" || !json.Valid(r.body) {
		t.Errorf("wrong-type-200: %+v", r)
	}
	if r = get("err-mid-stream"); r.status != 500 {
		t.Errorf("err-mid-stream: %+v", r)
	}
	if r = get("refusal"); at(decode(t, r.body), "choices", 0, "message", "refusal") != faults.RefusalText {
		t.Errorf("refusal: %s", r.body)
	}
}
