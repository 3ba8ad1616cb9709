package sdkgo_test

import (
	"io"
	"strings"
	"testing"

	"github.com/openai/openai-go/v3"
)

func TestSpeech(t *testing.T) {
	if target(t) != "fake" {
		return // the others have no API of sound
	}
	c := client(t)
	ask := openai.AudioSpeechNewParams{Model: "fake/echo", Input: "ten and ten characte", Voice: openai.AudioSpeechNewParamsVoiceUnion{OfString: openai.String("alloy")}, ResponseFormat: "pcm"}
	reply, err := c.Audio.Speech.New(ctx(t), ask)
	if err != nil {
		t.Fatal(err)
	}
	defer reply.Body.Close()
	if sound, err := io.ReadAll(reply.Body); err != nil || len(sound) != 96_000 {
		t.Errorf("%d bytes, %v", len(sound), err)
	}
	if r := find(t, reply.Header.Get("X-Request-Id"), "fake/echo"); r.Status != 200 {
		t.Errorf("row is %+v", r)
	}
	ask.Model = "fake/cut-mid-stream"
	broken, err := c.Audio.Speech.New(ctx(t), ask)
	if err != nil {
		t.Fatal(err)
	}
	defer broken.Body.Close()
	if sound, err := io.ReadAll(broken.Body); err == nil {
		t.Errorf("%d bytes look whole", len(sound))
	}
}

func TestTranscriptions(t *testing.T) {
	if target(t) != "fake" {
		return
	}
	c := client(t)
	file := func() io.Reader {
		return openai.File(strings.NewReader(strings.Repeat("RIFF", 1000)), "a.wav", "audio/wav")
	}
	ask := openai.AudioTranscriptionNewParams{Model: "fake/echo", File: file(), Prompt: openai.String("ann")}
	reply, err := c.Audio.Transcriptions.New(ctx(t), ask)
	if err != nil || reply.Text != "You said: ann" {
		t.Errorf("%+v, %v", reply, err)
	}
	ask.File = file()
	stream, text := c.Audio.Transcriptions.NewStreaming(ctx(t), ask), ""
	defer stream.Close()
	for stream.Next() {
		text += stream.Current().Delta
	}
	if stream.Err() != nil || text != "You said: ann" {
		t.Errorf("%q, %v", text, stream.Err())
	}
}
