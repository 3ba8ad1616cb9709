package realtime

import (
	"net/http"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"github.com/gatehouse-proxy/gatehouse/internal/testkit/handlerstest"
)

// anAnswer is what an answer of the provider costs: of 100 tokens of the prompt 30 were cached, 20
// of them sound; 40 were sound and 30 text that was not.
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
	if answer.Cost != anAnswer || answer.Status != 200 || answer.Source != "provider" {
		t.Errorf("%+v, want %d", answer, anAnswer)
	}
	if answer.Prompt != 100 || answer.Completion != 50 || answer.SoundIn != 60 || answer.SoundOut != 30 {
		t.Errorf("%+v", answer)
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
	for range 1000 { // the slot is free when the session has ended
		if again, _, err := v.dial("?model=acme/m"); err == nil {
			_ = again.CloseNow()
			return
		}
	}
	t.Error("the slot was not given back")
}

// The provider answers by itself when it detects the end of a turn, and what was said is
// transcribed by another model.
func TestAnswersThatTheProviderBeginsAreCharged(t *testing.T) {
	v := startVoice(t, handlerstest.Setup{Limits: limited(t, "10usd/day", "", 0)})
	c := v.talk()
	c.say(`{"type":"session.update","session":{"type":"realtime","model":"acme/m","instructions":"be kind",
		"audio":{"input":{"turn_detection":{"type":"server_vad"},"transcription":{"model":"n"}}}}}`)
	updated, _ := c.until("session.updated")
	if at := member(updated, "session", "audio", "input", "transcription", "model"); at != "n" || member(updated, "session", "model") != "acme/m" {
		t.Errorf("%v", updated)
	}
	if at := member(v.sent("be kind"), "session", "model"); at != "m" {
		t.Errorf("the provider was told the model %v", at)
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
	c.say(`{"type":"session.update","event_id":"mine","session":{"type":"realtime","instructions":"be kind",
		"audio":{"input":{"transcription":{"model":"gpt-4o-mini-transcribe"}}}}}`)
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
		`{"type":"session.update","type":"response.create"}`:                                                              "invalid_json",
		`{"type":"input_audio_buffer.append","audio":"AAAA","audio":"BBBB"}`:                                              "invalid_json",
		`{"type":"session.create"}`:                                                                                       "invalid_value",
		`{"type":"session.update"}`:                                                                                       "missing_required_parameter",
		`{"type":"session.update","session":{"type":"realtime","model":"acme/n"}}`:                                        "invalid_value",
		`{"type":"session.update","session":{"type":"realtime","tools":[{"type":"mcp","server_url":"x"}]}}`:               "insufficient_scope",
		`{"type":"session.update","session":{"audio":{"input":{"transcription":{"language":"en"}}},"prompt":{"id":"p"}}}`: "insufficient_scope",
		`{"type":"session.update","session":{"prompt":{"id":"pmpt_1"}}}`:                                                  "insufficient_scope",
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
