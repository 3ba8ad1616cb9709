package api

import (
	"strconv"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/testkit/faults"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/jsontest"
	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

// ending is how a call ends.
type ending int

const (
	good           ending = iota // a whole answer
	refused                      // a status of our own: upstream_error
	broken                       // an error inside the stream
	failed                       // either of the two: it depends on what the network delivers
	reportsFailure               // a Response that reports its own failure
)

// oddity is the gateway's result for a behaviour of the fake provider, for chat and Responses,
// without and with a stream.
type oddity struct {
	chat, chatStream, ask, askStream ending
	text                             string // "" = the echo
	finish                           string // "" = stop
	noUsage                          bool   // the provider reports none, or an impossible one
	status                           int    // of a refusal; 0 = 502
	code                             string // "" = upstream_error
}

var (
	cut   = oddity{chat: refused, chatStream: broken, ask: refused, askStream: broken}
	never = oddity{chat: refused, chatStream: refused, ask: refused, askStream: refused}
)

// as is the oddity refused with another status and code.
func (o oddity) as(status int, code string) oddity {
	o.status, o.code = status, code
	return o
}

// refusal is the status and code of a refused call.
func (o oddity) refusal() (status int, code string) {
	if o.code != "" {
		return o.status, o.code
	}
	return 502, "upstream_error"
}

// oddities has a row for every behaviour: a new one needs an expectation.
var oddities = map[string]oddity{
	"echo": {}, "null-fields": {noUsage: true}, "sloppy": {}, "float-created": {}, "no-usage": {noUsage: true},
	"usage-inline": {}, "usage-each": {}, "usage-always": {}, "usage-all": {}, "usage-more": {}, "usage-zero": {noUsage: true}, "no-done": {}, "done": {}, "finish-eos": {},
	"length": {finish: "length"}, "content-filter": {finish: "content_filter"},
	"crlf": {}, "no-space": {}, "comments": {}, "role-each": {}, "empty-deltas": {}, "id-changes": {}, "byte-wise": {}, "gzip": {},
	"unicode-split":   {text: faults.UnicodeText},
	"huge":            {text: strings.Repeat("0123456789abcde ", faults.HugeBytes/16)},
	"huge-chunk":      {text: "one " + strings.Repeat("0123456789abcde ", faults.HugeChunkBytes/16) + "end"},
	"reasoning":       {},
	"refusal":         {text: "-"},
	"tools":           {text: "-", finish: "tool_calls"},
	"agent":           {text: "*"}, // answers from the prompt
	"leaky-headers":   {},
	"delayed-headers": {},
	"stall":           {},
	"step":            {},
	"unknown-event":   {},
	"hang":            {}, "late": {}, "no-prefill": {}, "cache-usage": {}, "redacted-thinking": {}, // as echo, but for messages:
	"no-event-lines": {}, "pings": {}, "stop-sequence": {}, "pause-turn": {}, "context-window": {}, "hosted-tools": {}, "unknown-block": {},
	"wrong-type-200": {chatStream: refused, askStream: refused},
	"no-stream":      {},

	"cut-mid-stream":  cut,
	"cut-reset":       {chat: refused, chatStream: failed, ask: refused, askStream: failed},
	"cut-clean":       cut,
	"malformed":       cut,
	"err-mid-stream":  cut,
	"err-first-event": {chat: refused, chatStream: refused, ask: refused, askStream: failed},
	"response-failed": {chatStream: broken, ask: reportsFailure, askStream: reportsFailure},
	"overloaded":      {chat: refused, chatStream: failed, ask: refused, askStream: failed},
	"spend-cap":       never.as(502, "upstream_quota_exhausted"),
	"too-long":        never.as(400, "context_length_exceeded"),
	"azure-filter":    never.as(422, "provider_content_policy"),
	"reset":           never,
	"no-answer":       never,
	"empty":           never,
	"redirect-307":    never,
	"html-502":        never,
	"not-json-200":    never,
	"error-200":       never,
}

func TestNoOddityOfAProviderPassesForASuccessThatItIsNot(t *testing.T) {
	h := harness.Start(t, harness.Setup{})
	names := faults.Behaviours()
	for _, name := range names {
		o, known := oddities[name]
		if !known {
			t.Errorf("the behaviour %s has no expectation", name)
			continue
		}
		t.Run(name, func(t *testing.T) {
			for _, path := range modelPaths {
				plain, stream := o.chat, o.chatStream
				if path == harness.ResponsesV1 {
					plain, stream = o.ask, o.askStream
				}
				oddCall(h, t, name, path, "", o, plain)
				oddCall(h, t, name, path, harness.Streaming, o, stream)
			}
		})
	}
	for name := range oddities {
		found := false
		for _, n := range names {
			found = found || n == name
		}
		if !found {
			t.Errorf("the fake provider has no behaviour %s", name)
		}
	}
}

// oddModel is the model with a behaviour. One that waits for a second waits a moment only.
func oddModel(behaviour string) string {
	if behaviour == "delayed-headers" {
		behaviour += "-50"
	}
	return "fake/" + behaviour
}

// isHuge reports whether the answers of a behaviour are so long that each takes a second under the
// race detector.
func isHuge(behaviour string) bool { return strings.HasPrefix(behaviour, "huge") }

// translatedPaths are the kinds of stream at a provider of another API. Of long answers one is
// enough: the others are made of it as in a call that is not translated.
func translatedPaths(behaviour string) []string {
	if isHuge(behaviour) {
		return modelPaths[:1]
	}
	return modelPaths
}

func oddCall(h *harness.Gateway, t *testing.T, name, path, more string, o oddity, want ending) {
	t.Helper()
	if isHuge(name) && harness.IsOpenRouter(path) {
		return // only errors differ from the other family's
	}
	h.Provider.Fake.Reset()
	h.Provider.Fake.Step(name, 100) // for step and stall
	s := h.Client.Open(h.Client.Request(path, "full", harness.Body(path, oddModel(name), more)))
	defer s.Disconnect()
	a := harness.Answer{Status: s.Response.StatusCode, Header: s.Response.Header}
	streams := a.Header.Get("Content-Type") == "text/event-stream"
	var events []harness.Event
	if streams {
		events, a.Err = s.Rest()
		for _, e := range events {
			a.Body = append(a.Body, e.Data...)
		}
	} else {
		a.Body, a.Err = s.ReadAll()
	}
	where := path + more
	for _, secret := range []string{faults.SecretText, harness.ProviderKey} {
		if strings.Contains(string(a.Body), secret) && want != refused {
			t.Errorf("%s: provider text leaks %q", where, secret)
		}
	}
	row := h.Records.Row(a.Header.Get("X-Request-Id"))
	if want == failed {
		want = map[bool]ending{true: broken, false: refused}[streams]
	}
	if want == good || want == reportsFailure && more == "" {
		if a.Status != 200 || a.Err != nil || streams != (more != "") {
			t.Errorf("%s: %d %v %.300s", where, a.Status, a.Err, a.Body)
			return
		}
	}
	status, code := o.refusal()
	switch want {
	case good:
		wantWhole(h, t, where, o, a, events, row)
		return
	case refused:
		harness.WantRefusal(t, path, a, status, code)
	case broken:
		if a.Err != nil {
			t.Errorf("%s: the stream to the client broke too: %v", where, a.Err)
		}
		wantStreamError(t, path, events, status, code)
	case reportsFailure:
		if harness.Whole(events) || !jsontest.Has(t, a.Body, `{"status":"failed"}`) {
			t.Errorf("%s: %s", where, a.Body)
		}
	}
	if harness.At(row, "status") != harness.Number(strconv.Itoa(status)) || harness.At(row, "code") != code || harness.At(row, "provider_name") != "fake" {
		t.Errorf("%s: row %v", where, row)
	}
}

func wantWhole(h *harness.Gateway, t *testing.T, where string, o oddity, a harness.Answer, events []harness.Event, row any) {
	t.Helper()
	text, finish := "", any(nil)
	chat := !strings.Contains(where, "/responses")
	switch {
	case events != nil:
		if !harness.Whole(events) {
			t.Errorf("%s: the stream has no end: %v", where, events[len(events)-1])
		}
		ids := map[any]bool{}
		for _, e := range events {
			if e.Data == "[DONE]" {
				continue
			}
			v := harness.Parse(t, []byte(e.Data)) // once: one of them may have 8 MB
			text += deltaOf(v)
			if chat {
				ids[harness.At(v, "id")] = true
				if harness.At(v, "model") == nil || harness.At(v, "object") != "chat.completion.chunk" || harness.Has(v, "error") {
					t.Errorf("%s: %.200v", where, v)
				}
			}
			if f := harness.At(v, "choices", 0, "finish_reason"); f != nil {
				if finish != nil {
					t.Errorf("%s: a second finish reason: %v", where, f)
				}
				finish = f
			}
		}
		if chat && len(ids) != 1 {
			t.Errorf("%s: ids %v", where, ids)
		}
	case chat:
		v := harness.Parse(t, a.Body)
		text, _ = harness.At(v, "choices", 0, "message", "content").(string)
		finish = harness.At(v, "choices", 0, "finish_reason")
	default:
		v := harness.Parse(t, a.Body)
		output, _ := harness.At(v, "output").([]any)
		for _, item := range output {
			if part, ok := harness.At(item, "content", 0, "text").(string); ok && harness.At(item, "type") == "message" {
				text += part
			}
		}
	}
	want := o.text
	switch want {
	case "":
		want = "You said: say hello"
	case "-":
		want = ""
	case "*":
		want = text
	}
	if text != want {
		t.Errorf("%s: text of %d bytes, want %d: %.80q", where, len(text), len(want), text)
	}
	wantFinish := "stop"
	if o.finish != "" {
		wantFinish = o.finish
	}
	if chat && finish != wantFinish {
		t.Errorf("%s: finish reason %v, want %s", where, finish, wantFinish)
	}
	if harness.At(row, "status") != harness.Number("200") || harness.At(row, "code") != nil {
		t.Errorf("%s: row %v", where, row)
	}
	if chat && harness.At(row, "finish_reason") != wantFinish {
		t.Errorf("%s: the row's finish reason is %v, want %s", where, harness.At(row, "finish_reason"), wantFinish)
	}
	source := harness.At(row, "usage_source")
	if o.noUsage {
		if events == nil && (source != "estimated" || harness.At(row, "completion_tokens") == harness.Number("0")) {
			t.Errorf("%s: usage that nobody reported is estimated: %v", where, row)
		}
	} else if source != "provider" || harness.At(row, "completion_tokens") == harness.Number("0") || harness.At(row, "prompt_tokens") == harness.Number("0") {
		t.Errorf("%s: usage is not recorded: %v", where, row)
	}
}
