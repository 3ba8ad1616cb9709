package faults

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"mime/multipart"
	"net/http"
	"slices"
	"unicode/utf8"

	"github.com/gatehouse-proxy/gatehouse/internal/testkit/answers"
)

// SpokenBytes is how many bytes of PCM the spoken form of a character has, a tenth of a
// second.
const SpokenBytes = 4800

// speechBody reads the body of a call of POST /audio/speech. A character is spoken in a
// tenth of a second. OpenAI's default format is mp3, OpenRouter's is pcm.
func speechBody(_ *http.Request, body []byte) (*answers.Request, func(*call) script, error) {
	var raw struct {
		Model, Input string
		Format       string `json:"response_format"`
		Stream       string `json:"stream_format"`
	}
	if err := json.Unmarshal(body, &raw); err != nil || raw.Input == "" {
		return nil, nil, fmt.Errorf("want model and input: %w", err)
	}
	return &answers.Request{Model: raw.Model}, func(c *call) script {
		format := raw.Format
		switch {
		case format == "" && c.api == openRouter:
			format = "pcm"
		case format == "":
			format = "mp3"
		}
		characters := utf8.RuneCountInString(raw.Input)
		mediaType, sound := spoken(format, characters)
		if raw.Stream != "sse" {
			return pieces(c, mediaType, slices.Collect(slices.Chunk(sound, max(1, (len(sound)+3)/4))), nil)
		}
		var events [][]byte
		for piece := range slices.Chunk(sound, max(1, (len(sound)+1)/2)) {
			events = append(events, dataEvent(object{}.With("type", "speech.audio.delta").With("audio", base64.StdEncoding.EncodeToString(piece))))
		}
		done := object{}.With("type", "speech.audio.done")
		if c.mode.name != "no-usage" {
			done = done.With("usage", object{}.With("input_tokens", characters).With("output_tokens", 2*characters).With("total_tokens", 3*characters))
		}
		return pieces(c, "text/event-stream", append(events, dataEvent(done)), dataEvent(errorBody(c.api, c.id, 500, "", c.complaint())))
	}, nil
}

// Transcript is what the fake provider hears in every sound, before the prompt.
const Transcript = "You said: "

// transcriptionsBody reads the body of a call of POST /audio/transcriptions, a form or JSON. The model
// "null-fields" answers no stream, and counts seconds; "sloppy" has no usage but a duration in verbose JSON.
func transcriptionsBody(r *http.Request, body []byte) (*answers.Request, func(*call) script, error) {
	fields, size, err := transcriptionFields(r, body)
	if err != nil {
		return nil, nil, err
	}
	return &answers.Request{Model: fields["model"]}, func(c *call) script {
		text := Transcript + fields["prompt"]
		usage := object{}.With("type", "tokens").With("input_tokens", 14).With("output_tokens", 5).With("total_tokens", 19).
			With("input_token_details", object{}.With("text_tokens", 4).With("audio_tokens", 10))
		if c.mode.name == "null-fields" || c.api == openRouter {
			usage = object{}.With("type", "duration").With("seconds", 9.2)
		}
		switch format := fields["response_format"]; {
		case format == "text":
			return pieces(c, "text/plain; charset=utf-8", [][]byte{[]byte(text + "\n")}, nil)
		case format == "srt":
			return pieces(c, "text/plain; charset=utf-8", [][]byte{[]byte("1\n00:00:00,000 --> 00:00:02,000\n" + text + "\n\n")}, nil)
		case format == "vtt":
			return pieces(c, "text/vtt; charset=utf-8", [][]byte{[]byte("WEBVTT\n\n00:00.000 --> 00:02.000\n" + text + "\n\n")}, nil)
		case fields["stream"] == "true" && c.mode.name != "null-fields":
			var events [][]byte
			for _, word := range words(text) {
				events = append(events, dataEvent(object{}.With("type", "transcript.text.delta").With("delta", word)))
			}
			done := object{}.With("type", "transcript.text.done").With("text", text).With("usage", usage)
			return pieces(c, "text/event-stream", append(events, dataEvent(done)), dataEvent(errorBody(c.api, c.id, 500, "", c.complaint())))
		}
		answer := object{}.With("text", text)
		if fields["response_format"] == "verbose_json" {
			answer = object{}.With("task", "transcribe").With("duration", 8.5).With("text", text).With("language", "english").
				With("segments", []object{object{}.With("id", 0).With("start", 0).With("end", 8.5).With("text", text)})
		}
		if c.mode.name != "no-usage" && c.mode.name != "sloppy" {
			answer = answer.With("usage", usage)
		}
		return pieces(c, "application/json", [][]byte{answers.Encode(answer.With("bytes", size))}, nil)
	}, nil
}

