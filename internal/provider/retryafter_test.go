package provider

import (
	"net/http"
	"testing"
	"time"
)

var noon = time.Date(2026, 3, 18, 12, 0, 0, 0, time.UTC)

func TestRetryAfter(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"": 0, "7": 7 * time.Second, " 7 ": 7 * time.Second, "0.5": 500 * time.Millisecond, "0": 0, "-3": 0, "soon": 0,
		"1e9": 0, "NaN": 0, "Inf": 0,
		"Wed, 18 Mar 2026 12:00:30 GMT": 30 * time.Second,
		"Wed, 18 Mar 2026 11:00:00 GMT": 0,
	} {
		if got := RetryAfter(http.Header{"Retry-After": {text}}, noon); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
	for text, want := range map[string]time.Duration{"1500": 1500 * time.Millisecond, "0": 2 * time.Second, "soon": 2 * time.Second, "-1": 2 * time.Second} {
		if got := RetryAfter(http.Header{"Retry-After": {"2"}, "Retry-After-Ms": {text}}, noon); got != want {
			t.Errorf("%q ms: %s, want %s", text, got, want)
		}
	}
}
