package api

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/modelcall/wire"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/jsontest"
	"github.com/gatehouse-proxy/gatehouse/internal/units"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/catalog"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
)

// tokenPrice prices each token at 1,000 nano-USD; the zero value knows no price.
type tokenPrice struct{ known bool }

func (p tokenPrice) Cost(u openai.Usage) (int64, bool) {
	return 1000 * (u.Prompt + u.Completion), p.known
}

var call = openai.Call{
	Model: "acme/m", ID: "gen-1", Created: 7, Provider: "acme",
	Redact: func(text string) string { return text }, OnID: func(openai.Kind, string) {},
}

func want(t *testing.T, got []byte, text string) {
	t.Helper()
	if string(got) != text {
		t.Errorf("got\n%s\nwant\n%s", got, text)
	}
}

func TestErrorsHaveTheFamilysShape(t *testing.T) {
	e := apierror.New(apierror.ModelNotFound, `no "x"`).WithParam("model")
	want(t, OpenAI{}.AppendError([]byte(">"), e, "req_1"),
		`>{"error":{"message":"no \"x\"","type":"invalid_request_error","param":"model","code":"model_not_found"}}`)
	want(t, OpenRouter{}.AppendError([]byte(">"), e, "req_1"),
		`>{"error":{"code":404,"message":"no \"x\"","metadata":{"error_type":"not_found","param":"model"}}}`)
}

const completion = `{"id":"chatcmpl-1","object":"chat.completion","created":1,"model":"m",` +
	`"choices":[{"index":0,"message":{"role":"assistant","content":"hi"},"finish_reason":"stop"}],` +
	`"usage":{"prompt_tokens":12,"completion_tokens":8,"total_tokens":20}}`

// Only OpenRouter's answers have the gateway's id, the provider's name and the cost.
func TestWholeAnswersHaveTheFamilysShape(t *testing.T) {
	for _, c := range []struct {
		api  API
		p    tokenPrice
		id   string
		cost any
		from any
	}{
		{OpenAI{}, tokenPrice{true}, "chatcmpl-1", nil, nil},
		{OpenRouter{}, tokenPrice{true}, "gen-1", 0.00002, "acme"},
		{OpenRouter{}, tokenPrice{}, "gen-1", nil, "acme"},
	} {
		out, summary, err := c.api.(wire.ChatAPI).ChatResult(nil, []byte(completion), call, c.p)
		if err != nil || summary.Usage.Prompt != 12 || summary.UpstreamID != "chatcmpl-1" {
			t.Errorf("%s: %+v, %v", c.api.Name(), summary, err)
		}
		var got struct {
			ID       string
			Provider any
			Usage    map[string]any
		}
		if err := json.Unmarshal(out, &got); err != nil || got.ID != c.id || got.Provider != c.from || got.Usage["cost"] != c.cost {
			t.Errorf("%s: %s, %v", c.api.Name(), out, err)
		}
	}
}

func TestStreamsHaveTheFamilysShape(t *testing.T) {
	for _, c := range []struct {
		api     API
		include bool // the caller asked for usage
		has     string
		hasNot  string
	}{
		{OpenAI{}, false, `"content":"hi"`, `"usage":{`},
		{OpenAI{}, true, `"prompt_tokens":12`, `"cost"`},
		{OpenRouter{}, false, `"cost":0.00002`, "chatcmpl-1"},
	} {
		asked := call
		asked.IncludeUsage = c.include
		s := c.api.(wire.ChatAPI).ChatStream(asked, tokenPrice{true})
		var out []byte
		for _, event := range []string{
			`{"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":"hi"}}]}`,
			`{"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`,
			`{"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"m","choices":[],"usage":{"prompt_tokens":12,"completion_tokens":8,"total_tokens":20}}`,
			`[DONE]`,
		} {
			out = s.Data(out, openai.NewEvent(nil, []byte(event)))
		}
		out, err := s.Close(out, nil)
		if text := string(out); err != nil || !strings.Contains(text, c.has) || strings.Contains(text, c.hasNot) || !strings.HasSuffix(text, "data: [DONE]\n\n") {
			t.Errorf("%s: %s, %v", c.api.Name(), text, err)
		}
	}
}

