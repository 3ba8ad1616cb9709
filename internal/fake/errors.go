package fake

import (
	"net/http"
	"strconv"
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
}

// complaint is the error text of a provider that repeats what it was given.
func (c *call) complaint() string {
	return "The fake provider refuses; it was given Authorization " + strconv.Quote(c.authorization) + " and uses " + SecretText
}

func errorBody(f family, status int, code, message string) object {
	if f == openRouter {
		return object{{"error", routerError(status, code, message)}}
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
	var word any
	if code != "" {
		word = code
	}
	return object{{"error", object{{"message", message}, {"type", kind}, {"param", nil}, {"code", word}}}}
}

// errorTypes are OpenRouter's words for statuses.
var errorTypes = map[int]string{
	400: "invalid_request", 401: "authentication", 402: "payment_required", 403: "permission_denied",
	404: "not_found", 408: "timeout", 413: "payload_too_large", 422: "unprocessable",
	429: "rate_limit_exceeded", 500: "server", 502: "provider_unavailable", 503: "provider_overloaded",
	504: "timeout", 529: "provider_overloaded",
}

func routerError(status int, code, message string) object {
	word := code
	if word == "" {
		word = errorTypes[status]
	}
	metadata := object{{"provider_name", providerName}, {"raw", message}}
	if word != "" {
		metadata = metadata.with("error_type", word)
	}
	return object{{"code", status}, {"message", message}, {"metadata", metadata}}
}

func errorScript(f family, status int, code, message string) script {
	s := whole(status, "application/json", encode(errorBody(f, status, code, message)))
	if status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable {
		s.header.Set("Retry-After", strconv.Itoa(retryAfter))
	}
	return s
}

func statusScript(c *call) script {
	return errorScript(c.family, c.mode.status, c.mode.code, c.complaint())
}

func error200Script(c *call) script {
	return whole(http.StatusOK, "application/json", encode(errorBody(c.family, 500, "", c.complaint())))
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
	target := "http://" + c.host + redirectPrefix + c.uri
	s := whole(http.StatusTemporaryRedirect, "text/plain; charset=utf-8", []byte("go to "+target+"\n"))
	s.header.Set("Location", target)
	return s
}
