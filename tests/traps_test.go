package tests

import (
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"
)

// The fourteen traps of the SDKs' wire facts (sdk-wire, section 0), one test each: what breaks an
// SDK must not reach it.

const sevenModels = `
	provider many {
		base_url PROVIDER/v1
		models m1 m2 m3 m4 m5 m6 m7
	}
`

func TestTrap01PagingByOffsetEnds(t *testing.T) {
	h := start(t, setup{providers: sevenModels})
	for _, query := range []string{"limit=500", "limit=3", ""} {
		seen := map[any]bool{}
		for offset, pages := 0, 0; ; pages++ {
			a := h.get("/api/v1/models?offset="+itoa(offset)+"&"+query, "models")
			body := parse(t, a.body)
			list, _ := at(body, "data").([]any)
			if pages > 8 || at(body, "total_count") != number("7") {
				t.Fatalf("%s: page %d: %s", query, pages, a.body)
			}
			if (at(body, "links", "next") == nil) != (offset+len(list) >= 7) {
				t.Errorf("%s: offset %d: links.next %v", query, offset, at(body, "links", "next"))
			}
			if len(list) == 0 {
				break
			}
			for _, m := range list {
				if seen[at(m, "id")] {
					t.Fatalf("%s: %v comes twice", query, at(m, "id"))
				}
				seen[at(m, "id")] = true
			}
			offset += len(list)
		}
		if len(seen) != 7 {
			t.Errorf("%s: %d models", query, len(seen))
		}
	}
	next := "/api/v1/models?limit=3"
	for n := range 3 {
		body := parse(t, h.get(next, "models").body)
		next, _ = at(body, "links", "next").(string)
		if (next == "") != (n == 2) {
			t.Fatalf("after page %d comes %q", n, next)
		}
	}
}

func TestTrap02OwnRefusalsAreNever5xxNorRetriedOtherwise(t *testing.T) {
	h := start(t, setup{})
	for _, path := range []string{chatV1, chatRouter, responsesV1, responsesOR} {
		encoded := h.request(path, "full", "{}")
		encoded.Header.Set("Content-Encoding", "gzip")
		for status, a := range map[int]answer{
			400: h.post(path, "full", "{"),
			401: h.post(path, "nobody", bodyFor(path, "fake/echo", "")),
			403: h.post(path, "models", bodyFor(path, "fake/echo", "")),
			404: h.post(path, "full", bodyFor(path, "none/echo", "")),
			405: h.get(path, "full"),
			415: h.send(encoded),
		} {
			if a.status != status || a.header.Get("Retry-After") != "" {
				t.Errorf("%s: %d, want %d; Retry-After %q", path, a.status, status, a.header.Get("Retry-After"))
			}
		}
		a := h.post(path, "full", bodyFor(path, "fake/err-500", ""))
		if wait, err := strconv.Atoi(a.header.Get("Retry-After")); a.status != 502 || err != nil || wait < 10 || wait > 60 {
			t.Errorf("%s: a failing provider: %d, Retry-After %q: endless retries are not paced", path, a.status, a.header.Get("Retry-After"))
		}
	}
}

func TestTrap03TheErrorCodeIsANumberForOneAPIAndAStringForTheOther(t *testing.T) {
	h := start(t, setup{})
	for _, model := range []string{"none/echo", "fake/err-400", "fake/err-429", "fake/err-500"} {
		first, second := h.post(chatV1, "full", chat(model, "")), h.post(chatRouter, "full", chat(model, ""))
		if code, ok := at(parse(t, first.body), "error", "code").(string); !ok || code == "" {
			t.Errorf("%s: OpenAI API: %s", model, first.body)
		}
		if code := at(parse(t, second.body), "error", "code"); code != number(itoa(second.status)) {
			t.Errorf("%s: OpenRouter API, status %d: %s", model, second.status, second.body)
		}
	}
}

func TestTrap06AWholeResultHasItsFingerprintAndNoForbiddenNull(t *testing.T) {
	h := start(t, setup{})
	for _, model := range []string{"fake/sloppy", "fake/null-fields", "fake/no-usage", "fake/echo", "router/sloppy"} {
		body := parse(t, h.post(chatRouter, "full", chat(model, "")).body)
		message := at(body, "choices", 0, "message")
		if !has(body, "system_fingerprint") || null(body, "usage") || null(message, "tool_calls") || at(message, "role") != "assistant" {
			t.Errorf("%s: %v", model, body)
		}
		if at(body, "object") != "chat.completion" || at(body, "choices", 0, "index") != number("0") || !has(at(body, "choices", 0), "finish_reason") {
			t.Errorf("%s: %v", model, body)
		}
		if created, _ := at(body, "created").(interface{ Int64() (int64, error) }); created == nil {
			t.Errorf("%s: created %v", model, at(body, "created"))
		} else if _, err := created.Int64(); err != nil {
			t.Errorf("%s: created %v is no integer", model, at(body, "created"))
		}
	}
}

