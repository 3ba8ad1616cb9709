package tests

import (
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/testprovider/faults"
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
	h := start(t, setup{})
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
				if path == responsesV1 {
					plain, stream = o.ask, o.askStream
				}
				h.oddCall(t, name, path, "", o, plain)
				h.oddCall(t, name, path, streaming, o, stream)
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

func (h *harness) oddCall(t *testing.T, name, path, more string, o oddity, want ending) {
	t.Helper()
	h.upstream.Reset()
	h.upstream.Step(name, 100) // for step and stall
	s := h.open(h.request(path, "full", bodyFor(path, "fake/"+name, more)))
	defer s.disconnect()
	a := answer{status: s.resp.StatusCode, header: s.resp.Header}
	streams := a.header.Get("Content-Type") == "text/event-stream"
	var events []event
	if streams {
		events, a.err = s.rest()
		for _, e := range events {
			a.body = append(a.body, e.data...)
		}
	} else {
		a.body, a.err = readAll(s)
	}
	where := path + more
	for _, secret := range []string{faults.SecretText, providerKey} {
		if strings.Contains(string(a.body), secret) && want != refused {
			t.Errorf("%s: provider text leaks %q", where, secret)
		}
	}
	row := h.row(a.header.Get("X-Request-Id"))
	if want == failed {
		want = map[bool]ending{true: broken, false: refused}[streams]
	}
	if want == good || want == reportsFailure && more == "" {
		if a.status != 200 || a.err != nil || streams != (more != "") {
			t.Errorf("%s: %d %v %.300s", where, a.status, a.err, a.body)
			return
		}
	}
	status, code := o.refusal()
	switch want {
	case good:
		h.wantWhole(t, where, o, a, events, row)
		return
	case refused:
		wantRefusal(t, path, a, status, code)
	case broken:
		if a.err != nil {
			t.Errorf("%s: the stream to the client broke too: %v", where, a.err)
		}
		wantStreamError(t, path, events, 502, "upstream_error")
	case reportsFailure:
		if whole(events) || !strings.Contains(string(a.body), `"status":"failed"`) {
			t.Errorf("%s: %s", where, a.body)
		}
	}
	if at(row, "status") != number(itoa(status)) || at(row, "code") != code || at(row, "provider_name") != "fake" {
		t.Errorf("%s: row %v", where, row)
	}
}

func (h *harness) wantWhole(t *testing.T, where string, o oddity, a answer, events []event, row any) {
	t.Helper()
	text, finish := "", any(nil)
	chat := !strings.Contains(where, "/responses")
	switch {
	case events != nil:
		text = allText(t, events)
		if !whole(events) {
			t.Errorf("%s: the stream has no end: %v", where, events[len(events)-1])
		}
		ids := map[any]bool{}
		for _, e := range events {
			if e.data == "[DONE]" {
				continue
			}
			v := parse(t, []byte(e.data))
			if chat {
				ids[at(v, "id")] = true
				if at(v, "model") == nil || at(v, "object") != "chat.completion.chunk" || has(v, "error") {
					t.Errorf("%s: %.200v", where, v)
				}
			}
			if f := at(v, "choices", 0, "finish_reason"); f != nil {
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
		v := parse(t, a.body)
		text, _ = at(v, "choices", 0, "message", "content").(string)
		finish = at(v, "choices", 0, "finish_reason")
	default:
		v := parse(t, a.body)
		output, _ := at(v, "output").([]any)
		for _, item := range output {
			if part, ok := at(item, "content", 0, "text").(string); ok && at(item, "type") == "message" {
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
	if at(row, "status") != number("200") || at(row, "code") != nil {
		t.Errorf("%s: row %v", where, row)
	}
	if chat && at(row, "finish_reason") != wantFinish {
		t.Errorf("%s: the row's finish reason is %v, want %s", where, at(row, "finish_reason"), wantFinish)
	}
	source := at(row, "usage_source")
	if o.noUsage {
		if events == nil && (source != "estimated" || at(row, "completion_tokens") == number("0")) {
			t.Errorf("%s: usage that nobody reported is estimated: %v", where, row)
		}
	} else if source != "provider" || at(row, "completion_tokens") == number("0") || at(row, "prompt_tokens") == number("0") {
		t.Errorf("%s: usage is not recorded: %v", where, row)
	}
}
