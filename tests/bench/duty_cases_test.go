//go:build linux

package main

import (
	"bytes"
	"net/http"
	"strings"
	"testing"
)

func TestAnswersUnderLimitsReportWhatRemains(t *testing.T) {
	limited := caseOf(row{name: "req-1k-on"})
	body := bytes.Replace(chatAnswer().appendTo(nil, []byte("1024")), []byte(`"model":"bench"`), []byte(`"model":"up/bench"`), 1)
	header := func(names ...string) http.Header {
		h := http.Header{"Content-Type": {"application/json"}}
		for _, name := range names {
			h.Set(name, "5")
		}
		return h
	}
	const requests, tokens = "X-Ratelimit-Remaining-Requests", "X-Ratelimit-Remaining-Tokens"
	for _, c := range []struct {
		header http.Header
		duties duties
		right  bool
	}{
		{header(requests, tokens), everyDuty, true},
		{header(requests), everyDuty, false},
		{header(tokens), limitDuties, false},
		{header(), everyDuty, false},
		{header(), budgetDuties, true},
		{header(), 0, true},
	} {
		check := limited.checkAt(&server{renames: true, duties: c.duties})
		err := check(answer{status: 200, header: c.header, body: body}, 1024, "up/bench")
		if (err == nil) != c.right {
			t.Errorf("duties %q, header %v: %v", c.duties, c.header, err)
		}
		if check(answer{status: 500, header: c.header, body: body}, 1024, "up/bench") == nil {
			t.Errorf("duties %q: status 500 passed", c.duties)
		}
	}
}

func TestGuardedStreamsMustKeepTheirText(t *testing.T) {
	streams := map[string]string{
		"sse-64-on":       string(bytes.Join(chatEvents(coalescedEvents, false), nil)) + doneEvent,
		"responses-64-on": string(responseEvents().appendTo(nil, newID())),
	}
	for name, right := range streams {
		c := caseOf(row{name: name})
		check := c.checkAt(&server{renames: true, duties: guardDuties})
		try := func(body string) error {
			return check(answer{status: 200, header: http.Header{"Content-Type": {"text/event-stream"}}, body: []byte(body)}, 0, modelWhole)
		}
		if err := try(right); err != nil {
			t.Errorf("%s: the right stream: %v", c.name, err)
		}
		mark := `"content":" `
		if c.path == responsesPath {
			mark = `"delta":" `
		}
		at := strings.Index(right, mark+vocabulary[5]) + len(mark)
		end := strings.LastIndex(right, "event: response.completed")
		if c.path == chatPath {
			end = strings.LastIndex(right, doneEvent)
		}
		for name, damaged := range map[string]string{
			"a letter less": right[:at] + right[at+1:],
			"no end":        right[:end],
			"another model": strings.ReplaceAll(right, `"model":"bench"`, `"model":"x"`),
		} {
			if try(damaged) == nil {
				t.Errorf("%s: %s passed", c.name, name)
			}
		}
		if err := try(right[:at+1] + "\"}\n\n" + strings.TrimSuffix(mark, " ") + right[at+1:]); err != nil {
			t.Errorf("%s: the same text in other events: %v", c.name, err)
		}
	}
}

func TestARefusalOfARateIsChecked(t *testing.T) {
	refused := caseOf(row{name: "rate-refused"})
	limited := http.Header{"Content-Type": {"application/json"}, "Retry-After": {"60"}, "X-Ratelimit-Remaining-Requests": {"0"}}
	plain := http.Header{"Content-Type": {"application/json"}}
	const text = `{"error":{"code":"rate_limit_exceeded"}}`
	for _, c := range []struct {
		name    string
		gateway bool
		answer  answer
		right   bool
	}{
		{"the gateway's", true, answer{status: 429, header: limited, body: []byte(text)}, true},
		{"another code", true, answer{status: 429, header: limited, body: []byte(`{"error":{"code":"gateway_busy"}}`)}, false},
		{"without Retry-After", true, answer{status: 429, header: plain, body: []byte(text)}, false},
		{"closing", true, answer{status: 429, header: limited, body: []byte(text), closes: true}, false},
		{"a 401 of the gateway", true, answer{status: 401, header: limited, body: []byte(text)}, false},
		{"the matcher's", false, answer{status: 401, header: plain, body: []byte(refusal)}, true},
		{"closing after the matcher", false, answer{status: 401, header: plain, body: []byte(refusal), closes: true}, false},
		{"let through", false, answer{status: 200, header: plain, body: []byte(refusal)}, false},
	} {
		err := refused.checkAt(&server{renames: c.gateway})(c.answer, 1024, "")
		if (err == nil) != c.right {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func TestTheClientSeesThatAConnectionIsClosed(t *testing.T) {
	addr := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/close" {
			w.Header().Set("Connection", "close")
		}
	})
	c := testConn(t, addr)
	for path, want := range map[string]bool{"/": false, "/close": true} {
		a, err := c.do(t.Context(), encode(addr, path, "k", nil))
		if err != nil || a.closes != want {
			t.Errorf("%s: closes %v, %v", path, a.closes, err)
		}
	}
}
