package aws

import (
	"net/http"
	"strings"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
)

// Failure is an error of Bedrock in the words of OpenAI.
type Failure struct {
	Status  int
	Type    string
	Message string
}

// failures say what the errors are at OpenAI, by their names without "Exception" in lower case. 408
// and 424 are about the model behind Bedrock: a caller would take them for its own.
var failures = map[string]Failure{
	"validation":                 {Status: http.StatusBadRequest, Type: "invalid_request_error"},
	"accessdenied":               {Status: http.StatusForbidden, Type: "permission_error"},
	"unrecognizedclient":         {Status: http.StatusForbidden, Type: "permission_error"},
	"expiredtoken":               {Status: http.StatusUnauthorized, Type: "authentication_error"},
	"invalidsignature":           {Status: http.StatusUnauthorized, Type: "authentication_error"},
	"incompletesignature":        {Status: http.StatusUnauthorized, Type: "authentication_error"},
	"missingauthenticationtoken": {Status: http.StatusUnauthorized, Type: "authentication_error"},
	"resourcenotfound":           {Status: http.StatusNotFound, Type: "model_not_found"},
	"throttling":                 {Status: http.StatusTooManyRequests, Type: "rate_limit_error"},
	"toomanyrequests":            {Status: http.StatusTooManyRequests, Type: "rate_limit_error"},
	"servicequotaexceeded":       {Status: http.StatusPaymentRequired, Type: "insufficient_quota"},
	"modelnotready":              {Status: http.StatusServiceUnavailable, Type: "overloaded_error"},
	"serviceunavailable":         {Status: http.StatusServiceUnavailable, Type: "overloaded_error"},
	"modeltimeout":               {Status: http.StatusGatewayTimeout},
	"modelerror":                 {Status: http.StatusInternalServerError},
	"modelstreamerror":           {Status: http.StatusInternalServerError},
	"internalserver":             {Status: http.StatusInternalServerError},
}

// texts are what messages have that say more than the name. What all vendors say of a prompt that
// is too long and of an unknown model stands in package openai.
var texts = []struct {
	name, text string
	is         Failure
}{
	{"validation", "counting tokens", Failure{Status: 404, Type: "model_not_found"}},
	{"throttling", "Too many tokens per day", Failure{Status: 429, Type: "insufficient_quota"}},
}

// FailureOf returns an error by its name and its body. The status is that of the answer, 0 within a
// stream.
func FailureOf(name string, status int, body []byte) Failure {
	name = strings.TrimSuffix(strings.ToLower(name), "exception")
	message := translate.TextOf(body, "message")
	if message == "" {
		message = translate.TextOf(body, "Message")
	}
	f, known := failures[name]
	if !known {
		f.Status = status
		if status < 400 || status == http.StatusRequestTimeout || status == http.StatusFailedDependency {
			f.Status = http.StatusInternalServerError
		}
	}
	for _, t := range texts {
		if t.name == name && strings.Contains(message, t.text) {
			f = t.is
			break
		}
	}
	if f.Status == http.StatusBadRequest && openai.CodeOfWords(message) == apierror.ModelNotFound {
		f = Failure{Status: http.StatusNotFound, Type: "model_not_found"}
	}
	f.Message = message
	return f
}

// Body returns the failure in OpenAI's form. Within a stream there is no other place for the
// status.
func (f Failure) Body() []byte {
	out := jsonscan.AppendString([]byte(`{"error":{"message":`), f.Message)
	if f.Type != "" {
		out = translate.AppendTextMember(out, "type", []byte(f.Type))
	}
	return append(translate.AppendIntMember(out, "code", int64(f.Status)), "}}"...)
}

// Refusal returns what Bedrock refused as OpenAI would have said it. The name of an error stands in
// the header, or in the body.
func Refusal(status int, header http.Header, body []byte) translate.Refusal {
	name, _, _ := strings.Cut(header.Get("X-Amzn-Errortype"), ":")
	if name == "" {
		typ := translate.TextOf(body, "__type")
		name = typ[strings.LastIndexByte(typ, '#')+1:]
	}
	f := FailureOf(name, status, body)
	return translate.Refusal{Status: f.Status, Body: f.Body()}
}
