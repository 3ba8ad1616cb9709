package api

import (
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
