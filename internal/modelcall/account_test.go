package modelcall

import (
	"bytes"
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
	"github.com/gatehouse-proxy/gatehouse/internal/limits"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/request"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/jsontest"
	"github.com/gatehouse-proxy/gatehouse/internal/units"
)

// spend has the client of a call leave after what happens, and returns what the call was charged. The
// record says the same as the ledger.
func (r *rig) spend(t testing.TB, body string, happens func(*call)) limits.Balance {
	t.Helper()
	c := r.begin(t, body)
	if err := c.admit(t.Context()); err != nil {
		t.Fatal(err)
	}
	before := r.balance(t)
	if _, err := c.send(t.Context()); err != nil {
		t.Fatal(err)
	}
	happens(c)
	c.req.Outcome.Fail(request.ClientGone(nil))
	c.req.Finish()
	after := r.balance(t)
	after.Spent -= before.Spent
	if row := r.rows(t)[0]; after.Budget.Unit == limits.Money && row.CostNano != after.Spent {
		t.Errorf("the record says %d nano-USD, the ledger %d", row.CostNano, after.Spent)
	}
	return after
}

// event is an event of a stream in a frame of the usual size.
func event(s string) []byte {
	return []byte(`{"id":"chatcmpl-ABCDEFGHIJKLMNOPQRSTUVWXYZ012","object":"chat.completion.chunk","created":1700000000,` +
		`"model":"gpt-4o-2024-08-06","service_tier":"default","system_fingerprint":"fp_0123456789",` +
		`"choices":[{"index":0,"delta":{"content":"` + s + `"},"logprobs":null,"finish_reason":null}],"usage":null}`)
}

func chunk(s string) *openai.Event { return openai.NewEvent(nil, event(s)) }

func TestAnAnswerThatToldNoUsageIsChargedByWhatWasSeen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, answering(200, `{}`), limited(budget(t, "10usd/day")))
		body := `{"model":"acme/m","stream":true,"max_tokens":100000,"messages":[{"role":"user","content":"think"}]}`
		prompt := int64(len(body)+2) / 3
		for _, c := range []struct {
			name        string
			happens     func(*call)
			least, most int64 // tokens
		}{
			{"nothing, at once", func(*call) {}, 0, 0},
			{"nothing, for two minutes", func(*call) { time.Sleep(2 * time.Minute) }, 24_000, 24_000},
			{"a token an event", func(c *call) {
				for i := range 500 {
					meterOf(c).event(chunk(fmt.Sprintf("w%d", i)))
				}
			}, 500, 700},
			{"all in one event", func(c *call) { meterOf(c).event(chunk(strings.Repeat("word ", 6000))) }, 10_000, 10_000},
			{"a few events of the same size", func(c *call) {
				for range 50 {
					meterOf(c).event(chunk(strings.Repeat("word ", 100)))
				}
			}, 5_000, 10_000},
			{"usage in the first event only", func(c *call) {
				for i := range 5000 {
					meterOf(c).event(chunk(fmt.Sprintf("w%d", i)))
				}
				attemptOf(c).summarize(openai.Summary{HasUsage: true, Later: 4999, Usage: openai.Usage{Prompt: 10, Total: 10}})
			}, 7_900, 8_000},
			{"usage in the last event", func(c *call) {
				meterOf(c).event(chunk("w"))
				attemptOf(c).summarize(openai.Summary{HasUsage: true, Usage: openai.Usage{Prompt: prompt, Completion: 7}})
			}, 7, 7},
			{"one event, no longer than a frame", func(c *call) { meterOf(c).event(chunk(strings.Repeat("word ", 24))) }, 40, 40},
			{"two events, one with all of the text", func(c *call) {
				meterOf(c).event(chunk(""))
				meterOf(c).event(chunk(strings.Repeat("word ", 60)))
			}, 100, 100},
			{"the same thoughts under two names", func(c *call) {
				meterOf(c).event(openai.NewEvent(nil, []byte(`{"choices":[{"delta":{"reasoning":"`+strings.Repeat("hm ", 100)+`","reasoning_content":"`+strings.Repeat("hm ", 100)+`"}}]}`)))
			}, 100, 100},
			{"arguments", func(c *call) {
				meterOf(c).event(openai.NewEvent(nil, []byte(`{"candidates":[{"content":{"parts":[{"functionCall":{"name":"f","args":{"a":"`+strings.Repeat("x", 292)+`"}}}]}}]}`)))
			}, 100, 100},
			{"token probabilities", func(c *call) {
				for range 50 {
					meterOf(c).event(openai.NewEvent(nil, []byte(`{"choices":[{"delta":{"content":"w"},"logprobs":{"content":[`+strings.Repeat(`{"token":"probable","logprob":-1,"bytes":[1,2,3]},`, 20)+`{}]}}]}`)))
				}
			}, 50, 50},
			{"more than was reserved", func(c *call) { meterOf(c).event(chunk(strings.Repeat("word ", 100_000))) }, 100_000, 100_000},
		} {
			tokens := r.spend(t, body, c.happens).Spent/1000 - prompt
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
		r := newRig(t, thinks, limited(budget(t, "10usd/day")))
		body := `{"model":"acme/m","stream":true,"max_tokens":100000,"messages":[]}`
		call := r.begin(t, body)
		if err := call.admit(t.Context()); err != nil {
			t.Fatal(err)
		}
		resp, err := call.send(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		buffer := make([]byte, 64)
		for {
			n, err := resp.Body.Read(buffer)
			if err != nil {
				break
			}
			meterOf(call).event(chunk(string(buffer[:n])))
		}
		call.req.Finish()
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
		for text, least := range map[string]int64{"10usd/day": images * 50_000, "10usd/day soft": images * 1_000} {
			b := newRig(t, answering(200, `{}`), limited(budget(t, text))).spend(t, body, func(c *call) { meterOf(c).event(chunk("x")) })
			if tokens := b.Spent / 1000; tokens < least || tokens > 2*least {
				t.Errorf("%s: %d tokens, want %d or a little more", text, tokens, least)
			}
		}
	})
}

