package realtime

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"github.com/coder/websocket"

	"github.com/gatehouse-proxy/gatehouse/internal/catalog"
	"github.com/gatehouse-proxy/gatehouse/internal/features/sockets"
	"github.com/gatehouse-proxy/gatehouse/internal/gateway"
	"github.com/gatehouse-proxy/gatehouse/internal/limits"
	"github.com/gatehouse-proxy/gatehouse/internal/policy"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/handlerstest"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/realtimetest"
	"github.com/gatehouse-proxy/gatehouse/internal/units"
)

// voice is a gateway with Realtime sessions, and its provider.
type voice struct {
	*realtimetest.Provider
	t       testing.TB
	gateway *gateway.Gateway
	origin  string
}

// rates are those of text, of sound, and of what was cached.
func rates() *catalog.Price {
	rate := func(text string) catalog.Quote {
		r, err := catalog.ParseRate(text)
		if err != nil {
			panic(err)
		}
		return catalog.Quoted(r)
	}
	return &catalog.Price{Rates: catalog.Rates{
		Prompt: rate("0.000004"), Completion: rate("0.000016"), CacheRead: rate("0.0000004"),
		Units: catalog.UnitRates{units.AudioInput: rate("0.000032"), units.AudioOutput: rate("0.000064")},
	}}
}

func startVoice(t testing.TB, s handlerstest.Setup) *voice {
	t.Helper()
	v := &voice{Provider: realtimetest.New(), t: t}
	at, err := url.Parse(v.URL)
	handlerstest.Must(t, err)
	m := catalog.Model{ID: "acme/m", Provider: "acme", Name: "m", Price: rates(), ContextLength: 1000, MaxOutput: 500}
	n := m
	n.ID, n.Name = "acme/n", "n"
	s.Models = []catalog.Model{m, n}
	s.Provider = func(r *http.Request) (*http.Response, error) {
		r.URL.Scheme, r.URL.Host = at.Scheme, at.Host
		return http.DefaultTransport.RoundTrip(r)
	}
	s.Features = func(c gateway.Core) []gateway.Feature {
		return []gateway.Feature{sockets.Realtime(c, &sockets.Limits{})}
	}
	v.gateway = handlerstest.Start(t, s)
	h := handlerstest.API(t, v.gateway)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = h.ServeHTTP(w, r, caddyhttp.HandlerFunc(func(http.ResponseWriter, *http.Request) error { return nil }))
	}))
	v.origin = server.URL
	t.Cleanup(v.Close)
	t.Cleanup(server.Close)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		v.gateway.Drain(ctx)
		v.gateway.Close()
	})
	return v
}

// talk is a client of a session.
type talk struct {
	*websocket.Conn
	t testing.TB
}

func (v *voice) dial(query string, protocols ...string) (*talk, *http.Response, error) {
	o := &websocket.DialOptions{Subprotocols: protocols, HTTPHeader: http.Header{}}
	if len(protocols) == 0 {
		o.HTTPHeader.Set("Authorization", "Bearer "+handlerstest.SecretOf("full"))
	}
	conn, resp, err := websocket.Dial(v.t.Context(), v.origin+"/v1/realtime"+query, o)
	if err != nil {
		return nil, resp, err
	}
	conn.SetReadLimit(64 << 20)
	v.t.Cleanup(func() { _ = conn.CloseNow() })
	return &talk{conn, v.t}, resp, nil
}

func (v *voice) talk() *talk {
	v.t.Helper()
	c, _, err := v.dial("?model=acme/m")
	handlerstest.Must(v.t, err)
	c.until("session.created")
	return c
}

func (c *talk) say(event string) {
	c.t.Helper()
	handlerstest.Must(c.t, c.Write(c.t.Context(), websocket.MessageText, []byte(event)))
}

// ask says a text and asks for an answer.
func (c *talk) ask(text string) {
	c.t.Helper()
	c.say(`{"type":"conversation.item.create","item":{"type":"message","role":"user","content":[{"type":"input_text","text":"` + text + `"}]}}`)
	c.say(`{"type":"response.create","response":{"output_modalities":["text"]}}`)
}