func TestTrap07TheSecondFamilysListHasEveryRequiredField(t *testing.T) {
	h := start(t, setup{})
	body := parse(t, h.get("/api/v1/models", "models").body)
	list, _ := at(body, "data").([]any)
	if len(list) == 0 || at(body, "total_count") != number(itoa(len(list))) || !has(at(body, "links"), "next") {
		t.Fatalf("%v", body)
	}
	for _, m := range list {
		for _, key := range []string{"supported_voices", "default_parameters", "per_request_limits", "context_length"} {
			if !has(m, key) {
				t.Errorf("%v lacks %s", at(m, "id"), key)
			}
		}
		for _, path := range [][]any{{"id"}, {"canonical_slug"}, {"name"}, {"links", "details"}, {"pricing", "prompt"}, {"pricing", "completion"}} {
			if s, ok := at(m, path...).(string); !ok || s == "" {
				t.Errorf("%v: %v is %v, want a string", at(m, "id"), path, at(m, path...))
			}
		}
		for _, path := range [][]any{{"architecture", "input_modalities"}, {"architecture", "output_modalities"}, {"supported_parameters"}} {
			if _, ok := at(m, path...).([]any); !ok {
				t.Errorf("%v: %v is %v, want a list", at(m, "id"), path, at(m, path...))
			}
		}
		if _, ok := at(m, "top_provider", "is_moderated").(bool); !ok {
			t.Errorf("%v: top_provider %v", at(m, "id"), at(m, "top_provider"))
		}
	}
}

func TestTrap08OnlyTheBodyChoosesAStream(t *testing.T) {
	h := start(t, setup{})
	for _, path := range []string{chatV1, chatRouter, responsesV1, responsesOR} {
		for _, accept := range []string{"application/json", "application/json;q=1, text/event-stream;q=0", "text/event-stream", "*/*", ""} {
			for more, want := range map[string]string{"": "application/json", `,"stream":false`: "application/json", streaming: "text/event-stream"} {
				r := h.request(path, "full", bodyFor(path, "fake/echo", more))
				r.Header.Set("Accept", accept)
				if a := h.send(r); a.status != 200 || a.header.Get("Content-Type") != want {
					t.Errorf("%s, Accept %q, body %q: %d %s", path, accept, more, a.status, a.header.Get("Content-Type"))
				}
			}
		}
	}
}

func TestTrap11ModelsAreFoundByNamesWithASlash(t *testing.T) {
	h := start(t, setup{})
	for path, id := range map[string]string{
		"/v1/models/test%2Fecho": "test/echo", "/v1/models/test/echo": "test/echo", "/v1/models/fake%2Facme%2Fecho%3Afree": "fake/acme/echo:free",
	} {
		if body := parse(t, h.get(path, "models").body); at(body, "id") != id || at(body, "object") != "model" {
			t.Errorf("%s: %v", path, body)
		}
	}
	if body := parse(t, h.get("/api/v1/model/test/echo", "models").body); at(body, "data", "id") != "test/echo" {
		t.Errorf("%v", body)
	}
	wantRefusal(t, "/v1/models/", h.get("/v1/models/test%252Fecho", "models"), 404, "model_not_found") // decoded once
}

func TestTrap14LongWaitsAreNotRetriedBySDKs(t *testing.T) {
	var wait string
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", wait)
		w.Header().Set("X-Should-Retry", "true")
		w.WriteHeader(429)
	}))
	defer provider.Close()
	h := start(t, setup{providers: "provider slow {\nbase_url " + provider.URL + "\nmodels *\ndiscover off\n}\n" + defaultProviders})
	for _, path := range []string{chatV1, chatRouter, responsesV1} {
		for _, c := range []struct{ offered, header, should string }{
			{"7", "7", ""}, {"59", "59", ""}, {"300", "300", "false"}, {"86400", "600", "false"}, {"nonsense", "1", ""},
		} {
			wait = c.offered
			a := h.post(path, "full", bodyFor(path, "slow/x", ""))
			if a.status != 429 || a.header.Get("Retry-After") != c.header || a.header.Get("X-Should-Retry") != c.should {
				t.Errorf("%s: the provider said %s: %d, Retry-After %q, x-should-retry %q", path, c.offered,
					a.status, a.header.Get("Retry-After"), a.header.Get("X-Should-Retry"))
			}
		}
		for _, model := range []string{"fake/err-401", "fake/err-402"} { // the operator must act: no retry helps
			a := h.post(path, "full", bodyFor(path, model, ""))
			if seconds, err := strconv.Atoi(a.header.Get("Retry-After")); err != nil || seconds < 60 || a.header.Get("X-Should-Retry") != "false" {
				t.Errorf("%s %s: Retry-After %q, x-should-retry %q", path, model, a.header.Get("Retry-After"), a.header.Get("X-Should-Retry"))
			}
		}
	}
}
