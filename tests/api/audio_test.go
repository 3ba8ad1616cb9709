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

// startAudio starts a gateway with models that are paid by the character (echo, 15,000 nano-USD), by
// tokens (step-token) and by the second (second, 250,000 nano-USD).
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

func TestSpeechWithoutUsageIsPaidByTheSecond(t *testing.T) {
	h := startAudio(t, harness.Setup{})
	for _, format := range []string{"pcm", "wav", "mp3"} {
		a := h.Client.Post(speechV1, "chat", speak("fake/crlf", "ten and ten characte", `,"response_format":"`+format+`"`))
		row := h.Records.Row(a.Header.Get("X-Request-Id"))
		want := map[string]string{"pcm": "2000", "wav": "2000", "mp3": "2016"}[format]
		if got := harness.At(row, "audio_ms"); got != harness.Number(want) || harness.At(row, "usage_source") != "estimated" {
			t.Errorf("%s: row %v", format, row)
		}
	}
}

func TestAHardBudgetReservesWhatSpeechCanCost(t *testing.T) {
	h := startAudio(t, harness.Setup{Keys: harness.Key("chat", "budget 0.00015usd/day")})
	harness.WantRefusal(t, speechV1, h.Client.Post(speechV1, "chat", speak("fake/echo", "elevenchara", "")), 402, "budget_exceeded")
	unbounded := h.Client.Post(speechV1, "chat", speak("fake/crlf", "a", ""))
	harness.WantRefusal(t, speechV1, unbounded, 402, "cannot_be_priced")
	if !strings.Contains(string(unbounded.Body), "fake/crlf") {
		t.Errorf("%s", unbounded.Body)
	}
	if n := len(h.Provider.Fake.Requests()); n != 0 {
		t.Fatalf("the provider got %d requests", n)
	}
	if a := h.Client.Post(speechV1, "chat", speak("fake/echo", "äöüßéàñ世界🙂", "")); a.Status != 200 {
		t.Errorf("%d %s", a.Status, a.Body)
	}
}

func TestAHardBudgetKnowsTheFieldsOfSpeechAlone(t *testing.T) {
	h := startAudio(t, harness.Setup{Keys: harness.Key("chat", "budget 1usd/day") + harness.Key("full", "")})
	for more, status := range map[string]int{
		`,"n":9`: 402, `,"text":"much more"`: 402, `,"messages":[]`: 402, `,"speed":1.5,"instructions":"calm","response_format":"pcm"`: 200,
	} {
		if a := h.Client.Post(speechV1, "chat", speak("fake/echo", "x", more)); a.Status != status {
			t.Errorf("%s: %d %s", more, a.Status, a.Body)
		}
		if a := h.Client.Post(speechV1, "full", speak("fake/echo", "x", more)); a.Status != 200 {
			t.Errorf("%s without a budget: %d %s", more, a.Status, a.Body)
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

func TestSpeechIsRefusedByName(t *testing.T) {
	h := startAudio(t, harness.Setup{Options: "guardrail safe {\ndeny email\n}\nguardrails safe"})
	for _, c := range []struct {
		path, key, body string
		status          int
		code            string
	}{
		{speechV1, "models", speak("fake/echo", "a", ""), 403, "insufficient_scope"},
		{speechV1, "chat", speak("fake/unheard", "a", ""), 404, "model_not_found"},
		{speechV1, "chat", `{"model":"fake/echo"}`, 400, "missing_required_parameter"},
		{speechOR, "chat", `{"model":"fake/echo","input":["a"]}`, 400, "invalid_value"},
		{speechV1, "chat", speak("fake/echo", "write to ann@example.com", ""), 422, "guardrail_blocked"},
		{speechV1, "chat", speak("fake/echo", "a", `,"instructions":"like ann@example.com"`), 422, "guardrail_blocked"},
		{speechV1, "chat", speak("fake/err-429", "a", ""), 429, "upstream_rate_limited"},
		{speechV1, "chat", speak("fake/not-json-200", "a", ""), 502, "upstream_error"},
		{speechV1, "chat", speak("fake/error-200", "a", ""), 502, "upstream_error"},
	} {
		harness.WantRefusal(t, c.path, h.Client.Post(c.path, c.key, c.body), c.status, c.code)
	}
	harness.WantRefusal(t, "chat", h.Client.Post(harness.ChatV1, "chat", harness.Chat("fake/echo", "")), 404, "model_not_callable")
}
