package api

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

// translating are gateways that translate chat calls, by the API of their provider.
var translating = map[string]harness.Setup{"Messages": onlyMessages, "Responses": responsesOnly}

const leftOutHeader = "X-Gatehouse-Left-Out"

func TestWhatAProviderIgnoresIsLeftOutAndNamed(t *testing.T) {
	const body = `{"model":"fake/echo","messages":[{"role":"user","name":"ann","content":"say hello"}],"seed":7,"top_a":0.5,"n":1`
	for api, s := range translating {
		t.Run(api, func(t *testing.T) {
			h := harness.Start(t, s)
			for _, path := range chatPaths {
				a := h.Client.Post(path, "full", body+`}`)
				if named := a.Header.Get(leftOutHeader); a.Status != 200 || named != "seed, top_a, messages.name" {
					t.Errorf("%s: %d %s, names %q", path, a.Status, a.Body, named)
				}
				events := h.Client.Open(h.Client.Request(path, "full", body+harness.Streaming+`}`))
				if named := events.Response.Header.Get(leftOutHeader); named != "seed, top_a, messages.name" {
					t.Errorf("%s, streamed: names %q", path, named)
				}
				if _, err := events.Rest(); err != nil {
					t.Error(err)
				}
			}
			if lines := harness.Log.Lines(`"left_out":["seed","top_a","messages.name"]`); len(lines) != 4 {
				t.Errorf("%d lines of the log name them", len(lines))
			}
			if a := h.Client.Post(harness.ChatV1, "full", harness.Chat("fake/echo", "")); a.Status != 200 || a.Header[leftOutHeader] != nil {
				t.Errorf("%d, a call that lost nothing names %q", a.Status, a.Header[leftOutHeader])
			}
		})
	}
}

func TestWhatAnthropicIgnoresOfAResponsesCallHasTheCallersName(t *testing.T) {
	h := harness.Start(t, onlyMessages)
	a := h.Client.Post(harness.ResponsesV1, "full", harness.Responses("fake/echo", `,"include":["message.output_text.logprobs"],"seed":7,"temperature":1.5`))
	if named := a.Header.Get(leftOutHeader); a.Status != 200 || named != "seed, include, temperature" {
		t.Errorf("%d %s, names %q", a.Status, a.Body, named)
	}
}

// A client of the older form of tools gets its answers in that form, whole and streamed, and sends
// the result back in it.
func TestFunctionsAreToolsOfATranslatedCall(t *testing.T) {
	const user = `{"role":"user","content":"use weather {\"city\":\"Oslo\"}"}`
	body := func(more string) string {
		return `{"model":"fake/agent","functions":[{"name":"weather","parameters":{"type":"object"}}],"messages":[` + user + more
	}
	for api, s := range translating {
		t.Run(api, func(t *testing.T) {
			h := harness.Start(t, s)
			for _, path := range chatPaths {
				v := harness.Parse(t, h.Client.Post(path, "full", body(`]}`)).Body)
				message := harness.At(v, "choices", 0, "message")
				call := harness.At(message, "function_call")
				if harness.At(v, "choices", 0, "finish_reason") != "function_call" || harness.At(call, "name") != "weather" || harness.At(call, "arguments") != `{"city":"Oslo"}` ||
					harness.At(message, "tool_calls") != nil {
					t.Fatalf("%s: %v", path, v)
				}
				events, err := h.Client.Open(h.Client.Request(path, "full", body(`]`+harness.Streaming+`}`))).Rest()
				name, arguments := "", ""
				for _, e := range events[:len(events)-1] {
					delta := harness.At(harness.Parse(t, []byte(e.Data)), "choices", 0, "delta", "function_call")
					piece, _ := harness.At(delta, "name").(string)
					more, _ := harness.At(delta, "arguments").(string)
					name, arguments = name+piece, arguments+more
				}
				if err != nil || !harness.Whole(events) || name != "weather" || arguments != `{"city":"Oslo"}` {
					t.Errorf("%s, streamed: %q %q, %v", path, name, arguments, err)
				}
				said, err := json.Marshal(message)
				if err != nil {
					t.Fatal(err)
				}
				a := h.Client.Post(path, "full", body(`,`+string(said)+`,{"role":"function","name":"weather","content":"sunny"}]}`))
				if a.Status != 200 || !strings.Contains(string(a.Body), "sunny") {
					t.Errorf("%s: the result: %d %s", path, a.Status, a.Body)
				}
			}
		})
	}
}
