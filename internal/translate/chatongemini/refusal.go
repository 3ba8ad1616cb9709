package chatongemini

import (
	"bytes"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
)

// maxPause is the longest pause that still counts as a rate limit: clients of Google's take a
// longer one as a quota that is used up.
const maxPause = 5 * time.Minute

// googleError is an error as Google's APIs have it, also as the only element of an array:
//
//	{"error": {"code": 429, "message": "…", "status": "RESOURCE_EXHAUSTED", "details": [
//	  {"@type": "…ErrorInfo", "reason": "…"}, {"@type": "…RetryInfo", "retryDelay": "34.07s"},
//	  {"@type": "…QuotaFailure", "violations": [{"quotaId": "…PerDay…"}]}]}}
type googleError struct {
	code    int
	message string
	words   []string // its status, and the reasons and quota ids of its details
	pause   time.Duration
}

// rules say what errors are at OpenAI: a status, 0 for the same, and the type by which the gateway
// knows them. The first that fits holds.
var rules = []struct {
	code int
	is   func(e *googleError) bool // nil for all
	as   int
	typ  string
}{
	{400, begins("API key not valid", "API key expired"), http.StatusUnauthorized, "authentication_error"},
	{400, has("API_KEY_INVALID"), http.StatusUnauthorized, "authentication_error"},
	{400, has("FAILED_PRECONDITION"), http.StatusForbidden, "permission_error"}, // country, billing
	{402, nil, 0, "insufficient_quota"},
	{404, nil, 0, "model_not_found"},
	{429, has("MODEL_CAPACITY_EXHAUSTED"), http.StatusServiceUnavailable, "overloaded_error"},
	{429, usedUp, 0, "insufficient_quota"},
	{429, nil, 0, "rate_limit_error"},
	{503, nil, 0, "overloaded_error"},
	{529, nil, 0, "overloaded_error"},
}

func begins(texts ...string) func(e *googleError) bool {
	return func(e *googleError) bool {
		return slices.ContainsFunc(texts, func(text string) bool { return strings.HasPrefix(e.message, text) })
	}
}

func has(word string) func(e *googleError) bool {
	return func(e *googleError) bool { return slices.Contains(e.words, word) }
}

// usedUp reports whether a limit will not be free again for long.
func usedUp(e *googleError) bool {
	perDay := func(word string) bool { return strings.Contains(word, "PerDay") }
	return e.pause > maxPause || slices.ContainsFunc(e.words, perDay) ||
		strings.Contains(e.message, "limit: 0") || strings.Contains(e.message, "prepayment credits are depleted")
}

var (
	// signatureError is about a signature that is missing, corrupted or not valid.
	signatureError = regexp.MustCompile(`(?i)thought[ _]signature`)

	// pauseInText stands in errors that have no RetryInfo.
	pauseInText = regexp.MustCompile(`lease retry in ([0-9hms.]*[hms])`)
)

// Refusal returns what Google refused as OpenAI would have said it.
func Refusal(status int, _ http.Header, body []byte) translate.Refusal {
	return readError(status, body).refusal()
}

// Refusals is the part of an answer that reads what Google refused.
type Refusals struct{}

// Refusal is [Refusal].
func (Refusals) Refusal(status int, header http.Header, body []byte) translate.Refusal {
	return Refusal(status, header, body)
}

// Refusal returns what the provider refused as OpenAI would have said it. A request whose
// signatures were refused is repeated with those that Google takes for any.
func (o *Original) Refusal(status int, _ http.Header, body []byte) translate.Refusal {
	e := readError(status, body)
	r := e.refusal()
	if e.code == http.StatusBadRequest && o.dummies != nil && signatureError.MatchString(e.message) {
		r.Repeat = o.dummies()
	}
	return r
}

// refusal returns the error in OpenAI's form.
func (e *googleError) refusal() translate.Refusal {
	status, typ := e.code, ""
	for _, r := range rules {
		if r.code == e.code && (r.is == nil || r.is(e)) {
			typ = r.typ
			if r.as != 0 {
				status = r.as
			}
			break
		}
	}
	return translate.Refusal{Status: status, RetryAfter: min(e.pause, maxPause), Body: errorBody(status, typ, e.message)}
}

// readError reads an error. The status is that of the answer, 0 for an error that ends one.
func readError(status int, body []byte) *googleError {
	if body = bytes.TrimSpace(body); bytes.HasPrefix(body, []byte("[")) {
		for span := range jsonscan.AllElements(body) {
			body = span.Value(body)
			break
		}
	}
	object := translate.Member(body, "error")
	e := &googleError{code: status, message: translate.TextOf(object, "message"), words: []string{translate.TextOf(object, "status")}}
	if status == 0 {
		e.code = int(translate.CountOf(object, "code"))
	}
	if e.code < 400 || e.code > 599 {
		e.code = http.StatusInternalServerError
	}
	if found := pauseInText.FindStringSubmatch(e.message); found != nil {
		e.pause = pauseOf(found[1])
	}
	translate.EachObject(translate.Member(object, "details"), func(detail []byte) {
		e.words = append(e.words, translate.TextOf(detail, "reason"))
		if delay := translate.TextOf(detail, "retryDelay"); delay != "" {
			e.pause = pauseOf(delay)
		}
		translate.EachObject(translate.Member(detail, "violations"), func(violation []byte) {
			e.words = append(e.words, translate.TextOf(violation, "quotaId"))
		})
	})
	return e
}

// pauseOf reads a duration such as 34.07s or 10h17m5.7s, 0 for what is none.
func pauseOf(text string) time.Duration {
	pause, _ := time.ParseDuration(text)
	return max(pause, 0)
}
