package api

import (
	"encoding/json"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/openai"
)

// Each status of a provider has one type in each family, whichever API the provider has.
func TestEveryStatusOfAProviderHasTheFamilysType(t *testing.T) {
	const (
		invalid, server, rate = "invalid_request_error", "server_error", "rate_limit_error"
		rejected, broken      = "invalid_request", "provider_unavailable"
	)
	for status, want := range map[int]struct {
		status                        int
		openai, openrouter, anthropic string
	}{
		400: {400, invalid, rejected, invalid},
		401: {502, server, broken, "api_error"}, // the operator's credential, not the caller's
		403: {502, server, broken, "api_error"},
		404: {404, invalid, "not_found", "not_found_error"},
		408: {502, server, broken, "api_error"},
		409: {502, server, broken, "api_error"},
		413: {413, invalid, "payload_too_large", "request_too_large"},
		422: {422, invalid, rejected, invalid},
		429: {429, rate, "rate_limit_exceeded", rate},
		500: {502, server, broken, "api_error"},
		503: {502, server, broken, "api_error"},
		529: {503, server, "provider_overloaded", "overloaded_error"},
	} {
		for from, body := range map[string]string{
			"openai":    `{"error":{"message":"no","type":"some_error","code":null}}`,
			"anthropic": `{"type":"error","error":{"type":"` + want.anthropic + `","message":"no"}}`,
			"a proxy":   `<html>no</html>`,
		} {
			e := openai.Fault(status, 0, openai.ParseProviderError([]byte(body)), func(s string) string { return s }, "p")
			if e.HTTPStatus() != want.status {
				t.Errorf("%d from %s: %d, want %d", status, from, e.HTTPStatus(), want.status)
			}
			for family, wanted := range map[API]string{OpenAI{}: want.openai, OpenRouter{}: want.openrouter, Anthropic{}: want.anthropic} {
				var got struct {
					Error struct {
						Type     string
						Metadata struct {
							Type string `json:"error_type"`
						}
					}
				}
				if err := json.Unmarshal(family.AppendError(nil, e, "req_1"), &got); err != nil || got.Error.Type+got.Error.Metadata.Type != wanted {
					t.Errorf("%d from %s to %s: %+v, %v, want %s", status, from, family.Name(), got, err, wanted)
				}
			}
		}
	}
}
