package realtime

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/gatehouse-proxy/gatehouse/internal/gateway"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/handlerstest"
)

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

// The provider does not learn of an answer that a rate refuses, so nothing is charged for it.
func TestAnAnswerAboveARateCostsNothing(t *testing.T) {
	v := startVoice(t, handlerstest.Setup{Limits: limited(t, "10usd/day", "1/min", 0)})
	c := v.talk()
	c.ask("hello")
	c.until("response.done")
	c.say(`{"type":"response.create"}`)
	if e := c.fault(); e.Code != "rate_limit_exceeded" {
		t.Errorf("%+v", e)
	}
	_ = c.Close(websocket.StatusNormalClosure, "")
	v.rows(3)
	spent := handlerstest.Call(t, v.gateway, "GET", "/api/v1/key", "full", "").At(t, "data", "usage")
	if spent != float64(anAnswer)/1e9 {
		t.Errorf("spent %v, want %v", spent, float64(anAnswer)/1e9)
	}
}

// The provider may begin an answer that cannot be paid for: it is cancelled, and what it has used
// until then is charged.
func TestAnAnswerThatNobodyCouldHoldIsCharged(t *testing.T) {
	v := startVoice(t, handlerstest.Setup{Limits: limited(t, "0.066usd/day", "", 0)})
	c := v.talk()
	c.say(`{"type":"session.update","session":{"type":"realtime","audio":{"input":{"turn_detection":{"type":"server_vad"}}}}}`)
	c.until("session.updated")
	c.ask("both")
	c.say(`{"type":"input_audio_buffer.commit"}`)
	if code, errors := c.end(); code != 1008 || len(errors) == 0 || errors[0] != "budget_exceeded" {
		t.Errorf("%d, %v", code, errors)
	}
	refused, rows := 0, v.every()
	for _, r := range rows {
		if r.Route == routeAnswer && r.Status == 402 && r.Cost == anAnswer {
			refused++
		}
	}
	if refused != 1 {
		t.Errorf("%+v", rows)
	}
	spent := handlerstest.Call(t, v.gateway, "GET", "/api/v1/key", "full", "").At(t, "data", "usage")
	if spent != float64(2*anAnswer)/1e9 {
		t.Errorf("spent %v, want %v", spent, float64(2*anAnswer)/1e9)
	}
}

// A session that ends in the middle of a large event gives its memory back.
func TestALargeEventIsForgottenWithItsSession(t *testing.T) {
	state := gateway.NewState(t.TempDir(), func() time.Time { return handlerstest.Noon })
	v := startVoice(t, handlerstest.Setup{State: state})
	c := v.talk()
	c.ask("large")
	c.end()
	v.rows(2)
	if used := state.Answers.Used(); used != 0 {
		t.Errorf("%d bytes are held", used)
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
