package api

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/testkit/faults"
	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

const (
	transcriptsV1  = "/v1/audio/transcriptions"
	transcriptsOR  = "/api/v1/audio/transcriptions"
	translationsV1 = "/v1/audio/translations"
)

// heard is a WAV file of two seconds.
var heard = string(faults.WAVHeader(96_000)) + strings.Repeat("\x00\x01", 48_000)

// dictate asks for the transcript of a sound. The file stands before the model, as in a form that is
// sorted by name.
func dictate(model, file, more string) string {
	return field(`"file"; filename="file.wav"`, file) + field(`"model"`, model) + more + "--cut--\r\n"
}

// startHearing starts a gateway with a model that is paid by tokens (echo) and others that are paid by
// the second, 100,000 nano-USD.
func startHearing(t *testing.T, s harness.Setup) *harness.Gateway {
	t.Helper()
	h := harness.Prepare(t)
	models := `{"id":"fake/echo","mode":"audio_transcription","price":{"prompt":"2.5","completion":"10","audio_input":"6"}}`
	for _, name := range []string{"fake/null-fields", "fake/no-usage", "fake/sloppy", "fake/step", "fake/err-500", "fake/cut-mid-stream", "router/echo"} {
		models += `,{"id":"` + name + `","mode":"audio_transcription","price":{"second":"100"}}`
	}
	if err := os.WriteFile(filepath.Join(h.Dir, "audio.json"), []byte(`{"models":[`+models+`]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	s.Options += "\ncatalog DIR/audio.json\n"
	if err := h.Reload(s); err != nil {
		t.Fatal(err)
	}
	return h
}

func TestASoundIsWrittenAndPaid(t *testing.T) {
	h := startHearing(t, harness.Setup{})
	text := faults.Transcript + "ann"
	for name, c := range map[string]struct {
		path, model, more string
		file              string
		mediaType, body   string // a part of it
		usage, source     string
	}{
		"tokens":        {transcriptsV1, "fake/echo", "", heard, "application/json", `{"text":"` + text + `"`, "0.00012", "provider"},
		"seconds":       {transcriptsV1, "fake/null-fields", "", heard, "application/json", `"seconds":9.2`, "0.00092", "provider"},
		"a duration":    {transcriptsV1, "fake/sloppy", field(`"response_format"`, "verbose_json"), heard, "application/json", `"segments"`, "0.00085", "provider"},
		"no usage":      {transcriptsV1, "fake/no-usage", "", heard, "application/json", text, "0.0002", "estimated"},
		"text":          {transcriptsV1, "fake/null-fields", field(`"response_format"`, "text"), heard, "text/plain; charset=utf-8", text + "\n", "0.0002", "estimated"},
		"srt":           {transcriptsV1, "fake/null-fields", field(`"response_format"`, "srt"), heard, "text/plain; charset=utf-8", "00:00:02,000\n" + text, "0.0002", "estimated"},
		"vtt":           {translationsV1, "fake/null-fields", field(`"response_format"`, "vtt"), heard, "text/vtt; charset=utf-8", "WEBVTT", "0.0002", "estimated"},
		"no header":     {transcriptsV1, "fake/no-usage", "", heard[44:], "application/json", text, "0.0128001", "estimated"},
		"half a header": {transcriptsV1, "fake/no-usage", "", string(faults.WAVHeader(1000)) + heard[44:], "application/json", text, "0.0002", "estimated"},
		"OpenRouter":    {transcriptsOR, "router/echo", "", heard, "application/json", text, "0.00092", "provider"},
		"not a stream":  {transcriptsV1, "fake/null-fields", field(`"stream"`, "true"), heard, "application/json", text, "0.00092", "provider"},
	} {
		a := sendForm(h, c.path, "chat", dictate(c.model, c.file, field(`"prompt"`, "ann")+c.more))
		if a.Status != 200 || a.Header.Get("Content-Type") != c.mediaType || !strings.Contains(string(a.Body), c.body) {
			t.Fatalf("%s: %d %q %s", name, a.Status, a.Header.Get("Content-Type"), a.Body)
		}
		row := h.Records.Row(a.Header.Get("X-Request-Id"))
		if got := harness.At(row, "usage"); got != harness.Number(c.usage) || harness.At(row, "usage_source") != c.source || harness.At(row, "priced") != true {
			t.Errorf("%s: row %v", name, row)
		}
		sent := h.Provider.Fake.Requests()
		_, base, _ := strings.Cut(c.model, "/")
		if got, want := string(sent[len(sent)-1].Body), dictate(base, c.file, field(`"prompt"`, "ann")+c.more); got != want {
			t.Errorf("%s: the provider got %d bytes, want %d", name, len(got), len(want))
		}
	}
}

func TestATranscriptIsStreamed(t *testing.T) {
	h := startHearing(t, harness.Setup{})
	r := h.Client.Request(transcriptsV1, "chat", dictate("fake/echo", heard, field(`"stream"`, "true")+field(`"prompt"`, "one two")))
	r.Header.Set("Content-Type", "multipart/form-data; boundary=cut")
	s := h.Client.Open(r)
	events, err := s.Rest()
	if err != nil || len(events) != 5 || !strings.Contains(events[0].Data, "transcript.text.delta") || !strings.Contains(events[4].Data, "transcript.text.done") {
		t.Fatalf("%v %v", events, err)
	}
	if row := h.Records.Row(s.Response.Header.Get("X-Request-Id")); harness.At(row, "usage") != harness.Number("0.00012") || harness.At(row, "stream") != true {
		t.Errorf("%v", row)
	}
}

func TestASoundInJSONIsWritten(t *testing.T) {
	h := startHearing(t, harness.Setup{})
	body := `{"model":"fake/no-usage","input_audio":{"data":"` + base64.StdEncoding.EncodeToString([]byte(heard)) + `","format":"wav"}}`
	a := h.Client.Post(transcriptsOR, "chat", body)
	row := h.Records.Row(a.Header.Get("X-Request-Id"))
	if a.Status != 200 || harness.At(row, "audio_ms") != harness.Number("2000") || harness.At(row, "usage") != harness.Number("0.0002") {
		t.Errorf("%d %s %v", a.Status, a.Body, row)
	}
}

func TestGuardrailsReadTranscripts(t *testing.T) {
	h := startHearing(t, harness.Setup{Keys: harness.Key("chat", "guardrails mask"), Options: "guardrail mask {\non output\nredact email\n}"})
	for _, format := range []string{"json", "verbose_json", "text", "srt", "vtt"} {
		a := sendForm(h, transcriptsV1, "chat", dictate("fake/echo", heard, field(`"prompt"`, "ann@example.com")+field(`"response_format"`, format)))
		if a.Status != 200 || strings.Contains(string(a.Body), "ann@") || !strings.Contains(string(a.Body), faults.Transcript) {
			t.Errorf("%s: %d %s", format, a.Status, a.Body)
		}
	}
	a := sendForm(h, transcriptsV1, "chat", dictate("fake/echo", heard, field(`"prompt"`, "to ann@example.com or so")+field(`"stream"`, "true")))
	if a.Status != 200 || strings.Contains(string(a.Body), "ann@") || !strings.Contains(string(a.Body), "transcript.text.done") {
		t.Errorf("%d %s", a.Status, a.Body)
	}
}

func TestGuardrailsReadWhatATranscriptIsAskedFor(t *testing.T) {
	h := startHearing(t, harness.Setup{Keys: harness.Key("chat", "guardrails safe"), Options: "guardrail safe {\non input\ndeny email\n}"})
	a := sendForm(h, transcriptsV1, "chat", dictate("fake/echo", heard, field(`"prompt"`, "ann@example.com")))
	harness.WantRefusal(t, transcriptsV1, a, 422, "guardrail_blocked")
}
