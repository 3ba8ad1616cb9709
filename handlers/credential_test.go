package handlers

import (
	"net/http/httptest"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/api"
)

// Clients that insist on a key say that they have none, beside a key in another header too.
func TestWhatStandsForNoKeyHidesNone(t *testing.T) {
	for _, c := range []struct {
		of                         api.API
		name, at                   string
		bearer, apiKey, goog, want string
	}{
		{api.OpenAI{}, "nothing else", "/", "none", "", "", ""},
		{api.OpenAI{}, "both", "/", "none", "none", "", ""},
		{api.OpenAI{}, "beside X-Api-Key", "/", "none", "key", "", "key"},
		{api.Anthropic{}, "beside X-Api-Key", "/", "none", "key", "", "key"},
		{api.Anthropic{}, "beside a token", "/", "token", "none", "", "token"},
		{api.Google{}, "beside Google's header", "/", "none", "", "key", "key"},
		{api.Google{}, "beside a parameter", "/?key=key", "none", "none", "none", "key"},
		{api.Google{}, "everywhere", "/?key=none", "none", "none", "none", ""},
	} {
		r := httptest.NewRequest("POST", c.at, nil)
		for name, value := range map[string]string{"Authorization": "Bearer " + c.bearer, apiKeyHeader: c.apiKey, api.GoogleKeyHeader: c.goog} {
			r.Header.Set(name, value)
		}
		if got, err := credential(r, c.of); err != nil || got != c.want {
			t.Errorf("%T, %s: %q, %v, want %q", c.of, c.name, got, err, c.want)
		}
	}
}
