package harness

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// errorTypes are the error types of a refusal: error.type of the OpenAI API, metadata.error_type of
// the OpenRouter API.
var errorTypes = map[string][2]string{
	"invalid_json":                {"invalid_request_error", "invalid_request"},
	"invalid_value":               {"invalid_request_error", "invalid_request"},
	"missing_required_parameter":  {"invalid_request_error", "invalid_request"},
	"unsupported_parameter":       {"invalid_request_error", "invalid_request"},
	"previous_response_not_found": {"invalid_request_error", "invalid_request"},
	"request_timeout":             {"invalid_request_error", "invalid_request"},
	"invalid_api_key":             {"invalid_request_error", "authentication"},
	"insufficient_scope":          {"permission_error", "permission_denied"},
	"unknown_url":                 {"invalid_request_error", "not_found"},
	"not_found":                   {"invalid_request_error", "not_found"},
	"model_not_found":             {"invalid_request_error", "not_found"},
	"model_not_callable":          {"invalid_request_error", "not_found"},
	"method_not_allowed":          {"invalid_request_error", "invalid_request"},
	"upgrade_required":            {"invalid_request_error", "invalid_request"},
	"unsupported_encoding":        {"invalid_request_error", "invalid_request"},
	"request_too_large":           {"invalid_request_error", "payload_too_large"},
	"rate_limit_exceeded":         {"rate_limit_error", "rate_limit_exceeded"},
	"concurrency_limit_exceeded":  {"rate_limit_error", "rate_limit_exceeded"},
	"budget_exceeded":             {"insufficient_quota", "payment_required"},
	"cannot_be_priced":            {"insufficient_quota", "payment_required"},
	"ledger_unavailable":          {"server_error", "provider_overloaded"},
	"no_provider_available":       {"server_error", "provider_overloaded"},
	"gateway_busy":                {"rate_limit_error", "rate_limit_exceeded"},
	"upstream_rate_limited":       {"rate_limit_error", "rate_limit_exceeded"},
	"upstream_auth_error":         {"server_error", "provider_unavailable"},
	"upstream_quota_exhausted":    {"server_error", "provider_unavailable"},
	"upstream_overloaded":         {"server_error", "provider_overloaded"},
	"upstream_error":              {"server_error", "provider_unavailable"},
	"upstream_timeout":            {"server_error", "timeout"},
	"upstream_rejected":           {"invalid_request_error", "invalid_request"},
	"context_length_exceeded":     {"invalid_request_error", "context_length_exceeded"},
	"provider_content_policy":     {"invalid_request_error", "content_policy_violation"},
	"guardrail_blocked":           {"invalid_request_error", "content_policy_violation"},
	"guardrail_unavailable":       {"server_error", "provider_overloaded"},
	"workstation_occupied":        {"invalid_request_error", "invalid_request"},
	"workstation_conflict":        {"invalid_request_error", "invalid_request"},
	"workstation_tokens_exceeded": {"rate_limit_error", "rate_limit_exceeded"},
	"workstations_exceeded":       {"rate_limit_error", "rate_limit_exceeded"},
	"storage_unavailable":         {"server_error", "provider_overloaded"},
}

// ErrorTypes returns the error types of a code with its status: a provider's own 404 and 413 have
// those of the gateway's.
func ErrorTypes(status int, code string) (words [2]string, known bool) {
	switch {
	case code == "upstream_rejected" && status == 404:
		code = "not_found"
	case code == "upstream_rejected" && status == 413:
		code = "request_too_large"
	}
	words, known = errorTypes[code]
	return words, known
}

// IsOpenRouter reports whether a path belongs to the OpenRouter API.
func IsOpenRouter(path string) bool { return strings.Contains(path, "/api/v1/") }

// WantRefusal checks that the answer on path is the refusal: its status, the whole shape of its
// API, and the headers of every answer.
func WantRefusal(t *testing.T, path string, a Answer, status int, code string) {
	t.Helper()
	if a.Status != status || a.Header.Get("Content-Type") != "application/json" || a.Err != nil {
		t.Errorf("%s: status %d (%s, %v), want %d %s: %.300s", path, a.Status, a.Header.Get("Content-Type"), a.Err, status, code, a.Body)
		return
	}
	WantIDs(t, path, a)
	body := Parse(t, a.Body)
	if keys := Keys(body); len(keys) != 1 || keys[0] != "error" {
		t.Errorf("%s: top-level keys %v", path, keys)
	}
	WantErrorObject(t, path, At(body, "error"), status, code)
}

// WantErrorObject checks an error object of the path's API, in a body or an event.
func WantErrorObject(t *testing.T, path string, e any, status int, code string) {
	t.Helper()
	words, known := ErrorTypes(status, code)
	if !known {
		t.Errorf("%s: no such refusal: %s", path, code)
	}
	message, _ := At(e, "message").(string)
	if message == "" {
		t.Errorf("%s: no message in %v", path, e)
	}
	if IsOpenRouter(path) {
		if At(e, "code") != Number(strconv.Itoa(status)) || At(e, "metadata", "error_type") != words[1] {
			t.Errorf("%s: %v, want code %d and error_type %s", path, e, status, words[1])
		}
		return
	}
	if keys := Keys(e); !slices.Equal(keys, []string{"code", "message", "param", "type"}) {
		t.Errorf("%s: keys of the error: %v", path, keys)
	}
	if At(e, "code") != code || At(e, "type") != words[0] {
		t.Errorf("%s: %v, want code %s and type %s", path, e, code, words[0])
	}
	if param := At(e, "param"); param != nil {
		if s, _ := param.(string); s == "" {
			t.Errorf("%s: param %v", path, param)
		}
	}
}

// WantIDs checks the IDs that every answer has.
func WantIDs(t *testing.T, path string, a Answer) {
	t.Helper()
	if id := a.Header.Get("X-Request-Id"); !strings.HasPrefix(id, "req_") || len(id) != 36 {
		t.Errorf("%s: x-request-id %q", path, id)
	}
	if id := a.Header.Get("X-Generation-Id"); IsOpenRouter(path) != strings.HasPrefix(id, "gen-") {
		t.Errorf("%s: X-Generation-Id %q", path, id)
	}
}

// Keys are the names of an object's members, sorted.
func Keys(v any) []string {
	object, _ := v.(map[string]any)
	return slices.Sorted(maps.Keys(object))
}
