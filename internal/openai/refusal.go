package openai

import (
	"cmp"
	"errors"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
)

// maxRetryAfter bounds a provider's Retry-After: no caller waits longer, and a provider's wrong clock
// must not stop callers for a day.
const maxRetryAfter = 10 * time.Minute

// keptCodes are the codes of providers that callers get, as codes of package apierror. Every other
// code becomes upstream_rejected.
var keptCodes = map[string]apierror.Code{
	"context_length_exceeded":     apierror.ContextLengthExceeded,
	"string_above_max_length":     apierror.ContextLengthExceeded,
	"max_tokens_exceeded":         apierror.ContextLengthExceeded,
	"token_limit_exceeded":        apierror.ContextLengthExceeded,
	"exceed_context_size_error":   apierror.ContextLengthExceeded, // llama.cpp
	"invalid_json":                apierror.InvalidJSON,
	"invalid_value":               apierror.InvalidValue,
	"invalid_type":                apierror.InvalidValue,
	"unsupported_value":           apierror.InvalidValue,
	"integer_above_max_value":     apierror.InvalidValue,
	"integer_below_min_value":     apierror.InvalidValue,
	"decimal_above_max_value":     apierror.InvalidValue,
	"decimal_below_min_value":     apierror.InvalidValue,
	"array_above_max_length":      apierror.InvalidValue,
	"invalid_function_parameters": apierror.InvalidValue,
	"missing_required_parameter":  apierror.MissingParameter,
	"unsupported_parameter":       apierror.UnsupportedParameter,
	"unknown_parameter":           apierror.UnsupportedParameter,
	"previous_response_not_found": apierror.PreviousNotFound,
	"model_not_found":             apierror.ModelNotFound,
	"DeploymentNotFound":          apierror.ModelNotFound, // Azure
	"invalid_model":               apierror.ModelNotFound, // Mistral
	"model_not_available":         apierror.ModelNotFound, // Together
}

// Words of providers for the other rows of the table.
var (
	quotaWords = wordSet("insufficient_quota", "credit_balance_exhausted", "billing_hard_limit_reached", "payment_required",
		"billing_error", "enforced_spend_limit_reached") // Anthropic
	policyWords = wordSet("content_policy_violation", "content_filter", "moderation_blocked", "responsible_ai_policy_violation",
		"ResponsibleAIPolicyViolation") // Azure
	rateWords   = wordSet("RateLimitReached", "rate_limit_exceeded", "rate_limit_error", "rate_limit_reached", "slow_down", "requests", "tokens")
	authWords   = wordSet("invalid_api_key", "authentication", "authentication_error", "permission_denied", "permission_error")
	loadWords   = wordSet("overloaded_error") // Anthropic
	callerWords = wordSet("invalid_request_error", "invalid_request", "invalid_prompt", "BadRequestError")
)

func wordSet(words ...string) map[string]bool {
	set := make(map[string]bool, len(words))
	for _, w := range words {
		set[w] = true
	}
	return set
}

// overloaded is the status of a provider with too much to do, Anthropic's first.
const overloaded = 529

// What messages of Anthropic's begin with that have the type invalid_request_error and status 400, and
// that are not about the request but about our account.
const (
	spendLimit = "You have reached your specified"
	noCredit   = "Your credit balance is too low"
	disabled   = "This organization has been disabled"
)

