package gateway_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/catalog"
	"github.com/gatehouse-proxy/gatehouse/internal/gateway"
	"github.com/gatehouse-proxy/gatehouse/internal/limits"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/provider"
)

// budgeted is a gateway whose one key has a budget, 1,000 nano-USD a token.
func budgeted(t testing.TB, config gateway.Config, budget string) *rig {
	t.Helper()
	if config.Catalog == nil {
		config.Catalog = priced(t)
	}
	config.Limits.Keys = map[string]*gateway.KeyLimits{"dev": underBudget(budget, t)}
	return newRig(t, config).start(t, t.Context())
}

// spend has the client of a stream leave after what happens, and returns what
// the call was charged. The row says the same as the ledger.
func (r *rig) spend(t testing.TB, serial int, body string, happens func(*gateway.Call)) limits.Balance {
	t.Helper()
	call := r.beginNumbered(t, serial)
	if err := reserve(t, call, body); err != nil {
		t.Fatal(err)
	}
	before := r.balance(t)
	if _, err := call.Send(t.Context(), provider.Chat, [][]byte{[]byte(body)}, true); err != nil {
		t.Fatal(err)
	}
	happens(call)
	call.Fail(apierror.New(apierror.ClientGone, "the client left"))
	call.Finish()
	after := r.balance(t)
	after.Spent -= before.Spent
	if row := r.records(t)[0]; after.Budget.Unit == limits.Money && row.CostNano != after.Spent {
		t.Errorf("the row says %d nano-USD, the ledger %d", row.CostNano, after.Spent)
	}
	return after
}

func (r *rig) balance(t testing.TB) limits.Balance {
	t.Helper()
	b, err := r.Balances(t.Context(), "dev")
	if err != nil || len(b) != 1 {
		t.Fatal(b, err)
	}
	return b[0]
}

// text is an event of a stream in a frame of the usual size.
func text(s string) []byte {
	return []byte(`{"id":"chatcmpl-ABCDEFGHIJKLMNOPQRSTUVWXYZ012","object":"chat.completion.chunk","created":1700000000,` +
		`"model":"gpt-4o-2024-08-06","service_tier":"default","system_fingerprint":"fp_0123456789",` +
		`"choices":[{"index":0,"delta":{"content":"` + s + `"},"logprobs":null,"finish_reason":null}],"usage":null}`)
}

func TestAnAnswerThatToldNoUsageIsChargedByWhatWasSeen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := budgeted(t, gateway.Config{}, "10usd/day")
		body := `{"model":"acme/m","stream":true,"max_tokens":100000,"messages":[{"role":"user","content":"think"}]}`
		prompt := int64(len(body)+2) / 3
		for i, c := range []struct {
			name        string
			happens     func(*gateway.Call)
			least, most int64 // tokens
		}{
			{"nothing, at once", func(*gateway.Call) {}, 0, 0},
			{"nothing, for two minutes", func(*gateway.Call) { time.Sleep(2 * time.Minute) }, 24_000, 24_000},
			{"a token an event", func(c *gateway.Call) {
				for i := range 500 {
					c.Event(nil, text(fmt.Sprintf("w%d", i)))
				}
			}, 500, 700},
			{"all in one event", func(c *gateway.Call) { c.Event(nil, text(strings.Repeat("word ", 8000))) }, 8_000, 14_000},
			{"a few events of the same size", func(c *gateway.Call) {
				for range 50 {
					c.Event(nil, text(strings.Repeat("word ", 100)))
				}
			}, 5_000, 10_000},
			{"usage in the first event only", func(c *gateway.Call) {
				for i := range 5000 {
					c.Event(nil, text(fmt.Sprintf("w%d", i)))
				}
				c.Summarise(openai.Summary{HasUsage: true, Later: 4999, Usage: openai.Usage{Prompt: 10, Total: 10}})
			}, 5_000, 7_000},
			{"usage in the last event", func(c *gateway.Call) {
				c.Event(nil, text("w"))
				c.Summarise(openai.Summary{HasUsage: true, Usage: openai.Usage{Prompt: prompt, Completion: 7}})
			}, 7, 7},
			{"token probabilities", func(c *gateway.Call) {
				for range 50 {
					c.Event(nil, text(strings.Repeat("probable ", 200)))
				}
			}, 50, 50},
			{"more than was reserved", func(c *gateway.Call) { c.Event(nil, text(strings.Repeat("word ", 100_000))) }, 100_000, 100_000},
		} {
			sent := body
			if c.name == "token probabilities" {
				sent = strings.Replace(body, `"stream":true`, `"logprobs":1`, 1)
			}
			tokens := r.spend(t, i+1, sent, c.happens).Spent/1000 - prompt
			if tokens < c.least || tokens > c.most {
				t.Errorf("%s: %d tokens of output, want %d to %d", c.name, tokens, c.least, c.most)
			}
		}
	})
}

// What is heard of a provider between pauses is not all that it did.
func TestPausesOfAStreamAreCharged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		thinks := roundTrip(func(*http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(&pausing{chunks: []string{"role", "thought", "word", "word"}})}, nil
		})
		r := budgeted(t, gateway.Config{Providers: []*provider.Provider{newProvider(t, "acme", true, thinks)}}, "10usd/day")
		body := `{"model":"acme/m","stream":true,"max_tokens":100000,"messages":[]}`
		call := r.begin(t)
		if err := reserve(t, call, body); err != nil {
			t.Fatal(err)
		}
		resp, err := call.Send(t.Context(), provider.Chat, [][]byte{[]byte(body)}, true)
		if err != nil {
			t.Fatal(err)
		}
		buffer := make([]byte, 64)
		for {
			n, err := resp.Body.Read(buffer)
			if err != nil {
				break
			}
			call.Event(nil, text(string(buffer[:n])))
		}
		call.Finish()
		if got := r.balance(t).Spent/1000 - int64(len(body)+2)/3; got < 60*200 || got > 60*200+50 {
			t.Errorf("a minute of thought and four events: %d tokens", got)
		}
	})
}

