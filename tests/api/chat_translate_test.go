package api

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/testkit/faults"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/jsontest"
	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

// responsesOnly has the fake provider as one without chat completions, whose address knows no other
// API.
var responsesOnly = harness.Setup{Providers: `
	provider fake {
		base_url PROVIDER` + faults.ResponsesOnlyPrefix + `
		api_key {env.PROVIDER_KEY}
		models *
		discover off
		chat translate
	}
	provider private {
		base_url PROVIDER` + faults.ResponsesOnlyPrefix + `
		api_key {env.PROVIDER_KEY}
		models *
		discover off
		account_of default
		chat translate
	}
`}

var chatPaths = []string{harness.ChatV1, harness.ChatRouter}

func TestChatOfAResponsesOnlyProviderIsTranslated(t *testing.T) {
	h := harness.Start(t, responsesOnly)
	const body = `{"model":"fake/echo","messages":[{"role":"system","content":"be brief"},{"role":"user","content":"hello"}],"max_tokens":9,"n":1}`
	for _, path := range chatPaths {
		a := h.Client.Post(path, "full", body)
		v := harness.Parse(t, a.Body)
		if a.Status != 200 || harness.At(v, "object") != "chat.completion" || harness.At(v, "model") != "fake/echo" ||
			harness.At(v, "choices", 0, "message", "content") != "You said: hello" || harness.At(v, "choices", 0, "finish_reason") != "stop" ||
			harness.At(v, "usage", "prompt_tokens") != harness.Number("1") || harness.At(v, "usage", "completion_tokens_details", "reasoning_tokens") != harness.Number("0") {
			t.Fatalf("%s: %d %s", path, a.Status, a.Body)
		}
		found := h.Client.Get("/api/v1/generation?id="+harness.At(v, "id").(string), "full")
		if found.Status != 200 || !strings.Contains(string(found.Body), a.Header.Get("X-Request-Id")) {
			t.Errorf("%s: the completion's id does not find the call: %d %s", path, found.Status, found.Body)
		}
	}
	sent := h.Provider.Fake.Requests()
	if len(sent) != 2 || sent[0].Path != faults.ResponsesOnlyPrefix+"/responses" {
		t.Fatalf("the provider got %d requests, the first at %s", len(sent), sent[0].Path)
	}
	want := `{"model":"echo","instructions":"be brief","input":[{"type":"message","role":"user","content":"hello"}],"max_output_tokens":9,"store":false}`
	if string(sent[0].Body) != want {
		t.Errorf("the provider got %s, want %s", sent[0].Body, want)
	}
	if a := h.Client.Post(harness.ResponsesV1, "full", harness.Responses("fake/echo", "")); a.Status != 200 {
		t.Errorf("its own API: %d %s", a.Status, a.Body)
	}
}

// Errors of a Responses provider have the same result for a chat caller: a response that reports
// its failure is an error in chat.
func TestNoOddityOfAResponsesOnlyProviderCountsAsSuccess(t *testing.T) {
	h := harness.Start(t, responsesOnly)
	names := faults.Behaviours()
	for _, name := range names {
		o := oddities[name]
		plain, stream := o.ask, o.askStream
		switch name {
		case "response-failed":
			plain, stream = refused, broken
		case "err-first-event": // fails before the first event
			stream = refused
		}
		t.Run(name, func(t *testing.T) {
			for _, path := range chatPaths {
				oddCall(h, t, name, path, "", o, plain)
				oddCall(h, t, name, path, harness.Streaming, o, stream)
			}
		})
	}
}

