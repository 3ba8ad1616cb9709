package provider

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// RetryAfter reads Retry-After, in seconds or as a date (RFC 9110, 10.2.3), or the more exact field that
// OpenAI and Azure send too.
func RetryAfter(h http.Header, now time.Time) time.Duration {
	if ms, err := strconv.ParseFloat(strings.TrimSpace(h.Get("Retry-After-Ms")), 64); err == nil && ms > 0 && ms < 1e9 {
		return time.Duration(ms * float64(time.Millisecond))
	}
	text := strings.TrimSpace(h.Get("Retry-After"))
	if text == "" {
		return 0
	}
	if s, err := strconv.ParseFloat(text, 64); err == nil && s > 0 && s < 1e6 {
		return time.Duration(s * float64(time.Second))
	}
	if t, err := http.ParseTime(text); err == nil {
		return max(t.Sub(now), 0)
	}
	return 0
}
