package openai_test

import (
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
)

func TestTheTableOfProviderRefusals(t *testing.T) {
	for _, row := range []struct {
		status int
		body   string
		code   apierror.Code
		to     int
	}{
		{401, `{"error":{"message":"x","code":"invalid_api_key"}}`, apierror.UpstreamAuth, 502},
		{403, `{"error":{"message":"x"}}`, apierror.UpstreamAuth, 502},
		{403, `{"error":{"code":403,"message":"flagged","metadata":{"error_type":"content_policy_violation"}}}`, apierror.ProviderContentPolicy, 422},
		{403, `{"error":{"code":403,"message":"flagged","metadata":{"reasons":["violence"],"flagged_input":"x"}}}`, apierror.ProviderContentPolicy, 422},
		{400, `{"error":{"message":"x","code":"content_policy_violation"}}`, apierror.ProviderContentPolicy, 422},
		{402, `no credit`, apierror.UpstreamQuota, 502},
		{429, `{"error":{"type":"insufficient_quota","message":"x"}}`, apierror.UpstreamQuota, 502},
		{429, `<html>`, apierror.UpstreamRateLimited, 429},
		{400, `{"error":{"message":"x","code":"context_length_exceeded"}}`, apierror.ContextLengthExceeded, 400},
		{400, `{"error":{"code":400,"message":"x","metadata":{"error_type":"context_length_exceeded"}}}`, apierror.ContextLengthExceeded, 400},
		{400, `{"error":{"message":"x","code":"unknown_parameter","param":"foo"}}`, apierror.UnsupportedParameter, 400},
		{400, `{"error":{"message":"x","code":"something_new"}}`, apierror.UpstreamRejected, 400},
		{404, `{"error":{"message":"x","code":"model_not_found"}}`, apierror.ModelNotFound, 404},
		{404, `404 page not found`, apierror.UpstreamRejected, 404},
		{413, ``, apierror.UpstreamRejected, 413},
		{422, `{"detail":[]}`, apierror.UpstreamRejected, 422},
		{408, ``, apierror.UpstreamError, 502},
		{409, ``, apierror.UpstreamError, 502},
		{307, ``, apierror.UpstreamError, 502},
		// Azure
		{400, `{"error":{"message":"filtered","type":null,"param":"prompt","code":"content_filter","status":400,"innererror":{"code":"ResponsibleAIPolicyViolation","content_filter_result":{"hate":{"filtered":true}}}}}`, apierror.ProviderContentPolicy, 422},
		{400, `{"error":{"message":"filtered","innererror":{"code":"ResponsibleAIPolicyViolation"},"code":null}}`, apierror.ProviderContentPolicy, 422},
		{404, `{"error":{"code":"DeploymentNotFound","message":"The API deployment for this resource does not exist."}}`, apierror.ModelNotFound, 404},
		{401, `{"error":{"code":"401","message":"Access denied due to invalid subscription key."}}`, apierror.UpstreamAuth, 502},
		{401, `{"error":{"code":"PermissionDenied","message":"The principal lacks the required data action"}}`, apierror.UpstreamAuth, 502},
		{429, `{"error":{"code":"429","message":"Requests have exceeded token rate limit. Please retry after 9 seconds."}}`, apierror.UpstreamRateLimited, 429},
		{500, `{"error":{"message":"x","code":"content_filter"}}`, apierror.UpstreamError, 502},
		{529, ``, apierror.UpstreamOverloaded, 503},
	} {
		e := openai.Fault(row.status, 0, openai.ParseProviderError([]byte(row.body)), newCall().Redact, "fake")
		if e.Code != row.code || e.HTTPStatus() != row.to || e.Provider != "fake" {
			t.Errorf("%d %s: %s %d", row.status, row.body, e.Code, e.HTTPStatus())
		}
	}
}

func TestProviderTextIsRedactedBoundedAndOnlyItsJudgement(t *testing.T) {
	long := strings.Repeat("é", 1000)
	pe := openai.ProviderError{Message: "key canary " + long, Code: "canary", Type: "canary", Param: "messages"}
	e := openai.Fault(400, 0, pe, newCall().Redact, "fake")
	if strings.Contains(e.Error(), "canary") || !strings.Contains(e.Message, "key [redacted] é") || len(e.Message) > 1200 || e.Param != "messages" {
		t.Fatalf("%v", e)
	}
	if openai.ProviderCode(e) != "" {
		t.Fatal("a code that holds a secret is shown")
	}
	for _, status := range []int{401, 402, 429, 500} {
		e := openai.Fault(status, 0, openai.ProviderError{Message: "our account acme"}, newCall().Redact, "fake")
		if strings.Contains(e.Message, "acme") || !strings.Contains(e.Error(), "acme") {
			t.Errorf("%d: shown %q, logged %q", status, e.Message, e.Error())
		}
	}
	e = openai.Fault(400, 0, openai.ProviderError{Message: "text", Code: "unknown_parameter"}, nil, "fake")
	if strings.Contains(e.Error(), "text") || e.Code != apierror.UnsupportedParameter {
		t.Fatalf("without a redactor: %v", e)
	}
}

