package provider_test

import (
	"net/http"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/provider"
)

// What is about a response that the provider keeps has no body, and so no type of one.
func TestRequestsAboutAResponse(t *testing.T) {
	rt := &transport{answer: always(200, nil, `{}`)}
	p := newProvider(t, provider.Config{Transport: rt})
	for op, want := range map[provider.Operation]string{
		provider.ReadResponse: "GET /v1/responses/a%2Fb%3F", provider.DeleteResponse: "DELETE /v1/responses/a%2Fb%3F",
		provider.CancelResponse: "POST /v1/responses/a%2Fb%3F/cancel", provider.InputItems: "GET /v1/responses/a%2Fb%3F/input_items",
	} {
		rt.requests = nil
		resp, err := p.Endpoints[0].Send(t.Context(), provider.Request{Operation: op, Name: "a/b?", Body: newBody(), Query: "limit=2"})
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		r := rt.requests[0]
		if got := r.Method + " " + r.URL.EscapedPath(); got != want || r.URL.RawQuery != "limit=2" {
			t.Errorf("%s: %s?%s", op, got, r.URL.RawQuery)
		}
		if r.Body != http.NoBody || r.ContentLength != 0 || r.Header["Content-Type"] != nil || r.Header.Get("Authorization") == "" {
			t.Errorf("%s: length %d, header %v", op, r.ContentLength, r.Header)
		}
	}
	for name, c := range map[string]provider.Config{
		"OpenRouter": {Transport: rt, Dialect: provider.OpenRouter}, "translated": {Transport: rt, Translate: new(provider.Translate)}, "Anthropic": {Transport: rt, Dialect: provider.Anthropic},
	} {
		for _, op := range []provider.Operation{provider.ReadResponse, provider.DeleteResponse, provider.CancelResponse, provider.InputItems, provider.Compact} {
			if newProvider(t, c).Has(op) {
				t.Errorf("%s has %s", name, op)
			}
		}
	}
}
