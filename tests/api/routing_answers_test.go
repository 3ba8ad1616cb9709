package api

import (
	"cmp"
	"encoding/json"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

// routed returns the one openrouter_metadata of an answer: of one of its last two objects, because an
// error follows a failed response.
func routed(t *testing.T, a harness.Answer) any {
	t.Helper()
	objects := []any{}
	for line := range strings.Lines(string(a.Body)) {
		if text := strings.TrimPrefix(line, "data: "); strings.HasPrefix(text, "{") {
			objects = append(objects, harness.Parse(t, []byte(text)))
		}
	}
	if n := strings.Count(string(a.Body), `"openrouter_metadata"`); n > 1 {
		t.Errorf("%d times: %s", n, a.Body)
	}
	for _, o := range objects[max(0, len(objects)-2):] {
		for _, within := range []any{o, harness.At(o, "response")} {
			if m := harness.At(within, "openrouter_metadata"); m != nil {
				return m
			}
		}
	}
	return nil
}

func TestACallerOfOpenRoutersAPISeesHowACallWasRouted(t *testing.T) {
	h, _ := startFailover(t, harness.Setup{Keys: strings.Replace(failoverKeys, "models team/*", "models *", 1)}, map[string][]string{
		"busy": {"after-none-err-503", "echo"}, "broken": {"err-502", "err-504"}, "cut": {"cut-4"},
	})
	for _, c := range []struct {
		model, more, strategy string
		available             []string
	}{
		{"second/echo", "", "direct", []string{"second/echo"}},
		{"team/busy", "", "alias", []string{"first/after-none-err-503", "second/echo"}},
		{"first/err-502", `,"models":["second/echo"]`, "fallback", []string{"first/err-502", "second/echo"}},
		{"team/broken", "", "alias", []string{"first/err-502", "second/err-504"}},
		{"team/cut", "", "alias", []string{"first/cut-4"}},
	} {
		for _, path := range []string{harness.ChatRouter, harness.ResponsesRouter, harness.ChatV1, harness.ResponsesV1} {
			for _, more := range []string{"", harness.Streaming} {
				for _, value := range []string{"Enabled", "yes"} {
					if value == "yes" && path != harness.ChatRouter {
						continue
					}
					r := h.Client.Request(path, "full", harness.Body(path, c.model, c.more+more))
					r.Header.Set("X-OpenRouter-Metadata", value)
					a := h.Client.Send(r)
					want := any(nil)
					if value == "Enabled" && strings.HasPrefix(path, "/api") {
						want = wantRouted(c.model, c.strategy, c.available, harness.At(h.Records.Row(a.Header.Get("X-Request-Id")), "attempted"))
					}
					if got := routed(t, a); !reflect.DeepEqual(got, want) {
						t.Errorf("%s %s%s: %d\ngot  %v\nwant %v", path, c.model, more, a.Status, got, want)
					}
				}
			}
		}
	}
}

// wantRouted is the openrouter_metadata of a call with these attempts in its row, of which a call
// with one target has none.
func wantRouted(model, strategy string, available []string, row any) any {
	list, _ := row.([]any)
	if list == nil {
		list = []any{map[string]any{"target": available[0], "status": harness.Number("200")}}
	}
	endpoint := func(target string) map[string]any {
		of, _, _ := strings.Cut(target, "/")
		return map[string]any{"model": target, "provider": of}
	}
	var attempts, endpoints []any
	last := ""
	for _, attempt := range list {
		last = harness.At(attempt, "target").(string)
		e := endpoint(last)
		if e["status"] = harness.At(attempt, "status"); e["status"] == nil {
			e["status"] = harness.Number("0")
		}
		attempts = append(attempts, e)
	}
	for _, target := range available {
		e := endpoint(target)
		e["selected"] = target == last
		endpoints = append(endpoints, e)
	}
	of, _, _ := strings.Cut(last, "/")
	return map[string]any{
		"requested": model, "strategy": strategy, "region": nil, "is_byok": false,
		"summary": "available=" + strconv.Itoa(len(available)) + ", selected=" + of,
		"attempt": harness.Number(strconv.Itoa(len(attempts))), "attempts": attempts,
		"endpoints": map[string]any{"total": harness.Number(strconv.Itoa(len(available))), "available": endpoints},
	}
}

// The provider refuses thinking that another model signed, so this fails unless a conversation goes
// back to the model that thought, or without the thoughts.
func TestAConversationReturnsToTheModelThatThought(t *testing.T) {
	h, _ := startFailover(t, harness.Setup{
		Providers: "provider first {\ndialect anthropic\nbase_url PROVIDER\napi_key {env.PROVIDER_KEY}\nmodels *\ndiscover off\n}\n",
		Options:   "alias team/thinker {\ngroup {\ntarget first/echo\ntarget first/some-agent\n}\n}",
	}, map[string][]string{"echo": {"first:echo"}, "agent": {"first:some-agent"}})
	say := func(model, messages, more string) harness.Answer {
		r := h.Client.Request("/v1/messages", "full", `{"model":"`+model+`","max_tokens":3000,"thinking":{"type":"enabled","budget_tokens":1024},"messages":[`+messages+`]`+more+`}`)
		r.Header.Set("Anthropic-Version", "2023-06-01")
		return h.Client.Send(r)
	}
	const hi, more = `{"role":"user","content":"hi"}`, `,{"role":"user","content":"more"}`
	for _, alone := range []string{"", "team/echo", "team/agent"} { // where it began
		first := say(cmp.Or(alone, "team/thinker"), hi, "")
		began := harness.At(harness.Parse(t, first.Body), "model")
		content, err := json.Marshal(harness.At(harness.Parse(t, first.Body), "content"))
		if err != nil || !strings.Contains(string(content), `"signature"`) {
			t.Fatalf("%d %s", first.Status, first.Body)
		}
		for range 6 {
			a := say("team/thinker", hi+`,{"role":"assistant","content":`+string(content)+`}`+more, "")
			if a.Status != 200 || alone == "" && harness.At(harness.Parse(t, a.Body), "model") != began {
				t.Errorf("it began with %v: %d %s", began, a.Status, a.Body)
			}
		}
	}
}
