package tests

import (
	"encoding/json"
	"strings"
	"testing"
)

// translating are gateways that translate chat calls, by the API of their provider.
var translating = map[string]setup{"Messages": onlyMessages, "Responses": responsesOnly}

const leftOutHeader = "X-Gatehouse-Left-Out"

func TestWhatAProviderIgnoresIsLeftOutAndNamed(t *testing.T) {
	const body = `{"model":"fake/echo","messages":[{"role":"user","name":"ann","content":"say hello"}],"seed":7,"top_a":0.5,"n":1`
	for api, s := range translating {
		t.Run(api, func(t *testing.T) {
			h := start(t, s)
			for _, path := range chatPaths {
				a := h.post(path, "full", body+`}`)
				if named := a.header.Get(leftOutHeader); a.status != 200 || named != "seed, top_a, messages.name" {
					t.Errorf("%s: %d %s, names %q", path, a.status, a.body, named)
				}
				events := h.open(h.request(path, "full", body+streaming+`}`))
				if named := events.resp.Header.Get(leftOutHeader); named != "seed, top_a, messages.name" {
					t.Errorf("%s, streamed: names %q", path, named)
				}
				if _, err := events.rest(); err != nil {
					t.Error(err)
				}
			}
			if lines := h.logLines(`"left_out":["seed","top_a","messages.name"]`); len(lines) != 4 {
				t.Errorf("%d lines of the log name them", len(lines))
			}
			if a := h.post(chatV1, "full", chat("fake/echo", "")); a.status != 200 || a.header[leftOutHeader] != nil {
				t.Errorf("%d, a call that lost nothing names %q", a.status, a.header[leftOutHeader])
			}
		})
	}
}

func TestWhatAnthropicIgnoresOfAResponsesCallHasTheCallersName(t *testing.T) {
	h := start(t, onlyMessages)
	a := h.post(responsesV1, "full", ask("fake/echo", `,"include":["message.output_text.logprobs"],"seed":7,"temperature":1.5`))
	if named := a.header.Get(leftOutHeader); a.status != 200 || named != "seed, include, temperature" {
		t.Errorf("%d %s, names %q", a.status, a.body, named)
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
			h := start(t, s)
			for _, path := range chatPaths {
				v := parse(t, h.post(path, "full", body(`]}`)).body)
				message := at(v, "choices", 0, "message")
				call := at(message, "function_call")
				if at(v, "choices", 0, "finish_reason") != "function_call" || at(call, "name") != "weather" || at(call, "arguments") != `{"city":"Oslo"}` ||
					at(message, "tool_calls") != nil {
					t.Fatalf("%s: %v", path, v)
				}
				events, err := h.open(h.request(path, "full", body(`]`+streaming+`}`))).rest()
				name, arguments := "", ""
				for _, e := range events[:len(events)-1] {
					delta := at(parse(t, []byte(e.data)), "choices", 0, "delta", "function_call")
					piece, _ := at(delta, "name").(string)
					more, _ := at(delta, "arguments").(string)
					name, arguments = name+piece, arguments+more
				}
				if err != nil || !whole(events) || name != "weather" || arguments != `{"city":"Oslo"}` {
					t.Errorf("%s, streamed: %q %q, %v", path, name, arguments, err)
				}
				said, err := json.Marshal(message)
				if err != nil {
					t.Fatal(err)
				}
				a := h.post(path, "full", body(`,`+string(said)+`,{"role":"function","name":"weather","content":"sunny"}]}`))
				if a.status != 200 || !strings.Contains(string(a.body), "sunny") {
					t.Errorf("%s: the result: %d %s", path, a.status, a.body)
				}
			}
		})
	}
}
