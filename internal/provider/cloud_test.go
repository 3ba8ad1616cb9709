package provider_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/provider"
)

// requested returns the request for a list of models that a provider of one endpoint sends, and its
// dialect.
func requested(t *testing.T, dialect string, e provider.EndpointConfig) (r *http.Request, of string) {
	t.Helper()
	p := newProvider(t, provider.Config{Dialect: dialect, Endpoints: []provider.EndpointConfig{e}, Transport: roundTripper(func(sent *http.Request) (*http.Response, error) {
		r = sent
		return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody}, nil
	})})
	if _, err := p.Endpoints[0].GetModels(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	return r, p.Dialect.Name()
}

func TestTheBaseURLFollowsFromThePlace(t *testing.T) {
	for _, c := range []struct {
		dialect   string
		place     provider.Place
		want, has string // dialect, and a part of the address of the list of models
	}{
		{"gemini", provider.Place{}, "gemini", "generativelanguage.googleapis.com/v1beta/models?"},
		{"gemini", provider.Place{APIVersion: "v1alpha"}, "gemini", "generativelanguage.googleapis.com/v1alpha/models?"},
		{"anthropic", provider.Place{}, "anthropic", "api.anthropic.com/v1/models?"},
		{"", provider.Place{Project: "p"}, "gemini", "aiplatform.googleapis.com/v1beta1/projects/p/locations/global/publishers/google"},
		{"", provider.Place{Project: "p", Location: "us-central1"}, "gemini", "us-central1-aiplatform.googleapis.com/v1beta1/projects/p/locations/us-central1/publishers/google"},
		{"", provider.Place{Project: "p", Location: "eu", APIVersion: "v1"}, "gemini", "aiplatform.eu.rep.googleapis.com/v1/projects/p/locations/eu/publishers/google"},
		{"vertex-anthropic", provider.Place{Project: "p", Location: "us"}, "vertex-anthropic", "aiplatform.us.rep.googleapis.com/v1/projects/p/locations/us/publishers/anthropic"},
		{"openai", provider.Place{Project: "p"}, "openai", "aiplatform.googleapis.com/v1/projects/p/locations/global/endpoints/openapi/models"},
		{"", provider.Place{Region: "us-east-1"}, "bedrock", "bedrock-runtime.us-east-1.amazonaws.com"},
		{"bedrock-anthropic", provider.Place{Region: "us-gov-west-1"}, "bedrock-anthropic", "bedrock-runtime.us-gov-west-1.amazonaws.com"},
		{"openai", provider.Place{Region: "us-east-1"}, "openai", "bedrock-runtime.us-east-1.amazonaws.com/openai/v1/models"},
		{"anthropic", provider.Place{Region: "us-east-1"}, "anthropic", "bedrock-runtime.us-east-1.amazonaws.com/anthropic/v1/models?"},
		{"", provider.Place{Region: "us-east-1", Service: "bedrock-mantle"}, "openai", "bedrock-mantle.us-east-1.api.aws/v1/models"},
		{"", provider.Place{Region: "us-east-1", Service: "aws-external-anthropic"}, "anthropic", "aws-external-anthropic.us-east-1.api.aws/v1/models?"},
		{"", provider.Place{Resource: "acme"}, "openai", "acme.openai.azure.com/openai/deployments?api-version=2023-03-15-preview"},
		{"", provider.Place{Resource: "acme", Project: "p"}, "openai", "acme.services.ai.azure.com/api/projects/p/deployments?api-version=v1"},
		{"anthropic", provider.Place{Resource: "acme", Project: "p"}, "anthropic", "acme.services.ai.azure.com/api/projects/p/deployments?api-version=v1"},
		{"anthropic", provider.Place{Resource: "acme"}, "anthropic", "acme.services.ai.azure.com/anthropic/v1/models?"},
	} {
		r, dialect := requested(t, c.dialect, provider.EndpointConfig{Place: c.place})
		if dialect != c.want || !strings.HasPrefix(r.URL.String(), "https://"+c.has) || r.Host != r.URL.Host {
			t.Errorf("%s at %+v: dialect %s at %s, host %s; want %s at %s", c.dialect, c.place, dialect, r.URL, r.Host, c.want, c.has)
		}
	}
}

