package openai_test

import (
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
)

func TestRefusalsOfAnthropic(t *testing.T) {
	failed := func(typ, message string) string {
		return `{"type":"error","error":{"type":"` + typ + `","message":"` + message + `"},"request_id":"req_theirs"}`
	}
	for _, row := range []struct {
		status int
		body   string
		code   apierror.Code
		to     int
		own    string // what callers of the Messages API read
	}{
		{400, failed("invalid_request_error", "max_tokens: canary"), apierror.UpstreamRejected, 400, "invalid_request_error: max_tokens: [redacted]"},
		{400, failed("invalid_request_error", "prompt is too long: 5 tokens > 4 maximum"), apierror.ContextLengthExceeded, 400, "invalid_request_error: prompt is too long: 5 tokens > 4 maximum"},
		{400, failed("invalid_request_error", "You have reached your specified API usage limits."), apierror.UpstreamQuota, 502, ""},
		{400, failed("invalid_request_error", "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing."), apierror.UpstreamQuota, 502, ""},
		{400, failed("invalid_request_error", "This organization has been disabled."), apierror.UpstreamAuth, 502, ""},
		{400, `{"error":{"message":"You have reached your specified limit"}}`, apierror.UpstreamRejected, 400, ""}, // another API
		{401, failed("authentication_error", "invalid x-api-key"), apierror.UpstreamAuth, 502, ""},
		{402, failed("billing_error", "x"), apierror.UpstreamQuota, 502, ""},
		{403, failed("permission_error", "x"), apierror.UpstreamAuth, 502, ""},
		{404, failed("not_found_error", "model: m"), apierror.ModelNotFound, 404, "not_found_error: model: m"},
		{413, failed("request_too_large", "x"), apierror.UpstreamRejected, 413, "request_too_large: x"},
		{413, `<html>cloudflare</html>`, apierror.UpstreamRejected, 413, ""},
		{429, failed("rate_limit_error", "x"), apierror.UpstreamRateLimited, 429, ""},
		{429, `{"type":"error","error":{"type":"rate_limit_error","message":"x","details":{"error_code":"enforced_spend_limit_reached"}}}`, apierror.UpstreamQuota, 502, ""},
		{500, failed("api_error", "x"), apierror.UpstreamError, 502, ""},
		{504, failed("timeout_error", "x"), apierror.UpstreamError, 502, ""},
		{529, failed("overloaded_error", "Overloaded"), apierror.UpstreamOverloaded, 503, ""},
	} {
		e := openai.Fault(row.status, 7*time.Second, openai.ParseProviderError([]byte(row.body)), newCall().Redact, "claude")
		own := ""
		if e.Own != nil {
			own = e.Own.Type + ": " + e.Own.Message
		}
		if e.Code != row.code || e.HTTPStatus() != row.to || own != row.own {
			t.Errorf("%d %s: %s %d, %q", row.status, row.body, e.Code, e.HTTPStatus(), own)
		}
		if wait := e.Retry(); (e.Code == apierror.UpstreamRateLimited || e.Code == apierror.UpstreamOverloaded) && wait != 7*time.Second {
			t.Errorf("%d %s: Retry-After %s", row.status, row.body, wait)
		}
	}
}
