package api

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/testkit/faults"
	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

const (
	speechV1 = "/v1/audio/speech"
	speechOR = "/api/v1/audio/speech"
)

// speak asks a model to speak a text.
func speak(model, input, more string) string {
	text, _ := json.Marshal(input)
	return `{"model":"` + model + `","voice":"alloy","input":` + string(text) + more + `}`
}

// startAudio starts a gateway with models that are paid by the character (echo, 15,000 nano-USD),
// by tokens (step-token) and by the second (second, 250,000 nano-USD).
func startAudio(t *testing.T, s harness.Setup) *harness.Gateway {
	t.Helper()
	h := harness.Prepare(t)
	models := ""
	for _, name := range []string{"fake/echo", "router/echo", "fake/err-429", "fake/err-500", "fake/cut-mid-stream", "fake/step", "fake/no-answer", "fake/empty", "fake/not-json-200", "fake/error-200"} {
		models += `{"id":"` + name + `","mode":"audio_speech","price":{"character":"15"}},`
	}
	catalog := `{"models":[` + models + `
		{"id":"fake/null-fields","mode":"audio_speech","price":{"prompt":"0.6","audio_output":"12","second":"250"},"max_units":{"audio_output":1000,"second":60}},
		{"id":"fake/crlf","mode":"audio_speech","price":{"prompt":"0.6","audio_output":"12","second":"250"}}]}`
	if err := os.WriteFile(filepath.Join(h.Dir, "audio.json"), []byte(catalog), 0o600); err != nil {
		t.Fatal(err)
	}
	s.Options += "\ncatalog DIR/audio.json\n"
	if err := h.Reload(s); err != nil {
		t.Fatal(err)
	}
	return h
}

func TestSpeechPassesAsTheProviderSendsIt(t *testing.T) {
	h := startAudio(t, harness.Setup{})
	for _, c := range []struct{ path, model, more, mediaType string }{
		{speechV1, "fake/echo", "", "audio/mpeg"},
		{speechOR, "router/echo", "", "audio/pcm"},
		{speechV1, "fake/echo", `,"response_format":"opus","speed":1.5,"instructions":"softly"`, "audio/opus"},
	} {
		body := speak(c.model, "Grüße, 世界 🙂", c.more)
		a := h.Client.Post(c.path, "chat", body)
		if a.Status != 200 || a.Err != nil || a.Header.Get("Content-Type") != c.mediaType || len(a.Body) == 0 {
			t.Fatalf("%s: %d %q %v, %d bytes", c.path, a.Status, a.Header.Get("Content-Type"), a.Err, len(a.Body))
		}
		sent := h.Provider.Fake.Requests()
		if got, want := string(sent[len(sent)-1].Body), strings.Replace(body, c.model, "echo", 1); got != want {
			t.Errorf("the provider got %s, want %s", got, want)
		}
		row := h.Records.Row(a.Header.Get("X-Request-Id"))
		for key, want := range map[string]any{"model": c.model, "status": harness.Number("200"), "usage": harness.Number("0.000165"), "code": nil} {
			if got := harness.At(row, key); got != want {
				t.Errorf("%s: row[%s] = %v, want %v", c.path, key, got, want)
			}
		}
		if got := harness.At(row, "characters"); got != harness.Number("11") {
			t.Errorf("%v characters in %v", got, row)
		}
	}
}

func TestTheBeginningOfSpeechDoesNotWaitForItsEnd(t *testing.T) {
	h := startAudio(t, harness.Setup{})
	s := h.Client.Open(h.Client.Request(speechV1, "chat", speak("fake/step", "abcd", `,"response_format":"pcm"`)))
	first := make([]byte, faults.SpokenBytes)
	if _, err := s.Read(first); err != nil {
		t.Fatal(err)
	}
	h.Provider.Fake.Step("step", 3)
	rest, err := s.ReadAll()
	if err != nil || len(rest) != 3*faults.SpokenBytes {
		t.Errorf("%d more bytes, %v", len(rest), err)
	}
}

func TestSpeechThatBreaksOffNeverLooksWhole(t *testing.T) {
	h := startAudio(t, harness.Setup{Secure: true})
	for name, origin := range map[string]string{"HTTP/1.1": "", "HTTP/2": h.Client.Secure} {
		a := h.Client.Send(h.Client.Request(origin+speechV1, "chat", speak("fake/cut-mid-stream", "abcd", "")))
		if a.Status != 200 || a.Err == nil {
			t.Errorf("%s: %d, %v", name, a.Status, a.Err)
		}
		row := h.Records.RowSoon("request_id=" + a.Header.Get("X-Request-Id"))
		if got := harness.At(row, "code"); got != "upstream_error" {
			t.Errorf("%s: row %v", name, row)
		}
	}
}

func TestSpeechAsEventsIsPaidByItsUsage(t *testing.T) {
	h := startAudio(t, harness.Setup{})
	for path, model := range map[string]string{speechV1: "fake/null-fields", speechOR: "fake/crlf"} {
		s := h.Client.Open(h.Client.Request(path, "chat", speak(model, "abcd", `,"stream_format":"sse"`)))
		events, err := s.Rest()
		if err != nil || len(events) != 3 || !strings.Contains(events[2].Data, "speech.audio.done") {
			t.Fatalf("%s: %v %v", path, events, err)
		}
		row := h.Records.Row(s.Response.Header.Get("X-Request-Id"))
		if got := harness.At(row, "usage"); got != harness.Number("0.0000984") || harness.At(row, "usage_source") != "provider" {
			t.Errorf("%s: row %v", path, row)
		}
	}
}

func TestSpeechFailsOverUntilItsFirstByte(t *testing.T) {
	h := startAudio(t, harness.Setup{Options: "alias talk fake/err-500 fake/no-answer fake/empty fake/echo"})
	a := h.Client.Post(speechV1, "chat", speak("talk", "abcd", ""))
	if a.Status != 200 || len(a.Body) == 0 {
		t.Errorf("%d %s", a.Status, a.Body)
	}
}
