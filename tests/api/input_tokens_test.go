package api

import (
	"testing"

	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

const inputTokensV1 = "/v1/responses/input_tokens"

func TestTokensOfAResponsesRequestAreCounted(t *testing.T) {
	h := harness.Start(t, harness.Setup{})
	for model, asked := range map[string]int{"fake/echo": 1, "chatonly/echo": 0} { // the second has no such API: an estimate
		before := len(h.Provider.Fake.Requests())
		a := h.Client.Post(inputTokensV1, "chat", `{"model":"`+model+`","instructions":"be kind","input":"one two three four"}`)
		body := harness.Parse(t, a.Body)
		if a.Status != 200 || harness.At(body, "object") != "response.input_tokens" || harness.At(body, "input_tokens") == nil || harness.At(body, "input_tokens") == harness.Number("0") {
			t.Fatalf("%s: %d %s", model, a.Status, a.Body)
		}
		if n := len(h.Provider.Fake.Requests()) - before; n != asked {
			t.Errorf("%s: %d requests", model, n)
		}
		row := h.Records.Row(a.Header.Get("X-Request-Id"))
		if harness.At(row, "usage") != harness.Number("0") || harness.At(row, "prompt_tokens") != harness.Number("0") {
			t.Errorf("%s: a count is free, row %v", model, row)
		}
	}
	harness.WantRefusal(t, inputTokensV1, h.Client.Post(inputTokensV1, "chat", `{"model":"fake/echo","input":{}}`), 400, "invalid_value")
	harness.WantRefusal(t, inputTokensV1, h.Client.Post(inputTokensV1, "chat", `{"model":"fake/echo","input":"a","previous_response_id":"resp_1"}`), 400, "previous_response_not_found")
	harness.WantRefusal(t, inputTokensV1, h.Client.Post(inputTokensV1, "models", `{"model":"fake/echo","input":"a"}`), 403, "insufficient_scope")
}
