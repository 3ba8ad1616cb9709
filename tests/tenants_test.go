package tests

import (
	"strings"
	"testing"
)

func TestAStoredResponseBelongsToItsTenant(t *testing.T) {
	h := start(t, setup{})
	for _, path := range []string{responsesV1, responsesOR} {
		h.upstream.Reset()
		first := h.post(path, "full", ask("fake/echo", ""))
		id, _ := at(parse(t, first.body), "id").(string)
		if first.status != 200 || id == "" {
			t.Fatalf("%s: %d %s", path, first.status, first.body)
		}
		follow := ask("fake/echo", `,"previous_response_id":"`+id+`"`)
		for _, key := range []string{"full", "chat"} { // another key of the same tenant
			if a := h.post(path, key, follow); a.status != 200 || !strings.Contains(string(a.body), "say hello / say hello") {
				t.Errorf("%s: key %s: %d %s", path, key, a.status, a.body)
			}
		}
		foreign := h.post(path, "other", follow)
		wantRefusal(t, path, foreign, 400, "previous_response_not_found")
		unknown := h.post(path, "other", strings.Replace(follow, id, "resp_nobody", 1))
		if want := strings.ReplaceAll(string(foreign.body), id, "resp_nobody"); string(unknown.body) != want {
			t.Errorf("%s: an ID of another tenant and an unknown one have different answers:\n%s\n%s", path, unknown.body, want)
		}
		// The same ID at another provider is another object.
		wantRefusal(t, path, h.post(path, "full", strings.Replace(follow, "fake/", "router/", 1)), 400, "previous_response_not_found")
		if n := len(h.upstream.Requests()); n != 3 {
			t.Errorf("%s: %d requests were forwarded, want 3", path, n)
		}
	}
}

func TestAnIdIsKnownBeforeItReachesTheClient(t *testing.T) {
	h := start(t, setup{})
	s := h.open(h.request(responsesV1, "full", ask("fake/stall", streaming)))
	id, _ := at(parse(t, []byte(s.mustNext().data)), "response", "id").(string)
	follow := ask("fake/echo", `,"previous_response_id":"`+id+`"`)
	if a := h.post(responsesV1, "full", follow); a.status != 200 {
		t.Errorf("while the stream runs: %d %s", a.status, a.body)
	}
	wantRefusal(t, responsesV1, h.post(responsesV1, "other", follow), 400, "previous_response_not_found")
	h.upstream.Step("stall", 1)
	if events, err := s.rest(); err != nil || !whole(events) {
		t.Errorf("%v %v", events, err)
	}
}

func TestAPrivateAccountIsItsTenantsAlone(t *testing.T) {
	h := start(t, setup{})
	body := ask("private/echo", `,"previous_response_id":"resp_made_elsewhere"`)
	a := h.post(responsesV1, "full", body) // the provider does not know it, and says so
	if n := len(h.upstream.Requests()); n != 1 || a.status != 400 {
		t.Errorf("the account's own tenant: %d %s, %d requests forwarded", a.status, a.body, n)
	}
	wantRefusal(t, responsesV1, h.post(responsesV1, "other", body), 400, "previous_response_not_found")
	if n := len(h.upstream.Requests()); n != 1 {
		t.Errorf("another tenant's reference was forwarded")
	}
}