// until reads until an event of a type, which it returns with the texts of the deltas before.
func (c *talk) until(name string) (event map[string]any, deltas string) {
	c.t.Helper()
	for {
		ctx, cancel := context.WithTimeout(c.t.Context(), 5*time.Second)
		_, data, err := c.Read(ctx)
		cancel()
		if err != nil {
			c.t.Fatalf("waiting for %s: %v", name, err)
		}
		event = nil
		handlerstest.Must(c.t, json.Unmarshal(data, &event))
		if event["type"] == "response.output_text.delta" {
			deltas += event["delta"].(string)
		}
		if event["type"] == name {
			return event, deltas
		}
		if event["type"] == "error" {
			c.t.Fatalf("waiting for %s: %s", name, data)
		}
	}
}

// end reads until the connection ends, and returns its code and the types of the errors before.
func (c *talk) end() (code websocket.StatusCode, errors []string) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), 5*time.Second)
	defer cancel()
	for {
		_, data, err := c.Read(ctx)
		if err != nil {
			return websocket.CloseStatus(err), errors
		}
		var e struct {
			Type  string
			Error struct{ Code string }
		}
		handlerstest.Must(c.t, json.Unmarshal(data, &e))
		if e.Type == "error" {
			errors = append(errors, e.Error.Code)
		}
	}
}

// fault reads until an error event, and returns it.
func (c *talk) fault() (e struct{ Code, Message, EventID string }) {
	c.t.Helper()
	for {
		ctx, cancel := context.WithTimeout(c.t.Context(), 5*time.Second)
		_, data, err := c.Read(ctx)
		cancel()
		handlerstest.Must(c.t, err)
		var event struct {
			Type  string
			Error struct {
				Code, Message string
				EventID       string `json:"event_id"`
			}
		}
		handlerstest.Must(c.t, json.Unmarshal(data, &event))
		if event.Type == "error" {
			e.Code, e.Message, e.EventID = event.Error.Code, event.Error.Message, event.Error.EventID
			return e
		}
	}
}

// rows waits for the rows of a session that has ended, oldest first.
func (v *voice) rows(n int) []row {
	v.t.Helper()
	all := v.every()
	if len(all) != n {
		v.t.Fatalf("%d rows, want %d: %+v", len(all), n, all)
	}
	return all
}

func (v *voice) every() (all []row) {
	v.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	v.gateway.Drain(ctx) // it waits until all sessions have ended
	rows := handlerstest.Rows(v.t, v.gateway)
	for i := len(rows) - 1; i >= 0; i-- {
		r := rows[i]
		all = append(all, row{
			r.Route, r.Status, r.Code, r.CostNano, r.PromptTokens, r.CompletionTokens,
			r.Units[units.AudioInput], r.Units[units.AudioOutput], r.UsageSource, r.Connection,
		})
	}
	return all
}

type row struct {
	Route              string
	Status             int
	Code               string
	Cost               int64
	Prompt, Completion int64
	SoundIn, SoundOut  int64
	Source, Connection string
}

// member returns the value at a path in an event.
func member(event any, path ...string) any {
	for _, name := range path {
		object, _ := event.(map[string]any)
		event = object[name]
	}
	return event
}

// sent returns the first event that the provider got with a text.
func (v *voice) sent(with string) (event map[string]any) {
	v.t.Helper()
	got := v.Got(with)
	if len(got) != 1 {
		v.t.Fatalf("%q: %v", with, got)
	}
	handlerstest.Must(v.t, json.Unmarshal([]byte(got[0]), &event))
	return event
}

// limited is a key with limits, in the words of the configuration.
func limited(t testing.TB, budget, rate string, concurrency int) map[string]*policy.KeyLimits {
	t.Helper()
	subject := limits.Subject{Name: "key:full"}
	if budget != "" {
		b, err := limits.ParseBudget(strings.Fields(budget)...)
		handlerstest.Must(t, err)
		subject.Budgets = []limits.Budget{b}
	}
	if rate != "" {
		r, err := limits.ParseRate(rate)
		handlerstest.Must(t, err)
		subject.Rates = []limits.Rate{r}
	}
	subject.Concurrency.Limit = concurrency
	k := &policy.KeyLimits{Subjects: []limits.Subject{subject}}
	return map[string]*policy.KeyLimits{"full": k}
}