func TestRetryAfterIsKeptAndCapped(t *testing.T) {
	for in, want := range map[time.Duration]time.Duration{0: time.Second, 7 * time.Second: 7 * time.Second, time.Hour: 10 * time.Minute, -5: time.Second} {
		if got := openai.Fault(429, in, openai.ProviderError{}, nil, "fake").Retry(); got != want {
			t.Errorf("%v: %v", in, got)
		}
	}
	for message, want := range map[string]time.Duration{
		"exceeded token rate limit of your pricing tier. Please retry after 9 seconds. Contact us": 9 * time.Second,
		"Please retry after 1 second.": time.Second, "retry after 1500 milliseconds": 1500 * time.Millisecond,
		"retry after 1234567 seconds": 0, "retry after a while": 0,
	} {
		if got := openai.Fault(429, 0, openai.ProviderError{Message: message}, nil, "fake").RetryAfter; got != want {
			t.Errorf("%q: %v", message, got)
		}
		if got := openai.Fault(429, 3*time.Second, openai.ProviderError{Message: message}, nil, "fake").RetryAfter; got != 3*time.Second {
			t.Errorf("%q with a header: %v", message, got)
		}
	}
	if got := openai.Fault(401, time.Hour, openai.ProviderError{}, nil, "fake").Retry(); got != time.Minute {
		t.Errorf("credential: %v", got)
	}
}

func TestProviderErrorShapes(t *testing.T) {
	for in, want := range map[string]openai.ProviderError{
		`{"error":{"message":"m","type":"t","param":"p","code":"c"}}`:          {Message: "m", Type: "t", Param: "p", Code: "c"},
		` [{"error":{"code":400,"message":"m","status":"INVALID_ARGUMENT"}}] `: {Message: "m", Status: 400},
		`{"error":"m"}`:                                                        {Message: "m"},
		`{"error":{"code":"429","message":"m"}}`:                               {Message: "m", Status: 429},
		`{"error":{"code":"12","message":"m"}}`:                                {Message: "m"},
		`{"object":"error","message":"m","type":"BadRequestError","code":400}`: {Message: "m", Type: "BadRequestError", Status: 400},
		`{"error":{"code":429,"message":"m","metadata":{"error_type":"rate_limit_exceeded","provider_code":"pc"}}}`: {Message: "m", Type: "rate_limit_exceeded", Code: "pc", Status: 429},
		`{"error":{"message":5,"type":null,"code":12,"param":["x"]}}`:                                               {},
		`{"error":{"code":"` + strings.Repeat("x", 200) + `"}}`:                                                     {},
		`plain canary`: {}, `<html></html>`: {}, ``: {}, `[]`: {}, `null`: {},
	} {
		if got := openai.ParseProviderError([]byte(in)); got != want {
			t.Errorf("%s: %+v", in, got)
		}
	}
}

func TestErrorBodiesAlwaysHaveFourKeys(t *testing.T) {
	e := apierror.New(apierror.ModelNotFound, "no model %q", "a/b")
	same(t, string(openai.AppendError(nil, e)), `{"error":{"message":"no model \"a/b\"","type":"invalid_request_error","param":null,"code":"model_not_found"}}`)
	same(t, strings.TrimSuffix(strings.TrimPrefix(string(openai.AppendStreamError(nil, e.WithParam("model"))), "data: "), "\n\n"),
		`{"error":{"message":"no model \"a/b\"","type":"invalid_request_error","param":"model","code":"model_not_found"}}`)
}

func TestModelList(t *testing.T) {
	got := openai.AppendModelList(nil, []openai.Model{{ID: "a/b", Created: 17, OwnedBy: "a"}, {ID: "a/c:\"free\"", OwnedBy: "a", ContextLength: 8192}})
	same(t, string(got), `{"object":"list","data":[{"id":"a/b","object":"model","created":17,"owned_by":"a"},{"id":"a/c:\"free\"","object":"model","created":0,"owned_by":"a","context_length":8192}]}`)
	same(t, string(openai.AppendModelList(nil, nil)), `{"object":"list","data":[]}`)
}