func TestATranslatedChunkIsWithTheClientBeforeTheNextEvent(t *testing.T) {
	h := harness.Start(t, responsesOnly)
	for i, path := range chatPaths {
		gate := "step-" + strconv.Itoa(i)
		h.Provider.Fake.Step(gate, 2) // the response is in progress, and the message begins
		s := h.Client.Open(h.Client.Request(path, "full", harness.Body(path, "fake/"+gate, harness.Streaming)))
		if e := s.MustNext(); harness.At(harness.Parse(t, []byte(e.Data)), "choices", 0, "delta", "role") != "assistant" {
			t.Errorf("%s: the first chunk is %v", path, e)
		}
		h.Provider.Fake.Step(gate, 1) // its part begins, which no chunk shows
		for said := ""; said != "You said: say hello"; {
			h.Provider.Fake.Step(gate, 1)
			said += textOf(t, s.MustNext())
		}
		if s.Response.Header.Get("Content-Type") != "text/event-stream" {
			t.Errorf("%s: %v", path, s.Response.Header)
		}
		h.Provider.Fake.Step(gate, 20)
		if events, err := s.Rest(); err != nil || !harness.Whole(events) {
			t.Errorf("%s: %v %v", path, events, err)
		}
	}
}

func TestStateAndHostedToolsOfATranslatedChatBelongToTheirOwners(t *testing.T) {
	h := harness.Start(t, responsesOnly)
	file := func(model string) string {
		return `{"model":"` + model + `","messages":[{"role":"user","content":[{"type":"file","file":{"file_id":"file_1"}}]}]}`
	}
	for _, path := range chatPaths {
		harness.WantRefusal(t, path, h.Client.Post(path, "full", file("fake/echo")), 400, "invalid_value")
		harness.WantRefusal(t, path, h.Client.Post(path, "other", file("private/echo")), 400, "invalid_value")
		harness.WantRefusal(t, path, h.Client.Post(path, "full", harness.Chat("fake/echo", `,"web_search_options":{}`)), 403, "insufficient_scope")
	}
	if n := len(h.Provider.Fake.Requests()); n != 0 {
		t.Errorf("%d requests were forwarded", n)
	}
	if a := h.Client.Post(harness.ChatV1, "full", file("private/echo")); a.Status != 200 || !jsontest.Has(t, h.Provider.Request(1).Body, `{"file_id":"file_1"}`) {
		t.Errorf("the account's own tenant: %d %s", a.Status, a.Body)
	}

	// A response that the caller has stored belongs to its tenant in the Responses API too.
	v := harness.Parse(t, h.Client.Post(harness.ChatV1, "full", harness.Chat("fake/echo", `,"store":true`)).Body)
	follow := harness.Responses("fake/echo", `,"previous_response_id":"`+harness.At(v, "id").(string)+`"`)
	if a := h.Client.Post(harness.ResponsesV1, "full", follow); a.Status != 200 {
		t.Errorf("a kept response: %d %s", a.Status, a.Body)
	}
	harness.WantRefusal(t, harness.ResponsesV1, h.Client.Post(harness.ResponsesV1, "other", follow), 400, "previous_response_not_found")
}

func TestAModelThatOnlyServesResponsesCanBeCalledByChat(t *testing.T) {
	file := filepath.Join(t.TempDir(), "catalog.json")
	models := `{"fake/echo":{"litellm_provider":"fake","mode":"responses"},"fake/tools":{"litellm_provider":"fake","mode":"embedding"}}`
	if err := os.WriteFile(file, []byte(models), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, how := range []string{"translate", "native"} {
		t.Run(how, func(t *testing.T) {
			s := harness.Setup{Providers: strings.ReplaceAll(responsesOnly.Providers, "models *", "models echo tools"), Options: "catalog " + file}
			s.Providers = strings.ReplaceAll(s.Providers, "chat translate", "chat "+how)
			h := harness.Start(t, s)
			a := h.Client.Post(harness.ChatV1, "full", harness.Chat("fake/echo", ""))
			if how == "native" {
				harness.WantRefusal(t, harness.ChatV1, a, 404, "model_not_callable")
			} else if a.Status != 200 {
				t.Errorf("%d %s", a.Status, a.Body)
			}
			harness.WantRefusal(t, harness.ChatV1, h.Client.Post(harness.ChatV1, "full", harness.Chat("fake/tools", "")), 404, "model_not_callable")
		})
	}
}
