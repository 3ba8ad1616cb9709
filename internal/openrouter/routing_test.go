package openrouter_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/failover"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/openrouter"
)

func parseRouting(t *testing.T, body string, messages bool) (*failover.Routing, error) {
	t.Helper()
	var b jsonscan.Body
	if err := b.Parse([]byte(body)); err != nil {
		t.Fatal(err)
	}
	return openrouter.ParseRouting(&b, messages)
}

// routingText has what a Routing says, in short.
func routingText(r *failover.Routing) string {
	if r == nil {
		return "none"
	}
	var parts []string
	add := func(name string, value any, said bool) {
		if said {
			parts = append(parts, fmt.Sprint(name, " ", value))
		}
	}
	add("models", r.Models, len(r.Models) > 0)
	add("order", r.Order, len(r.Order) > 0)
	add("only", r.Only, len(r.Only) > 0)
	add("ignore", r.Ignore, len(r.Ignore) > 0)
	add("no fallbacks", "", r.NoFallbacks)
	add("by price", "", r.ByPrice)
	add("all", "", r.AllByPrice)
	if r.MaxPrompt != nil {
		add("prompt", *r.MaxPrompt, true)
	}
	if r.MaxCompletion != nil {
		add("completion", *r.MaxCompletion, true)
	}
	add("router only", r.RouterOnly, len(r.RouterOnly) > 0)
	add("forward", string(r.Forward), len(r.Forward) > 0)
	return strings.Join(parts, "; ")
}

func TestRoutingFieldsAreRead(t *testing.T) {
	for body, want := range map[string]string{
		`{"model":"m"}`: "none",
		`{"model":"m","models":null,"provider":null,"route":null}`: "none",
		`{"models":["a/b","c/d"],"route":"fallback"}`:              "models [a/b c/d]",
		`{"provider":{}}`: "",
		`{"provider":{"order":["OpenAI","azure/east"],"allow_fallbacks":false}}`:                             "order [openai azure/east]; no fallbacks ",
		`{"provider":{"only":["a"],"ignore":["b"],"allow_fallbacks":true}}`:                                  "only [a]; ignore [b]",
		`{"provider":{"only":[],"ignore":null,"sort":null,"max_price":null}}`:                                "",
		`{"provider":{"sort":"price"}}`:                                                                      "by price ",
		`{"provider":{"sort":{"by":"price"}}}`:                                                               "by price ",
		`{"provider":{"sort":{"by":"price","partition":"none"}}}`:                                            "by price ; all ",
		`{"provider":{"sort":{"partition":"model","by":null}}}`:                                              "",
		`{"provider":{"max_price":{"prompt":"0.15","completion":3}}}`:                                        `prompt 150000000; completion 3000000000; forward {"max_price":{"prompt":"0.15","completion":3}}`,
		`{"provider":{"max_price":{"prompt":0,"completion":1e30,"image":null}}}`:                             `prompt 0; completion 4611686018427387904; forward {"max_price":{"prompt":0,"completion":1e30,"image":null}}`,
		`{"provider":{"max_price":{"request":1}}}`:                                                           `router only [provider.max_price.request]; forward {"max_price":{"request":1}}`,
		`{"provider":{"zdr":true,"data_collection":"deny","quantizations":["fp8"]}}`:                         `router only [provider.zdr provider.data_collection provider.quantizations]; forward {"zdr":true,"data_collection":"deny","quantizations":["fp8"]}`,
		`{"provider":{"enforce_distillable_text":true,"only":["r"]}}`:                                        `only [r]; router only [provider.enforce_distillable_text]; forward {"enforce_distillable_text":true}`,
		`{"provider":{"zdr":false,"data_collection":"allow","quantizations":[],"require_parameters":false}}`: "",
	} {
		r, err := parseRouting(t, body, false)
		if err != nil || r != nil && r.Refusal != nil {
			t.Errorf("%s: %v, %+v", body, err, r)
			continue
		}
		if got := routingText(r); got != want {
			t.Errorf("%s\n got  %s\n want %s", body, got, want)
		}
		if r != nil && r.Forward != nil && !json.Valid(r.Forward) {
			t.Errorf("%s: forwards %s", body, r.Forward)
		}
	}
}

