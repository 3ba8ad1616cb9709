package provider_test

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/provider"
)

// renewed is a credential that is another one after each refusal, so often.
type renewed struct{ used, left int }

func (c *renewed) Sign(r *http.Request) error {
	c.used++
	r.Header.Set("Authorization", strings.Repeat("x", c.used))
	return nil
}

func (c *renewed) Refused(int) bool {
	c.left--
	return c.left >= 0
}

func (c *renewed) Secrets() []string { return nil }

func TestARefusedCredentialIsRenewedOnce(t *testing.T) {
	for _, c := range []struct {
		renewals int
		statuses []int
		want     int
		asked    string
		error    string // as AWS names it
	}{
		{1, []int{401, 200}, 200, "x xx", ""},
		{1, []int{403, 200}, 200, "x xx", ""},
		{5, []int{401, 401, 200}, 401, "x xx", ""},
		{0, []int{401, 200}, 401, "x", ""},
		{1, []int{400, 200}, 400, "x", ""},
		{1, []int{400, 200}, 400, "x", "ValidationException"},
		{1, []int{400, 200}, 200, "x xx", "ExpiredTokenException:http://internal.amazon.com/coral/"},
		{5, []int{400, 400, 200}, 400, "x xx", "ExpiredToken"},
	} {
		var asked []string
		rt := roundTripper(func(r *http.Request) (*http.Response, error) {
			asked = append(asked, r.Header.Get("Authorization"))
			return &http.Response{StatusCode: c.statuses[len(asked)-1], Header: http.Header{"X-Amzn-Errortype": {c.error}}, Body: http.NoBody}, nil
		})
		p := newProvider(t, provider.Config{
			Transport: rt, Endpoints: []provider.EndpointConfig{{BaseURL: "https://api.invalid/v1", Auth: &renewed{left: c.renewals}}},
		})
		body := provider.NewBody([][]byte{[]byte("{}")}, func() {})
		resp, err := p.Endpoints[0].Send(context.Background(), provider.Request{Operation: provider.Chat, Body: body})
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if got := strings.Join(asked, " "); resp.StatusCode != c.want || got != c.asked {
			t.Errorf("%v: status %d after %q, want %d after %q", c.statuses, resp.StatusCode, got, c.want, c.asked)
		}
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestPathsOfTheCloudsEscapeTheModel(t *testing.T) {
	for _, c := range []struct {
		dialect, base string
		op            provider.Operation
		model         string
		stream        bool
		want          string
	}{
		{"gemini", "https://g.invalid/v1beta", provider.Chat, "gemini-3.8-flash", false, "/v1beta/models/gemini-3.8-flash:streamGenerateContent"},
		{"gemini", "https://g.invalid/v1beta", provider.CountTokens, "a/../b?c", false, "/v1beta/models/a%2F..%2Fb%3Fc:countTokens"},
		{"gemini", "https://g.invalid/v1beta", provider.Embeddings, "gemini-embedding-2", false, "/v1beta/models/gemini-embedding-2:batchEmbedContents"},
		{"gemini", "https://v.invalid/v1/publishers/google", provider.Embeddings, "gemini-embedding-001", false, "/v1/publishers/google/models/gemini-embedding-001:batchEmbedContents"},
		{"gemini", "https://v.invalid/v1/publishers/google", provider.Embeddings, "text-embedding-005", false, "/v1/publishers/google/models/text-embedding-005:predict"},
		{"vertex-anthropic", "https://v.invalid/v1/publishers/anthropic", provider.Messages, "claude-x@20261001", true, "/v1/publishers/anthropic/models/claude-x@20261001:streamRawPredict"},
		{"vertex-anthropic", "https://v.invalid/v1/publishers/anthropic", provider.CountTokens, "claude-x", false, "/v1/publishers/anthropic/models/count-tokens:rawPredict"},
		{"bedrock", "https://b.invalid", provider.Chat, "us.amazon.nova-2-lite-v1:0", true, "/model/us.amazon.nova-2-lite-v1%3A0/converse-stream"},
		{"bedrock", "https://b.invalid", provider.Chat, "arn:aws:bedrock:us-east-1:1:inference-profile/x", false, "/model/arn%3Aaws%3Abedrock%3Aus-east-1%3A1%3Ainference-profile%2Fx/converse"},
		{"bedrock", "https://b.invalid", provider.Chat, "..", false, "/model/%2E%2E/converse"},
		{"bedrock-anthropic", "https://b.invalid", provider.Messages, "anthropic.claude-x-v1:0", true, "/model/anthropic.claude-x-v1%3A0/invoke-with-response-stream"},
	} {
		var got string
		rt := roundTripper(func(r *http.Request) (*http.Response, error) {
			got = r.URL.EscapedPath()
			return &http.Response{StatusCode: 200, Header: http.Header{}, Body: http.NoBody}, nil
		})
		p := newProvider(t, provider.Config{Dialect: c.dialect, Transport: rt, Endpoints: provider.One(c.base, "k")})
		body := provider.NewBody([][]byte{[]byte("{}")}, func() {})
		resp, err := p.Endpoints[0].Send(context.Background(), provider.Request{Operation: c.op, Name: c.model, Stream: c.stream, Body: body})
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if got != c.want {
			t.Errorf("%s %s: %s, want %s", c.dialect, c.model, got, c.want)
		}
	}
}

// A stream that began with a key may end in an error that shows it, after the key was replaced.
func TestTheKeyBeforeIsStillASecret(t *testing.T) {
	key := "first-key"
	p := newProvider(t, provider.Config{
		Endpoints: []provider.EndpointConfig{{BaseURL: "https://api.acme.example/v1", Credential: func() string { return key }}},
		Transport: &transport{answer: always(200, nil, `{}`)},
	})
	for _, next := range []string{"second-key", "third-key", "third-key"} {
		resp, err := p.Endpoints[0].GetModels(t.Context(), "")
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		before := key
		key = next
		if secrets := p.Endpoints[0].Secrets(); !slices.Contains(secrets, before) || !slices.Contains(secrets, key) {
			t.Errorf("after %s: %q", before, secrets)
		}
	}
	if _, err := p.Endpoints[0].GetModels(t.Context(), ""); err != nil || !slices.Contains(p.Endpoints[0].Secrets(), "second-key") {
		t.Errorf("%v, %q", err, p.Endpoints[0].Secrets())
	}
}
