package tests

import "testing"

// OpenRouter's SDKs refuse a response object that lacks one of these, whole or in an event.
func TestResponsesHaveWhatOpenRoutersSDKsRequire(t *testing.T) {
	h := start(t, setup{})
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
		a := h.post(responsesOR, "full", bodyFor(responsesOR, model, ""))
		complete(model, parse(t, a.body))
		s := h.open(h.request(responsesOR, "full", bodyFor(responsesOR, model, `,"stream":true`)))
		events, err := s.rest()
		if err != nil {
			t.Fatal(err)
		}
		objects := 0
		for _, e := range events {
			if response := at(parse(t, []byte(e.data)), "response"); response != nil {
				complete(model+" "+e.name, response)
				objects++
			}
		}
		if objects < 2 {
			t.Errorf("%s: %d response objects in %v", model, objects, events)
		}
	}
}
