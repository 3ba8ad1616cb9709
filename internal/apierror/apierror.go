// Package apierror is the closed set of errors that a caller can see.
//
// Everything a client reads about a failure is a [Code] of this package and a message written by
// the gateway. A package that refuses a call returns an [*Error]. Any other error is the gateway's
// own bug: the client sees "internal", and the error is only logged. One [table] maps codes to the
// HTTP status and to the error types of the APIs, OpenAI's (/v1), OpenRouter's (/api/v1),
// Anthropic's (Messages) and Google's, so that "why is this a 401" has one answer.
package apierror

import (
	"errors"
	"fmt"
	"net/http"
	"time"
)

// Error is one refusal or failure as the caller sees it. The zero value of an optional field means
// "not set".
type Error struct {
	Code    Code
	Message string // shown to the client; never contains a secret or a provider's unredacted text
	Param   string // the request field at fault, as a path ("messages[0].role")

	// Status replaces the table's HTTP status if a provider's own status is kept (400, 404, 413,
	// 422).
	Status int

	// Details say the same as the message for programs, as JSON: error.details of the OpenAI API.
	Details []byte

	// RetryAfter is sent as Retry-After; 0 takes the table's default, and [NoRetryAfter] sends none. The
	// caller adds jitter.
	RetryAfter time.Duration

	// Provider names the provider that failed (metadata.provider_name on /api/v1).
	Provider string

	// LimitSource is the subject whose limit refused ("key:dev"): on /api/v1 metadata.limit_source.
	LimitSource string

	ForRecord

	// Reasons are the classes of a guardrail's matches (metadata.reasons on /api/v1).
	Reasons []string

	// Own is the provider's own wording, for callers who match it. Only the Messages API shows it.
	Own *Wording

	// Rate is the rate that refused, for the headers of a 429.
	Rate *Rate

	// Budget is the budget that refused, for headers; nil: the caller's client does not show it.
	Budget *Budget

	// NoRetry reports that another attempt within the same SDK call cannot help.
	NoRetry bool

	// Allow lists the methods of a 405.
	Allow []string

	// Cause is logged, never shown.
	Cause error
}

// NoRetryAfter is the RetryAfter of an error after which the same request should not come again: that
// cannot help, or does something twice.
const NoRetryAfter time.Duration = -1

// ForRecord is what the record has of an error, and its answer has not.
type ForRecord struct {
	// RefusedBy is the option of the configuration that refused, and its owner: "key dev: rate
	// 10/min".
	RefusedBy string
	// Limit is the time limit that ended an attempt at a provider: connect, first_byte, idle, call.
	Limit string
}

// Wording is type and message of a provider's refusal of a request, redacted.
type Wording struct{ Type, Message string }

// Rate is the state of a rate limit, as shown in headers.
type Rate struct {
	Limit, Remaining int64
	Reset            time.Duration // until everything counted has expired
	Tokens           bool          // counted in tokens, not requests
}

// Budget is the state of a budget, as shown in headers to who spends it.
type Budget struct {
	Used     float64   // the part of it that is spent
	Period   string    // "daily", "weekly", "monthly"; "": it is never reset
	ResetsAt time.Time // zero: never
	Shared   bool      // with other callers
}

// New returns an error of the code with a formatted message.
func New(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// WithParam sets the request field at fault.
func (e *Error) WithParam(param string) *Error { e.Param = param; return e }

// WithCause sets the cause for the log.
func (e *Error) WithCause(err error) *Error { e.Cause = err; return e }

// From returns err as an [*Error]. Any other error becomes "internal", with a message that tells
// the client nothing more.
func From(err error) *Error {
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	return &Error{Code: Internal, Message: "the gateway failed to handle this request", Cause: err}
}

func (e *Error) Error() string {
	if e.Cause != nil {
		return fmt.Sprintf("%s: %s: %v", e.Code, e.Message, e.Cause)
	}
	return fmt.Sprintf("%s: %s", e.Code, e.Message)
}

func (e *Error) Unwrap() error { return e.Cause }

// HTTPStatus is the status of the answer.
func (e *Error) HTTPStatus() int {
	if e.Status != 0 {
		return e.Status
	}
	return e.row().status
}

// Type is `error.type` of the OpenAI API.
func (e *Error) Type() string { return e.row().openaiType }

// OpenRouterType is `error.metadata.error_type` of the OpenRouter API.
func (e *Error) OpenRouterType() string { return e.row().openrouterType }

// AnthropicType is `error.type` of the Messages API.
func (e *Error) AnthropicType() string { return e.row().anthropicType }

// Retry returns how long the client should wait before it tries again, 0 if no Retry-After is sent.
func (e *Error) Retry() time.Duration {
	if e.RetryAfter != 0 {
		return max(e.RetryAfter, 0)
	}
	return e.row().retryAfter
}

// Final reports whether another attempt cannot help (`x-should-retry: false`): the OpenAI SDKs
// otherwise retry 408, 409, 429 and every 5xx, and Claude Code retries a 401 too.
func (e *Error) Final() bool {
	status := e.HTTPStatus()
	return status < 500 && status != http.StatusTooManyRequests || e.NoRetry || e.row().final || e.Retry() > maxUsefulRetry
}

// maxUsefulRetry is the longest wait worth a retry inside an SDK call: above it the OpenAI SDKs
// either ignore the hint or give up (sdk-wire, retries).
const maxUsefulRetry = time.Minute

// keptRows are the rows of a provider's own verdict that is not an invalid request, by its status.
var keptRows = map[int]Code{http.StatusNotFound: NotFound, http.StatusRequestEntityTooLarge: RequestTooLarge}

func (e *Error) row() row {
	code := e.Code
	if e.Budget != nil {
		return shownBudget
	}
	if kept := keptRows[e.Status]; code == UpstreamRejected && kept != "" {
		code = kept
	}
	if r, ok := table[code]; ok {
		return r
	}
	return table[Internal]
}
