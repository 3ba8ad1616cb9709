package chatongemini_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/translatetest"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/chatongemini"
)

// googleError is an error as Google's APIs write it.
func googleError(code int, status, message, details string) string {
	return fmt.Sprintf("{\n  \"error\": {\n    \"code\": %d,\n    \"message\": %q,\n    \"status\": %q,\n    \"details\": [%s]\n  }\n}\n", code, message, status, details)
}

func errorInfo(reason string) string {
	return `{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "` + reason + `", "domain": "googleapis.com"}`
}

func retryInfo(delay string) string {
	return `{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "` + delay + `"}`
}

func quotaFailure(id string) string {
	return `{"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [{"quotaMetric": "m", "quotaId": "` + id + `"}]}`
}

// Each refusal of Google's has its code, as the gateway gives it to callers and to failover.
func TestARefusalHasTheCodeOfItsKind(t *testing.T) {
	const exhausted = "RESOURCE_EXHAUSTED"
	for name, c := range map[string]struct {
		status int
		body   string
		want   apierror.Code
		after  time.Duration
	}{
		"argument":         {400, googleError(400, "INVALID_ARGUMENT", `Invalid JSON payload received. Unknown name "const" at 'tools[0]'`, ""), apierror.UpstreamRejected, 0},
		"key":              {400, googleError(400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key.", ""), apierror.UpstreamAuth, 0},
		"key by reason":    {400, googleError(400, "INVALID_ARGUMENT", "x", errorInfo("API_KEY_INVALID")), apierror.UpstreamAuth, 0},
		"key in an array":  {400, "[" + googleError(400, "INVALID_ARGUMENT", "API key expired. Please renew the API key.", "") + "]", apierror.UpstreamAuth, 0},
		"name of the key":  {400, googleError(400, "INVALID_ARGUMENT", `Unknown name "API_KEY_INVALID": API key not valid`, ""), apierror.UpstreamRejected, 0},
		"country":          {400, googleError(400, "FAILED_PRECONDITION", "User location is not supported for the API use.", ""), apierror.UpstreamAuth, 0},
		"length":           {400, googleError(400, "INVALID_ARGUMENT", "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).", ""), apierror.ContextLengthExceeded, 0},
		"no credential":    {401, googleError(401, "UNAUTHENTICATED", "Request had invalid authentication credentials.", ""), apierror.UpstreamAuth, 0},
		"billing":          {403, googleError(403, "PERMISSION_DENIED", "This API method requires billing", errorInfo("BILLING_DISABLED")), apierror.UpstreamAuth, 0},
		"model":            {404, googleError(404, "NOT_FOUND", "models/x is not found for API version v1beta", ""), apierror.ModelNotFound, 0},
		"payment":          {402, googleError(402, exhausted, "x", ""), apierror.UpstreamQuota, 0},
		"prepayment":       {429, googleError(429, exhausted, "Your prepayment credits are depleted.", ""), apierror.UpstreamQuota, 0},
		"day":              {429, googleError(429, exhausted, "You exceeded your current quota", quotaFailure("GenerateRequestsPerDayPerProjectPerModel-FreeTier")+","+retryInfo("46s")), apierror.UpstreamQuota, 0},
		"no quota":         {429, googleError(429, exhausted, "Quota exceeded for metric: x, limit: 0, model: y", ""), apierror.UpstreamQuota, 0},
		"long pause":       {429, googleError(429, exhausted, "x", retryInfo("301s")), apierror.UpstreamQuota, 0},
		"long pause text":  {429, googleError(429, exhausted, "You exceeded your current quota.\nPlease retry in 10h17m5.7s.", ""), apierror.UpstreamQuota, 0},
		"rate":             {429, googleError(429, exhausted, "x", quotaFailure("GenerateRequestsPerMinutePerProject")+","+retryInfo("34.07s")), apierror.UpstreamRateLimited, 34070 * time.Millisecond},
		"rate in ms":       {429, googleError(429, exhausted, "x", retryInfo("900ms")), apierror.UpstreamRateLimited, 900 * time.Millisecond},
		"rate in text":     {429, googleError(429, exhausted, "Please retry in 46.1s.", ""), apierror.UpstreamRateLimited, 46100 * time.Millisecond},
		"rate, no pause":   {429, googleError(429, exhausted, "Please retry in a while.", retryInfo("-5s")), apierror.UpstreamRateLimited, 0},
		"capacity":         {429, googleError(429, exhausted, "x", errorInfo("MODEL_CAPACITY_EXHAUSTED")), apierror.UpstreamOverloaded, 0},
		"overloaded":       {503, googleError(503, "UNAVAILABLE", "The model is overloaded.", ""), apierror.UpstreamOverloaded, 0},
		"overloaded proxy": {529, "", apierror.UpstreamOverloaded, 0},
		"internal":         {500, googleError(500, "INTERNAL", "An internal error has occurred.", ""), apierror.UpstreamError, 0},
		"deadline":         {504, googleError(504, "DEADLINE_EXCEEDED", "x", ""), apierror.UpstreamError, 0},
		"no JSON":          {502, "<html>", apierror.UpstreamError, 0},
		"odd JSON":         {400, `{"error":["x"]}`, apierror.UpstreamRejected, 0},
	} {
		for _, r := range []translate.Refusal{
			chatongemini.Asked{}.Original().Refusal(c.status, nil, []byte(c.body)), chatongemini.Refusal(c.status, nil, []byte(c.body)),
		} {
			code, after := codeOf(r)
			if code != c.want || after != c.after && code == apierror.UpstreamRateLimited {
				t.Errorf("%s: %s after %s, want %s after %s", name, code, after, c.want, c.after)
			}
		}
	}
}

// codeOf returns what the gateway makes of a refusal.
func codeOf(r translate.Refusal) (apierror.Code, time.Duration) {
	e := openai.Fault(r.Status, r.RetryAfter, openai.ParseProviderError(r.Body), nil, "fake")
	return e.Code, e.RetryAfter
}

// An error that a stream begins with is the same failure as a status would be.
func TestAnErrorInTheStreamHasTheCodeOfItsKind(t *testing.T) {
	for body, want := range map[string]apierror.Code{
		googleError(503, "UNAVAILABLE", "overloaded", ""):                                   apierror.UpstreamOverloaded,
		"[" + googleError(429, "RESOURCE_EXHAUSTED", "x", "") + "\n]":                       apierror.UpstreamRateLimited,
		googleError(429, "RESOURCE_EXHAUSTED", "x", quotaFailure("PerDay")):                 apierror.UpstreamQuota,
		googleError(400, "INVALID_ARGUMENT", "x", errorInfo("API_KEY_INVALID")):             apierror.UpstreamAuth,
		googleError(400, "INVALID_ARGUMENT", "The input token count is too high", ""):       apierror.ContextLengthExceeded,
		googleError(404, "NOT_FOUND", "x", ""):                                              apierror.ModelNotFound,
		googleError(500, "INTERNAL", "x", ""):                                               apierror.UpstreamError,
		`{"error":{"message":"no code"}}`:                                                   apierror.UpstreamError,
		`{"promptFeedback":{"blockReason":"PROHIBITED_CONTENT","blockReasonMessage":"no"}}`: apierror.ProviderContentPolicy,
	} {
		original := chatongemini.Asked{}.Original()
		for _, wire := range []string{body, "data: " + strings.ReplaceAll(body, "\n", " ") + "\r\n\r\n"} {
			out, err := stream(original, wire, false)
			if e := translatetest.MustFail(t, err); e.Code != want {
				t.Errorf("%s: %s in %s", body, e.Code, out)
			}
			whole, err := original.Whole(strings.NewReader(wire), translatetest.NewCall(), nil)
			if err != nil {
				t.Fatal(err)
			}
			_, _, err = openai.ChatResult(nil, whole, translatetest.NewCall())
			if e := translatetest.MustFail(t, err); e.Code != want {
				t.Errorf("whole, %s: %s", body, e.Code)
			}
		}
	}
}

// A request whose signatures are refused is sent once more with signatures that are taken for any.
func TestRefusedSignaturesAreReplaced(t *testing.T) {
	original := chatongemini.Asked{Dummies: func() []byte { return []byte(`{"with":"dummies"}`) }}.Original()
	for message, want := range map[string]string{
		"Corrupted thought signature.":                                        `{"with":"dummies"}`,
		"Thought signature is not valid":                                      `{"with":"dummies"}`,
		"Function call is missing a thought_signature in functionCall parts.": `{"with":"dummies"}`,
		"Unknown name": "",
	} {
		if got := original.Refusal(400, nil, []byte(googleError(400, "INVALID_ARGUMENT", message, ""))).Repeat; string(got) != want {
			t.Errorf("%s: repeated with %q", message, got)
		}
	}
	if got := original.Refusal(429, nil, []byte(googleError(429, "RESOURCE_EXHAUSTED", "thought signature", ""))).Repeat; got != nil {
		t.Errorf("a limit is answered with %q", got)
	}
}
