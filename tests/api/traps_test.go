package api

import (
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/tests/harness"
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
	h := harness.Start(t, harness.Setup{Providers: sevenModels})
	for _, query := range []string{"limit=500", "limit=3", ""} {
		seen := map[any]bool{}
		for offset, pages := 0, 0; ; pages++ {
			a := h.Client.Get("/api/v1/models?offset="+strconv.Itoa(offset)+"&"+query, "models")
			body := harness.Parse(t, a.Body)
			list, _ := harness.At(body, "data").([]any)
			if pages > 8 || harness.At(body, "total_count") != harness.Number("7") {
				t.Fatalf("%s: page %d: %s", query, pages, a.Body)
			}
			if (harness.At(body, "links", "next") == nil) != (offset+len(list) >= 7) {
				t.Errorf("%s: offset %d: links.next %v", query, offset, harness.At(body, "links", "next"))
			}
			if len(list) == 0 {
				break
			}
			for _, m := range list {
				if seen[harness.At(m, "id")] {
					t.Fatalf("%s: %v comes twice", query, harness.At(m, "id"))
				}
				seen[harness.At(m, "id")] = true
			}
			offset += len(list)
		}
		if len(seen) != 7 {
			t.Errorf("%s: %d models", query, len(seen))
		}
	}
	next := "/api/v1/models?limit=3"
	for n := range 3 {
		body := harness.Parse(t, h.Client.Get(next, "models").Body)
		next, _ = harness.At(body, "links", "next").(string)
		if (next == "") != (n == 2) {
			t.Fatalf("after page %d comes %q", n, next)
		}
	}
}

func TestTrap02OwnRefusalsAreNever5xxNorRetriedOtherwise(t *testing.T) {
	h := harness.Start(t, harness.Setup{})
	for _, path := range []string{harness.ChatV1, harness.ChatRouter, harness.ResponsesV1, harness.ResponsesRouter} {
		encoded := h.Client.Request(path, "full", "{}")
		encoded.Header.Set("Content-Encoding", "gzip")
		for status, a := range map[int]harness.Answer{
			400: h.Client.Post(path, "full", "{"),
			401: h.Client.Post(path, "nobody", harness.Body(path, "fake/echo", "")),
			403: h.Client.Post(path, "models", harness.Body(path, "fake/echo", "")),
			404: h.Client.Post(path, "full", harness.Body(path, "none/echo", "")),
			405: h.Client.Get(path, "full"),
			415: h.Client.Send(encoded),
		} {
			if a.Status != status || a.Header.Get("Retry-After") != "" {
				t.Errorf("%s: %d, want %d; Retry-After %q", path, a.Status, status, a.Header.Get("Retry-After"))
			}
		}
		a := h.Client.Post(path, "full", harness.Body(path, "fake/err-500", ""))
		if wait, err := strconv.Atoi(a.Header.Get("Retry-After")); a.Status != 502 || err != nil || wait < 10 || wait > 60 {
			t.Errorf("%s: a failing provider: %d, Retry-After %q: endless retries are not paced", path, a.Status, a.Header.Get("Retry-After"))
		}
	}
}

func TestTrap08OnlyTheBodyChoosesAStream(t *testing.T) {
	h := harness.Start(t, harness.Setup{})
	for _, path := range []string{harness.ChatV1, harness.ChatRouter, harness.ResponsesV1, harness.ResponsesRouter} {
		for _, accept := range []string{"application/json", "application/json;q=1, text/event-stream;q=0", "text/event-stream", "*/*", ""} {
			for more, want := range map[string]string{"": "application/json", `,"stream":false`: "application/json", harness.Streaming: "text/event-stream"} {
				r := h.Client.Request(path, "full", harness.Body(path, "fake/echo", more))
				r.Header.Set("Accept", accept)
				if a := h.Client.Send(r); a.Status != 200 || a.Header.Get("Content-Type") != want {
					t.Errorf("%s, Accept %q, body %q: %d %s", path, accept, more, a.Status, a.Header.Get("Content-Type"))
				}
			}
		}
	}
}

func TestTrap11ModelsAreFoundByNamesWithASlash(t *testing.T) {
	h := harness.Start(t, harness.Setup{})
	for path, id := range map[string]string{
		"/v1/models/test%2Fecho": "test/echo", "/v1/models/test/echo": "test/echo", "/v1/models/fake%2Facme%2Fecho%3Afree": "fake/acme/echo:free",
	} {
		if body := harness.Parse(t, h.Client.Get(path, "models").Body); harness.At(body, "id") != id || harness.At(body, "object") != "model" {
			t.Errorf("%s: %v", path, body)
		}
	}
	if body := harness.Parse(t, h.Client.Get("/api/v1/model/test/echo", "models").Body); harness.At(body, "data", "id") != "test/echo" {
		t.Errorf("%v", body)
	}
	harness.WantRefusal(t, "/v1/models/", h.Client.Get("/v1/models/test%252Fecho", "models"), 404, "model_not_found") // decoded once
}

func TestTrap14LongWaitsAreNotRetriedBySDKs(t *testing.T) {
	var wait string
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", wait)
		w.Header().Set("X-Should-Retry", "true")
		w.WriteHeader(429)
	}))
	defer provider.Close()
	h := harness.Start(t, harness.Setup{Providers: "provider slow {\nbase_url " + provider.URL + "\nmodels *\ndiscover off\n}\n" + harness.DefaultProviders})
	for _, path := range []string{harness.ChatV1, harness.ChatRouter, harness.ResponsesV1} {
		for _, c := range []struct{ offered, header, should string }{
			{"7", "7", ""}, {"59", "59", ""}, {"300", "300", "false"}, {"86400", "600", "false"}, {"nonsense", "1", ""},
		} {
			wait = c.offered
			a := h.Client.Post(path, "full", harness.Body(path, "slow/x", ""))
			if a.Status != 429 || a.Header.Get("Retry-After") != c.header || a.Header.Get("X-Should-Retry") != c.should {
				t.Errorf("%s: the provider said %s: %d, Retry-After %q, x-should-retry %q", path, c.offered,
					a.Status, a.Header.Get("Retry-After"), a.Header.Get("X-Should-Retry"))
			}
		}
		for _, model := range []string{"fake/err-401", "fake/err-402"} { // the operator must act: no retry helps
			a := h.Client.Post(path, "full", harness.Body(path, model, ""))
			if seconds, err := strconv.Atoi(a.Header.Get("Retry-After")); err != nil || seconds < 60 || a.Header.Get("X-Should-Retry") != "false" {
				t.Errorf("%s %s: Retry-After %q, x-should-retry %q", path, model, a.Header.Get("Retry-After"), a.Header.Get("X-Should-Retry"))
			}
		}
	}
}
