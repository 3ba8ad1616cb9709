package api

import (
	"net/http"
	"strconv"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
)

// The rate-limit headers of the families:
//
//	/v1, on every answer to a model call under a rate       /api/v1, on a 429 of a rate
//	  x-ratelimit-limit-requests      60                      X-RateLimit-Limit      60
//	  x-ratelimit-remaining-requests  59                      X-RateLimit-Remaining  0
//	  x-ratelimit-reset-requests      1.017s, 6m0s, 12ms      X-RateLimit-Reset      Unix milliseconds
//	  the same with -tokens
//
//	Messages, on every answer to a model call under a rate
//	  anthropic-ratelimit-requests-limit      60
//	  anthropic-ratelimit-requests-remaining  59
//	  anthropic-ratelimit-requests-reset      2026-03-18T12:00:01Z
//	  the same with tokens
//
// Of several rates the one with the least remaining is shown.

// rateHeaders are the canonical names of one kind of rate.
type rateHeaders struct{ limit, remaining, reset string }

var (
	requestHeaders = rateHeaders{"X-Ratelimit-Limit-Requests", "X-Ratelimit-Remaining-Requests", "X-Ratelimit-Reset-Requests"}
	tokenHeaders   = rateHeaders{"X-Ratelimit-Limit-Tokens", "X-Ratelimit-Remaining-Tokens", "X-Ratelimit-Reset-Tokens"}
	plainHeaders   = rateHeaders{"X-Ratelimit-Limit", "X-Ratelimit-Remaining", "X-Ratelimit-Reset"}

	anthropicRequests = rateHeaders{"Anthropic-Ratelimit-Requests-Limit", "Anthropic-Ratelimit-Requests-Remaining", "Anthropic-Ratelimit-Requests-Reset"}
	anthropicTokens   = rateHeaders{"Anthropic-Ratelimit-Tokens-Limit", "Anthropic-Ratelimit-Tokens-Remaining", "Anthropic-Ratelimit-Tokens-Reset"}
)

// ShowRate implements [wire.API].
func (OpenAI) ShowRate(h http.Header, r *apierror.Rate, _ time.Time) {
	names := &requestHeaders
	if r.Tokens {
		names = &tokenHeaders
	}
	names.set(h, r, resetText(r.Reset))
}

// ShowRefusal implements [API].
func (a OpenAI) ShowRefusal(h http.Header, e *apierror.Error, now time.Time) {
	if e.Rate != nil {
		a.ShowRate(h, e.Rate, now)
	}
}

// ShowRate implements [wire.API]. The family shows a rate only if it refuses.
func (OpenRouter) ShowRate(http.Header, *apierror.Rate, time.Time) {}

// ShowRefusal implements [API].
func (OpenRouter) ShowRefusal(h http.Header, e *apierror.Error, now time.Time) {
	if r := e.Rate; r != nil {
		plainHeaders.set(h, r, strconv.FormatInt(now.Add(r.Reset).UnixMilli(), 10))
	}
}

func (n *rateHeaders) set(h http.Header, r *apierror.Rate, reset string) {
	values := []string{strconv.FormatInt(r.Limit, 10), strconv.FormatInt(r.Remaining, 10), reset} // in one piece
	h[n.limit], h[n.remaining], h[n.reset] = values[:1:1], values[1:2:2], values[2:]
}

// resetText writes a duration as OpenAI does, rounded up to milliseconds: "12ms", "1.017s", "6m0s".
func resetText(d time.Duration) string {
	return (time.Duration(Milliseconds(d)) * time.Millisecond).String()
}

// Milliseconds returns the duration in milliseconds, rounded up.
func Milliseconds(d time.Duration) int64 {
	return int64((d + time.Millisecond - 1) / time.Millisecond)
}
