package chatonconverse

import (
	"net/http"

	"github.com/gatehouse-proxy/gatehouse/internal/translate"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/aws"
)

// CountRequest returns the request of CountTokens for one of Converse.
func CountRequest(body []byte) []byte {
	out := translate.AppendPicked([]byte(`{"input":{"converse":{`), body, "messages", "system", "toolConfig", "additionalModelRequestFields")
	return append(out, "}}}"...)
}

// CountRefusal is [Original.Refusal] for CountTokens. Bedrock counts for some models only, none by
// the ARN of an application's profile, and asks for a right of its own: all that is a method that
// it does not have.
func CountRefusal(status int, header http.Header, body []byte) translate.Refusal {
	r := aws.Refusal(status, header, body)
	if r.Status == http.StatusNotFound || r.Status == http.StatusForbidden {
		return translate.Refusal{Status: http.StatusMethodNotAllowed}
	}
	return r
}
