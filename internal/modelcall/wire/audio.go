package wire

import (
	"github.com/gatehouse-proxy/gatehouse/internal/catalog"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/openai/params"
)

func speech(l *params.RequestedLimits, m *catalog.Model) params.Made {
	perToken, perSecond := m.Price.PerSound()
	return l.Speech(m.MaxUnits, perToken, perSecond)
}

// encodeSpeech sends the caller's own bytes with a few edits: no format is added, because OpenAI's and
// OpenRouter's defaults differ.
func encodeSpeech(e Encoding) (*Sending, error) {
	return encodeList(e, speechWire, speechAnswer{e.Answer})
}

// speechAnswer is a sound: bytes that pass as they come, or events.
type speechAnswer struct{ call openai.Call }

func (a speechAnswer) Stream() openai.Stream { return openai.NewSpeechStream(a.call) }

// Whole implements [Answer]: JSON is no sound.
func (a speechAnswer) Whole(dst, body []byte) ([]byte, openai.Summary, error) {
	failure := a.call.Broken("answered with no sound")
	if found := openai.ParseProviderError(body); found != (openai.ProviderError{}) {
		failure = a.call.Fault(found)
	}
	return dst, openai.Summary{Err: failure}, failure
}

func transcript(l *params.RequestedLimits, m *catalog.Model) params.Made {
	perToken, ownRate := m.Price.PerHeard()
	return l.Transcript(m.MaxOutput, perToken, ownRate)
}

// transcribe is the route to providers that have an API of transcripts.
func transcribe(w *Wire) []Route {
	return []Route{{Wire: w, Encode: func(e Encoding) (*Sending, error) {
		return encodeList(e, w, transcriptAnswer{e.Answer})
	}}}
}

// transcriptAnswer is a transcript in JSON, in one piece or in events. Other forms of it have no usage.
type transcriptAnswer struct{ call openai.Call }

func (a transcriptAnswer) Stream() openai.Stream { return openai.NewTranscriptStream(a.call) }

func (a transcriptAnswer) Whole(dst, body []byte) ([]byte, openai.Summary, error) {
	return openai.TranscriptResult(dst, body, a.call)
}
