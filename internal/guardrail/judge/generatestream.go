package judge

import (
	"strconv"

	"github.com/gatehouse-proxy/gatehouse/internal/guardrail/document"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
)

// An event of Google's generateContent, and the members that are read:
//
//	{"candidates": [{"content": {"role", "parts": [{"text": text, "thought": true}, {"functionCall": {"args": {…}}}, …]},
//	                 "finishReason", "index": 0}], "usageMetadata": {…}, …}
//
// The texts of a candidate's parts are pieces of one channel, and those of its thoughts of another. All
// else comes whole: calls, results of code, sources.

// generatePart is a part of an event.
type generatePart struct {
	at        document.Span
	candidate string
	thought   bool
	text      bool // it has a text
}

// readGenerate reads an event of generateContent.
func readGenerate(e *eventEdit) {
	parts, finished := generateParts(e)
	last := map[string]*generatePart{} // of each candidate
	at := 0
	e.walk(func(w *document.Walker, text document.Span) (*channel, document.Context, bool) {
		if len(w.Frames) != 6 || w.Frames[0].Key != "candidates" || w.Frames[4].Name != "parts" || w.Frames[5].Key != "text" {
			return nil, w.Context(), false
		}
		for at < len(parts) && parts[at].at.End <= text.Start {
			at++
		}
		if at == len(parts) || text.Start < parts[at].at.Start {
			return nil, w.Context(), false
		}
		return parts[at].channel(e, text), w.Context(), false
	})
	for i := range parts {
		last[parts[i].candidate] = &parts[i]
	}
	failed := member(e.data, e.members, "error")
	everything := len(failed) > 0 && !jsonscan.IsNull(failed)
	e.end(func(c *channel) bool {
		// What the text held back is sent before the thoughts or the call that follow it: callers send the
		// parts back in the order in which they came.
		p := last[c.group]
		return everything || finished[c.group] || p != nil && (!p.text || c.id != p.id())
	})
}

// id names the channel of a part's text.
func (p *generatePart) id() string {
	if p.thought {
		return p.candidate + "/thought"
	}
	return p.candidate + "/text"
}

// channel returns the channel of a part's text, nil for an empty one that continues nothing.
func (p *generatePart) channel(e *eventEdit, text document.Span) *channel {
	id := p.id()
	if text.End-text.Start <= len(`""`) && e.stream.open[id] == nil {
		return nil
	}
	c, fresh := e.open(id, p.candidate)
	if c == nil {
		return nil
	}
	if fresh {
		c.template = p.template(e)
		e.follow(c, c.id)
	}
	return c
}

// generateMembers are the members of an event that an inserted one repeats.
var generateMembers = []string{"modelVersion", "responseId"}

// template is an event with a text of a part, and nothing else.
func (p *generatePart) template(e *eventEdit) eventTemplate {
	out := eventTemplate{name: string(e.event.Name), head: []byte{'{'}}
	for _, key := range generateMembers {
		out.head = appendMember(out.head, key, member(e.data, e.members, key))
	}
	out.head = append(out.head, `"candidates":[{"content":{"parts":[{`...)
	if p.thought {
		out.head = append(out.head, `"thought":true,`...)
	}
	out.head = append(out.head, `"text":`...)
	out.tail = append(out.tail, `}],"role":"model"},"index":`+p.candidate+`}]}`...)
	return out
}

// generateParts returns the parts of the event in their order, and the candidates that end with it.
func generateParts(e *eventEdit) (parts []generatePart, finished map[string]bool) {
	i, ok := jsonscan.Find(e.data, e.members, "candidates")
	if !ok {
		return nil, nil
	}
	finished = map[string]bool{}
	list, offset, n := e.members[i].Value(e.data), e.members[i].ValueStart, 0
	for s := range jsonscan.AllElements(list) {
		object, base := s.Value(list), offset+s.Start
		candidate := strconv.Itoa(n)
		n++
		e.inner = jsonscan.Members(object, e.inner[:0])
		if index := member(object, e.inner, "index"); isIndex(index) {
			candidate = string(index)
		}
		if reason := member(object, e.inner, "finishReason"); len(reason) > len(`""`) && reason[0] == '"' {
			finished[candidate] = true
		}
		for m := range jsonscan.AllMembers(object) {
			if string(m.DecodedKey(object)) != "content" {
				continue
			}
			content := m.Value(object)
			for inner := range jsonscan.AllMembers(content) {
				if string(inner.DecodedKey(content)) == "parts" {
					parts = appendParts(parts, inner.Value(content), base+m.ValueStart+inner.ValueStart, candidate)
				}
			}
		}
	}
	return parts, finished
}

// appendParts appends the parts of an array that begins at an index of the event.
func appendParts(parts []generatePart, array []byte, at int, candidate string) []generatePart {
	for s := range jsonscan.AllElements(array) {
		p := generatePart{at: document.Span{Start: at + s.Start, End: at + s.End}, candidate: candidate}
		object := s.Value(array)
		for m := range jsonscan.AllMembers(object) {
			switch string(m.DecodedKey(object)) {
			case "thought":
				p.thought = m.Kind == 't'
			case "text":
				p.text = m.Kind == '"'
			}
		}
		parts = append(parts, p)
	}
	return parts
}