// pausing gives its chunks half a second apart, and the second after a minute.
type pausing struct {
	chunks []string
	next   int
}

func (p *pausing) Read(b []byte) (int, error) {
	if p.next == len(p.chunks) {
		return 0, io.EOF
	}
	pause := 500 * time.Millisecond
	if p.next == 1 {
		pause = time.Minute
	}
	time.Sleep(pause)
	p.next++
	return copy(b, p.chunks[p.next-1]), nil
}

// Images cost more than their address has bytes.
func TestImagesOfACallThatToldNoUsageAreCharged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const images = 100
		part := `{"type":"image_url","image_url":{"url":"https://x.example/a.png"}}`
		body := `{"model":"acme/m","stream":true,"max_tokens":10,"messages":[{"role":"user","content":[` + part + strings.Repeat(","+part, images-1) + `]}]}`
		for budget, least := range map[string]int64{"10usd/day": images * 50_000, "10usd/day soft": images * 1_000} {
			b := budgeted(t, gateway.Config{}, budget).spend(t, 1, body, func(c *gateway.Call) { c.Event(nil, text("x")) })
			if tokens := b.Spent / 1000; tokens < least || tokens > 2*least {
				t.Errorf("%s: %d tokens, want %d or a little more", budget, tokens, least)
			}
		}
	})
}

// A kind of tokens without a price does not cost nothing.
func TestTokensWithoutAPriceAreChargedAsReserved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		body := `{"model":"acme/m","stream":true,"max_tokens":1000,"messages":[],"modalities":["text","audio"],"audio":{}}`
		b := budgeted(t, gateway.Config{}, "10usd/day soft").spend(t, 1, body, func(c *gateway.Call) {
			c.Summarise(openai.Summary{HasUsage: true, Usage: openai.Usage{Prompt: 100, Completion: 900, AudioOutput: 1}})
		})
		if b.Spent < 1000*1000 {
			t.Errorf("charged %d nano-USD", b.Spent)
		}
	})
}

// What a model cannot give or take need not be reserved.
func TestAReservationIsNoMoreThanTheModelCanUse(t *testing.T) {
	rate, err := catalog.ParseRate("0.000001")
	if err != nil {
		t.Fatal(err)
	}
	price := &catalog.Price{Rates: catalog.Rates{Prompt: catalog.Quoted(rate), Completion: catalog.Quoted(rate)}}
	models := newCatalog(t, []catalog.Model{{Provider: "acme", Name: "m", Price: price, MaxOutput: 4096, ContextLength: 8192}},
		catalog.Source{Provider: "acme", Patterns: []string{"m"}})
	r := budgeted(t, gateway.Config{Catalog: models}, "10usd/day")
	call := r.begin(t)
	defer call.Finish()
	if err := reserve(t, call, `{"model":"acme/m","max_tokens":9000000,"messages":["`+strings.Repeat("word ", 10_000)+`"]}`); err != nil {
		t.Fatal(err)
	}
	if b := r.balance(t); b.Reserved != (4096+8192)*1000 {
		t.Errorf("reserved %d nano-USD", b.Reserved)
	}
	if _, _, n := call.OutputCap(); !call.Capped() || n != 4096 {
		t.Errorf("the provider is told %d, %v", n, call.Capped())
	}
}

func TestWhatWasNeverSentIsNotCharged(t *testing.T) {
	for _, drain := range []time.Duration{0, time.Second} {
		asked := false
		lost := roundTrip(func(r *http.Request) (*http.Response, error) {
			asked = true
			return nil, errors.New("no connection")
		})
		r := budgeted(t, gateway.Config{
			Providers: []*provider.Provider{newProvider(t, "acme", true, lost)}, Limits: gateway.Limits{Drain: drain},
		}, "1M tokens/day")
		gone, leave := context.WithCancel(t.Context())
		leave()
		for i, client := range []context.Context{gone, t.Context()} {
			call := r.beginNumbered(t, i+1)
			if err := reserve(t, call, hello); err != nil {
				t.Fatal(err)
			}
			_, err := call.Send(client, provider.Chat, [][]byte{[]byte(hello)}, false)
			if client == gone && (asked || apierror.From(err).Code != apierror.ClientGone) {
				t.Errorf("the call of a client that has left: asked %v, %v", asked, err)
			}
			call.Fail(apierror.From(err))
			call.Finish()
			if b := r.balance(t); b.Spent != 0 || r.records(t)[0].UsageSource != "none" {
				t.Errorf("%v: charged %d tokens, %s", err, b.Spent, r.records(t)[0].UsageSource)
			}
		}
	}
}

// sending is a transport that has sent the request, as net/http tells it.
func sending(next roundTrip) roundTrip {
	return func(r *http.Request) (*http.Response, error) {
		httptrace.ContextClientTrace(r.Context()).WroteRequest(httptrace.WroteRequestInfo{})
		return next(r)
	}
}
