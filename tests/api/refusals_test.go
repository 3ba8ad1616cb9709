package api

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

// modesCatalog has a model of each mode, named after the fake provider's behaviour.
const modesCatalog = `{"models":[
	{"id":"fake/echo","mode":"chat"}, {"id":"fake/sloppy","mode":"embedding"}, {"id":"fake/crlf","mode":"audio_speech"},
	{"id":"fake/done","mode":"image_generation"}, {"id":"fake/pings","mode":"rerank"}, {"id":"fake/length","mode":"moderation"},
	{"id":"fake/comments","mode":"audio_transcription"}, {"id":"fake/not-json-200","mode":"audio_speech"}]}`

// What is wrong with a request is refused alike by each API, before a provider is asked. All that a
// field may be is in internal/openai/params, and broken forms are in internal/form.
func TestCallsOfEachAPIAreRefusedByName(t *testing.T) {
	h := harness.Prepare(t)
	if err := os.WriteFile(filepath.Join(h.Dir, "modes.json"), []byte(modesCatalog), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := h.Reload(harness.Setup{Options: "catalog DIR/modes.json\nguardrail safe {\non input\ndeny email\n}\nguardrails safe"}); err != nil {
		t.Fatal(err)
	}
	const mail = "write to ann@example.com"
	for _, c := range []struct {
		path, body string
		status     int
		code       string
	}{
		{completionsV1, `{"model":"fake/echo"}`, 400, "missing_required_parameter"},
		{completionsV1, `{"model":"fake/echo","prompt":{}}`, 400, "invalid_value"},
		{embeddingsV1, `{"model":"fake/echo","input":"x"}`, 404, "model_not_callable"},
		{embeddingsV1, `{"model":"fake/sloppy"}`, 400, "missing_required_parameter"},
		{embeddingsOR, `{"model":"fake/sloppy","input":7}`, 400, "invalid_value"},
		{embeddingsOR, `{"model":"fake/sloppy","input":"x","stream":true}`, 400, "unsupported_parameter"},
		{speechV1, speak("fake/echo", "a", ""), 404, "model_not_callable"},
		{speechV1, `{"model":"fake/crlf"}`, 400, "missing_required_parameter"},
		{speechOR, `{"model":"fake/crlf","input":["a"]}`, 400, "invalid_value"},
		{speechV1, speak("fake/crlf", mail, ""), 422, "guardrail_blocked"},
		{speechV1, speak("fake/crlf", "a", `,"instructions":"`+mail+`"`), 422, "guardrail_blocked"},
		{imagesV1, picture("acme/unheard", ""), 404, "model_not_found"},
		{imagesV1, picture("fake/echo", ""), 404, "model_not_callable"},
		{imagesV1, `{"model":"fake/done"}`, 400, "missing_required_parameter"},
		{imagesV1, picture("fake/done", `,"n":0`), 400, "invalid_value"},
		{imagesV1, `{"model":"fake/done","prompt":"` + mail + `"}`, 422, "guardrail_blocked"},
		{rerankV1, rank("fake/echo", 2), 404, "model_not_callable"},
		{rerankOR, `{"model":"fake/pings","documents":["a"]}`, 400, "missing_required_parameter"},
		{rerankV1, `{"model":"fake/pings","query":"a","documents":"b"}`, 400, "invalid_value"},
		{moderationsV1, `{"model":"fake/length"}`, 400, "missing_required_parameter"},
		{moderationsV1, `{"model":"fake/echo","input":"x"}`, 404, "model_not_callable"},
		{moderationsV1, `{"input":"x"}`, 404, "model_not_found"},
		{harness.ChatV1, harness.Chat("fake/pings", ""), 404, "model_not_callable"},
	} {
		harness.WantRefusal(t, c.path+" "+c.body, h.Client.Post(c.path, "chat", c.body), c.status, c.code)
	}
	for _, c := range []struct {
		path, body string
		status     int
		code       string
	}{
		{transcriptsV1, dictate("fake/echo", heard, ""), 404, "model_not_callable"},
		{transcriptsV1, dictate("fake/comments", heard, field(`"model"`, "fake/comments")), 400, "invalid_value"},
		{transcriptsOR, field(`"model"`, "fake/comments") + "--cut--", 400, "missing_required_parameter"},
		{transcriptsV1, field(`"model"`, "fake/comments") + field(`"file"`, "text") + "--cut--", 400, "invalid_value"},
		{translationsV1, dictate("fake/comments", heard, field(`"prompt"; filename=""`, mail)), 400, "invalid_value"},
		{editsV1, field(`"image"; filename="a.png"`, png) + field(`"model"`, "fake/done") + field(`"n"; filename="x.txt"`, "2") + "--cut--\r\n", 400, "invalid_value"},
	} {
		harness.WantRefusal(t, c.path+" "+c.body, sendForm(h, c.path, "chat", c.body), c.status, c.code)
	}
	if n := len(h.Provider.Fake.Requests()); n != 0 {
		t.Errorf("the provider got %d requests", n)
	}
	harness.WantRefusal(t, speechV1, h.Client.Post(speechV1, "chat", speak("fake/not-json-200", "a", "")), 502, "upstream_error")
}
