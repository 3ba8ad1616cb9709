package api

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/testkit/jsontest"
	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

func TestACallGoesOnToTheNextTarget(t *testing.T) {
	for name, c := range map[string]struct{ provider, busy string }{
		"openai":  {"base_url PROVIDER/v1\napi_key {env.PROVIDER_KEY}", "upstream_error"},
		"gemini":  {"dialect gemini\nbase_url PROVIDER/gemini/v1beta\napi_key {env.PROVIDER_KEY}", "upstream_overloaded"},
		"bedrock": {"dialect bedrock\nregion us-east-1\nbase_url PROVIDER/bedrock\napi_key {env.PROVIDER_KEY}", "upstream_overloaded"},
	} {
		t.Run(name, func(t *testing.T) { checkFailover(t, c.provider, c.busy) })
	}
}

// checkFailover checks how calls go on among three providers of a kind, with the code of one that answers
// 503.
func checkFailover(t *testing.T, provider, busy string) {
	s := harness.Setup{Options: "timeouts {\nheader 300ms\n}"}
	for _, name := range []string{"first", "second", "third"} {
		s.Providers += "provider " + name + " {\n" + provider + "\nmodels *\ndiscover off\n}\n"
	}
	h, _ := startFailover(t, s, map[string][]string{
		"busy": {"after-none-err-503", "echo"}, "reset": {"reset", "echo"}, "silent": {"hang", "echo"}, "limited": {"after-2-err-429", "echo"},
	})
	for alias, first := range map[string]string{
		"busy": "first/after-none-err-503 " + busy, "reset": "first/reset upstream_error",
		"silent": "first/hang timeout_first_byte", "limited": "first/after-2-err-429 upstream_rate_limited",
	} {
		for _, path := range []string{harness.ChatV1, harness.ResponsesV1, harness.ChatRouter, harness.ResponsesRouter, "/v1/messages"} {
			for _, more := range []string{"", `,"stream":true`} {
				h.Provider.Fake.Reset()
				if path == "/v1/messages" {
					more += `,"max_tokens":100`
				}
				r := h.Client.Request(path, "full", harness.Body(path, "team/"+alias, more))
				r.Header.Set("Anthropic-Version", "2023-06-01")
				a := h.Client.Send(r)
				if a.Status != 200 || !jsontest.Has(t, a.Body, `{"model":"second/echo"}`) || !strings.Contains(string(a.Body), "hello") {
					t.Errorf("%s %s%s: %d %s", alias, path, more, a.Status, a.Body)
				}
				row := h.Records.Row(a.Header.Get("X-Request-Id"))
				asked := strings.Join(attempted(row), ", ")
				// After some failures the target cools, and the second is asked at once.
				if asked != first+", second/echo" && asked != "second/echo" || harness.At(row, "provider_name") != "second" {
					t.Errorf("%s %s%s: attempts %s; %v", alias, path, more, asked, row)
				}
				generation := h.Client.Get("/api/v1/generation?id="+a.Header.Get("X-Request-Id"), "activity")
				if got := strings.Join(attempted(harness.At(harness.Parse(t, generation.Body), "data")), ", "); got != asked {
					t.Errorf("the generation has %q: %s", got, generation.Body)
				}
				prompt, completion, cost := numberIn(t, row, "prompt_tokens"), numberIn(t, row, "completion_tokens"), numberIn(t, row, "usage")
				if want := (2*prompt + 11*completion) / 1e6; cost < want*0.999 || cost > want*1.001 {
					t.Errorf("%v and %v tokens cost %v", prompt, completion, cost)
				}
			}
		}
	}
}

func numberIn(t *testing.T, row any, member string) float64 {
	t.Helper()
	n, _ := harness.At(row, member).(json.Number)
	f, err := n.Float64()
	if err != nil {
		t.Fatal(member, err)
	}
	return f
}