func rate(t *testing.T, text string) catalog.Quote {
	t.Helper()
	r, err := catalog.ParseRate(text)
	if err != nil {
		t.Fatal(err)
	}
	return catalog.Quoted(r)
}

// models returns a model of which everything is known, and one of which nothing is.
func models(t *testing.T) (full, bare catalog.Model) {
	full = catalog.Model{
		ID: "acme/m", Provider: "acme", Name: "m", DisplayName: "M", Description: "d", Created: 7, ContextLength: 8192, MaxOutput: 100,
		InputModalities: []string{"text", "image"}, OutputModalities: []string{"text"}, SupportedParameters: []string{"tools"},
		Price: &catalog.Price{Rates: catalog.Rates{
			Prompt: rate(t, "0.01"), Completion: rate(t, "0.02"), CacheRead: rate(t, "0.03"), CacheWrite: rate(t, "0.04"), CacheHour: rate(t, "0.05"),
			Reasoning: rate(t, "0.06"), Units: catalog.UnitRates{units.AudioInput: rate(t, "0.07"), units.AudioOutput: rate(t, "0.08"), units.Images: rate(t, "0.09"), units.Millis: rate(t, "0.1")},
		}}, Moderated: true, OwnedBy: "lab",
	}
	return full, catalog.Model{ID: "acme/n", Provider: "acme", Name: "n", OwnedBy: "acme"}
}

const (
	openaiFull = `{"id":"acme/m","object":"model","created":7,"owned_by":"lab","context_length":8192}`
	openaiBare = `{"id":"acme/n","object":"model","created":0,"owned_by":"acme"}`

	openrouterFull = `{"id":"acme/m","canonical_slug":"acme/m","name":"M","created":7,"description":"d","context_length":8192,` +
		`"architecture":{"modality":"text+image->text","input_modalities":["text","image"],"output_modalities":["text"]},` +
		`"pricing":{"prompt":"0.01","completion":"0.02","input_cache_read":"0.03","input_cache_write":"0.04","internal_reasoning":"0.06",` +
		`"audio":"0.07","audio_output":"0.08"},"unit_pricing":{"image":"0.09","second":"0.1"},` +
		`"top_provider":{"context_length":8192,"max_completion_tokens":100,"is_moderated":true},"per_request_limits":null,` +
		`"supported_parameters":["tools"],"default_parameters":null,"supported_voices":null,"links":{"details":"/api/v1/models/acme/m/endpoints"}}`
	openrouterBare = `{"id":"acme/n","canonical_slug":"acme/n","name":"acme/n","created":0,"context_length":null,` +
		`"architecture":{"modality":"text->text","input_modalities":["text"],"output_modalities":["text"]},` +
		`"pricing":{"prompt":"-1","completion":"-1"},` +
		`"top_provider":{"context_length":null,"max_completion_tokens":null,"is_moderated":false},"per_request_limits":null,` +
		`"supported_parameters":[],"default_parameters":null,"supported_voices":null,"links":{"details":"/api/v1/models/acme/n/endpoints"}}`
)

func TestModelsHaveTheFamilysShape(t *testing.T) {
	full, bare := models(t)
	all := []catalog.Model{full, bare}
	want(t, OpenAI{}.AppendModel([]byte(">"), full), ">"+openaiFull)
	want(t, OpenRouter{}.AppendModel([]byte(">"), full), `>{"data":`+openrouterFull+`}`)
	want(t, OpenAI{}.AppendModels([]byte(">"), all, Page{Offset: 1, Limit: 1}), `>{"object":"list","data":[`+openaiFull+`,`+openaiBare+`]}`)
	for _, c := range []struct {
		page Page
		want string
	}{
		{Page{Limit: 2}, `>{"data":[` + openrouterFull + `,` + openrouterBare + `],"total_count":2,"links":{"next":null}}`},
		{Page{Limit: 1}, `>{"data":[` + openrouterFull + `],"total_count":2,"links":{"next":"/api/v1/models?limit=1&offset=1"}}`},
		{Page{Offset: 1, Limit: 5}, `>{"data":[` + openrouterBare + `],"total_count":2,"links":{"next":null}}`},
		{Page{Offset: 9, Limit: 5}, `>{"data":[],"total_count":2,"links":{"next":null}}`},
	} {
		want(t, OpenRouter{}.AppendModels([]byte(">"), all, c.page), c.want)
	}
}

