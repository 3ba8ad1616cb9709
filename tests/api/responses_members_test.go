package api

import (
	"testing"

	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

// OpenRouter's SDKs refuse a response object that lacks one of these, whole or in an event.
func TestResponsesHaveWhatOpenRoutersSDKsRequire(t *testing.T) {
	h := harness.Start(t, harness.Setup{})
	complete := func(where string, response any) {
		members, _ := response.(map[string]any)
		for _, key := range []string{"completed_at", "created_at", "error", "frequency_penalty", "id", "incomplete_details", "instructions", "metadata",
			"model", "object", "output", "parallel_tool_calls", "presence_penalty", "status", "temperature", "tool_choice", "tools", "top_p"} {
			if _, ok := members[key]; !ok {
				t.Errorf("%s: no %s in %v", where, key, response)
			}
		}
	}
	for _, model := range []string{"test/echo", "fake/echo", "fake/sloppy"} {
		a := h.Client.Post(harness.ResponsesRouter, "full", harness.Body(harness.ResponsesRouter, model, ""))
		complete(model, harness.Parse(t, a.Body))
		s := h.Client.Open(h.Client.Request(harness.ResponsesRouter, "full", harness.Body(harness.ResponsesRouter, model, `,"stream":true`)))
		events, err := s.Rest()
		if err != nil {
			t.Fatal(err)
		}
		objects := 0
		for _, e := range events {
			if response := harness.At(harness.Parse(t, []byte(e.Data)), "response"); response != nil {
				complete(model+" "+e.Name, response)
				objects++
			}
		}
		if objects < 2 {
			t.Errorf("%s: %d response objects in %v", model, objects, events)
		}
	}
}
