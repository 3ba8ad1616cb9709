package tests

import "testing"

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
