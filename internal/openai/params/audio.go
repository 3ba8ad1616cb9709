package params

import (
	"bytes"
	"cmp"
	"iter"
	"strconv"
	"unicode/utf8"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/sound"
	"github.com/gatehouse-proxy/gatehouse/internal/units"
)

// ParseSpeech reads a request to speak a text: `input` is the text, or a list of turns, each with a text
// and perhaps a voice of its own (OpenRouter). With a `stream_format` of "sse" the
// answer is a stream of events, else the bytes of the sound.
func ParseSpeech(b *jsonscan.Body) (Request, error) {
	req, err := parse(b, "input", textOrList, aTextOrList)
	if err != nil {
		return req, err
	}
	i := 0
	for turn := range turns(b) {
		if _, ok := jsonscan.String(turn); !ok {
			return req, wrong("input["+strconv.Itoa(i)+"].text", "a string")
		}
		i++
	}
	format, ok := jsonscan.String(value(b, "stream_format"))
	if _, some := member(b, "stream_format"); some && !ok {
		return req, wrong("stream_format", "a string")
	}
	req.Stream = format == "sse"
	return req, nil
}

// SpeechLimits is [ChatLimits] for a request that [ParseSpeech] accepted. It knows the characters of the
// text, and not how long the sound will be.
func SpeechLimits(b *jsonscan.Body) RequestedLimits {
	var l RequestedLimits
	l.Units[units.Characters] = int64(utf8.RuneCountInString(word(b, "input")))
	for turn := range turns(b) {
		text, _ := jsonscan.String(turn)
		l.Units[units.Characters] += int64(utf8.RuneCountInString(text))
	}
	return l
}

// turns yields the texts of a list of turns, as JSON, nil for a turn that has none.
func turns(b *jsonscan.Body) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		list := value(b, "input")
		for e := range jsonscan.AllElements(list) {
			if !yield(openai.OpenObject(e.Value(list), nil).Get("text")) {
				return
			}
		}
	}
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

// Heard returns what an answer has whose sound was measured. It is not more than a bound that is known.
func (m Made) Heard(millis int64) Made {
	bound := m.Units[units.Millis]
	if millis == 0 || bound == 0 || !m.Guess && millis > bound {
		return m
	}
	m.Units[units.Millis] = millis
	if m.Units[units.AudioOutput] > 0 {
		m.Units[units.AudioOutput] = perSecond(millis, 1000/millisPerToken)
	}
	if m.Units[units.AudioInput] > 0 {
		m.Units[units.AudioInput] = perSecond(millis, tokensPerSecond)
	}
	m.Prompt = min(m.Prompt, perSecond(millis, tokensPerSecond))
	return m
}

// perSecond returns how many tokens a sound has, rounded up.
func perSecond(millis, tokens int64) int64 { return (millis*tokens + 999) / 1000 }

// ParseTranscription reads a request to write what is said in a sound: a form with a `file`, or JSON with
// `input_audio`.
func ParseTranscription(b *jsonscan.Body) (Request, error) {
	req, err := head(b)
	if err != nil {
		return req, err
	}
	_, ok := member(b, "file")
	audio := value(b, "input_audio")
	switch {
	case ok:
		err = required(b, "file", "0", "one file")
	case audio == nil:
		err = missing("file")
	case !isString(nested(audio, "data")):
		err = wrong("input_audio", "an object with data")
	}
	return req, err
}

const (
	// tokensPerSecond is more tokens than a second of sound has that a model hears (OpenAI: about 17).
	tokensPerSecond = 20
	// writtenPerSecond is more tokens than are said in a second.
	writtenPerSecond = 8
	// guessedRate is a guess of how many bytes a second of sound has that cannot be read: 6 kbit/s.
	guessedRate = 750
	// margin is what a provider may add to the length of a sound before it rounds up to whole seconds.
	margin = 1000
)

// TranscriptionLimits is [ChatLimits] for a request that [ParseTranscription] accepted. It measures a
// sound in JSON, and guesses how long the one in a form is by its size.
func TranscriptionLimits(b *jsonscan.Body) (l RequestedLimits, err error) {
	l.Choices = 1
	if file := value(b, "file"); file != nil {
		size, _ := jsonscan.Int(file)
		l.measured(sound.Length{}, size)
	} else if audio := value(b, "input_audio"); audio != nil {
		length, ok := inputAudio(audio)
		if !ok {
			return l, wrong("input_audio.data", "base64, or a data URL of it")
		}
		l.measured(length, int64(len(audio))*3/4)
	}
	return l, nil
}

// Measure measures the sound of a request that came as a form, nil for one that did not.
func (l *RequestedLimits) Measure(f *Form) {
	if f == nil || l.Units[units.Millis] == 0 {
		return
	}
	for i, parts := 0, f.Parts(); i < len(parts); i++ {
		if p := &parts[i]; p.File && p.Name == "file" {
			data := f.Value(p)
			length := sound.Measure(bytes.NewReader(data), p.Extension, sound.NameInType(p.ContentType))
			l.measured(length, int64(len(data)))
		}
	}
}

// measured notes how long a sound of so many bytes is.
func (l *RequestedLimits) measured(length sound.Length, size int64) {
	l.Heard, l.Unbounded = length.Millis, !length.Bounded
	if l.Units[units.Millis] = seconds(length.Millis); l.Unbounded {
		l.Units[units.Millis] = max(l.Units[units.Millis], (size+1)*1000/guessedRate)
	}
}

// seconds returns the most that a provider counts for a sound, in milliseconds.
func seconds(millis int64) int64 { return (millis + margin + 999) / 1000 * 1000 }

// Used returns what the request asks to be used of each unit, as far as it is known.
func (l *RequestedLimits) Used() units.Counts {
	used := l.Units
	if l.Heard > 0 {
		used[units.Millis] = l.Heard
	}
	return used
}

// Transcript is the most that a model uses for the transcript of the sound of a request. It writes so
// many tokens at most, 0: unknown.
func (l *RequestedLimits) Transcript(most int64, perToken, ownRate bool) (made Made) {
	millis := l.Units[units.Millis]
	made.Units[units.Millis] = millis
	if !perToken {
		return made
	}
	made.Prompt, made.Text = perSecond(millis, tokensPerSecond), perSecond(millis, writtenPerSecond)
	if most > 0 {
		made.Text = min(made.Text, most)
	}
	if ownRate {
		made.Units[units.AudioInput] = made.Prompt
	}
	return made
}

// TranscriptionContentOf is [ContentOf] for a request that [ParseTranscription] accepted.
func TranscriptionContentOf(b *jsonscan.Body) Content {
	c := ContentOf(b)
	c.Encoded += int64(len(value(b, "input_audio")))
	return c
}
