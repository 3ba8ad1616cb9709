package fake

import (
	"bytes"
	"net/http"
	"unicode/utf8"
)

// event is one server-sent event; text says that it carries a piece of the answer.
type event struct {
	name string
	data []byte
	text bool
}

var doneEvent = event{data: []byte("[DONE]")}

// streamScript frames events and sends them along the course of the call's
// behaviour. failed makes the endpoint's error events, the first of which would
// be number n of the stream.
func (c *call) streamScript(events []event, failed func(n int) []event) script {
	s := script{status: http.StatusOK, header: http.Header{}, length: -1, gzip: c.mode.gzip}
	s.header.Set("Content-Type", "text/event-stream; charset=utf-8")
	if c.mode.wrongType {
		s.header.Set("Content-Type", "application/json")
	}
	s.header.Set("Cache-Control", "no-cache")

	cut := afterText(events, 2)
	gate := -1
	switch c.mode.course {
	case courseEmpty:
		return s
	case courseErrorFirst:
		events = failed(0)
	case courseError, courseFailed:
		events = append(events[:cut:cut], failed(cut)...)
	case courseCutClean:
		events = events[:cut]
	case courseAbort:
		events, s.end = events[:cut], endAbort
	case courseReset:
		events, s.end = events[:cut], endReset
	case courseMalformed:
		broken := event{name: events[cut].name, data: []byte(`{"id":"broken","choices":[{"index":0,"del`)}
		events = append(append(events[:cut:cut], broken), events[cut:]...)
	case courseStall:
		gate = cut
	}
	for i, e := range events {
		framed := c.frame(e)
		if i == 0 && c.family == openRouter {
			framed = append([]byte(": OPENROUTER PROCESSING\n\n"), framed...)
		}
		first := len(s.steps)
		s.steps = append(s.steps, c.writes(framed)...)
		if i == gate || i > 0 && c.mode.course == courseStep {
			s.steps[first].gate = c.mode.name
		}
		if i > 0 && c.mode.events > 0 {
			s.steps[first].pause = c.mode.pause
		}
	}
	if c.mode.events > 0 && c.mode.pause == 0 {
		s.steps = []step{{data: joinWrites(s.steps)}}
	}
	return s
}

// afterText is the index after the nth event with text.
func afterText(events []event, n int) int {
	for i, e := range events {
		if e.text {
			if n--; n == 0 {
				return i + 1
			}
		}
	}
	return len(events) / 2
}

func (c *call) frame(e event) []byte {
	eol, colon := "\n", ": "
	if c.mode.crlf {
		eol = "\r\n"
	}
	if c.mode.noSpace {
		colon = ":"
	}
	var b bytes.Buffer
	if c.mode.comments {
		b.WriteString(": still here" + eol + eol)
	}
	if e.name != "" {
		b.WriteString("event" + colon + e.name + eol)
	}
	b.WriteString("data" + colon)
	b.Write(e.data)
	b.WriteString(eol + eol)
	return b.Bytes()
}

// writes cuts one framed event into the writes in which it is sent.
func (c *call) writes(framed []byte) []step {
	var steps []step
	switch {
	case c.mode.byteWise:
		for i := range framed {
			steps = append(steps, step{data: framed[i : i+1]})
		}
		return steps
	case c.mode.splitRunes:
		start := 0
		for i := 1; i < len(framed); i++ {
			if !utf8.RuneStart(framed[i]) {
				steps = append(steps, step{data: framed[start:i]})
				start = i
			}
		}
		return append(steps, step{data: framed[start:]})
	}
	return []step{{data: framed}}
}

func joinWrites(steps []step) []byte {
	var b bytes.Buffer
	for _, st := range steps {
		b.Write(st.data)
	}
	return b.Bytes()
}

// plainScript sends body as the JSON answer of a call without stream, along the
// course of the call's behaviour.
func (c *call) plainScript(body []byte, failed script) script {
	contentType := "application/json"
	if c.mode.wrongType {
		contentType = "text/plain"
	}
	half := body[:len(body)/2]
	switch c.mode.course {
	case courseEmpty:
		return whole(http.StatusOK, contentType, nil)
	case courseError, courseErrorFirst:
		return failed
	case courseMalformed, courseCutClean:
		return whole(http.StatusOK, contentType, half)
	}
	s := whole(http.StatusOK, contentType, body)
	s.gzip = c.mode.gzip
	switch c.mode.course {
	case courseAbort, courseReset:
		s.steps[0].data, s.end = half, endAbort
		if c.mode.course == courseReset {
			s.end = endReset
		}
	case courseStall:
		s.steps[0].gate = c.mode.name
	}
	if c.mode.splitRunes || c.mode.byteWise {
		s.steps = c.writes(body)
	}
	return s
}
