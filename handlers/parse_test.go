package handlers

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
)

var noon = time.Date(2026, 3, 18, 12, 0, 0, 0, time.UTC) // a Wednesday

func TestDefaultWaitsAreSpread(t *testing.T) {
	busy := apierror.New(apierror.UpstreamError, "x")
	seen := map[int64]bool{}
	for range 200 {
		s := seconds(busy, busy.Retry())
		if s < 10 || s > 20 {
			t.Fatalf("%d s is not between 10 and 20", s)
		}
		seen[s] = true
	}
	if len(seen) < 5 {
		t.Errorf("only %d different waits in 200", len(seen))
	}
	told := &apierror.Error{Code: apierror.UpstreamRateLimited, RetryAfter: 1500 * time.Millisecond}
	if s := seconds(told, told.Retry()); s != 2 {
		t.Errorf("a provider's 1.5 s became %d", s)
	}
}

func TestClientRequestIDIsOfPrintableASCII(t *testing.T) {
	header := func(pairs ...string) http.Header {
		h := http.Header{}
		for i := 0; i < len(pairs); i += 2 {
			h.Set(pairs[i], pairs[i+1])
		}
		return h
	}
	for _, c := range []struct {
		header http.Header
		want   string
	}{
		{header(), ""},
		{header("X-Client-Request-Id", "mine"), "mine"},
		{header("X-Request-Id", "theirs"), "theirs"},
		{header("X-Client-Request-Id", "mine", "X-Request-Id", "theirs"), "mine"},
		{header("X-Client-Request-Id", "a b"), "a b"},
		{header("X-Client-Request-Id", "a\tb"), ""},
		{header("X-Client-Request-Id", "é"), ""},
		{header("X-Client-Request-Id", "a\x7f"), ""},
		{header("X-Client-Request-Id", strings.Repeat("x", 128)), strings.Repeat("x", 128)},
		{header("X-Client-Request-Id", strings.Repeat("x", 129)), ""},
	} {
		if got := clientRequestID(c.header); got != c.want {
			t.Errorf("%v: %q, want %q", c.header, got, c.want)
		}
	}
}

func TestBearer(t *testing.T) {
	for text, want := range map[string]string{
		"Bearer abc": "abc", "bearer abc": "abc", "BEARER  abc ": "abc", "Basic abc": "", "abc": "", "": "", "Bearer": "", "Bearerabc": "",
	} {
		if got := bearer(http.Header{"Authorization": {text}}); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
