package gateway_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/catalog"
	"github.com/gatehouse-proxy/gatehouse/internal/gateway"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/limits"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/openai/request"
	"github.com/gatehouse-proxy/gatehouse/internal/provider"
)

// BenchmarkCall is what limits cost a call, from Begin to Finish, with a
// provider that answers at once. A hard budget of money waits for the store's
// commit, so its wall time is that of a write to the log.
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
			rate, err := catalog.ParseRate("0.000001")
			if err != nil {
				b.Fatal(err)
			}
			price := &catalog.Price{Rates: catalog.Rates{Prompt: catalog.Quoted(rate), Completion: catalog.Quoted(rate)}}
			models, err := catalog.NewCatalog([]catalog.Model{{Provider: "acme", Name: "m", Price: price}}, []catalog.Source{{Provider: "acme", Patterns: []string{"m"}}})
			if err != nil {
				b.Fatal(err)
			}
			r := newRig(b, gateway.Config{Catalog: models, Limits: gateway.Limits{Keys: map[string]*gateway.KeyLimits{"dev": {Subjects: []limits.Subject{c.subject}}}}}).start(b, b.Context())
			b.ReportAllocs()
			b.ResetTimer()
			serial := 0
			for b.Loop() {
				serial++
				if err := r.oneCall(b, serial); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

const benchBody = `{"model":"acme/m","messages":[{"role":"user","content":"How are you today?"}],"max_tokens":100}`

func (r *rig) oneCall(b *testing.B, serial int) error {
	call := r.beginNumbered(b, serial)
	defer call.Finish()
	req := httptest.NewRequest(http.MethodPost, "/v1/chat/completions", strings.NewReader(benchBody))
	ctx := req.Context()
	if err := call.AdmitCaller(httptest.NewRecorder(), req); err != nil {
		return err
	}
	body, err := call.ReadBody(httptest.NewRecorder(), req)
	if err != nil {
		return err
	}
	var parsed jsonscan.Body
	if err := parsed.Parse(body); err != nil {
		return err
	}
	defer parsed.Release()
	if err := call.Admit(ctx, provider.Chat, "acme/m"); err != nil {
		return err
	}
	if call.NeedsDemand() {
		asked, err := request.ChatLimits(&parsed)
		if err != nil {
			return err
		}
		if err := call.AdmitDemand(ctx, asked, "messages"); err != nil {
			return err
		}
		if err := call.Reserve(ctx, &parsed); err != nil {
			return err
		}
	}
	resp, err := call.Send(ctx, provider.Chat, [][]byte{body}, false)
	if err != nil {
		return err
	}
	call.Summarise(openai.Summary{HasUsage: true, Usage: openai.Usage{Prompt: 10, Completion: 20, Total: 30}})
	call.Succeed(http.StatusOK)
	return resp.Body.Close()
}
