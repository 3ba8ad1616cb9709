package params_test

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/openai/params"
	"github.com/gatehouse-proxy/gatehouse/internal/units"
)

// second is a WAV file of a second with 1,000 samples of a byte.
var second = "RIFF\x00\x00\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00\xe8\x03\x00\x00\xe8\x03\x00\x00\x01\x00\x08\x00data\xe8\x03\x00\x00" + strings.Repeat("\xFF", 1000)

func TestASoundInAPromptIsMeasured(t *testing.T) {
	standard, url := base64.StdEncoding.EncodeToString([]byte(second)), base64.URLEncoding.EncodeToString([]byte(second))
	measured, unread := params.Sounds{Count: 1, Millis: 2000}, params.Sounds{Count: 1, Unbounded: true}
	chat := func(data, format string) string {
		return `{"messages":[{"role":"user","content":[{"type":"input_audio","input_audio":{"data":"` + data + `","format":"` + format + `"}}]}]}`
	}
	google := func(data, media string) string {
		return `{"contents":[{"parts":[{"inlineData":{"mimeType":"` + media + `","data":"` + data + `"}}]}]}`
	}
	for name, c := range map[string]struct {
		body string
		want params.Sounds
	}{
		"base64":                            {chat(standard, "wav"), measured},
		"escaped slashes":                   {chat(strings.ReplaceAll(standard, "/", `\/`), "wav"), measured},
		"a data URL":                        {chat("data:audio/wav;base64,"+standard, "wav"), measured},
		"a data URL of any type":            {chat("data:;base64,"+standard, ""), measured},
		"a data URL of another form":        {chat("data:audio/mp3;base64,"+standard, ""), unread},
		"another form":                      {chat(standard, "mp3"), unread},
		"more before a comma":               {chat(standard+",AAAA", "wav"), unread},
		"more before the comma of a URL":    {chat("data:audio/"+standard+";base64,AAAA", "wav"), unread},
		"less behind a comma":               {chat("AAAA,"+standard, "wav"), unread},
		"more behind the end":               {chat(standard+"AAAA", "wav"), params.Sounds{Count: 1, Millis: 3000}},
		"more behind the padding":           {chat(base64.StdEncoding.EncodeToString([]byte(second)[:1043])+"AAAA", "wav"), unread},
		"another alphabet":                  {chat(url, "wav"), unread},
		"without padding":                   {chat(base64.RawStdEncoding.EncodeToString([]byte(second)[:1043]), "wav"), unread},
		"lines":                             {chat(standard[:76]+`\n`+standard[76:], "wav"), unread},
		"other escapes":                     {chat(strings.Replace(standard, "U", `\u0055`, 1), "wav"), unread},
		"an address":                        {chat("https://a.example/long.wav", "wav"), unread},
		"data that is none":                 {`{"messages":[{"content":[{"type":"input_audio","input_audio":{"data":7}}]}]}`, unread},
		"data beside the part":              {`{"messages":[{"content":[{"type":"input_audio","data":"` + standard + `"}]}]}`, params.Sounds{Unbounded: true}},
		"in a part that says it is a text":  {`{"messages":[{"content":[{"type":"text","input_audio":{"data":"` + standard + `"}}]}]}`, measured},
		"two":                               {`{"input":[{"content":[{"type":"input_audio","input_audio":{"data":"` + standard + `"}},{"type":"input_audio","input_audio":{"data":"` + standard + `"}}]}]}`, params.Sounds{Count: 2, Millis: 4000}},
		"Google's":                          {google(standard, "audio/wav"), measured},
		"Google's, of the other alphabet":   {google(url, "audio/x-wav"), measured},
		"Google's, without padding":         {google(strings.TrimRight(url, "="), "AUDIO/WAV"), measured},
		"Google's, of another form":         {google(standard, "audio/mp3"), unread},
		"Google's, both alphabets":          {google("-_+/"+standard, "audio/wav"), unread},
		"Google's, with more behind commas": {google(standard+",AAAA", "audio/wav"), unread},
	} {
		content := params.ContentOf
		if strings.HasPrefix(name, "Google") {
			content = params.GenerateContentOf
		}
		got := content(generateBody(t, c.body))
		if got.Sounds.Bytes > 0 != (c.want.Millis > 0) || got.Units[units.AudioInput] != 1 {
			t.Errorf("%s: %+v", name, got)
		}
		if got.Sounds.Bytes = 0; got.Sounds != c.want {
			t.Errorf("%s: %+v, want %+v", name, got.Sounds, c.want)
		}
	}
	if n := (params.Sounds{Count: 2, Millis: 1500}).Tokens(); n != 2048 {
		t.Errorf("%d tokens", n)
	}
}

func TestASoundForATranscriptIsMeasured(t *testing.T) {
	data := base64.StdEncoding.EncodeToString([]byte(second))
	for audio, want := range map[string]struct {
		millis, heard      int64
		unbounded, refused bool
	}{
		`{"data":"` + data + `","format":"wav"}`:                     {millis: 2000, heard: 1000},
		`{"data":"data:audio/wav;base64,` + data + `"}`:              {millis: 2000, heard: 1000},
		`{"data":"` + data + `","format":"mp3"}`:                     {millis: 2000, heard: 1000, unbounded: true},
		`{"data":"` + strings.Repeat("AAAA", 1000) + `"}`:            {millis: 4012, unbounded: true},
		`{"data":"` + data + `,AAAA"}`:                               {refused: true},
		`{"data":"data:audio/wav;base64,` + data + `,` + data + `"}`: {refused: true},
	} {
		l, err := params.TranscriptionLimits(generateBody(t, `{"input_audio":`+audio+`}`))
		if err != nil != want.refused || err == nil && (l.Units[units.Millis] != want.millis || l.Heard != want.heard || l.Unbounded != want.unbounded) {
			t.Errorf("%.60s: %+v %v", audio, l, err)
		}
	}
}
