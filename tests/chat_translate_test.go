package tests

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/testprovider/faults"
)

// responsesOnly has the fake provider as one without chat completions, whose address knows no other
// API.
var responsesOnly = setup{providers: `
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

var chatPaths = []string{chatV1, chatRouter}

func TestChatOfAResponsesOnlyProviderIsTranslated(t *testing.T) {
	h := start(t, responsesOnly)
	const body = `{"model":"fake/echo","messages":[{"role":"system","content":"be brief"},{"role":"user","content":"hello"}],"max_tokens":9,"n":1}`
	for _, path := range chatPaths {
		a := h.post(path, "full", body)
		v := parse(t, a.body)
		if a.status != 200 || at(v, "object") != "chat.completion" || at(v, "model") != "fake/echo" ||
			at(v, "choices", 0, "message", "content") != "You said: hello" || at(v, "choices", 0, "finish_reason") != "stop" ||
			at(v, "usage", "prompt_tokens") != number("1") || at(v, "usage", "completion_tokens_details", "reasoning_tokens") != number("0") {
			t.Fatalf("%s: %d %s", path, a.status, a.body)
		}
		found := h.get("/api/v1/generation?id="+at(v, "id").(string), "full")
		if found.status != 200 || !strings.Contains(string(found.body), a.header.Get("X-Request-Id")) {
			t.Errorf("%s: the completion's id does not find the call: %d %s", path, found.status, found.body)
		}
	}
	sent := h.upstream.Requests()
	if len(sent) != 2 || sent[0].Path != faults.ResponsesOnlyPrefix+"/responses" {
		t.Fatalf("the provider got %d requests, the first at %s", len(sent), sent[0].Path)
	}
	want := `{"model":"echo","instructions":"be brief","input":[{"type":"message","role":"user","content":"hello"}],"max_output_tokens":9,"store":false}`
	if string(sent[0].Body) != want {
		t.Errorf("the provider got %s, want %s", sent[0].Body, want)
	}
	if a := h.post(responsesV1, "full", ask("fake/echo", "")); a.status != 200 {
		t.Errorf("its own API: %d %s", a.status, a.body)
	}
}

// Errors of a Responses provider have the same result for a chat caller: a response that reports
// its failure is an error in chat.
func TestNoOddityOfAResponsesOnlyProviderCountsAsSuccess(t *testing.T) {
	h := start(t, responsesOnly)
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
				h.oddCall(t, name, path, "", o, plain)
				h.oddCall(t, name, path, streaming, o, stream)
			}
		})
	}
}

func TestATranslatedChunkIsWithTheClientBeforeTheNextEvent(t *testing.T) {
	h := start(t, responsesOnly)
	for i, path := range chatPaths {
		gate := "step-" + itoa(i)
		h.upstream.Step(gate, 2) // the response is in progress, and the message begins
		s := h.open(h.request(path, "full", bodyFor(path, "fake/"+gate, streaming)))
		if e := s.mustNext(); at(parse(t, []byte(e.data)), "choices", 0, "delta", "role") != "assistant" {
			t.Errorf("%s: the first chunk is %v", path, e)
		}
		h.upstream.Step(gate, 1) // its part begins, which no chunk shows
		for said := ""; said != "You said: say hello"; {
			h.upstream.Step(gate, 1)
			said += textOf(t, s.mustNext())
		}
		if s.resp.Header.Get("Content-Type") != "text/event-stream" {
			t.Errorf("%s: %v", path, s.resp.Header)
		}
		h.upstream.Step(gate, 20)
		if events, err := s.rest(); err != nil || !whole(events) {
			t.Errorf("%s: %v %v", path, events, err)
		}
	}
}

func TestASilentResponseEndsAsAFailedChat(t *testing.T) {
	s := responsesOnly
	s.options = "timeouts {\nidle 300ms\n}"
	h := start(t, s)
	for _, path := range chatPaths {
		events, err := h.open(h.request(path, "full", bodyFor(path, "fake/stall", streaming))).rest()
		if err != nil {
			t.Error(err)
		}
		wantStreamError(t, path, events, 502, "upstream_timeout")
	}
}

func TestToolsAndUsageOfATranslatedChat(t *testing.T) {
	h := start(t, responsesOnly)
	const tools = `,"tools":[{"type":"function","function":{"name":"weather"}},{"type":"function","function":{"name":"time"}}]`
	for _, path := range chatPaths {
		v := parse(t, h.post(path, "full", chat("fake/tools", tools)).body)
		for i, want := range []string{"weather", "time"} {
			if at(v, "choices", 0, "message", "tool_calls", i, "function", "name") != want {
				t.Errorf("%s: call %d: %v", path, i, v)
			}
		}
		if at(v, "choices", 0, "finish_reason") != "tool_calls" || at(v, "choices", 0, "message", "content") != nil {
			t.Errorf("%s: %v", path, v)
		}
		for _, usage := range []string{"", `,"stream_options":{"include_usage":true}`} {
			shown := usage != "" || path == chatRouter
			chunks := h.chunksOf(path, "fake/reasoning", usage)
			last := chunks[len(chunks)-1]
			if has(last, "usage") != shown || shown && at(last, "usage", "completion_tokens_details", "reasoning_tokens") == number("0") {
				t.Errorf("%s%s: the last chunk is %v", path, usage, last)
			}
			thought := ""
			for _, c := range chunks {
				key := map[string]string{chatV1: "reasoning_content", chatRouter: "reasoning"}[path]
				piece, _ := at(c, "choices", 0, "delta", key).(string)
				thought += piece
			}
			if thought != faults.ReasoningText {
				t.Errorf("%s: it thought %q", path, thought)
			}
		}
	}
}

func TestWhatATranslatedChatCannotCarryIsRefusedByName(t *testing.T) {
	h := start(t, responsesOnly)
	for field, param := range map[string]string{
		`"n":2`: "n", `"stop":[""]`: "stop[0]", `"presence_penalty":1`: "presence_penalty", `"logit_bias":{"5":1}`: "logit_bias",
		`"functions":[{"name":"f","x":1}]`: "functions[0].x", `"audio":{"voice":"x","format":"wav"}`: "audio", `"something_new":1`: "something_new",
		`"tools":[{"type":"web_search"}]`: "tools[0].type", `"web_search_options":{}`: "web_search_options",
		`"preset":"x"`: "preset", `"plugins":[{"id":"web"}]`: "plugins", `"reasoning":{"max_tokens":5}`: "reasoning.max_tokens",
	} {
		for _, path := range chatPaths {
			a := h.post(path, "hosted", chat("fake/echo", ","+field))
			v := parse(t, a.body)
			got := at(v, "error", "param")
			if path == chatRouter {
				got = at(v, "error", "metadata", "param")
			}
			if a.status != 400 || got != param {
				t.Errorf("%s: %s: %d %s, want param %s", path, field, a.status, a.body, param)
			}
		}
	}
	if n := len(h.upstream.Requests()); n != 0 {
		t.Errorf("%d requests were forwarded", n)
	}
}

func TestStateAndHostedToolsOfATranslatedChatBelongToTheirOwners(t *testing.T) {
	h := start(t, responsesOnly)
	file := func(model string) string {
		return `{"model":"` + model + `","messages":[{"role":"user","content":[{"type":"file","file":{"file_id":"file_1"}}]}]}`
	}
	for _, path := range chatPaths {
		wantRefusal(t, path, h.post(path, "full", file("fake/echo")), 400, "invalid_value")
		wantRefusal(t, path, h.post(path, "other", file("private/echo")), 400, "invalid_value")
		wantRefusal(t, path, h.post(path, "full", chat("fake/echo", `,"web_search_options":{}`)), 403, "insufficient_scope")
	}
	if n := len(h.upstream.Requests()); n != 0 {
		t.Errorf("%d requests were forwarded", n)
	}
	if a := h.post(chatV1, "full", file("private/echo")); a.status != 200 || !strings.Contains(string(h.upstreamCall(1).Body), `"file_id":"file_1"`) {
		t.Errorf("the account's own tenant: %d %s", a.status, a.body)
	}

	// A response that the caller has stored belongs to its tenant in the Responses API too.
	v := parse(t, h.post(chatV1, "full", chat("fake/echo", `,"store":true`)).body)
	follow := ask("fake/echo", `,"previous_response_id":"`+at(v, "id").(string)+`"`)
	if a := h.post(responsesV1, "full", follow); a.status != 200 {
		t.Errorf("a kept response: %d %s", a.status, a.body)
	}
	wantRefusal(t, responsesV1, h.post(responsesV1, "other", follow), 400, "previous_response_not_found")
}

func TestAModelThatOnlyServesResponsesCanBeCalledByChat(t *testing.T) {
	file := filepath.Join(t.TempDir(), "catalog.json")
	models := `{"fake/echo":{"litellm_provider":"fake","mode":"responses"},"fake/tools":{"litellm_provider":"fake","mode":"embedding"}}`
	if err := os.WriteFile(file, []byte(models), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, how := range []string{"translate", "native"} {
		t.Run(how, func(t *testing.T) {
			s := setup{providers: strings.ReplaceAll(responsesOnly.providers, "models *", "models echo tools"), options: "catalog " + file}
			s.providers = strings.ReplaceAll(s.providers, "chat translate", "chat "+how)
			h := start(t, s)
			a := h.post(chatV1, "full", chat("fake/echo", ""))
			if how == "native" {
				wantRefusal(t, chatV1, a, 404, "model_not_callable")
			} else if a.status != 200 {
				t.Errorf("%d %s", a.status, a.body)
			}
			wantRefusal(t, chatV1, h.post(chatV1, "full", chat("fake/tools", "")), 404, "model_not_callable")
		})
	}
}

// OpenAI's API description requires these keys in every message and chunk.
func TestATranslatedChatHasTheKeysThatSDKsNeed(t *testing.T) {
	h := start(t, responsesOnly)
	var completion map[string]json.RawMessage
	a := h.post(chatV1, "full", chat("fake/refusal", ""))
	if err := json.Unmarshal(a.body, &completion); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"id", "object", "created", "model", "choices", "usage"} {
		if completion[key] == nil {
			t.Errorf("the completion has no %s: %s", key, a.body)
		}
	}
	if !regexp.MustCompile(`"content":null,"refusal":"` + faults.RefusalText + `"`).Match(a.body) {
		t.Errorf("a refusal: %s", a.body)
	}
	for i, c := range h.chunksOf(chatV1, "fake/refusal", "") {
		choice := at(c, "choices", 0)
		if !has(choice, "finish_reason") || !has(choice, "logprobs") || has(at(choice, "delta"), "role") != (i == 0) {
			t.Errorf("chunk %d: %v", i, c)
		}
	}
}
