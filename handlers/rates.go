package handlers

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
//	  x-ratelimit-reset-requests      1s, 6m0s, 12ms          X-RateLimit-Reset      milliseconds since 1970
//	  the same with -tokens
//
// Of several rates the one with the least remaining is told.

// rateHeaders are the canonical names of one kind of rate.
type rateHeaders struct{ limit, remaining, reset string }

var (
	requestHeaders = rateHeaders{"X-Ratelimit-Limit-Requests", "X-Ratelimit-Remaining-Requests", "X-Ratelimit-Reset-Requests"}
	tokenHeaders   = rateHeaders{"X-Ratelimit-Limit-Tokens", "X-Ratelimit-Remaining-Tokens", "X-Ratelimit-Reset-Tokens"}
	plainHeaders   = rateHeaders{"X-Ratelimit-Limit", "X-Ratelimit-Remaining", "X-Ratelimit-Reset"}
)

// showRates puts the call's rates into the headers of the answer.
func (x *exchange) showRates() {
	requests, tokens := x.call.Rates()
	for _, rate := range [...]*apierror.Rate{requests, tokens} {
		if rate != nil {
			x.family.showRate(x.w.Header(), rate)
		}
	}
}

func (openaiFamily) showRate(h http.Header, r *apierror.Rate) {
	names := &requestHeaders
	if r.Tokens {
		names = &tokenHeaders
	}
	names.set(h, r, resetText(r.Reset))
}

func (f openaiFamily) showRefusedRate(h http.Header, r *apierror.Rate, _ time.Time) { f.showRate(h, r) }

// showRate says nothing: this family's answers tell of a rate only when it
// refuses.
func (openrouterFamily) showRate(http.Header, *apierror.Rate) {}

func (openrouterFamily) showRefusedRate(h http.Header, r *apierror.Rate, now time.Time) {
	plainHeaders.set(h, r, strconv.FormatInt(now.Add(r.Reset).UnixMilli(), 10))
}

func (n *rateHeaders) set(h http.Header, r *apierror.Rate, reset string) {
	h[n.limit] = []string{strconv.FormatInt(r.Limit, 10)}
	h[n.remaining] = []string{strconv.FormatInt(r.Remaining, 10)}
	h[n.reset] = []string{reset}
}

// resetText writes a duration as the first family does: milliseconds below a
// second, else whole seconds, rounded up.
func resetText(d time.Duration) string {
	if d < time.Second {
		return strconv.FormatInt(milliseconds(d), 10) + "ms"
	}
	return (d + time.Second - 1).Truncate(time.Second).String()
}

// milliseconds rounds up.
func milliseconds(d time.Duration) int64 {
	return int64((d + time.Millisecond - 1) / time.Millisecond)
}
