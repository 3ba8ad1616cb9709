package toolcall

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/trace"
)

// What a server gets of a request's header is a list: what belongs to the protocol, and what its block
// names. A trace is for those that may have it.
func TestAServerGetsWhatItMay(t *testing.T) {
	span := trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace.TraceID{1}, SpanID: trace.SpanID{2}, TraceFlags: trace.FlagsSampled})
	for _, traced := range []bool{false, true} {
		var sent http.Header
		r := newRig(t, roundTrip(func(req *http.Request) (*http.Response, error) {
			sent = req.Header
			return reply(200, asJSON, strings.NewReader(result)), nil
		}), func(r *rig) { r.config.Forward, r.config.TraceContext = []string{"X-Team"}, traced })
		req := post(toolCall("echo"))
		for _, name := range []string{"Cookie", "X-Api-Key", "X-Team", "X-Other", "Traceparent", "Tracestate", "Mcp-Param-Text", "Mcp-Session-Id", "Forwarded"} {
			req.Header.Set(name, "theirs")
		}
		r.serve(req.WithContext(trace.ContextWithSpanContext(req.Context(), span)))
		want := []string{"Accept", "Accept-Encoding", "Authorization", "Content-Type", "Mcp-Method", "Mcp-Name", "Mcp-Param-Text", "Mcp-Protocol-Version", "User-Agent", "X-Team"}
		if traced {
			want = append(want, "Traceparent")
			if sent.Get("Traceparent") != "00-01000000000000000000000000000000-0200000000000000-01" {
				t.Errorf("the trace is %q", sent.Get("Traceparent"))
			}
		}
		slices.Sort(want)
		var got []string
		for name := range sent {
			got = append(got, name)
		}
		if slices.Sort(got); !slices.Equal(got, want) || sent.Get("Authorization") != "Bearer "+credential {
			t.Errorf("sent %v, want %v", got, want)
		}
	}
}
