package api

import (
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/testkit/jsontest"
	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

// guardPaths are the routes of both APIs.
var guardPaths = []string{harness.ChatV1, harness.ChatRouter, harness.ResponsesV1, harness.ResponsesRouter}

// saying is a call with this text from the user.
func saying(path, model, text, more string) string {
	return strings.Replace(harness.Body(path, model, more), "say hello", text, 1)
}

// wantBlocked checks the refusal by a guardrail, which must not contain the text.
func wantBlocked(t *testing.T, path string, a harness.Answer, guardrail, class, text string) {
	t.Helper()
	harness.WantRefusal(t, path, a, 422, "guardrail_blocked")
	message, _ := harness.At(harness.Parse(t, a.Body), "error", "message").(string)
	if !strings.Contains(message, guardrail) || !strings.Contains(message, class) || strings.Contains(string(a.Body), text) {
		t.Errorf("%s: %s", path, a.Body)
	}
	if harness.IsOpenRouter(path) && harness.At(harness.Parse(t, a.Body), "error", "metadata", "reasons", 0) != class {
		t.Errorf("%s: no reasons in %s", path, a.Body)
	}
	wantHeaders(t, a, "Retry-After", "")
}

func TestAGuardrailRefusesARequestBeforeItIsSent(t *testing.T) {
	h := harness.Start(t, harness.Setup{
		Keys:    harness.FullKey("guardrails gate\nbudget 1000 tokens/total") + harness.Key("chat", "") + harness.Key("activity", ""),
		Options: "guardrail gate {\non input\ndeny secrets\ndeny words forbidden\n}",
	})
	token := "ghp_" + "x7Kd9Qm2Lp4Rt6Wz8Yb1Nc3Vf5Hj0Gs2Ae4U"
	for _, path := range guardPaths {
		for text, class := range map[string]string{token: "secret", "Forbidden": "words"} {
			a := h.Client.Post(path, "full", saying(path, "fake/echo", "this is "+text+" !", ""))
			wantBlocked(t, path, a, "gate", class, text)
			if row := h.Records.Row(a.Header.Get("X-Request-Id")); harness.At(row, "code") != "guardrail_blocked" || harness.At(row, "status") != harness.Number("422") || harness.At(row, "usage_source") != "none" {
				t.Errorf("%s: row %v", path, row)
			}
		}
	}
	if n := len(h.Provider.Fake.Requests()); n != 0 {
		t.Fatalf("%d calls reached the provider", n)
	}
	if b := h.Records.Key("full").Budgets[0]; b.Spent != "0" || b.Reserved != "0" {
		t.Errorf("refused calls cost %+v", b)
	}
	for _, path := range guardPaths {
		if a := h.Client.Post(path, "chat", saying(path, "fake/echo", "this is forbidden", "")); a.Status != 200 {
			t.Errorf("%s, a key without guardrail: %d %s", path, a.Status, a.Body)
		}
	}
}

func TestAGuardrailTakesSomethingOutOfARequest(t *testing.T) {
	h := harness.Start(t, harness.Setup{
		Keys:    harness.FullKey("guardrails mask\nmax_output_tokens 100") + harness.Key("activity", ""),
		Options: "guardrail mask {\non input\nredact email\nredact card\n}",
	})
	const text = `write to ann@example.com or bob@example.org, card 4111 1111 1111 1111 \u00e9`
	for _, path := range guardPaths {
		for _, model := range []string{"fake/echo", "chatonly/echo"} {
			h.Provider.Fake.Reset()
			a := h.Client.Post(path, "full", saying(path, model, text, `,"top_p":0.5`))
			if a.Status != 200 {
				t.Errorf("%s, %s: %d %s", path, model, a.Status, a.Body)
				continue
			}
			sent := string(h.Provider.Request(1).Body)
			for _, want := range []string{"write to [REDACTED:email] or [REDACTED:email], card [REDACTED:card] ", `"top_p":0.5`, `"model":"echo"`, `tokens":100`} {
				if !strings.Contains(sent, want) {
					t.Errorf("%s, %s: the provider got %s, without %s", path, model, sent, want)
				}
			}
			if line := strings.Join(harness.Log.Lines(a.Header.Get("X-Request-Id")), ""); !jsontest.Has(t, line, `{"redacted":["email","card"]}`) {
				t.Errorf("%s: the log says %s", path, line)
			}
		}
	}
	if strings.Contains(harness.Log.Text(), "ann@example") {
		t.Error("the log shows what was taken out")
	}
}

func TestGuardrailsAreThoseOfKeyModelAndGateway(t *testing.T) {
	h := harness.Start(t, harness.Setup{
		Keys: harness.FullKey("guardrails ofkey") + harness.Key("chat", ""),
		Options: "guardrail ofkey {\ndeny words apple\n}\nguardrail ofmodel {\ndeny words pear\n}\nguardrail ofall {\ndeny words plum\n}\n" +
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
		a := h.Client.Post(harness.ChatV1, c.key, saying(harness.ChatV1, c.model, "an "+c.word, ""))
		if c.by != "" {
			wantBlocked(t, harness.ChatV1, a, c.by, "words", c.word)
		} else if a.Status != 200 {
			t.Errorf("%+v: %d %s", c, a.Status, a.Body)
		}
	}
}
