package api

import (
	"encoding/base64"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/sound"
	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

// soundFile is a file that a real encoder made, with its name.
func soundFile(t *testing.T, name string) (data, extension string) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("../../internal/sound/testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b), filepath.Ext(name)[1:]
}

// dictateAs is dictate for a file with a name.
func dictateAs(name, model, file string) string {
	return field(`"file"; filename="`+name+`"`, file) + field(`"model"`, model) + "--cut--\r\n"
}

// longWAV is two seconds that say they are none.
var longWAV = heard[:28] + "\xFF\xFF\xFF\x7F\xFF\xFF" + heard[34:]

func TestAHardBudgetReservesTheLengthOfASound(t *testing.T) {
	silence, _ := soundFile(t, "silence.flac")
	for name, c := range map[string]struct {
		budget, file, name string
		status             int
	}{
		"its length and a second":      {"0.0003", heard, "a.wav", 200},
		"a little less":                {"0.000299", heard, "a.wav", 402},
		"a header that lies":           {"0.0003", longWAV, "a.wav", 200},
		"a header that lies, too long": {"0.000299", longWAV, "a.wav", 402},
		"ten minutes in 1,048 bytes":   {"0.0601", silence, "a.flac", 200},
		"of which one is missing":      {"0.06", silence, "a.flac", 402},
		"what cannot be read":          {"1000", heard[44:], "a.wav", 402},
		"what has another name":        {"1000", heard, "a.mp3", 402},
		"what has no ending":           {"0.0003", heard, "sound", 200},
	} {
		h := startHearing(t, harness.Setup{Keys: harness.Key("chat", "budget "+c.budget+"usd/day")})
		a := sendForm(h, transcriptsV1, "chat", dictateAs(c.name, "fake/no-usage", c.file))
		if a.Status != c.status {
			t.Errorf("%s: %d %s", name, a.Status, a.Body)
		}
		if c.budget == "1000" {
			harness.WantRefusal(t, transcriptsV1, a, 402, "cannot_be_priced")
			var refusal struct{ Error struct{ Message string } }
			if err := json.Unmarshal(a.Body, &refusal); err != nil || !strings.Contains(refusal.Error.Message, sound.Readable) {
				t.Errorf("%s: %v %q", name, err, refusal.Error.Message)
			}
		}
	}
}

// A minute of any of these has at most thirty times as much as what is sent here.
func TestOrdinarySoundsPassUnderAHardBudget(t *testing.T) {
	budget := "budget 0.0334usd/day"
	for _, name := range []string{"tone.wav", "tone.mp3", "tone.flac", "opus.ogg", "vorbis.ogg", "tone.webm", "tone.m4a", "fragments.m4a"} {
		file, form := soundFile(t, name)
		encoded := base64.StdEncoding.EncodeToString([]byte(file))
		h := startHearing(t, harness.Setup{Keys: harness.Key("chat", budget)})
		for _, model := range []string{"fake/no-usage", "fake/echo"} {
			if a := sendForm(h, transcriptsV1, "chat", dictateAs(name, model, file)); a.Status != 200 {
				t.Errorf("%s for %s: %d %s", name, model, a.Status, a.Body)
			}
		}
		body := `{"model":"router/echo","input_audio":{"data":"` + encoded + `","format":"` + form + `"}}`
		if a := h.Client.Post(transcriptsOR, "chat", body); a.Status != 200 {
			t.Errorf("%s in JSON: %d %s", name, a.Status, a.Body)
		}
	}
}

// talking has models whose tokens of sound cost 40 USD a million.
const talking = `{"models":[{"id":"fake/echo","max_output_tokens":100,"price":{"prompt":"2.5","completion":"10","audio_input":"40","audio_output":"80"}},
	{"id":"g/gemini-3-echo","max_output_tokens":100,"price":{"prompt":"0.5","completion":"3","audio_input":"1"}}]}`

func startTalking(t *testing.T, s harness.Setup, budget string) *harness.Gateway {
	t.Helper()
	h := harness.Prepare(t)
	if err := os.WriteFile(filepath.Join(h.Dir, "talking.json"), []byte(talking), 0o600); err != nil {
		t.Fatal(err)
	}
	s.Keys, s.Options = harness.Key("chat", "budget "+budget+"usd/day"), "catalog DIR/talking.json"
	if err := h.Reload(s); err != nil {
		t.Fatal(err)
	}
	return h
}

func TestAHardBudgetReservesTheSoundsOfAPrompt(t *testing.T) {
	silence, _ := soundFile(t, "silence.flac")
	encode := func(file string) string { return base64.StdEncoding.EncodeToString([]byte(file)) }
	chat := func(data, format string) string {
		return `{"model":"fake/echo","max_tokens":10,"messages":[{"role":"user","content":[{"type":"input_audio","input_audio":{"data":"` + data + `","format":"` + format + `"}}]}]}`
	}
	google := func(data, media string) string {
		return `{"contents":[{"parts":[{"inlineData":{"mimeType":"` + media + `","data":"` + data + `"}}]}],"generationConfig":{"maxOutputTokens":10}}`
	}
	for name, c := range map[string]struct {
		path, budget, body string
		status             int
	}{
		"two seconds":                   {harness.ChatV1, "0.06", chat(encode(heard), "wav"), 200},
		"ten minutes in 1,048 bytes":    {harness.ChatV1, "0.7", chat(encode(silence), "flac"), 402},
		"ten minutes for more":          {harness.ChatV1, "0.9", chat(encode(silence), "flac"), 200},
		"what cannot be read":           {harness.ChatV1, "1000", chat(encode(heard[44:]), "wav"), 402},
		"more before a comma":           {harness.ChatV1, "1000", chat(encode(heard)+",AAAA", "wav"), 402},
		"Google: two seconds":           {generate, "0.002", google(encode(heard), "audio/wav"), 200},
		"Google: ten minutes":           {generate, "0.02", google(encode(silence), "audio/flac"), 402},
		"Google: ten minutes for more":  {generate, "0.03", google(encode(silence), "audio/flac"), 200},
		"Google: what cannot be read":   {generate, "1000", google(encode(heard[44:]), "audio/pcm"), 402},
		"Google: what has another name": {generate, "1000", google(encode(heard), "audio/aac"), 402},
	} {
		setup, send := harness.Setup{}, func(h *harness.Gateway, path, key, body string) harness.Answer { return h.Client.Post(path, key, body) }
		if c.path == generate {
			setup, send = onGemini, askGoogle
		}
		a := send(startTalking(t, setup, c.budget), c.path, "chat", c.body)
		if a.Status != c.status {
			t.Errorf("%s: %d %s", name, a.Status, a.Body)
		}
	}
}

func TestSoundInJSONThatDecodersReadDifferentlyIsRefused(t *testing.T) {
	h := startHearing(t, harness.Setup{})
	data := base64.StdEncoding.EncodeToString([]byte(heard))
	for _, value := range []string{data + ",AAAA", "data:audio/wav;base64," + data + "," + data, data + "=" + data, "AAAA" + `\n` + data} {
		a := h.Client.Post(transcriptsOR, "chat", `{"model":"fake/no-usage","input_audio":{"data":"`+value+`","format":"wav"}}`)
		harness.WantRefusal(t, transcriptsOR, a, 400, "invalid_value")
	}
}
