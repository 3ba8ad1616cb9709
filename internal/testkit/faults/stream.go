package faults

import (
	"net/http"
	"slices"
	"strings"

	"github.com/gatehouse-proxy/gatehouse/internal/testkit/answers"
)

// streamScript sends a stream along the course of the call's behaviour. failure
// is the error event of the API.
func (c *call) streamScript(events []event, failure event) script {
	s := script{status: http.StatusOK, header: http.Header{}, length: -1, gzip: c.mode.gzip}
	s.header.Set("Content-Type", "text/event-stream; charset=utf-8")
	if c.mode.wrongType {
		s.header.Set("Content-Type", "application/json")
	}
	s.header.Set("Cache-Control", "no-cache")

	if c.api == openRouter {
		events = routerStream(events)
	}
	if c.mode.stream != nil {
		events = c.mode.stream(events)
	}
	cut, broken, gate := afterText(events, 2), -1, -1
	if c.mode.at > 0 {
		cut = min(c.mode.at, len(events))
	}
	switch c.mode.course {
	case courseEmpty:
		return s
	case courseErrorFirst:
		events = []event{failure}
	case courseError, courseFailed:
		events = append(events[:cut], failure)
	case courseCutClean:
		events = events[:cut]
	case courseAbort:
		events, s.end = events[:cut], endAbort
	case courseReset:
		events, s.end = events[:cut], endReset
	case courseMalformed:
		broken = cut
	case courseStall:
		gate = cut
	case courseLate:
		gate = slices.IndexFunc(events, func(e event) bool { return e.Text })
	case courseOverloaded:
		events = append(events[:1], failure)
	case courseDelayed:
		s.steps = []step{{pause: c.mode.pause}}
	case courseHang:
		s.steps = []step{{gate: c.mode.name}}
	}
	for i, e := range events {
		if e.Name != "" && c.api != anthropic { // edits have moved the numbers
			e.Data = e.Data.With("sequence_number", i)
		}
		if e.Data != nil {
			e.Data = c.edited(e.Data)
		}
		frame := e.Encode()
		if c.mode.frame != nil {
			frame = c.mode.frame(frame)
		}
		if i == broken {
			s.steps = append(s.steps, step{data: append(slices.Clone(frame[:len(frame)/2]), "\n\n"...)})
		}
		writes := c.writes(frame)
		if i == 0 && c.api == openRouter {
			writes[0].data = append([]byte(": OPENROUTER PROCESSING\n\n"), writes[0].data...)
		}
		if i == gate || i > 0 && c.mode.course == courseStep {
			writes[0].gate = c.mode.name
		}
		if i > 0 && c.mode.events > 0 {
			writes[0].pause = c.mode.pause
		}
		s.steps = append(s.steps, writes...)
	}
	if c.mode.events > 0 && c.mode.pause == 0 { // a burst
		var all []byte
		for _, st := range s.steps {
			all = append(all, st.data...)
		}
		s.steps = []step{{data: all}}
	}
	return s
}

// edited is an object of the answer as the API and the behaviour have it.
func (c *call) edited(o object) object {
	if c.api == openRouter {
		o = routerObject(o)
		if strings.Contains(string(c.Members["modalities"]), `"image"`) {
			o = pictured(o)
		}
	}
	if c.mode.object != nil {
		o = c.mode.object(o)
	}
	return o
}

// afterText is the index after the nth event with text.
func afterText(events []event, n int) int {
	for i, e := range events {
		if e.Text {
			if n--; n == 0 {
				return i + 1
			}
		}
	}
	return len(events) / 2
}

// writes are the steps in which data is sent.
func (c *call) writes(data []byte) []step {
	if c.mode.split == nil {
		return []step{{data: data}}
	}
	var steps []step
	for _, piece := range c.mode.split(data) {
		steps = append(steps, step{data: piece})
	}
	return steps
}

// plainScript sends the JSON answer of a call without stream along the course of
// the call's behaviour.
func (c *call) plainScript(o object) script {
	body := answers.Encode(c.edited(o))
	contentType := "application/json"
	if c.mode.wrongType {
		contentType = "text/plain"
	}
	half := body[:len(body)/2]
	switch c.mode.course {
	case courseEmpty:
		return whole(http.StatusOK, contentType, nil)
	case courseError, courseErrorFirst:
		return c.fails(http.StatusInternalServerError, "", c.complaint())
	case courseOverloaded:
		status := http.StatusServiceUnavailable
		if c.api == anthropic {
			status = statusOverloaded
		}
		return c.fails(status, "", c.complaint())
	case courseMalformed, courseCutClean:
		return whole(http.StatusOK, contentType, half)
	}
	s := whole(http.StatusOK, contentType, body)
	s.gzip = c.mode.gzip
	s.steps = c.writes(body)
	switch c.mode.course {
	case courseAbort:
		s.steps[0].data, s.end = half, endAbort
	case courseReset:
		s.steps[0].data, s.end = half, endReset
	case courseStall, courseHang, courseLate:
		s.steps[0].gate = c.mode.name
	case courseDelayed:
		s.steps = slices.Insert(s.steps, 0, step{pause: c.mode.pause})
	}
	return s
}
