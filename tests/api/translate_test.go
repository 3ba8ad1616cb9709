package api

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/testkit/jsontest"
	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

func TestResponsesOfAChatOnlyProviderAreTranslated(t *testing.T) {
	h := harness.Start(t, harness.Setup{})
	for _, path := range []string{harness.ResponsesV1, harness.ResponsesRouter} {
		a := h.Client.Post(path, "full", `{"model":"chatonly/echo","input":"hello","instructions":"be brief","max_output_tokens":9}`)
		var response struct {
			ID, Object, Status, Model string
			Output                    []struct{ Content []struct{ Text string } }
		}
		if err := json.Unmarshal(a.Body, &response); err != nil || a.Status != 200 {
			t.Fatalf("%s: %d %s: %v", path, a.Status, a.Body, err)
		}
		if response.Object != "response" || response.Status != "completed" || response.Model != "chatonly/echo" ||
			len(response.Output) != 1 || response.Output[0].Content[0].Text != "You said: hello" {
			t.Errorf("%s: %s", path, a.Body)
		}
		found := h.Client.Get("/api/v1/generation?id="+response.ID, "full")
		if found.Status != 200 || !strings.Contains(string(found.Body), a.Header.Get("X-Request-Id")) {
			t.Errorf("%s: the response's id does not find the call: %d %s", path, found.Status, found.Body)
		}
	}
	sent := h.Provider.Fake.Requests()
	if len(sent) != 2 || sent[0].Path != "/v1/chat/completions" {
		t.Fatalf("the provider got %d requests, the first at %s", len(sent), sent[0].Path)
	}
	want := `{"model":"echo","messages":[{"role":"system","content":"be brief"},{"role":"user","content":"hello"}],"max_completion_tokens":9}`
	if string(sent[0].Body) != want {
		t.Errorf("the provider got %s, want %s", sent[0].Body, want)
	}
}

func TestTranslatedStreamsEndAsTheirProviderDoes(t *testing.T) {
	h := harness.Start(t, harness.Setup{})
	for model, end := range map[string]string{
		"echo": "response.completed", "length": "response.incomplete", "cut-clean": "error", "cut-mid-stream": "error",
		"err-mid-stream": "error", "malformed": "error", "no-usage": "response.completed", "finish-eos": "response.completed",
	} {
		a := h.Client.Post(harness.ResponsesV1, "full", `{"model":"chatonly/`+model+`","input":"one two three four","stream":true}`)
		events := regexp.MustCompile(`(?m)^event: (.*)$`).FindAllStringSubmatch(string(a.Body), -1)
		if a.Status != 200 || len(events) < 3 {
			t.Fatalf("%s: %d %s", model, a.Status, a.Body)
		}
		if first, last := events[0][1], events[len(events)-1][1]; first != "response.created" || last != end {
			t.Errorf("%s: from %s to %s, want %s", model, first, last, end)
		}
		if completed := strings.Contains(string(a.Body), "response.completed"); completed != (end == "response.completed") {
			t.Errorf("%s: completed is %v", model, completed)
		}
	}
}

func TestWhatATranslationCannotCarryIsRefusedByName(t *testing.T) {
	h := harness.Start(t, harness.Setup{Providers: refusingTools})
	for field, param := range map[string]string{
		`"previous_response_id":"resp_1"`:                  "previous_response_id",
		`"background":true`:                                "background",
		`"conversation":"conv_1"`:                          "conversation",
		`"tools":[{"type":"web_search"}]`:                  "tools[0].type",
		`"input":[{"type":"item_reference","id":"msg_1"}]`: "input[0].type",
		`"something_new":1`:                                "something_new",
	} {
		body := `{"model":"chatonly/echo",` + field
		if !strings.HasPrefix(field, `"input"`) {
			body += `,"input":"x"`
		}
		a := h.Client.Post(harness.ResponsesV1, "hosted", body+"}")
		if a.Status != 400 || !jsontest.Has(t, a.Body, `{"param":"`+param+`"}`) {
			t.Errorf("%s: %d %s, want param %s", field, a.Status, a.Body, param)
		}
	}
	if n := len(h.Provider.Fake.Requests()); n != 0 {
		t.Errorf("%d requests were forwarded", n)
	}
}
