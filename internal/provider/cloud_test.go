package provider_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/provider"
)

// requested returns the request for a call of a model that a provider of one endpoint sends, and its
// dialect.
func requested(t *testing.T, dialect string, e provider.EndpointConfig) (r *http.Request, of string) {
	t.Helper()
	p := newProvider(t, provider.Config{Dialect: dialect, Endpoints: []provider.EndpointConfig{e}, Transport: roundTripper(func(sent *http.Request) (*http.Response, error) {
		r = sent
		return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody}, nil
	})})
	op := provider.Chat
	if !p.Has(op) {
		op = provider.Messages
	}
	if _, err := p.Endpoints[0].Send(t.Context(), provider.Request{Operation: op, Name: "m", Body: newBody(`{}`)}); err != nil {
		t.Fatal(err)
	}
	return r, p.Dialect.Name
}

func TestTheBaseURLFollowsFromThePlace(t *testing.T) {
	for _, c := range []struct {
		dialect   string
		place     provider.Place
		want, has string // dialect, and how the address of a call begins
	}{
		{"gemini", provider.Place{}, "gemini", "generativelanguage.googleapis.com/v1beta/models/m:"},
		{"gemini", provider.Place{APIVersion: "v1alpha"}, "gemini", "generativelanguage.googleapis.com/v1alpha/models/m:"},
		{"anthropic", provider.Place{}, "anthropic", "api.anthropic.com/v1/messages"},
		{"", provider.Place{Project: "p"}, "gemini", "aiplatform.googleapis.com/v1beta1/projects/p/locations/global/publishers/google"},
		{"", provider.Place{Project: "p", Location: "us-central1"}, "gemini", "us-central1-aiplatform.googleapis.com/v1beta1/projects/p/locations/us-central1/publishers/google"},
		{"", provider.Place{Project: "p", Location: "eu", APIVersion: "v1"}, "gemini", "aiplatform.eu.rep.googleapis.com/v1/projects/p/locations/eu/publishers/google"},
		{"vertex-anthropic", provider.Place{Project: "p", Location: "us"}, "vertex-anthropic", "aiplatform.us.rep.googleapis.com/v1/projects/p/locations/us/publishers/anthropic"},
		{"openai", provider.Place{Project: "p"}, "openai", "aiplatform.googleapis.com/v1/projects/p/locations/global/endpoints/openapi/chat/completions"},
		{"", provider.Place{Region: "us-east-1"}, "bedrock", "bedrock-runtime.us-east-1.amazonaws.com"},
		{"bedrock-anthropic", provider.Place{Region: "us-gov-west-1"}, "bedrock-anthropic", "bedrock-runtime.us-gov-west-1.amazonaws.com"},
		{"openai", provider.Place{Region: "us-east-1"}, "openai", "bedrock-runtime.us-east-1.amazonaws.com/openai/v1/chat/completions"},
		{"anthropic", provider.Place{Region: "us-east-1"}, "anthropic", "bedrock-runtime.us-east-1.amazonaws.com/anthropic/v1/messages"},
		{"", provider.Place{Region: "us-east-1", Service: "bedrock-mantle"}, "openai", "bedrock-mantle.us-east-1.api.aws/v1/chat/completions"},
		{"", provider.Place{Region: "us-east-1", Service: "aws-external-anthropic"}, "anthropic", "aws-external-anthropic.us-east-1.api.aws/v1/messages"},
		{"", provider.Place{Resource: "acme"}, "openai", "acme.openai.azure.com/openai/v1/chat/completions"},
		{"anthropic", provider.Place{Resource: "acme"}, "anthropic", "acme.services.ai.azure.com/anthropic/v1/messages"},
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

// What can be called at a cloud stands in lists of its own, some of them at another host.
func TestTheListsOfACloudFollowFromThePlace(t *testing.T) {
	const models, profiles = "/foundation-models?byInferenceType=ON_DEMAND", "/inference-profiles?maxResults=1000"
	aws, google, azure := provider.Place{Region: "us-east-1"}, provider.Place{Project: "p", Location: "eu"}, provider.Place{Resource: "acme"}
	project := provider.Place{Resource: "acme", Project: "p"}
	for _, c := range []struct {
		dialect, baseURL string
		place            provider.Place
		want             []string
	}{
		{"", "", aws, []string{"https://bedrock.us-east-1.amazonaws.com" + models, "https://bedrock.us-east-1.amazonaws.com" + profiles}},
		{"bedrock-anthropic", "", aws, []string{"https://bedrock.us-east-1.amazonaws.com" + models, "https://bedrock.us-east-1.amazonaws.com" + profiles}},
		{"anthropic", "", aws, []string{"https://bedrock.us-east-1.amazonaws.com" + models, "https://bedrock.us-east-1.amazonaws.com" + profiles}},
		{"openai", "", aws, []string{"https://bedrock.us-east-1.amazonaws.com" + models, "https://bedrock.us-east-1.amazonaws.com" + profiles}},
		{"", "https://bedrock-runtime-fips.us-east-1.amazonaws.com/", aws, []string{"https://bedrock-fips.us-east-1.amazonaws.com" + models, "https://bedrock-fips.us-east-1.amazonaws.com" + profiles}},
		{"bedrock", "http://proxy.example/aws", provider.Place{}, []string{"http://proxy.example/aws" + models, "http://proxy.example/aws" + profiles}},
		{"", "https://bedrock-mantle.us-east-1.api.aws/openai/v1", aws, []string{"https://bedrock-mantle.us-east-1.api.aws/openai/v1/models"}},
		{"", "", provider.Place{Region: "us-east-1", Service: "bedrock-mantle"}, []string{"https://bedrock-mantle.us-east-1.api.aws/v1/models"}},
		{"gemini", "", google, []string{"https://aiplatform.eu.rep.googleapis.com/v1beta1/publishers/google/models?pageSize=100"}},
		{"vertex-anthropic", "", google, []string{"https://aiplatform.eu.rep.googleapis.com/v1beta1/publishers/anthropic/models?pageSize=100"}},
		{"openai", "", google, nil},
		{"gemini", "", provider.Place{}, []string{"https://generativelanguage.googleapis.com/v1beta/models?pageSize=1000"}},
		{"", "", azure, []string{"https://acme.openai.azure.com/openai/deployments?api-version=2023-03-15-preview"}},
		{"", "https://private.example/openai/v1/", azure, []string{"https://private.example/openai/deployments?api-version=2023-03-15-preview"}},
		{"", "https://private.example/v1", azure, []string{"https://private.example/v1/models"}},
		{"anthropic", "", azure, []string{"https://acme.services.ai.azure.com/anthropic/v1/models?limit=1000"}},
		{"", "", project, []string{"https://acme.services.ai.azure.com/api/projects/p/deployments?api-version=v1"}},
		{"anthropic", "", project, []string{"https://acme.services.ai.azure.com/api/projects/p/deployments?api-version=v1"}},
	} {
		var got []string
		p := newProvider(t, provider.Config{
			Dialect: c.dialect, Endpoints: []provider.EndpointConfig{{Place: c.place, BaseURL: c.baseURL}},
			Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
				got = append(got, r.URL.String())
				if r.Host != r.URL.Host {
					t.Errorf("%s is asked as %s", r.URL, r.Host)
				}
				return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody}, nil
			}),
		})
		e := p.Endpoints[0]
		for at, more := "", p.ListsModels(); more; more = at != "" {
			if _, err := e.GetModels(t.Context(), at); err != nil {
				t.Fatal(err)
			}
			at = e.After(at, "")
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s at %+v %s: %q, want %q", c.dialect, c.place, c.baseURL, got, c.want)
		}
		if lists := c.want != nil && c.place != google; p.Has(provider.Models) != lists {
			t.Errorf("%s at %+v: has a list of what can be called: %v", c.dialect, c.place, !lists)
		}
	}
}

func TestAnEndpointWithoutAListIsNotAsked(t *testing.T) {
	rt := &transport{}
	p := newProvider(t, provider.Config{Dialect: "openai", Endpoints: []provider.EndpointConfig{{Place: provider.Place{Project: "p"}}}, Transport: rt})
	if _, err := p.Endpoints[0].GetModels(t.Context(), ""); err == nil || len(rt.requests) > 0 {
		t.Errorf("%v, %d requests", err, len(rt.requests))
	}
}
