package tests

import (
	"fmt"
	"strings"
	"testing"
)

// guardPaths are the routes of both APIs.
var guardPaths = []string{chatV1, chatRouter, responsesV1, responsesOR}

// saying is a call with this text from the user.
func saying(path, model, text, more string) string {
	return strings.Replace(bodyFor(path, model, more), "say hello", text, 1)
}

// wantBlocked checks the refusal by a guardrail, which must not contain the text.
func wantBlocked(t *testing.T, path string, a answer, guardrail, class, text string) {
	t.Helper()
	wantRefusal(t, path, a, 422, "guardrail_blocked")
	message, _ := at(parse(t, a.body), "error", "message").(string)
	if !strings.Contains(message, guardrail) || !strings.Contains(message, class) || strings.Contains(string(a.body), text) {
		t.Errorf("%s: %s", path, a.body)
	}
	if isOpenRouter(path) && at(parse(t, a.body), "error", "metadata", "reasons", 0) != class {
		t.Errorf("%s: no reasons in %s", path, a.body)
	}
	wantHeaders(t, a, "Retry-After", "")
}

func TestAGuardrailRefusesARequestBeforeItIsSent(t *testing.T) {
	h := start(t, setup{
		keys:    limitedKey("guardrails gate\nbudget 1000 tokens/total") + keyBlock("chat", "") + keyBlock("activity", ""),
		options: "guardrail gate {\non input\ndeny secrets\ndeny words forbidden\n}",
	})
	token := "ghp_" + "x7Kd9Qm2Lp4Rt6Wz8Yb1Nc3Vf5Hj0Gs2Ae4U"
	for _, path := range guardPaths {
		for text, class := range map[string]string{token: "secret", "Forbidden": "words"} {
			a := h.post(path, "full", saying(path, "fake/echo", "this is "+text+" !", ""))
			wantBlocked(t, path, a, "gate", class, text)
			if row := h.row(a.header.Get("X-Request-Id")); at(row, "code") != "guardrail_blocked" || at(row, "status") != number("422") || at(row, "usage_source") != "none" {
				t.Errorf("%s: row %v", path, row)
			}
		}
	}
	if n := len(h.upstream.Requests()); n != 0 {
		t.Fatalf("%d calls reached the provider", n)
	}
	if b := h.keyInfo("full").Budgets[0]; b.Spent != "0" || b.Reserved != "0" {
		t.Errorf("refused calls cost %+v", b)
	}
	for _, path := range guardPaths {
		if a := h.post(path, "chat", saying(path, "fake/echo", "this is forbidden", "")); a.status != 200 {
			t.Errorf("%s, a key without guardrail: %d %s", path, a.status, a.body)
		}
	}
}

func TestAGuardrailTakesSomethingOutOfARequest(t *testing.T) {
	h := start(t, setup{
		keys:    limitedKey("guardrails mask\nmax_output_tokens 100") + keyBlock("activity", ""),
		options: "guardrail mask {\non input\nredact email\nredact card\n}",
	})
	const text = `write to ann@example.com or bob@example.org, card 4111 1111 1111 1111 \u00e9`
	for _, path := range guardPaths {
		for _, model := range []string{"fake/echo", "chatonly/echo"} {
			h.upstream.Reset()
			a := h.post(path, "full", saying(path, model, text, `,"top_p":0.5`))
			if a.status != 200 {
				t.Errorf("%s, %s: %d %s", path, model, a.status, a.body)
				continue
			}
			sent := string(h.upstreamCall(1).Body)
			for _, want := range []string{"write to [REDACTED:email] or [REDACTED:email], card [REDACTED:card] ", `"top_p":0.5`, `"model":"echo"`, `tokens":100`} {
				if !strings.Contains(sent, want) {
					t.Errorf("%s, %s: the provider got %s, without %s", path, model, sent, want)
				}
			}
			if line := strings.Join(h.logLines(a.header.Get("X-Request-Id")), ""); !strings.Contains(line, `"redacted":["email","card"]`) {
				t.Errorf("%s: the log says %s", path, line)
			}
		}
	}
	if strings.Contains(logs.text(), "ann@example") {
		t.Error("the log shows what was taken out")
	}
}

// The judged text must be the one that the provider reads.
func TestUnderAGuardrailNoObjectHasAKeyTwice(t *testing.T) {
	h := start(t, setup{keys: limitedKey(""), options: "guardrail gate {\non input\ndeny words forbidden\n}\nguardrails gate"})
	for _, path := range guardPaths {
		a := h.post(path, "full", saying(path, "fake/echo", "x", `,"metadata":{"a":"one","a":"two"}`))
		wantRefusal(t, path, a, 400, "invalid_json")
		if isOpenRouter(path) {
			if at(parse(t, a.body), "error", "metadata", "param") != "metadata" {
				t.Errorf("%s: %s", path, a.body)
			}
		} else if at(parse(t, a.body), "error", "param") != "metadata" {
			t.Errorf("%s: %s", path, a.body)
		}
	}
}

func TestARequestBeyondAGuardrailsLimitsIsTooLarge(t *testing.T) {
	h := start(t, setup{keys: limitedKey(""), options: "guardrail mask {\non input\nredact words x\n}\nguardrails mask"})
	var keys strings.Builder
	for i := range 1 << 17 {
		fmt.Fprintf(&keys, `"%d":0,`, i)
	}
	for what, more := range map[string]string{
		"keys":    `,"metadata":{` + keys.String() + `"a":0}`,
		"matches": `,"metadata":{"a":"` + strings.Repeat("x ", 1<<17+1) + `"}`,
	} {
		a := h.post(chatV1, "full", bodyFor(chatV1, "fake/echo", more))
		wantRefusal(t, chatV1, a, 413, "request_too_large")
		if !strings.Contains(string(a.body), "more "+what) {
			t.Errorf("%s: %s", what, a.body)
		}
	}
	if n := len(h.upstream.Requests()); n != 0 {
		t.Errorf("%d calls reached the provider", n)
	}
}

func TestGuardrailsAreThoseOfKeyModelAndGateway(t *testing.T) {
	h := start(t, setup{
		keys: limitedKey("guardrails ofkey") + keyBlock("chat", ""),
		options: "guardrail ofkey {\ndeny words apple\n}\nguardrail ofmodel {\ndeny words pear\n}\nguardrail ofall {\ndeny words plum\n}\n" +
			"guardrails ofall\nmodel fake/null* {\nguardrails ofmodel ofall\n}",
	})
	for _, c := range []struct{ key, model, word, by string }{
		{"full", "fake/echo", "apple", "ofkey"},
		{"full", "fake/echo", "pear", ""},
		{"full", "fake/null-fields", "pear", "ofmodel"},
		{"chat", "fake/null-fields", "pear", "ofmodel"},
		{"chat", "fake/null-fields", "apple", ""},
		{"chat", "fake/null-fields", "plum", "ofall"},
		{"chat", "fake/echo", "plum", "ofall"},
		{"full", "fake/echo", "apple plum", "ofkey"},
	} {
		a := h.post(chatV1, c.key, saying(chatV1, c.model, "an "+c.word, ""))
		if c.by != "" {
			wantBlocked(t, chatV1, a, c.by, "words", c.word)
		} else if a.status != 200 {
			t.Errorf("%+v: %d %s", c, a.status, a.body)
		}
	}
}
