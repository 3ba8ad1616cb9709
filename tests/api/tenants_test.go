package api

import (
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

func TestAStoredResponseBelongsToItsTenant(t *testing.T) {
	h := harness.Start(t, harness.Setup{})
	for _, path := range []string{harness.ResponsesV1, harness.ResponsesRouter} {
		h.Provider.Fake.Reset()
		first := h.Client.Post(path, "full", harness.Responses("fake/echo", ""))
		id, _ := harness.At(harness.Parse(t, first.Body), "id").(string)
		if first.Status != 200 || id == "" {
			t.Fatalf("%s: %d %s", path, first.Status, first.Body)
		}
		follow := harness.Responses("fake/echo", `,"previous_response_id":"`+id+`"`)
		for _, key := range []string{"full", "chat"} { // another key of the same tenant
			if a := h.Client.Post(path, key, follow); a.Status != 200 || !strings.Contains(string(a.Body), "say hello / say hello") {
				t.Errorf("%s: key %s: %d %s", path, key, a.Status, a.Body)
			}
		}
		foreign := h.Client.Post(path, "other", follow)
		harness.WantRefusal(t, path, foreign, 400, "previous_response_not_found")
		unknown := h.Client.Post(path, "other", strings.Replace(follow, id, "resp_nobody", 1))
		if want := strings.ReplaceAll(string(foreign.Body), id, "resp_nobody"); string(unknown.Body) != want {
			t.Errorf("%s: an ID of another tenant and an unknown one have different answers:\n%s\n%s", path, unknown.Body, want)
		}
		// The same ID at another provider is another object.
		harness.WantRefusal(t, path, h.Client.Post(path, "full", strings.Replace(follow, "fake/", "router/", 1)), 400, "previous_response_not_found")
		if n := len(h.Provider.Fake.Requests()); n != 3 {
			t.Errorf("%s: %d requests were forwarded, want 3", path, n)
		}
	}
}

func TestAnIdIsKnownBeforeItReachesTheClient(t *testing.T) {
	h := harness.Start(t, harness.Setup{})
	s := h.Client.Open(h.Client.Request(harness.ResponsesV1, "full", harness.Responses("fake/stall", harness.Streaming)))
	id, _ := harness.At(harness.Parse(t, []byte(s.MustNext().Data)), "response", "id").(string)
	follow := harness.Responses("fake/echo", `,"previous_response_id":"`+id+`"`)
	if a := h.Client.Post(harness.ResponsesV1, "full", follow); a.Status != 200 {
		t.Errorf("while the stream runs: %d %s", a.Status, a.Body)
	}
	harness.WantRefusal(t, harness.ResponsesV1, h.Client.Post(harness.ResponsesV1, "other", follow), 400, "previous_response_not_found")
	h.Provider.Fake.Step("stall", 1)
	if events, err := s.Rest(); err != nil || !harness.Whole(events) {
		t.Errorf("%v %v", events, err)
	}
}

func TestAPrivateAccountIsItsTenantsAlone(t *testing.T) {
	h := harness.Start(t, harness.Setup{})
	body := harness.Responses("private/echo", `,"previous_response_id":"resp_made_elsewhere"`)
	a := h.Client.Post(harness.ResponsesV1, "full", body) // the provider does not know it, and says so
	if n := len(h.Provider.Fake.Requests()); n != 1 || a.Status != 400 {
		t.Errorf("the account's own tenant: %d %s, %d requests forwarded", a.Status, a.Body, n)
	}
	harness.WantRefusal(t, harness.ResponsesV1, h.Client.Post(harness.ResponsesV1, "other", body), 400, "previous_response_not_found")
	if n := len(h.Provider.Fake.Requests()); n != 1 {
		t.Errorf("another tenant's reference was forwarded")
	}
}

func TestToolsThatRunAtTheProviderNeedHostedTools(t *testing.T) {
	h := harness.Start(t, harness.Setup{})
	const own = `,"tools":[{"type":"function","name":"f","parameters":{"type":"object","properties":{"file_id":{"type":"string"}}}}]`
	for _, path := range []string{harness.ResponsesV1, harness.ResponsesRouter} {
		for _, tool := range []string{`{"type":"web_search"}`, `{"type":"mcp","server_url":"https://mcp.example"}`, `{"type":"code_interpreter","container":{"type":"auto"}}`, `{"type":"image_generation"}`} {
			body := harness.Responses("fake/echo", `,"tools":[`+tool+`]`)
			harness.WantRefusal(t, path, h.Client.Post(path, "full", body), 403, "insufficient_scope")
			if a := h.Client.Post(path, "hosted", body); a.Status != 200 {
				t.Errorf("%s: %s with hosted_tools: %d %s", path, tool, a.Status, a.Body)
			}
		}
		if a := h.Client.Post(path, "full", harness.Responses("fake/echo", own)); a.Status != 200 {
			t.Errorf("%s: the caller's own tool: %d %s", path, a.Status, a.Body)
		}
	}
	for _, path := range []string{harness.ChatV1, harness.ChatRouter} {
		harness.WantRefusal(t, path, h.Client.Post(path, "full", harness.Chat("fake/echo", `,"web_search_options":{}`)), 403, "insufficient_scope")
		harness.WantRefusal(t, path, h.Client.Post(path, "full", harness.Chat("router/echo", `,"plugins":[{"id":"web"}]`)), 403, "insufficient_scope")
	}
	if n := len(h.Provider.Fake.Requests()); n != 10 {
		t.Errorf("%d requests were forwarded, want 10", n)
	}
}

func TestAnotherTenantsCallsDoNotExist(t *testing.T) {
	h := harness.Start(t, harness.Setup{})
	a := h.Client.Post(harness.ChatRouter, "full", harness.Chat("fake/echo", ""))
	request, generation := a.Header.Get("X-Request-Id"), a.Header.Get("X-Generation-Id")
	for _, id := range []string{request, generation} {
		if b := h.Client.Get("/api/v1/generation?id="+id, "activity"); b.Status != 200 || harness.At(harness.Parse(t, b.Body), "data", "id") != generation {
			t.Errorf("own call by %s: %d %s", id, b.Status, b.Body)
		}
		harness.WantRefusal(t, "/api/v1/generation", h.Client.Get("/api/v1/generation?id="+id, "other"), 404, "not_found")
	}
	for _, query := range []string{"", "?request_id=" + request, "?key=full", "?group_by=day"} {
		b := h.Client.Get("/api/v1/activity"+query, "other")
		if b.Status != 200 || strings.Contains(string(b.Body), "fake/echo") || strings.Contains(string(b.Body), request) {
			t.Errorf("%s: %d %s", query, b.Status, b.Body)
		}
	}
}