func TestEveryReferenceToStoredStateIsRefused(t *testing.T) {
	h := start(t, setup{})
	for name, more := range map[string]string{
		"conversation":        `,"conversation":"conv_1"`,
		"conversation object": `,"conversation":{"id":"conv_1"}`,
		"prompt":              `,"prompt":{"id":"pmpt_1"}`,
		"previous, case":      `,"Previous_Response_Id":"resp_1"`,
		"item reference":      `,"input":[{"type":"item_reference","id":"msg_1"}]`,
		"item, untyped":       `,"input":[{"id":"msg_1"}]`,
		"item, no type":       `,"input":[{"type":null,"id":"msg_1"}]`,
		"item, odd type":      `,"input":[{"Type":"message","id":"msg_1"}]`,
		"file":                `,"input":[{"role":"user","content":[{"type":"input_file","file_id":"file_1"}]}]`,
		"image file":          `,"input":[{"role":"user","content":[{"type":"input_image","file_id":"file_1"}]}]`,
		"vector store":        `,"input":"x","tools":[{"type":"file_search","vector_store_ids":["vs_1"]}]`,
		"container":           `,"input":"x","tools":[{"type":"code_interpreter","container":"cntr_1"}]`,
	} {
		body := `{"model":"fake/echo"` + more + `}`
		if !strings.Contains(more, `"input"`) {
			body = ask("fake/echo", more)
		}
		for _, path := range []string{responsesV1, responsesOR} {
			if a := h.post(path, "hosted", body); a.status != 400 { // may use tools, but not other people's state
				t.Errorf("%s: %s: %d %s", path, name, a.status, a.body)
			}
		}
	}
	file := `{"model":"fake/echo","messages":[{"role":"user","content":[{"type":"file","file":{"file_id":"file_1"}}]}]}`
	for _, path := range []string{chatV1, chatRouter} {
		wantRefusal(t, path, h.post(path, "full", file), 400, "invalid_value")
	}
	if list := h.upstream.Requests(); len(list) != 0 {
		t.Errorf("%d requests were forwarded; the first: %s", len(list), list[0].Body)
	}
}

func TestToolsThatRunAtTheProviderNeedHostedTools(t *testing.T) {
	h := start(t, setup{})
	const own = `,"tools":[{"type":"function","name":"f","parameters":{"type":"object","properties":{"file_id":{"type":"string"}}}}]`
	for _, path := range []string{responsesV1, responsesOR} {
		for _, tool := range []string{`{"type":"web_search"}`, `{"type":"mcp","server_url":"https://mcp.example"}`, `{"type":"code_interpreter","container":{"type":"auto"}}`, `{"type":"image_generation"}`} {
			body := ask("fake/echo", `,"tools":[`+tool+`]`)
			wantRefusal(t, path, h.post(path, "full", body), 403, "insufficient_scope")
			if a := h.post(path, "hosted", body); a.status != 200 {
				t.Errorf("%s: %s with hosted_tools: %d %s", path, tool, a.status, a.body)
			}
		}
		if a := h.post(path, "full", ask("fake/echo", own)); a.status != 200 {
			t.Errorf("%s: the caller's own tool: %d %s", path, a.status, a.body)
		}
	}
	for _, path := range []string{chatV1, chatRouter} {
		wantRefusal(t, path, h.post(path, "full", chat("fake/echo", `,"web_search_options":{}`)), 403, "insufficient_scope")
		wantRefusal(t, path, h.post(path, "full", chat("router/echo", `,"plugins":[{"id":"web"}]`)), 403, "insufficient_scope")
	}
	if n := len(h.upstream.Requests()); n != 10 {
		t.Errorf("%d requests were forwarded, want 10", n)
	}
}

func TestAnotherTenantsCallsDoNotExist(t *testing.T) {
	h := start(t, setup{})
	a := h.post(chatRouter, "full", chat("fake/echo", ""))
	request, generation := a.header.Get("X-Request-Id"), a.header.Get("X-Generation-Id")
	for _, id := range []string{request, generation} {
		if b := h.get("/api/v1/generation?id="+id, "activity"); b.status != 200 || at(parse(t, b.body), "data", "id") != generation {
			t.Errorf("own call by %s: %d %s", id, b.status, b.body)
		}
		wantRefusal(t, "/api/v1/generation", h.get("/api/v1/generation?id="+id, "other"), 404, "not_found")
	}
	for _, query := range []string{"", "?request_id=" + request, "?key=full", "?group_by=day"} {
		b := h.get("/api/v1/activity"+query, "other")
		if b.status != 200 || strings.Contains(string(b.body), "fake/echo") || strings.Contains(string(b.body), request) {
			t.Errorf("%s: %d %s", query, b.status, b.body)
		}
	}
}