// Fault turns a provider's refusal into the caller's. The caller gets the provider's text, redacted
// and bounded, only if it is about the request. Text about our account or the provider's health goes
// redacted to the log as the cause. With a nil redact no text is sent or logged.
func Fault(status int, retryAfter time.Duration, pe ProviderError, redact func(string) string, provider string) *apierror.Error {
	safe := pe.redacted(redact)
	if retryAfter == 0 {
		retryAfter = saidPause(pe.Message)
	}
	is := func(set map[string]bool) bool { return set[pe.Code] || set[pe.Type] }
	says := func(beginning string) bool { return pe.Anthropic && strings.HasPrefix(pe.Message, beginning) }

	code, kept := apierror.UpstreamError, 0
	var message string
	var own *apierror.Wording
	switch {
	case status == 402 || is(quotaWords) || says(spendLimit) || says(noCredit):
		code, message = apierror.UpstreamQuota, "is out of quota"
	case is(policyWords) && status < 500:
		code = apierror.ProviderContentPolicy
	case status == 401 || status == 403 || says(disabled):
		code, message = apierror.UpstreamAuth, "refused the gateway's credential"
	case is(loadWords) || status == overloaded:
		code, message = apierror.UpstreamOverloaded, "is overloaded"
	case status == 429:
		code, message = apierror.UpstreamRateLimited, "limits the rate of its requests"
	case status == 400 || status == 404 || status == 413 || status == 422:
		code, kept = pe.verdict(), status
		if pe.Anthropic {
			own = &apierror.Wording{Type: safe.Type, Message: safe.Message}
		}
	case status == 500 && pe.verdict() == apierror.ContextLengthExceeded: // older llama.cpp and SGLang
		code, kept = apierror.ContextLengthExceeded, status
	default:
		message = "failed"
	}
	if message == "" {
		if message = "refused the request"; safe.Message != "" {
			message += ": " + safe.Message
		}
	}
	e := apierror.New(code, "provider %q %s", provider, message).WithCause(&safe)
	e.Provider, e.Own = provider, own
	if code != apierror.ContextLengthExceeded && code != apierror.ModelNotFound { // whose status each family's clients know
		e.Status = kept
	}
	switch code {
	case apierror.UpstreamRateLimited, apierror.UpstreamError, apierror.UpstreamOverloaded:
		e.RetryAfter = min(max(retryAfter, 0), maxRetryAfter)
	}
	if kept != 0 || code == apierror.ProviderContentPolicy {
		e.Param = safe.Param
	}
	return e
}

// verdict says what a refusal of the request is about, upstream_rejected for what is not known.
func (e ProviderError) verdict() apierror.Code {
	for _, word := range [...]string{e.Code, e.Type} {
		if code, known := keptCodes[word]; known {
			return code
		}
	}
	return cmp.Or(CodeOfWords(e.Message), apierror.UpstreamRejected)
}

// pauseText is how Azure says its pause, often besides a header of its own.
var pauseText = regexp.MustCompile(`(?i)\bretry after (\d{1,6}) (milli)?seconds?\b`)

// saidPause returns the pause that a message asks for, 0 for none.
func saidPause(message string) time.Duration {
	found := pauseText.FindStringSubmatch(bounded(message))
	if found == nil {
		return 0
	}
	n, _ := strconv.Atoi(found[1]) // six digits
	if found[2] != "" {
		return time.Duration(n) * time.Millisecond
	}
	return time.Duration(n) * time.Second
}

// streamStatus returns the HTTP status that an error inside a stream corresponds to.
func (e ProviderError) streamStatus() int {
	is := func(set map[string]bool) bool { return set[e.Code] || set[e.Type] }
	switch {
	case e.Status != 0:
		return e.Status
	case is(rateWords):
		return 429
	case is(authWords):
		return 401
	case e.Type == "not_found_error": // the following are Anthropic's
		return 404
	case e.Type == "request_too_large":
		return 413
	case is(callerWords) || is(policyWords) || e.verdict() != apierror.UpstreamRejected:
		return 400
	}
	return 500
}

func (e ProviderError) redacted(redact func(string) string) ProviderError {
	if redact == nil {
		redact = func(string) string { return "" }
	}
	// A word may contain a secret, like a text.
	if redact(e.Param) != e.Param {
		e.Param = ""
	}
	if redact(e.Code) != e.Code {
		e.Code = ""
	}
	if redact(e.Type) != e.Type {
		e.Type = ""
	}
	e.Message = bounded(redact(e.Message))
	return e
}

// bounded cuts text to maxProviderText bytes without cutting a rune.
func bounded(text string) string {
	if len(text) <= maxProviderText {
		return text
	}
	return strings.ToValidUTF8(text[:maxProviderText], "")
}

// ProviderCode returns the provider's own code behind an error made by [Fault], redacted, or "".
func ProviderCode(e *apierror.Error) string {
	var pe *ProviderError
	if errors.As(e.Cause, &pe) {
		return pe.Code
	}
	return ""
}
