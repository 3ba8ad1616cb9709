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
	"github.com/gatehouse-proxy/gatehouse/internal/guardrail/judge"
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
func (v *voice) rows(n int) (all []row) {
	v.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	v.gateway.Drain(ctx) // it waits until all sessions have ended
	rows := handlerstest.Rows(v.t, v.gateway)
	for i := len(rows) - 1; i >= 0; i-- {
		r := rows[i]
		all = append(all, row{
			r.Route, r.Status, r.Code, r.CostNano, r.PromptTokens, r.CompletionTokens, r.Units[units.AudioInput], r.Units[units.AudioOutput], r.UsageSource, r.Connection,
		})
	}
	if len(rows) != n {
		v.t.Fatalf("%d rows, want %d: %+v", len(rows), n, all)
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

// anAnswer is what an answer of the provider costs: of 100 tokens of the prompt 30 were cached, 20 of
// them sound; 40 were sound and 30 text that was not.
const anAnswer = 30*4000 + 40*32000 + 30*400 + 20*16000 + 30*64000

func TestAnAnswerIsACallWithARowAndACharge(t *testing.T) {
	v := startVoice(t, handlerstest.Setup{})
	c := v.talk()
	c.ask("hello")
	done, said := c.until("response.done")
	if said != "You said hello" {
		t.Errorf("said %q", said)
	}
	if usage := done["response"].(map[string]any)["usage"]; usage == nil {
		t.Errorf("no usage: %v", done)
	}
	_ = c.Close(websocket.StatusNormalClosure, "")
	rows := v.rows(2)
	answer := rows[0]
	if answer.Route != routeAnswer {
		answer = rows[1]
	}
	if answer.Cost != anAnswer || answer.Prompt != 100 || answer.Completion != 50 || answer.SoundIn != 60 || answer.SoundOut != 30 || answer.Status != 200 || answer.Source != "provider" {
		t.Errorf("%+v, want %d", answer, anAnswer)
	}
	if rows[0].Connection == "" || rows[0].Connection != rows[1].Connection {
		t.Errorf("%+v", rows)
	}
	if codes := v.Closed(); len(codes) != 1 || codes[0] != 1000 {
		t.Errorf("closed with %v", codes)
	}
	if got := v.Got("response.create"); len(got) != 1 || strings.Contains(got[0], "model") {
		t.Errorf("%v", got)
	}
	if at := v.Heads[0].URL; at.Path != "/v1/realtime" || at.RawQuery != "model=m" {
		t.Errorf("%v", at)
	}
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

// Each way in which an answer ends is charged once, and exactly.
func TestEachEndIsChargedOnce(t *testing.T) {
	for _, tc := range []struct {
		name, say string
		then      func(*voice, *talk)
		status    int
		code      string
		cost      int64
		source    string
	}{
		{"completed", "hello", func(_ *voice, c *talk) { c.until("response.done") }, 200, "", anAnswer, "provider"},
		{"a tool", "tool", func(_ *voice, c *talk) { c.until("response.done") }, 200, "", anAnswer, "provider"},
		{"cancelled", "wait", func(_ *voice, c *talk) {
			c.until("response.created")
			c.say(`{"type":"response.cancel"}`)
			c.until("response.done")
		}, 200, "", anAnswer, "provider"},
		{"failed", "fail", func(_ *voice, c *talk) {
			done, _ := c.until("response.done")
			if text, _ := json.Marshal(done); strings.Contains(string(text), "org-secret") || !strings.Contains(string(text), "upstream_quota_exhausted") {
				c.t.Errorf("%s", text)
			}
		}, 502, "upstream_quota_exhausted", 0, "none"},
		{"the client leaves", "wait", func(v *voice, c *talk) {
			c.until("response.created")
			_ = c.CloseNow()
		}, 499, "client_closed_request", anAnswer, "provider"},
		{"the provider breaks", "drop", func(_ *voice, c *talk) {
			if code, errors := c.end(); code != 1011 || len(errors) != 1 || errors[0] != "upstream_error" {
				c.t.Errorf("%d, %v", code, errors)
			}
		}, 502, "upstream_error", 1000 * 32000, "estimated"},
		{"the provider closes", "close", func(_ *voice, c *talk) {
			if code, errors := c.end(); code != 4001 || errors != nil {
				c.t.Errorf("%d, %v", code, errors)
			}
		}, 502, "upstream_error", 1000 * 32000, "estimated"},
		{"without usage", "mute", func(_ *voice, c *talk) { c.until("response.done") }, 200, "", 1000*32000 + 7*64000, "estimated"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			v := startVoice(t, handlerstest.Setup{Limits: limited(t, "10usd/day", "", 0)})
			c := v.talk()
			c.ask(tc.say)
			tc.then(v, c)
			_ = c.Close(websocket.StatusNormalClosure, "")
			rows := v.rows(2)
			answer := rows[0]
			if answer.Route != routeAnswer {
				answer = rows[1]
			}
			if answer.Status != tc.status || answer.Code != tc.code || answer.Cost != tc.cost || answer.Source != tc.source {
				t.Errorf("%+v", answer)
			}
			spent := handlerstest.Call(t, v.gateway, "GET", "/api/v1/key", "full", "").At(t, "data", "usage")
			if spent != float64(tc.cost)/1e9 {
				t.Errorf("spent %v, want %v", spent, float64(tc.cost)/1e9)
			}
		})
	}
}

func TestAUsedUpBudgetEndsASession(t *testing.T) {
	v := startVoice(t, handlerstest.Setup{Limits: limited(t, "0.066usd/day", "", 0)})
	c := v.talk()
	c.ask("hello")
	c.until("response.done") // what is left does not pay for another one
	if code, errors := c.end(); code != 1008 || len(errors) != 1 || errors[0] != "budget_exceeded" {
		t.Errorf("%d, %v", code, errors)
	}
	_, resp, err := v.dial("?model=acme/m")
	if err == nil || resp.StatusCode != http.StatusPaymentRequired {
		t.Errorf("%v, %v", resp, err)
	}
	if got := v.Got("response.create"); len(got) != 1 {
		t.Errorf("%v", got)
	}
}

func TestRatesCountAnswersAndConcurrencySessions(t *testing.T) {
	v := startVoice(t, handlerstest.Setup{Limits: limited(t, "", "1/min", 1)})
	c := v.talk()
	if _, resp, err := v.dial("?model=acme/m"); err == nil || resp.StatusCode != http.StatusTooManyRequests {
		t.Errorf("%v, %v", resp, err)
	}
	c.ask("hello")
	c.until("response.done")
	c.say(`{"type":"response.create","event_id":"mine"}`)
	if e := c.fault(); e.Code != "rate_limit_exceeded" || e.EventID != "mine" {
		t.Errorf("%+v", e)
	}
	c.say(`{"type":"session.update","session":{"type":"realtime"}}`) // it goes on
	c.until("session.updated")
	_ = c.Close(websocket.StatusNormalClosure, "")
	v.rows(4)       // the answer, the refusals, the session
	for range 100 { // the slot is free when the session has ended
		if c, _, err := v.dial("?model=acme/m"); err == nil {
			_ = c.CloseNow()
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Error("the slot was not given back")
}

// The provider answers by itself when it detects the end of a turn, and what was said is transcribed
// by another model.
func TestAnswersThatTheProviderBeginsAreCharged(t *testing.T) {
	v := startVoice(t, handlerstest.Setup{Limits: limited(t, "10usd/day", "", 0)})
	c := v.talk()
	c.say(`{"type":"session.update","session":{"type":"realtime","model":"acme/m","instructions":"be kind",
		"audio":{"input":{"turn_detection":{"type":"server_vad"},"transcription":{"model":"n"}}}}}`)
	updated, _ := c.until("session.updated")
	if text, _ := json.Marshal(updated); !strings.Contains(string(text), `"model":"acme/m"`) || !strings.Contains(string(text), `"transcription":{"model":"n"}`) {
		t.Errorf("%s", text)
	}
	if got := v.Got("be kind"); len(got) != 1 || !strings.Contains(got[0], `"model":"m"`) {
		t.Errorf("%v", got)
	}
	c.say(`{"type":"input_audio_buffer.append","audio":"` + strings.Repeat("AAAA", 100) + `"}`)
	c.say(`{"type":"input_audio_buffer.commit"}`)
	c.until("response.done")
	_ = c.Close(websocket.StatusNormalClosure, "")
	var cost int64
	for _, r := range v.rows(3) {
		if cost += r.Cost; r.Route == routeHeard && (r.Prompt != 20 || r.SoundIn != 20 || r.Cost != 20*32000+10*16000) {
			t.Errorf("%+v", r)
		}
	}
	if want := int64(anAnswer + 20*32000 + 10*16000); cost != want {
		t.Errorf("%d, want %d", cost, want)
	}
}

// The default session of agents' SDKs names a model for transcripts by itself. A key that may not
// use it keeps its instructions.
func TestATranscriptThatTheKeyMayNotHaveIsLeftOut(t *testing.T) {
	v := startVoice(t, handlerstest.Setup{})
	c := v.talk()
	c.say(`{"type":"session.update","event_id":"mine","session":{"type":"realtime","instructions":"be kind","audio":{"input":{"transcription":{"model":"gpt-4o-mini-transcribe"}}}}}`)
	if e := c.fault(); e.EventID != "mine" || !strings.Contains(e.Message, "not transcribed") {
		t.Errorf("%+v", e)
	}
	c.say(`{"type":"conversation.item.create","item":{"type":"message","role":"user","content":[{"type":"input_text","text":"x"}]}}`)
	c.until("conversation.item.done")
	if got := v.Got("be kind"); len(got) != 1 || strings.Contains(got[0], "transcribe") {
		t.Errorf("%v", got)
	}
}

func TestEventsThatAreRefused(t *testing.T) {
	v := startVoice(t, handlerstest.Setup{})
	c := v.talk()
	for event, code := range map[string]string{
		`{"type":"session.update","type":"response.create"}`:                                                "invalid_json",
		`{"type":"input_audio_buffer.append","audio":"AAAA","audio":"BBBB"}`:                                "invalid_json",
		`{"type":"session.create"}`:                                                                         "invalid_value",
		`{"type":"session.update"}`:                                                                         "missing_required_parameter",
		`{"type":"session.update","session":{"type":"realtime","model":"acme/n"}}`:                          "invalid_value",
		`{"type":"session.update","session":{"type":"realtime","tools":[{"type":"mcp","server_url":"x"}]}}`: "insufficient_scope",
		`{"type":"session.update","session":{"prompt":{"id":"pmpt_1"}}}`:                                    "insufficient_scope",
		`not json`: "invalid_json",
	} {
		c.say(event)
		if e := c.fault(); e.Code != code {
			t.Errorf("%s: %+v", event, e)
		}
	}
	if got := v.Got(""); len(got) > 0 {
		t.Errorf("%v", got)
	}
}

// What the provider refuses to begin costs nothing, and the error names the client's own event.
func TestAnAnswerThatTheProviderRefuses(t *testing.T) {
	v := startVoice(t, handlerstest.Setup{Limits: limited(t, "10usd/day", "", 0)})
	c := v.talk()
	c.ask("wait")
	c.until("response.created")
	c.say(`{"type":"response.create"}`)
	if e := c.fault(); e.EventID != "" || !strings.Contains(e.Message, "active response") {
		t.Errorf("%+v", e)
	}
	_ = c.Close(websocket.StatusNormalClosure, "")
	refused := 0
	for _, r := range v.rows(3) {
		if r.Status == 400 && r.Cost == 0 && r.Route == routeAnswer {
			refused++
		}
	}
	if refused != 1 {
		t.Errorf("%+v", v.rows(3))
	}
}

func TestHandshakesThatAreRefused(t *testing.T) {
	v := startVoice(t, handlerstest.Setup{})
	for query, status := range map[string]int{
		"": 400, "?model=acme/x": 404, "?model=acme/m&call_id=rtc_1": 400, "?intent=transcription": 400,
	} {
		_, resp, err := v.dial(query)
		if err == nil || resp.StatusCode != status {
			t.Errorf("%q: %v, %v", query, resp, err)
		}
	}
	if _, resp, err := v.dial("?model=acme/m", "realtime", keyProtocol+"wrong"); err == nil || resp.StatusCode != 401 {
		t.Errorf("%v, %v", resp, err)
	}
	c, resp, err := v.dial("?model=acme/m", "realtime", keyProtocol+handlerstest.SecretOf("full"), "openai-agents-sdk.0.20.0")
	handlerstest.Must(t, err)
	if c.until("session.created"); resp.Header.Get("Sec-Websocket-Protocol") != "realtime" {
		t.Errorf("%v", resp.Header)
	}
	plain := handlerstest.Call(t, v.gateway, "GET", "/v1/realtime?model=acme/m", "full", "")
	plain.Want(t, 400, "invalid_value", "WebSocket")
	handlerstest.Call(t, v.gateway, "POST", "/v1/realtime/calls", "full", "").Want(t, 404, "unknown_url", "WebRTC")
}

// A process that exits ends idle sessions at once, and tells them why.
func TestASessionEndsWithItsConfiguration(t *testing.T) {
	v := startVoice(t, handlerstest.Setup{})
	c := v.talk()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	go v.gateway.Drain(ctx)
	if code, _ := c.end(); code != 1001 {
		t.Errorf("%d", code)
	}
	v.rows(1)
}

// Guardrails read what a client writes and what the model answers.
func TestGuardrailsReadASession(t *testing.T) {
	words := func(name string, on judge.Direction, action judge.Action, word string) *judge.Guardrail {
		g, err := judge.Compile(judge.Spec{Name: name, On: on, Rules: []judge.Rule{{Detector: "words", Action: action, Words: []string{word}}}})
		handlerstest.Must(t, err)
		return g
	}
	all := []*judge.Guardrail{
		words("in", judge.Input, judge.Deny, "bomb"), words("soft", judge.Input, judge.Redact, "Alice"),
		words("out", judge.Output, judge.Redact, "Bob"), words("stop", judge.Output, judge.Deny, "forbidden"),
	}
	v := startVoice(t, handlerstest.Setup{Guardrails: &policy.Guardrails{All: all}})
	c := v.talk()
	c.ask("a bomb")
	if e := c.fault(); e.Code != "guardrail_blocked" {
		t.Errorf("%+v", e)
	}
	c.until("response.done") // of what was said before: nothing
	c.ask("Alice and Bob")
	if _, said := c.until("response.done"); said != "You said [REDACTED:words] and [REDACTED:words]" {
		t.Errorf("said %q", said)
	}
	c.ask("what is forbidden to say")
	if e := c.fault(); e.Code != "guardrail_blocked" {
		t.Errorf("%+v", e)
	}
	done, said := c.until("response.done")
	if text, _ := json.Marshal(done); strings.Contains(said+string(text), "forbidden") {
		t.Errorf("%q, %s", said, text)
	}
	if got := v.Got("bomb"); len(got) > 0 {
		t.Errorf("%v", got)
	}
}