// transcriptionFields are the texts of a request for a transcript, and the size of its sound.
func transcriptionFields(r *http.Request, body []byte) (fields map[string]string, size int, err error) {
	fields = map[string]string{}
	media, params, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if media == "application/json" {
		var raw struct {
			Model, Prompt string
			Audio         struct{ Data []byte } `json:"input_audio"`
		}
		err = json.Unmarshal(body, &raw)
		return map[string]string{"model": raw.Model, "prompt": raw.Prompt}, len(raw.Audio.Data), err
	}
	form, err := multipart.NewReader(bytes.NewReader(body), params["boundary"]).ReadForm(maxBody)
	if err != nil {
		return nil, 0, err
	}
	for name, values := range form.Value {
		fields[name] = values[0]
	}
	if len(form.File["file"]) != 1 {
		return nil, 0, errors.New("want one file")
	}
	return fields, int(form.File["file"][0].Size), nil
}

func dataEvent(o object) []byte {
	return slices.Concat([]byte("data: "), answers.Encode(o), []byte("\n\n"))
}

// spoken is a sound of so many tenths of a second.
func spoken(format string, tenths int) (mediaType string, sound []byte) {
	pcm := bytes.Repeat([]byte{1, 2, 3, 4}, tenths*SpokenBytes/4)
	switch format {
	case "pcm":
		return "audio/pcm", pcm
	case "wav":
		return "audio/wav", append(WAVHeader(len(pcm)), pcm...)
	case "mp3": // frames of 24 ms, of 64 kbit/s at 24 kHz
		frame := append([]byte{0xFF, 0xF3, 0x84, 0xC4}, make([]byte, 188)...)
		return "audio/mpeg", bytes.Repeat(frame, (tenths*100+23)/24)
	}
	return "audio/" + format, pcm
}

// WAVHeader is the header of a WAV file with so many bytes of samples, at 24 kHz.
func WAVHeader(size int) []byte {
	h := append([]byte("RIFF"), binary.LittleEndian.AppendUint32(nil, uint32(36+size))...)
	h = append(h, "WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00"...)
	h = binary.LittleEndian.AppendUint32(h, 24_000)
	h = binary.LittleEndian.AppendUint32(h, 48_000)
	h = append(h, "\x02\x00\x10\x00data"...)
	return binary.LittleEndian.AppendUint32(h, uint32(size))
}

// pieces sends the pieces of an answer along the course of the call's behaviour. failure is the event
// that says that it failed, nil for an answer that cannot say so.
func pieces(c *call, contentType string, pieces [][]byte, failure []byte) script {
	if c.mode.wrongType {
		contentType = "text/html"
	}
	s := script{status: http.StatusOK, header: http.Header{"Content-Type": {contentType}}, length: -1}
	cut, gate := max(1, len(pieces)/2), -1
	if c.mode.at > 0 {
		cut = min(c.mode.at, len(pieces))
	}
	switch c.mode.course {
	case courseEmpty:
		return s
	case courseError, courseFailed, courseErrorFirst, courseOverloaded:
		if failure == nil {
			return c.fails(http.StatusInternalServerError, "", c.complaint())
		}
		if pieces = pieces[:cut]; c.mode.course == courseErrorFirst {
			pieces = nil
		}
		pieces = append(pieces, failure)
	case courseCutClean:
		pieces = pieces[:cut]
	case courseAbort:
		pieces, s.end = pieces[:cut], endAbort
	case courseReset:
		pieces, s.end = pieces[:cut], endReset
	case courseStall:
		gate = cut
	case courseHang, courseLate:
		gate = 0
	case courseDelayed:
		s.steps = []step{{pause: c.mode.pause}}
	}
	for i, piece := range pieces {
		st := step{data: piece}
		if i == gate || i > 0 && c.mode.course == courseStep {
			st.gate = c.mode.name
		}
		s.steps = append(s.steps, st)
	}
	return s
}
