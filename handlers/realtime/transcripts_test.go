package realtime

import (
	"strings"
	"testing"

	"github.com/coder/websocket"

	"github.com/gatehouse-proxy/gatehouse/internal/testkit/handlerstest"
)

// slowly has what is said transcribed later, and says something that lasts a second.
func (c *talk) slowly() {
	c.t.Helper()
	c.say(`{"type":"session.update","session":{"type":"realtime","instructions":"slow","audio":{"input":{"transcription":{"model":"n"}}}}}`)
	c.until("session.updated")
	c.say(`{"type":"input_audio_buffer.append","audio":"` + strings.Repeat("AAAA", 16000) + `"}`)
	c.say(`{"type":"input_audio_buffer.commit"}`)
}

// What was said is charged by the model that the session had then, whatever the client asks for
// before it is written.
func TestATranscriptIsChargedByTheModelOfItsTurn(t *testing.T) {
	for name, after := range map[string]string{"none": `null`, "another model": `{"model":"m"}`} {
		t.Run(name, func(t *testing.T) {
			v := startVoice(t, handlerstest.Setup{Limits: limited(t, "10usd/day", "", 0)})
			c := v.talk()
			c.slowly()
			c.say(`{"type":"session.update","session":{"type":"realtime","instructions":"","audio":{"input":{"transcription":` + after + `}}}}`)
			c.until("conversation.item.input_audio_transcription.completed")
			_ = c.Close(websocket.StatusNormalClosure, "")
			heard(v, 20*32000+10*16000, "provider")
		})
	}
}

// What was said is charged if the session ends before it is written.
func TestATranscriptThatNobodyWaitsForIsCharged(t *testing.T) {
	v := startVoice(t, handlerstest.Setup{Limits: limited(t, "10usd/day", "", 0)})
	c := v.talk()
	c.slowly()
	c.until("input_audio_buffer.committed")
	c.ask("close")
	c.end()
	heard(v, 27*32000, "estimated")
}

// A session.update that is refused changes nothing.
func TestARefusedUpdateKeepsTheModelOfTranscripts(t *testing.T) {
	v := startVoice(t, handlerstest.Setup{})
	c := v.talk()
	c.slowly()
	c.say(`{"type":"session.update","session":{"prompt":{"id":"p"},"audio":{"input":{"transcription":{"model":"m"}}}}}`)
	c.fault()
	c.say(`{"type":"session.update","session":{"type":"realtime","instructions":"on"}}`)
	updated, _ := c.until("session.updated")
	if model := member(updated, "session", "audio", "input", "transcription", "model"); model != "n" {
		t.Errorf("%v", updated)
	}
	c.until("conversation.item.input_audio_transcription.completed")
	_ = c.Close(websocket.StatusNormalClosure, "")
	heard(v, 20*32000+10*16000, "provider")
}

// heard checks the row of the only transcript of a session that has ended.
func heard(v *voice, cost int64, source string) {
	v.t.Helper()
	found := 0
	for _, r := range v.every() {
		if r.Route == routeHeard {
			if found++; r.Cost != cost || r.Source != source {
				v.t.Errorf("%+v", r)
			}
		}
	}
	if found != 1 {
		v.t.Errorf("%d transcripts", found)
	}
}