// The gateway sends its credential to the host that follows from the options.
func TestAPlaceThatLeadsElsewhereIsRefused(t *testing.T) {
	for _, c := range []struct {
		dialect string
		place   provider.Place
		want    string
	}{
		{"", provider.Place{Project: "p", Location: "x.evil.example/"}, `location "x.evil.example/": write one such as us-central1, eu or global`},
		{"", provider.Place{Project: "p", Location: "us@evil"}, "location"},
		{"", provider.Place{Project: "p/../x"}, `project "p/../x"`},
		{"", provider.Place{Project: "p?x"}, "project"},
		{"", provider.Place{Project: "p", APIVersion: "v1/x"}, "api_version"},
		{"", provider.Place{Region: "evil.example#"}, `region "evil.example#": write one such as us-east-1`},
		{"", provider.Place{Region: "us-east-1", Service: "s3.evil"}, "service"},
		{"", provider.Place{Region: "us-east-1", Service: "other"}, `service "other": its address is not known; give base_url too`},
		{"", provider.Place{Resource: "acme.evil"}, `resource "acme.evil"`},
		{"", provider.Place{Resource: "-acme"}, "resource"},
		{"", provider.Place{Resource: "acme", Region: "us-east-1"}, "give the options of one cloud"},
		{"", provider.Place{Resource: "acme", Location: "eu"}, "give the options of one cloud"},
		{"", provider.Place{Project: "p", Region: "us-east-1"}, "give the options of one cloud"},
		{"", provider.Place{Location: "eu"}, "location needs project, too"},
		{"gemini", provider.Place{Location: "eu"}, "location needs project, too"},
		{"vertex-anthropic", provider.Place{}, "base_url is missing; at a cloud it follows from project"},
		{"bedrock", provider.Place{}, "base_url is missing; at a cloud"},
		{"", provider.Place{Service: "bedrock"}, "base_url is missing; at a cloud"},
		{"gemini", provider.Place{Resource: "acme"}, "dialect gemini at azure: give base_url, or one of the dialects anthropic, openai"},
		{"anthropic", provider.Place{APIVersion: "v1"}, "api_version is Google's"},
		{"openai", provider.Place{}, "base_url is missing"},
	} {
		_, err := provider.New(provider.Config{
			Name: "acme", Dialect: c.dialect, Endpoints: []provider.EndpointConfig{{Place: c.place}}, Transport: &transport{},
		})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s at %+v: error %v, want %q", c.dialect, c.place, err, c.want)
		}
	}
}

func TestABaseURLReplacesThatOfThePlace(t *testing.T) {
	r, dialect := requested(t, "bedrock", provider.EndpointConfig{
		BaseURL: "https://bedrock-runtime-fips.us-east-1.amazonaws.com", Place: provider.Place{Region: "us-east-1"},
	})
	if dialect != "bedrock" || r.URL.Host != "bedrock-runtime-fips.us-east-1.amazonaws.com" {
		t.Errorf("dialect %s at %s", dialect, r.URL)
	}
	r, _ = requested(t, "", provider.EndpointConfig{BaseURL: "https://private.example/openai/v1/", Place: provider.Place{Resource: "acme"}})
	if r.URL.String() != "https://private.example/openai/deployments?api-version=2023-03-15-preview" {
		t.Errorf("the list of deployments is read at %s", r.URL)
	}
	r, _ = requested(t, "", provider.EndpointConfig{BaseURL: "https://private.example/v1", Place: provider.Place{Resource: "acme"}})
	if r.URL.String() != "https://private.example/v1/models" {
		t.Errorf("the list of another API is read at %s", r.URL)
	}
}

func TestAzureTakesAPIKeysInAFieldOfItsOwn(t *testing.T) {
	key := func() string { return "secret" }
	r, _ := requested(t, "", provider.EndpointConfig{Place: provider.Place{Resource: "acme"}, Credential: key})
	if r.Header.Get("Api-Key") != "secret" || r.Header.Get("Authorization") != "" {
		t.Errorf("header %v", r.Header)
	}
	r, _ = requested(t, "anthropic", provider.EndpointConfig{Place: provider.Place{Resource: "acme"}, Credential: key})
	if r.Header.Get("X-Api-Key") != "secret" {
		t.Errorf("header %v", r.Header)
	}
}

func TestVertexHasNoListOfModels(t *testing.T) {
	for _, c := range []struct {
		place provider.Place
		want  bool
	}{{provider.Place{Project: "p"}, false}, {provider.Place{}, true}} {
		p := newProvider(t, provider.Config{Dialect: "gemini", Endpoints: []provider.EndpointConfig{{Place: c.place}}, Transport: &transport{}})
		if p.Has(provider.Models) != c.want || !p.Has(provider.Chat) {
			t.Errorf("%+v: has a list %v", c.place, p.Has(provider.Models))
		}
	}
}
