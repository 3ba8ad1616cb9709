package translate

import (
	"strconv"
	"strings"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
)

const (
	// maxStops is how many stop sequences OpenAI accepts.
	maxStops = 4

	// maxStop bounds a stop sequence in bytes: as much of the text may have to be held back.
	maxStop = 1024
)

// StopSequences reads stop sequences that the gateway itself looks for: a text, or several.
func StopSequences(value []byte, path string) ([]string, error) {
	switch {
	case value == nil:
		return nil, nil
	case value[0] == '"':
		s, err := stopSequence(value, path)
		return []string{s}, err
	}
	spans, err := Elements(value, path, maxStops)
	if err != nil {
		return nil, err
	}
	var stops []string
	for i, span := range spans {
		s, err := stopSequence(span.Value(value), At(path, i))
		if err != nil {
			return nil, err
		}
		stops = append(stops, s)
	}
	return stops, nil
}

func stopSequence(value []byte, path string) (string, error) {
	s, ok := jsonscan.String(value)
	if !ok || s == "" || len(s) > maxStop {
		return "", Invalid(path, "a text of 1 to "+strconv.Itoa(maxStop)+" bytes")
	}
	return s, nil
}

// ReadStop returns the member stop of a chat request, a text or at most so many, as a list; nil if
// it asks for nothing.
func ReadStop(body Reader, most int) []byte {
	value := body.Get("stop")
	switch {
	case value == nil:
		return nil
	case value[0] == '"':
		return append(append([]byte{'['}, value...), ']')
	}
	spans, err := Elements(value, "stop", most)
	body.Fail(err)
	for i, span := range spans {
		if span.Kind != '"' {
			body.Fail(Invalid(At("stop", i), "a text"))
		}
	}
	if len(spans) == 0 {
		return nil
	}
	return value
}

// Stops finds the first of some stop sequences in a text that comes in pieces.
type Stops struct {
	Sequences []string
	held      string // the end of the text, which may begin a sequence
}

// Next takes a piece and returns the text that is certain not to belong to a sequence. The sequence
// that is complete first is found, the longest of several that end together. Nothing may follow.
func (s *Stops) Next(piece string) (text, found string) {
	text = s.held + piece
	end := len(text)
	for _, stop := range s.Sequences {
		i := strings.Index(text[:end], stop)
		if i >= 0 && (i+len(stop) < end || len(stop) > len(found)) {
			end, found = i+len(stop), stop
		}
	}
	if found != "" {
		s.held = ""
		return text[:end-len(found)], found
	}
	certain := max(0, len(text)-maxStop)
	for certain < len(text) && !s.mayBegin(text[certain:]) {
		certain++
	}
	s.held = strings.Clone(text[certain:]) // without the memory of a long piece
	return text[:certain], ""
}

func (s *Stops) mayBegin(text string) bool {
	for _, stop := range s.Sequences {
		if strings.HasPrefix(stop, text) {
			return true
		}
	}
	return false
}

// Rest returns the text that was held back, when no sequence can follow.
func (s *Stops) Rest() string {
	rest := s.held
	s.held = ""
	return rest
}
