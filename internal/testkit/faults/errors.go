package faults

import (
	"net/http"
	"strconv"

	"github.com/gatehouse-proxy/gatehouse/internal/testkit/answers"
)

const (
	// SecretText stands in every error text, as providers' texts sometimes hold
	// keys of their own. No client may ever read it.
	SecretText = "sk-fake-4f1c0ffee5ec2e7d0a7b"
	// redirectPrefix is where redirect-307 points to.
	redirectPrefix = "/_redirected"
	// retryAfter is the seconds that 429 and 503 ask for.
	retryAfter = 7
)

// leakyHeaders tell about the account that all tenants of a gateway share.
var leakyHeaders = map[string]string{
	"Set-Cookie":                     "__fake_session=" + SecretText + "; Path=/; HttpOnly",
	"Openai-Organization":            "org-fake-leak",
	"Openai-Processing-Ms":           "42",
	"Openai-Version":                 "2020-10-01",
	"Openai-Project":                 "proj_fake_leak",
	"X-Ratelimit-Limit-Requests":     "10000",
	"X-Ratelimit-Remaining-Requests": "9999",
	"X-Ratelimit-Reset-Requests":     "6ms",
	"X-Ratelimit-Limit-Tokens":       "2000000",
	"X-Ratelimit-Remaining-Tokens":   "1999000",
	"X-Ratelimit-Reset-Tokens":       "6m0s",
	"X-Ratelimit-Limit":              "20",
	"Via":                            "1.1 fake-edge",
	"Server":                         "fake-provider/1.0",
	"Alt-Svc":                        `h3=":443"; ma=86400`,
	"Cf-Ray":                         "fake-leak-OSL",
	"X-Envoy-Upstream-Service-Time":  "41",
	"Strict-Transport-Security":      "max-age=31536000",
	"Access-Control-Allow-Origin":    "*",
	"Www-Authenticate":               `Bearer realm="fake-leak"`,
	"X-Should-Retry":                 "true",
	"X-Powered-By":                   "fake",

	"Anthropic-Organization-Id":              "org-fake-leak",
	"Anthropic-Workspace-Id":                 "wrkspc_fake_leak",
	"Anthropic-Ratelimit-Requests-Remaining": "9999",
	"Anthropic-Ratelimit-Tokens-Reset":       "2026-01-01T00:00:00Z",
	"Anthropic-Priority-Input-Tokens-Limit":  "10000",
	"Anthropic-Fast-Input-Tokens-Limit":      "10000",
}

// complaint is the error text of a provider that repeats what it was given.
func (c *call) complaint() string {
	if key := c.http.Header.Get("X-Api-Key"); key != "" {
		return "The fake provider refuses; it was given x-api-key " + strconv.Quote(key) + " and uses " + SecretText
	}
	return "The fake provider refuses; it was given Authorization " + strconv.Quote(c.http.Header.Get("Authorization")) + " and uses " + SecretText
}

// errorBody is the body of an error. Only that of the Messages API has the id of
// the request.
func errorBody(a api, id string, status int, code, message string) object {
	switch a {
	case openRouter:
		return object{}.With("error", routerError(status, code, message))
	case anthropic:
		return messagesError(id, status, code, message)
	}
	kind := "invalid_request_error"
	switch {
	case code == "insufficient_quota":
		kind = code
	case status == http.StatusTooManyRequests:
		kind = "requests"
		if code == "" {
			code = "rate_limit_exceeded"
		}
	case status >= 500:
		kind = "server_error"
	}
	return answers.ErrorBody(kind, code, "", message)
}

func errorScript(a api, id string, status int, code, message string) script {
	s := whole(status, "application/json", answers.Encode(errorBody(a, id, status, code, message)))
	if status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable {
		s.header.Set("Retry-After", strconv.Itoa(retryAfter))
	}
	return s
}

// fails answers with an error.
func (c *call) fails(status int, code, message string) script {
	return errorScript(c.api, c.id, status, code, message)
}

func statusScript(c *call) script {
	return c.fails(c.mode.status, c.mode.code, c.complaint())
}

func error200Script(c *call) script {
	return whole(http.StatusOK, "application/json", answers.Encode(errorBody(c.api, c.id, 500, "", c.complaint())))
}

func htmlScript(status int) func(*call) script {
	return func(c *call) script {
		return whole(status, "text/html; charset=utf-8", []byte("<!doctype html><title>fake edge</title><h1>"+
			http.StatusText(status)+"</h1><p>"+SecretText+"</p>\n"))
	}
}

// redirectScript sends the caller to another path of this server, where the same
// endpoints answer: the record shows who followed, and with which headers.
func redirectScript(c *call) script {
	target := "http://" + c.http.Host + redirectPrefix + c.http.URL.Path
	s := whole(http.StatusTemporaryRedirect, "text/plain; charset=utf-8", []byte("go to "+target+"\n"))
	s.header.Set("Location", target)
	return s
}

// closesAtOnce closes the connection before the status line.
func closesAtOnce(*call) script {
	return script{header: http.Header{}, end: endAbort, length: -1}
}

// resetsAtOnce resets the connection before the status line.
func resetsAtOnce(*call) script {
	return script{header: http.Header{}, end: endReset, length: -1}
}

// spendCapScript refuses as a provider does for which the account has no money.
func spendCapScript(c *call) script {
	code := "insufficient_quota"
	if c.api == anthropic {
		code = spendLimit
	}
	s := c.fails(http.StatusTooManyRequests, code, c.complaint())
	s.header.Del("Retry-After")
	return s
}

func tooLongScript(c *call) script {
	return c.fails(http.StatusBadRequest, "context_length_exceeded", c.complaint())
}

// azureFilterScript refuses as the content filter in front of Azure's models.
func azureFilterScript(c *call) script {
	o := errorBody(c.api, c.id, http.StatusBadRequest, "content_filter", c.complaint())
	inner := object{}.With("code", "ResponsibleAIPolicyViolation").
		With("content_filter_result", object{}.With("violence", object{}.With("filtered", true).With("severity", "medium")))
	o = member(o, "error", func(e object) object { return e.With("innererror", inner) })
	return whole(http.StatusBadRequest, "application/json", answers.Encode(o))
}

// prefilled reports whether the assistant has the last word.
func prefilled(c *call) bool {
	conversation := c.Conversation()
	return len(conversation) > 0 && conversation[len(conversation)-1].Role == "assistant"
}

// chatError is the error event in the middle of a chat stream. OpenRouter's is
// a whole chunk.
func (c *call) chatError() event {
	if c.api == openAI {
		return event{Data: errorBody(openAI, c.id, http.StatusInternalServerError, "", c.complaint())}
	}
	failed := object{}.With("index", 0).With("delta", object{}.With("content", "")).With("finish_reason", "error").With("logprobs", nil)
	chunk := c.reply.ChatStream(false)[0].Data.With("choices", []object{failed})
	return event{Data: chunk.With("error", routerError(http.StatusBadGateway, "", c.complaint()))}
}

// responseError is how a stream of events fails: by the nested error event that
// OpenAI really sends, or by response.failed.
func (c *call) responseError() event {
	if c.mode.course == courseFailed {
		return event{Name: "response.failed", Data: object{}.With("type", "response.failed").With("response", c.failedResponse())}
	}
	failure := object{}.With("type", "server_error").With("code", "server_error").With("message", c.complaint()).With("param", nil)
	return event{Name: "error", Data: object{}.With("type", "error").With("error", failure)}
}

func (c *call) failedResponse() object {
	failure := object{}.With("code", "server_error").With("message", c.complaint())
	return c.reply.Response("failed").With("error", failure)
}