func TestOnlyKnownRatesAreShown(t *testing.T) {
	_, bare := models(t)
	bare.Price = &catalog.Price{Rates: catalog.Rates{Prompt: rate(t, "0")}} // free is not unknown
	got := string(OpenRouter{}.AppendModel(nil, bare))
	if !jsontest.Has(t, got, `{"pricing":{"prompt":"0","completion":"-1"}}`) {
		t.Errorf("%s", got)
	}
}

var noon = time.Date(2026, 3, 18, 12, 0, 0, 0, time.UTC)

func TestRatesHaveTheFamilysHeaders(t *testing.T) {
	requests := &apierror.Rate{Limit: 60, Remaining: 59, Reset: time.Second}
	tokens := &apierror.Rate{Limit: 1000, Remaining: 7, Reset: 90 * time.Second, Tokens: true}
	show := func(h http.Header, a API, r *apierror.Rate) { a.ShowRate(h, r, noon) }
	refuse := func(h http.Header, a API, r *apierror.Rate) { a.ShowRefusal(h, &apierror.Error{Rate: r}, noon) }
	for _, c := range []struct {
		api  API
		set  func(http.Header, API, *apierror.Rate)
		rate *apierror.Rate
		want string
	}{
		{OpenAI{}, show, requests, "X-Ratelimit-Limit-Requests 60 X-Ratelimit-Remaining-Requests 59 X-Ratelimit-Reset-Requests 1s"},
		{OpenAI{}, refuse, requests, "X-Ratelimit-Limit-Requests 60 X-Ratelimit-Remaining-Requests 59 X-Ratelimit-Reset-Requests 1s"},
		{OpenAI{}, show, tokens, "X-Ratelimit-Limit-Tokens 1000 X-Ratelimit-Remaining-Tokens 7 X-Ratelimit-Reset-Tokens 1m30s"},
		{OpenRouter{}, show, requests, ""},
		{OpenRouter{}, refuse, requests, "X-Ratelimit-Limit 60 X-Ratelimit-Remaining 59 X-Ratelimit-Reset 1773835201000"},
		{OpenRouter{}, refuse, tokens, "X-Ratelimit-Limit 1000 X-Ratelimit-Remaining 7 X-Ratelimit-Reset 1773835290000"},
	} {
		h := http.Header{}
		c.set(h, c.api, c.rate)
		var got []string
		for _, name := range []string{"Limit", "Remaining", "Reset"} {
			for _, unit := range []string{"", "-Requests", "-Tokens"} {
				if value := h.Get("X-Ratelimit-" + name + unit); value != "" {
					got = append(got, "X-Ratelimit-"+name+unit, value)
				}
			}
		}
		if text := strings.Join(got, " "); text != c.want || len(h) != len(got)/2 {
			t.Errorf("%s: %v, want %s", c.api.Name(), h, c.want)
		}
	}
}

func TestDurationsAreRoundedUp(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0s", 1: "1ms", time.Millisecond: "1ms", time.Millisecond + 1: "2ms", 12 * time.Millisecond: "12ms", 999 * time.Millisecond: "999ms",
		time.Second: "1s", time.Second + 16666667: "1.017s", 6 * time.Minute: "6m0s", time.Hour - 1: "1h0m0s",
	} {
		if got := resetText(d); got != want {
			t.Errorf("%d: %s, want %s", d, got, want)
		}
	}
	h := http.Header{}
	Anthropic{}.ShowRate(h, &apierror.Rate{Reset: 1016 * time.Millisecond}, time.Unix(0, 0))
	if got := h.Get("Anthropic-Ratelimit-Requests-Reset"); got != "1970-01-01T00:00:02Z" {
		t.Errorf("Anthropic's reset: %s", got)
	}
	for d, want := range map[time.Duration]int64{0: 0, 1: 1, 1500 * time.Microsecond: 2, 2 * time.Millisecond: 2} {
		if got := Milliseconds(d); got != want {
			t.Errorf("%d: %d ms, want %d", d, got, want)
		}
	}
}
