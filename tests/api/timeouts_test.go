package api

import (
	"net"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

// A provider that accepts connections and then says nothing, not even in the TLS handshake.
func TestConnectionsAndAnswersHaveTheirOwnTimeLimits(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = silent.Close() }()
	block := func(scheme, timeouts string) string {
		return "provider " + scheme + " {\nbase_url " + scheme + "://" + silent.Addr().String() + "/v1\nmodels m slow-m\n" + timeouts + "\n}\n"
	}
	h := harness.Start(t, harness.Setup{Providers: block("https", "timeouts {\nconnect 50ms\n}") +
		block("http", "timeouts {\nfirst_byte 30ms\nwhole 60ms\n}\ntimeouts slow-* {\nwhole 120ms\n}")})
	for _, c := range []struct {
		model, fields, text string
		least               time.Duration
	}{
		{"https/m", "", "could not be reached in time", 50 * time.Millisecond},
		{"http/m", `,"stream":true`, "did not answer within", 30 * time.Millisecond},
		{"http/m", "", "did not answer within", 60 * time.Millisecond},
		{"http/slow-m", "", "did not answer within", 120 * time.Millisecond},
	} {
		began := time.Now()
		a := h.Client.Post(harness.ChatV1, "full", harness.Chat(c.model, c.fields))
		if harness.WantRefusal(t, c.model, a, 502, "upstream_timeout"); !strings.Contains(string(a.Body), c.text) || time.Since(began) < c.least {
			t.Errorf("%s %s: after %s %s, want %q after %s", c.model, c.fields, time.Since(began), a.Body, c.text, c.least)
		}
	}
}
