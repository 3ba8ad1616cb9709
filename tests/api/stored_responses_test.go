package api

import (
	"net/url"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/testkit/faults"
	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

// storedRoutes are the routes about the response of an id.
var storedRoutes = []struct{ method, rest string }{{"GET", ""}, {"GET", "/input_items"}, {"POST", "/cancel"}, {"DELETE", ""}}

// made returns the id of a response that a model made of a prompt.
func made(t *testing.T, h *harness.Gateway, key, model, prompt string) string {
	t.Helper()
	a := h.Client.Want(200, "POST", harness.ResponsesV1, key, `{"model":"`+model+`","input":"`+prompt+`"}`)
	id, _ := harness.At(harness.Parse(t, a.Body), "id").(string)
	return id
}

func TestAStoredResponseIsReadCancelledAndDeleted(t *testing.T) {
	h := harness.Start(t, harness.Setup{})
	id := made(t, h, "full", "fake/echo", "in the background")
	path := harness.ResponsesV1 + "/" + id
	h.Provider.Fake.Reset()

	a := h.Client.Want(200, "GET", path+"?include[]=message.output_text.logprobs&stream=false", "chat", "") // another key of the tenant
	body := harness.Parse(t, a.Body)
	if harness.At(body, "id") != id || harness.At(body, "model") != "fake/echo" || harness.At(body, "output", 0, "content", 0, "text") != "You said: in the background" {
		t.Errorf("read: %s", a.Body)
	}
	row := h.Records.Row(a.Header.Get("X-Request-Id"))
	for name, want := range map[string]any{
		"route": "GET /v1/responses/{id}", "key": "chat", "provider_name": "fake", "status": harness.Number("200"), "usage": harness.Number("0"), "completion_tokens": harness.Number("0"),
	} {
		if harness.At(row, name) != want {
			t.Errorf("row: %s is %v, want %v", name, harness.At(row, name), want)
		}
	}
	sent := h.Provider.Request(0)
	if query, err := url.QueryUnescape(sent.Path); err != nil || sent.Method != "GET" || query != "/v1/responses/"+id+"?include[]=message.output_text.logprobs" {
		t.Errorf("sent: %s %s, %v", sent.Method, sent.Path, err)
	}
	if sent.Header("Content-Type") != nil || sent.BodyBytes != 0 || strings.Join(sent.Header("Authorization"), "") != "Bearer "+harness.ProviderKey {
		t.Errorf("sent: %v", sent.Headers)
	}

	a = h.Client.Want(200, "POST", path+"/cancel", "full", "")
	if harness.At(harness.Parse(t, a.Body), "status") != "cancelled" {
		t.Errorf("cancelled: %s", a.Body)
	}
	a = h.Client.Want(200, "DELETE", path, "full", "")
	if body := harness.Parse(t, a.Body); harness.At(body, "id") != id || harness.At(body, "deleted") != true {
		t.Errorf("deleted: %s", a.Body)
	}
	asked := len(h.Provider.Fake.Requests())
	for _, r := range storedRoutes { // the owner is forgotten
		harness.WantRefusal(t, path, h.Client.Do(r.method, path+r.rest, "full", ""), 404, "not_found")
	}
	harness.WantRefusal(t, harness.ResponsesV1, h.Client.Post(harness.ResponsesV1, "full", harness.Responses("fake/echo", `,"previous_response_id":"`+id+`"`)), 400, "previous_response_not_found")
	if n := len(h.Provider.Fake.Requests()); n != asked {
		t.Errorf("%d requests about a deleted response", n-asked)
	}
	refused := h.Client.Do("POST", harness.ResponsesV1+"/"+made(t, h, "full", "fake/echo", "in front")+"/cancel", "full", "")
	harness.WantRefusal(t, path, refused, 400, "upstream_rejected") // the provider's own words
	if !strings.Contains(string(refused.Body), "background=true") {
		t.Errorf("cancel: %s", refused.Body)
	}
}

func TestInputItemsAreListedInPages(t *testing.T) {
	h := harness.Start(t, harness.Setup{})
	a := h.Client.Want(200, "POST", harness.ResponsesV1, "full", `{"model":"fake/echo","input":[{"role":"user","content":"one"},{"role":"assistant","content":"two"},{"role":"user","content":"three"}]}`)
	id, _ := harness.At(harness.Parse(t, a.Body), "id").(string)
	path := harness.ResponsesV1 + "/" + id + "/input_items"
	var texts []string
	last := ""
	for query := "?limit=2&order=asc"; ; query = "?limit=2&order=asc&after=" + last {
		page := harness.Parse(t, h.Client.Want(200, "GET", path+query, "full", "").Body)
		items, _ := harness.At(page, "data").([]any)
		for _, item := range items {
			text, _ := harness.At(item, "content", 0, "text").(string)
			texts = append(texts, text)
		}
		if last, _ = harness.At(page, "last_id").(string); harness.At(page, "has_more") != true {
			break
		}
	}
	if strings.Join(texts, " ") != "one two three" {
		t.Errorf("items %q", texts)
	}
	// The caller may have given the items their ids, so they are no reference to what is stored.
	reference := `{"model":"fake/echo","input":[{"role":"user","content":"x"},{"type":"item_reference","id":"` + last + `"}]}`
	h.Client.Want(400, "POST", harness.ResponsesV1, "full", reference)
	asked := len(h.Provider.Fake.Requests())
	harness.WantRefusal(t, path, h.Client.Get(path+"?after=msg_unknown", "full"), 404, "not_found")
	if n := len(h.Provider.Fake.Requests()); n != asked {
		t.Error("an unknown item was asked for")
	}
}

func TestParametersOfStoredResponsesAreChecked(t *testing.T) {
	h := harness.Start(t, harness.Setup{})
	path := harness.ResponsesV1 + "/" + made(t, h, "full", "fake/echo", "hello")
	h.Provider.Fake.Reset()
	for query, code := range map[string]string{
		"/input_items?limit=0": "invalid_value", "/input_items?limit=101": "invalid_value", "/input_items?limit=ten": "invalid_value", "/input_items?limit=": "invalid_value",
		"/input_items?order=up": "invalid_value", "/input_items?after=": "invalid_value", "/input_items?before=x": "unsupported_parameter",
		"?stream=true": "unsupported_parameter", "?starting_after=3": "unsupported_parameter", "?limit=1": "unsupported_parameter", "?%zz": "invalid_value",
	} {
		a := h.Client.Get(path+query, "full")
		harness.WantRefusal(t, path, a, 400, code)
		if name := strings.SplitN(query, "?", 2)[1]; code == "unsupported_parameter" && harness.At(harness.Parse(t, a.Body), "error", "param") != strings.SplitN(name, "=", 2)[0] {
			t.Errorf("%s: %s", query, a.Body)
		}
	}
	harness.WantRefusal(t, path, h.Client.Do("DELETE", path+"?force=1", "full", ""), 400, "unsupported_parameter")
	harness.WantRefusal(t, path, h.Client.Do("PUT", path, "full", ""), 405, "method_not_allowed")
	harness.WantRefusal(t, path, h.Client.Get(path, "models"), 403, "insufficient_scope")
	harness.WantRefusal(t, path, h.Client.Get(path, ""), 401, "invalid_api_key")
	if n := len(h.Provider.Fake.Requests()); n != 0 {
		t.Errorf("%d requests were forwarded", n)
	}
}

// An id of another tenant and one that does not exist have the same answer, and no provider is asked.
func TestAStoredResponseIsFoundByItsTenantOnly(t *testing.T) {
	h := harness.Start(t, harness.Setup{Keys: harness.FullKey("") + harness.Key("activity", "") + harness.Key("other", "tenant other") + harness.Key("narrow", "tenant watch\nall_tenants")})
	shared, private := made(t, h, "full", "fake/echo", "secret"), made(t, h, "full", "private/echo", "secret")
	translated, router := made(t, h, "full", "chatonly/echo", "secret"), made(t, h, "full", "router/echo", "secret")
	h.Provider.Fake.Reset()
	for _, r := range storedRoutes {
		unknown := h.Client.Do(r.method, harness.ResponsesV1+"/resp_unknown"+r.rest, "full", "")
		harness.WantRefusal(t, harness.ResponsesV1, unknown, 404, "not_found")
		for _, c := range []struct{ key, id string }{
			{"other", shared}, {"other", private}, {"narrow", shared},
			{"full", translated}, {"full", router}, // nobody keeps these
			{"full", strings.Repeat("x", 600)}, {"full", shared + "%20"},
		} {
			a := h.Client.Do(r.method, harness.ResponsesV1+"/"+c.id+r.rest, c.key, "")
			id, _ := url.PathUnescape(c.id)
			if want := strings.ReplaceAll(string(unknown.Body), "resp_unknown", id[:min(len(id), 512)]); a.Status != 404 || string(a.Body) != want {
				t.Errorf("%s %s by %s: %d %s, want %s", r.method, r.rest, c.key, a.Status, a.Body, want)
			}
			if c.key == "full" {
				if row := h.Records.Row(a.Header.Get("X-Request-Id")); harness.At(row, "code") != "not_found" {
					t.Errorf("row %v", row)
				}
			}
		}
	}
	if list := h.Provider.Fake.Requests(); len(list) != 0 {
		t.Errorf("%d requests were forwarded; the first: %s", len(list), list[0].Path)
	}
	for _, id := range []string{shared, private} {
		h.Client.Want(200, "GET", harness.ResponsesV1+"/"+id, "full", "")
	}
}

// The request goes to the account that made the response: of several providers and endpoints, and
// whatever name led there.
func TestAStoredResponseIsReadWhereItWasMade(t *testing.T) {
	h := harness.Start(t, harness.Setup{
		Options: "alias fast pair/echo",
		Providers: harness.DefaultProviders + "provider pair {\nendpoint east {\nbase_url PROVIDER/v1\napi_key pk-east\n}\nendpoint west {\nbase_url PROVIDER/v1\napi_key pk-west\n}\nmodels *\ndiscover off\n}\n" +
			"provider zulu {\nbase_url PROVIDER/v1\napi_key pk-zulu\nmodels *\ndiscover off\n}\n",
	})
	used := make(map[string]bool)
	for i := 0; i < 40 && len(used) < 4; i++ {
		for _, model := range []string{"fast", "zulu/echo", "fake/echo"} {
			id := made(t, h, "full", model, "where")
			h.Client.Want(200, "GET", harness.ResponsesV1+"/"+id, "full", "")
			list := h.Provider.Fake.Requests()
			made, read := authorization(&list[len(list)-2]), authorization(&list[len(list)-1])
			if made != read {
				t.Errorf("made by %s, read by %s", made, read)
			}
			used[made] = true
		}
	}
	if len(used) != 4 {
		t.Errorf("only %v were used", used)
	}
}

func authorization(r *faults.Request) string { return strings.Join(r.Header("Authorization"), " ") }

func TestGuardrailsHoldForWhatIsReadAgain(t *testing.T) {
	h := harness.Start(t, harness.Setup{
		Keys: harness.FullKey("") + harness.Key("chat", "guardrails gate") + harness.Key("narrow", "guardrails mask"),
		Options: "guardrail gate {\non output\ndeny words forbidden\n}\nguardrail mask {\non output\nredact card\n}\nguardrail ofmodel {\non output\ndeny words pear\n}\n" +
			"model other/name {\nguardrails ofmodel\n}",
	})
	forbidden, card := made(t, h, "full", "fake/echo", "forbidden fruit"), made(t, h, "full", "fake/echo", "pay 4111 1111 1111 1111 now")
	for _, rest := range []string{"", "/input_items"} {
		h.Client.Want(200, "GET", harness.ResponsesV1+"/"+forbidden+rest, "full", "")
		wantBlocked(t, harness.ResponsesV1, h.Client.Get(harness.ResponsesV1+"/"+forbidden+rest, "chat"), "gate", "words", "fruit")
		a := h.Client.Want(200, "GET", harness.ResponsesV1+"/"+card+rest, "narrow", "")
		if !strings.Contains(string(a.Body), "pay [REDACTED:card] now") || strings.Contains(string(a.Body), "4111 1111") {
			t.Errorf("%s: %s", rest, a.Body)
		}
	}
	// Which name its call used is not known, so the guardrails of all models count.
	pear := made(t, h, "full", "fake/echo", "a pear")
	wantBlocked(t, harness.ResponsesV1, h.Client.Get(harness.ResponsesV1+"/"+pear, "full"), "ofmodel", "words", "pear")
}

func TestStoredResponsesCountAgainstRatesAndNoBudget(t *testing.T) {
	h := harness.StartPriced(t, harness.Setup{Keys: harness.FullKey("budget 10usd/total\nrate 3/h") + harness.Key("activity", "")})
	path := harness.ResponsesV1 + "/" + made(t, h, "full", "fake/echo", "hello")
	spent := h.Records.Key("full").Budgets[0].Spent
	h.Client.Want(200, "GET", path, "full", "")
	h.Client.Want(200, "GET", path+"/input_items", "full", "")
	harness.WantRefusal(t, path, h.Client.Get(path, "full"), 429, "rate_limit_exceeded")
	if b := h.Records.Key("full").Budgets[0]; b.Spent != spent || b.Reserved != "0" {
		t.Errorf("reading cost %+v, before %s", b, spent)
	}
}

// A response that failed is read well, and shows no secret of the provider.
func TestAStoredFailureIsNoFailureOfItsReader(t *testing.T) {
	h := harness.Start(t, harness.Setup{})
	a := h.Client.Post(harness.ResponsesV1, "full", harness.Responses("fake/response-failed", ""))
	id, _ := harness.At(harness.Parse(t, a.Body), "id").(string)
	a = h.Client.Want(200, "GET", harness.ResponsesV1+"/"+id, "full", "")
	if harness.At(harness.Parse(t, a.Body), "status") != "failed" || strings.Contains(string(a.Body), faults.SecretText) {
		t.Errorf("%s", a.Body)
	}
	if row := h.Records.Row(a.Header.Get("X-Request-Id")); harness.At(row, "code") != nil && harness.At(row, "code") != "" {
		t.Errorf("row %v", row)
	}
}
