package aws_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/aws"
)

func TestErrorsOfBedrockBecomeTheGateways(t *testing.T) {
	for _, c := range []struct {
		status     int
		name, body string
		want       string
	}{
		{400, "ValidationException", `{"message":"malformed"}`, "upstream_rejected"},
		{400, "ValidationException:http://x/", `{"message":"Input is too long for requested model."}`, "context_length_exceeded"},
		{400, "ValidationException", `{"message":"The provided model identifier is invalid."}`, "model_not_found"},
		{400, "", `{"__type":"com.amazon.coral.service#ValidationException","Message":"Invocation of model ID x with on-demand throughput isn’t supported."}`, "model_not_found"},
		{403, "AccessDeniedException", `{"Message":"no access"}`, "upstream_auth_error"},
		{403, "ExpiredTokenException", `{"message":"expired"}`, "upstream_auth_error"},
		{400, "ExpiredTokenException", `{"message":"expired"}`, "upstream_auth_error"},
		{404, "ResourceNotFoundException", `{"message":"gone"}`, "model_not_found"},
		{429, "ThrottlingException", `{"message":"slow"}`, "upstream_rate_limited"},
		{429, "ThrottlingException", `{"message":"Too many tokens per day, please wait"}`, "upstream_quota_exhausted"},
		{400, "ServiceQuotaExceededException", `{"message":"quota"}`, "upstream_quota_exhausted"},
		{429, "ModelNotReadyException", `{"message":"starting"}`, "upstream_overloaded"},
		{408, "ModelTimeoutException", `{"message":"slow"}`, "upstream_error"},
		{424, "ModelErrorException", `{"message":"oops"}`, "upstream_error"},
		{500, "InternalServerException", `{"message":"oops"}`, "upstream_error"},
		{503, "ServiceUnavailableException", `{"message":"oops"}`, "upstream_overloaded"},
		{424, "NewException", `<html>`, "upstream_error"},
		{418, "NewException", ``, "upstream_error"},
	} {
		r := aws.Refusal(c.status, http.Header{"X-Amzn-Errortype": {c.name}}, []byte(c.body))
		fault := openai.Fault(r.Status, r.RetryAfter, openai.ParseProviderError(r.Body), strings.Clone, "b")
		if string(fault.Code) != c.want || r.Status == http.StatusRequestTimeout || r.Status == http.StatusFailedDependency {
			t.Errorf("%d %s %s: %d %s, want %s", c.status, c.name, c.body, r.Status, fault.Code, c.want)
		}
		in := aws.FailureOf(strings.ToLower(c.name[:min(1, len(c.name))])+c.name[min(1, len(c.name)):], 0, []byte(c.body))
		if c.name != "" && !strings.Contains(c.name, ":") && in.Status < 400 {
			t.Errorf("%s within a stream: %d", c.name, in.Status)
		}
	}
}