// A kind of tokens without a price does not cost nothing.
func TestTokensWithoutAPriceAreChargedAsReserved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		body := `{"model":"acme/m","stream":true,"max_tokens":1000,"messages":[],"modalities":["text","audio"],"audio":{}}`
		b := newRig(t, answering(200, `{}`), limited(budget(t, "10usd/day soft"))).spend(t, body, func(c *call) {
			attemptOf(c).summarize(openai.Summary{HasUsage: true, Usage: openai.Usage{Prompt: 100, Completion: 900, Units: units.Counts{units.AudioOutput: 1}}})
		})
		if b.Spent < 1000*1000 {
			t.Errorf("charged %d nano-USD", b.Spent)
		}
	})
}

// What a model cannot give or take need not be reserved.
func TestAReservationIsNoMoreThanTheModelCanUse(t *testing.T) {
	r := newRig(t, answering(200, `{}`), limited(budget(t, "10usd/day")))
	r.models.model.MaxOutput, r.models.model.ContextLength = 4096, 8192
	c := r.begin(t, `{"model":"acme/m","max_tokens":9000000,"messages":["`+strings.Repeat("word ", 10_000)+`"]}`)
	defer c.req.Finish()
	if err := c.admit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if b := r.balance(t); b.Reserved != (4096+8192)*1000 {
		t.Errorf("reserved %d nano-USD", b.Reserved)
	}
	a := attempts{queue: c.order(), alone: c.alone()}
	s := c.advance(t.Context(), &a)
	if c.begin(&a, s, nil); a.failed != nil {
		t.Fatal(a.failed)
	}
	if sent := string(bytes.Join(s.Body, nil)); !jsontest.Has(t, sent, `{"max_tokens":4096}`) || c.req.Outcome.Record.OutputCap != 4096 {
		t.Errorf("the provider gets %.60s, the record says %d", sent, c.req.Outcome.Record.OutputCap)
	}
}

func TestWhatWasNeverSentIsNotCharged(t *testing.T) {
	for _, drain := range []time.Duration{0, time.Second} {
		asked := false
		lost := roundTrip(func(r *http.Request) (*http.Response, error) {
			asked = true
			return nil, errors.New("no connection")
		})
		r := newRig(t, lost, limited(budget(t, "1M tokens/day")), func(r *rig) { r.Limits.Drain = drain })
		gone, leave := context.WithCancel(t.Context())
		leave()
		for _, client := range []context.Context{gone, t.Context()} {
			c := r.begin(t, hello)
			if err := c.admit(t.Context()); err != nil {
				t.Fatal(err)
			}
			_, err := c.send(client)
			if client == gone && (asked || apierror.From(err).Code != apierror.ClientGone) {
				t.Errorf("the call of a client that has left: asked %v, %v", asked, err)
			}
			c.req.Outcome.Fail(apierror.From(err))
			c.req.Finish()
			if b := r.balance(t); b.Spent != 0 || r.rows(t)[0].UsageSource != "none" {
				t.Errorf("%v: charged %d tokens, %s", err, b.Spent, r.rows(t)[0].UsageSource)
			}
		}
	}
}

// written is a transport that has sent the request, as net/http tells it.
func written(next roundTrip) roundTrip {
	return func(r *http.Request) (*http.Response, error) {
		httptrace.ContextClientTrace(r.Context()).WroteRequest(httptrace.WroteRequestInfo{})
		return next(r)
	}
}
