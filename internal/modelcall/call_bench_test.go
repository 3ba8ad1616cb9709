package modelcall

import (
	"io"
	"net/http"
	"net/http/httptrace"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/modelcall/wire"
	"github.com/gatehouse-proxy/gatehouse/internal/policy"

	"github.com/gatehouse-proxy/gatehouse/internal/limits"
)

// BenchmarkCall is what limits cost a call, from Begin to Finish, with a provider that answers at once.
// A hard budget of money waits for the store's commit, so its wall time is that of a write to the log.
func BenchmarkCall(b *testing.B) {
	day := limits.Rate{Unit: limits.Requests, Limit: 1 << 40, Window: limits.Day}
	minute := limits.Rate{Unit: limits.Requests, Limit: 1 << 40, Window: 60e9}
	money := limits.Budget{Unit: limits.Money, Limit: 1 << 60, Period: limits.Daily}
	soft := money
	soft.Soft = true
	for _, c := range []struct {
		name    string
		subject limits.Subject
	}{
		{"no limits", limits.Subject{}},
		{"rate a minute", limits.Subject{Rates: []limits.Rate{minute}}},
		{"rates, concurrency", limits.Subject{Rates: []limits.Rate{minute, day}, Concurrency: limits.Concurrency{Limit: 1000}}},
		{"soft budget", limits.Subject{Budgets: []limits.Budget{soft}}},
		{"rate, hard budget", limits.Subject{Rates: []limits.Rate{minute}, Budgets: []limits.Budget{money}}},
	} {
		b.Run(c.name, func(b *testing.B) {
			c.subject.Name = "key:dev"
			r := newRig(b, writing(answering(200, chatAnswerBody)), limited(&policy.KeyLimits{Subjects: []limits.Subject{c.subject}}))
			b.ReportAllocs()
			for b.Loop() {
				if _, refusal := r.serve(b, wire.Chat, hello); refusal != nil {
					b.Fatal(refusal)
				}
			}
		})
	}
}

// writing is a transport that sends the request and says so, as net/http does.
func writing(answer roundTrip) roundTrip {
	return func(r *http.Request) (*http.Response, error) {
		_, _ = io.Copy(io.Discard, r.Body)
		httptrace.ContextClientTrace(r.Context()).WroteRequest(httptrace.WroteRequestInfo{})
		return answer(r)
	}
}

// BenchmarkStream is a streamed chat of 64 events.
func BenchmarkStream(b *testing.B) {
	event := "data: " + string(event("word ")) + "\n\n"
	answer := strings.Repeat(event, 64) + "data: [DONE]\n\n"
	r := newRig(b, eventsOf(answer))
	body := strings.Replace(hello, `"max_tokens"`, `"stream":true,"max_tokens"`, 1)
	b.ReportAllocs()
	for b.Loop() {
		if _, refusal := r.serve(b, wire.Chat, body); refusal != nil {
			b.Fatal(refusal)
		}
	}
}
