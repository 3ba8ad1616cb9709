package params

import (
	"cmp"
	"unicode/utf8"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/units"
)

// ParseSpeech reads a request to speak a text: `input` is the text. With a `stream_format` of "sse" the
// answer is a stream of events, else the bytes of the sound.
func ParseSpeech(b *jsonscan.Body) (Request, error) {
	req, err := head(b)
	if err != nil {
		return req, err
	}
	if input, ok := member(b, "input"); !ok {
		return req, missing("input")
	} else if input.Kind != '"' {
		return req, wrong("input", "a string")
	}
	format := ""
	if m, ok := member(b, "stream_format"); ok {
		if format, ok = jsonscan.String(m.Value(b.Data())); !ok {
			return req, wrong("stream_format", "a string")
		}
	}
	req.Stream = format == "sse"
	return req, nil
}

// SpeechLimits is [ChatLimits] for a request that [ParseSpeech] accepted. It knows the characters of the
// text, and not how long the sound will be.
func SpeechLimits(b *jsonscan.Body) RequestedLimits {
	m, _ := member(b, "input")
	text, _ := jsonscan.String(m.Value(b.Data()))
	var l RequestedLimits
	l.Units[units.Characters] = int64(utf8.RuneCountInString(text))
	return l
}

const (
	// millisPerToken is how much sound a token of speech has (OpenAI).
	millisPerToken = 50
	// Guesses of how long a text is when it is spoken. Slow speech has ten characters a second.
	millisPerCharacter = 100
	tokensPerCharacter = 2
)

// Speech is the most that a model uses to speak the text of a request, within the most that an answer
// can use: 0 if that is not known. It is paid by tokens, by the second, both or neither.
func (l *RequestedLimits) Speech(most units.Counts, perToken, perSecond bool) (made Made) {
	characters := l.Units[units.Characters]
	bound := func(u units.Unit, guess int64) {
		made.Guess = most[u] == 0
		made.Units[u] = cmp.Or(most[u], guess)
	}
	made.Units[units.Characters] = characters
	switch {
	case perToken:
		bound(units.AudioOutput, characters*tokensPerCharacter)
		made.Units[units.Millis] = made.Units[units.AudioOutput] * millisPerToken
	case perSecond:
		bound(units.Millis, characters*millisPerCharacter)
	}
	return made
}

// Heard returns what an answer has whose sound was counted. It is not more than a bound that is known.
func (m Made) Heard(millis int64) Made {
	bound := m.Units[units.Millis]
	if millis == 0 || bound == 0 || !m.Guess && millis > bound {
		return m
	}
	m.Units[units.Millis] = millis
	if m.Units[units.AudioOutput] > 0 {
		m.Units[units.AudioOutput] = (millis + millisPerToken - 1) / millisPerToken
	}
	return m
}

// speechFields cannot make speech cost more than its text and the length of the sound say.
var speechFields = []string{"speed", "stream_format", "voice"}

// SpeechContentOf is [ContentOf] for a request that [ParseSpeech] accepted.
func SpeechContentOf(b *jsonscan.Body) Content { return contentOf(b, speechFields) }