func TestRoutingFieldsThatCannotBeHonouredAreRefusedByName(t *testing.T) {
	nine := `"a","b","c","d","e","f","g","h","i"`
	for body, want := range map[string]string{
		`{"models":"a/b"}`:                                                        "invalid_value models",
		`{"models":[1]}`:                                                          "invalid_value models",
		`{"models":[""]}`:                                                         "invalid_value models",
		`{"models":[` + nine + `]}`:                                               "invalid_value models",
		`{"route":1}`:                                                             "invalid_value route",
		`{"provider":"openai"}`:                                                   "invalid_value provider",
		`{"provider":{"order":"openai"}}`:                                         "invalid_value provider.order",
		`{"provider":{"only":[{}]}}`:                                              "invalid_value provider.only",
		`{"provider":{"allow_fallbacks":"no"}}`:                                   "invalid_value provider.allow_fallbacks",
		`{"provider":{"sort":"price ","zdr":true}}`:                               "invalid_value provider.sort",
		`{"provider":{"sort":"throughput"}}`:                                      "unsupported_parameter provider.sort",
		`{"provider":{"sort":{"by":"latency"}}}`:                                  "unsupported_parameter provider.sort",
		`{"provider":{"sort":{"by":"price","x":1}}}`:                              "unsupported_parameter provider.sort.x",
		`{"provider":{"sort":{"partition":"all"}}}`:                               "invalid_value provider.sort.partition",
		`{"provider":{"require_parameters":true}}`:                                "unsupported_parameter provider.require_parameters",
		`{"provider":{"preferred_max_latency":3}}`:                                "unsupported_parameter provider.preferred_max_latency",
		`{"provider":{"preferred_min_throughput":{}}}`:                            "unsupported_parameter provider.preferred_min_throughput",
		`{"provider":{"data_collection":"no"}}`:                                   "invalid_value provider.data_collection",
		`{"provider":{"zdr":1}}`:                                                  "invalid_value provider.zdr",
		`{"provider":{"ZDR":true}}`:                                               "unsupported_parameter provider.ZDR",
		`{"provider":{"region":"eu"}}`:                                            "unsupported_parameter provider.region",
		`{"provider":{"max_price":1}}`:                                            "invalid_value provider.max_price",
		`{"provider":{"max_price":{"prompt":-1}}}`:                                "invalid_value provider.max_price.prompt",
		`{"provider":{"max_price":{"prompt":"NaN"}}}`:                             "invalid_value provider.max_price.prompt",
		`{"provider":{"max_price":{"prompt":[1]}}}`:                               "invalid_value provider.max_price.prompt",
		`{"provider":{"max_price":{"video":1}}}`:                                  "unsupported_parameter provider.max_price.video",
		`{"fallbacks":"default"}`:                                                 "unsupported_parameter fallbacks",
		`{"fallbacks":["a/b"]}`:                                                   "invalid_value fallbacks[0]",
		`{"fallbacks":[{}]}`:                                                      "invalid_value fallbacks[0].model",
		`{"fallbacks":[{"model":"a/b","max_tokens":1}]}`:                          "unsupported_parameter fallbacks[0].max_tokens",
		`{"fallbacks":[{"model":"a"},{"model":"a"},{"model":"a"},{"model":"a"}]}`: "invalid_value fallbacks",
		`{"fallbacks":[{"model":"a"}],"models":["b"]}`:                            "invalid_value models",
	} {
		r, err := parseRouting(t, body, true)
		if err == nil {
			err = r.Refusal
		}
		e := apierror.From(err)
		if got := string(e.Code) + " " + e.Param; err == nil || got != want || e.HTTPStatus() != 400 {
			t.Errorf("%s: %s (%v), want %s", body, got, err, want)
		}
	}
}

func TestFallbacksAreModelsOfTheMessagesAPIOnly(t *testing.T) {
	const body = `{"fallbacks":[{"model":"a/b"},{"model":"c/d"}]}`
	if r, err := parseRouting(t, body, true); err != nil || !slices.Equal(r.Models, []string{"a/b", "c/d"}) {
		t.Errorf("%+v, %v", r, err)
	}
	if r, err := parseRouting(t, body, false); err != nil || r != nil {
		t.Errorf("another API: %+v, %v", r, err)
	}
}

func TestSuffixesSort(t *testing.T) {
	var r failover.Routing
	if model, ok := openrouter.CutSort(&r, "a/b:free"); ok || model != "a/b:free" || r.ByPrice {
		t.Errorf("%q, %v", model, ok)
	}
	if model, ok := openrouter.CutSort(&r, "team/fast:floor"); !ok || model != "team/fast" || !r.ByPrice || r.Refusal != nil {
		t.Errorf("%q, %v, %+v", model, ok, r)
	}
	if model, ok := openrouter.CutSort(&r, "team/fast:nitro"); !ok || model != "team/fast" || apierror.From(r.Refusal).Code != apierror.UnsupportedParameter {
		t.Errorf("%q, %v, %+v", model, ok, r)
	}
}

// A target of a router gets what only it can honour, and nothing that names our providers.
func TestTheProviderObjectIsReplaced(t *testing.T) {
	for _, c := range []struct{ body, preferences, want string }{
		{`{"model":"m","provider":{"order":["x"]}}`, "", `{"model":"m"}`},
		{`{"model":"m","provider":{"order":["x"]}}`, `{"zdr":true}`, `{"model":"m","provider":{"zdr":true}}`},
		{`{"model":"m"}`, `{"zdr":true}`, `{"model":"m","provider":{"zdr":true}}`},
		{`{"model":"m"}`, "", `{"model":"m"}`},
	} {
		var b jsonscan.Body
		if err := b.Parse([]byte(c.body)); err != nil {
			t.Fatal(err)
		}
		var preferences []byte
		if c.preferences != "" {
			preferences = []byte(c.preferences)
		}
		openrouter.SetProvider(&b, preferences)
		if got := string(b.Append(nil)); got != c.want {
			t.Errorf("%s with %s: %s, want %s", c.body, c.preferences, got, c.want)
		}
	}
	if got := openrouter.WithMaxPrice([]byte(`{"zdr":true,"max_price":{"prompt":"0.1"}}`), "0.15", "3"); string(got) != `{"zdr":true,"max_price":{"prompt":0.1,"completion":3}}` {
		t.Errorf("both: %s", got)
	}
	if got := openrouter.AppendProvider([]byte(`{"model":"m"}`), nil); string(got) != `{"model":"m"}` {
		t.Errorf("none: %s", got)
	}
}
