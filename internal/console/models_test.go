package console

import (
	"net/url"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/keys"
)

const threeModels = `{"data":[
	{"id":"acme/large","name":"Large","context_length":400000,"architecture":{"input_modalities":["text","image"],"output_modalities":["text"]},
	 "pricing":{"prompt":"0.00000125","completion":"0.00001"},"top_provider":{"max_completion_tokens":128000},"supported_parameters":["tools","reasoning"]},
	{"id":"acme/embed","name":"Embed","context_length":null,"architecture":{"input_modalities":["text"],"output_modalities":["embeddings"]},
	 "pricing":{"prompt":"0.00000002"},"unit_pricing":{"second":"0.0001","image":"0.04"},"top_provider":{"max_completion_tokens":null},"supported_parameters":[]},
	{"id":"own/small","name":"Small","context_length":8192,"architecture":{"input_modalities":["text"],"output_modalities":["text"]},
	 "pricing":{"prompt":"-1","completion":"-1"},"top_provider":{},"supported_parameters":["tools"]}]}`

func modelsAPI() *fakeAPI {
	a := newFakeAPI()
	a.key.Scopes |= keys.ModelsRead | keys.ProvidersRead | keys.ChatWrite
	a.always("/api/v1/models", threeModels)
	a.always("/v1/models", `{"data":[{"id":"own/small","owned_by":"gatehouse"},{"id":"acme/large","owned_by":"acme"}]}`)
	a.always("/api/v1/limits", `{"data":[{"subject":"key:dev","type":"budget","unit":"usd","limit":5,"soft":false}]}`)
	a.answers["/v1/providers"] = func(q url.Values) string {
		model := ""
		if q.Get("model") != "" {
			model = `,"model":{"id":"` + q.Get("model") + `","callable":false,"reason":"the provider \"acme\" does not list it","advice":"write it"}`
		}
		return `{"data":[{"id":"acme","targets":[{"model":"acme/large","state":"healthy","attempts":1},{"model":"acme/large","endpoint":"b","state":"cooling","attempts":2}]}]` + model + `}`
	}
	a.always("/api/v1/activity/series", `{"data":[{"name":"acme/large","total":{"requests":1234,"errors":1,"cost":2.5}},{"name":"own/small","total":{"requests":2,"errors":0,"cost":0}}]}`)
	return a
}

func TestModelsAreShownWithWhatTheyCostAndCan(t *testing.T) {
	page := modelsAPI().visit(t, "/console/models").Body.String()
	contains(t, page, "3 of 3 models", "<b>acme/large</b>", ">$1.25</td>", ">$10.00</td>", ">400k</td>", ">128k</td>", "tools, images, reasoning",
		`<span class="badge bad">cooling down</span>`, `href="/console/activity?model=acme%2Flarge&amp;range=7d">1,234</a>`, "$2.50", "embeds", ">$0.02</td>", ">$0.04 an image</span>", ">$0.006 a minute of audio</span>",
		`data-label="Input, a million tokens"><span class="dim">unknown</span></td>`, "A hard budget of money refuses models without a price", ">not known<", `<a href="/console/try?model=acme%2Flarge">try`,
		`data-label="Cost, 7 days"><span class="dim">unknown</span></td>`)
	contains(t, page, `<b>own/small</b> <span class="note">alias</span>`)
	if strings.Contains(page, "/console/try?model=acme%2Fembed") {
		t.Error("a model that embeds can be tried in a chat")
	}
}

func TestModelsAreFilteredAndSorted(t *testing.T) {
	for query, want := range map[string]string{
		"":                         "acme/large acme/embed own/small",
		"?find=LARGE":              "acme/large",
		"?find=acme+emb":           "acme/embed",
		"?provider=own":            "own/small",
		"?takes=tools":             "acme/large own/small",
		"?takes=embeds":            "acme/embed",
		"?sort=price":              "acme/embed acme/large own/small",
		"?sort=context":            "acme/large own/small acme/embed",
		"?sort=used&takes=unknown": "acme/large own/small acme/embed",
		"?find=none":               "",
	} {
		page := modelsAPI().visit(t, "/console/models"+query).Body.String()
		var got []string
		for _, row := range strings.Split(page, `<th scope="row" class="wrap"><b>`)[1:] {
			name, _, _ := strings.Cut(row, "<")
			got = append(got, name)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %v, want %s", query, got, want)
		}
		if want == "" {
			contains(t, page, "No model fits")
		}
	}
}

func TestThePageSaysWhyAModelCannotBeCalled(t *testing.T) {
	a := modelsAPI()
	page := a.visit(t, "/console/models?why=acme/%3Cnew%3E").Body.String()
	contains(t, page, `<b>acme/&lt;new&gt;</b> cannot be called: the provider &#34;acme&#34; does not list it. To change that, write it.`)
	a.key.Scopes = keys.ModelsRead
	page = a.visit(t, "/console/models?why=acme/new").Body.String()
	if strings.Contains(page, "cannot be called") || strings.Contains(page, "Why can it") || strings.Contains(page, "Calls, 7 days") {
		t.Error("a key without providers:read and activity:read sees too much")
	}
	a.always("/api/v1/models", `{"data":[]}`)
	contains(t, a.visit(t, "/console/models").Body.String(), "This key can call no model")
	a.key.Scopes = keys.ActivityRead
	if w := a.visit(t, "/console/models"); w.Code != 403 {
		t.Errorf("without models:read: %d", w.Code)
	}
}
