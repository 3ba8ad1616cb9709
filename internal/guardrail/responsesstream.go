package guardrail

import (
	"strings"

	"github.com/gatehouse-proxy/gatehouse/internal/guardrail/document"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
)

// The events of a Responses stream, and the members that are read:
//
//	response.<kind>.delta       {"item_id", "output_index", "content_index", "delta": text}
//	response.<kind>.done        {the same, and the whole text by some name}
//	response.<part>.added, done {…, "part": {…}}
//	response.output_item.added, done {"output_index", "item": {…}}
//	response.completed, incomplete, failed {"response": {"output": […], …}}
//
// where kind is output_text, refusal, reasoning_text, reasoning_summary_text,
// function_call_arguments and whatever an API adds.
//
// Each kind of delta of each item and part is a channel. It continues the text with which its part
// or item was added. That text is sent unchanged, because not all clients read it. A part of a
// message continues the part before it. The text that was held back of that part is sent first. If
// a match spans both parts, only its rest in the second is taken out.

// audioDeltas are events with audio in base64.
var audioDeltas = map[string]bool{"response.audio.delta": true, "response.output_audio.delta": true}

// initialMember is the member of a part or item that the deltas of a kind continue.
type initialMember struct{ key, kind string }

// initialMembers are the initial members by type of part or item.
var initialMembers = map[string]initialMember{
	"output_text":           {"text", outputText},
	"text":                  {"text", outputText},
	"refusal":               {"refusal", refusal},
	"reasoning_text":        {"text", "response.reasoning_text.delta"},
	"summary_text":          {"text", "response.reasoning_summary_text.delta"},
	"function_call":         {"arguments", "response.function_call_arguments.delta"},
	"mcp_call":              {"arguments", "response.mcp_call_arguments.delta"},
	"custom_tool_call":      {"input", "response.custom_tool_call_input.delta"},
	"code_interpreter_call": {"code", "response.code_interpreter_call_code.delta"},
}

// The deltas of the text of a message. Clients join its parts.
const (
	outputText = "response.output_text.delta"
	refusal    = "response.refusal.delta"
)

// responsePart identifies the text of an event.
type responsePart struct {
	item string // its index, or its id if the provider sends no index
	part string
}

// responseText identifies a text of a Response.
type responseText struct {
	kind string // event type of its deltas
	at   responsePart
}

func (e *eventEdit) readResponses() {
	typ := e.eventType()
	e.stream.sequence++
	if i, ok := jsonscan.Find(e.data, e.members, "sequence_number"); ok {
		if n, ok := jsonscan.Int(e.members[i].Value(e.data)); ok {
			e.stream.sequence = n
			e.sequence = document.Span{Start: e.members[i].ValueStart, End: e.members[i].ValueEnd}
		}
	}
	at := e.part()
	begin := e.initialMember(typ)
	isDelta := strings.HasSuffix(typ, ".delta")
	e.walk(func(w *document.Walker, text document.Span) (c *channel, how document.Context, unread bool) {
		how = w.Context()
		depth := len(w.Frames)
		switch key := w.Frames[0].Key; {
		case isDelta && key == "delta":
			if audioDeltas[typ] {
				return nil, how, true
			}
			return e.responseChannel(w, 1, typ, at), how, false
		case begin.kind != "" && depth == 2 && (key == "part" || key == "item") && w.Frames[1].Key == begin.key:
			if text.End-text.Start > len(`""`) {
				if c := e.responseChannel(w, depth, begin.kind, at); c != nil {
					c.begin(document.TextOf(e.data[text.Start:text.End]))
				}
				how.Before = e.stream.precedingTexts[at]
			}
		case depth == 1 && (key == "text" || key == "refusal"), depth == 2 && key == "part":
			how.Before = e.stream.precedingTexts[at]
		}
		return nil, how, false
	})
	e.end(func(c *channel) bool { return ends(typ, at, c) })
}

// ends reports whether an event with a type and a part ends a channel.
func ends(typ string, at responsePart, c *channel) bool {
	switch kind, done := strings.CutSuffix(typ, ".done"); {
	case typ == "error", typ == "response.done", typ == "response.completed", typ == "response.incomplete", typ == "response.failed":
		return true
	case typ == "response.output_item.done":
		return c.at.item == at.item
	case strings.HasSuffix(kind, "_part") && done:
		return c.at == at
	case done:
		return c.at == at && c.kind == kind+".delta"
	}
	return false
}

// part returns the part of the event. The id of the item is used only if there is no index, because
// some providers change it in each event.
func (e *eventEdit) part() (at responsePart) {
	value := func(key string) string {
		v := member(e.data, e.members, key)
		return string(v[:min(len(v), maxCopiedValue)])
	}
	if at.item = value("output_index"); at.item == "" {
		id := e.itemID()
		at.item = string(id[:min(len(id), maxCopiedValue)])
	}
	at.part = value("content_index") + "|" + value("summary_index")
	return at
}

// itemID returns the id of the event's item as JSON, nil for none.
func (e *eventEdit) itemID() []byte {
	if id := member(e.data, e.members, "item_id"); id != nil {
		return id
	}
	item := member(e.data, e.members, "item")
	return member(item, jsonscan.Members(item, nil), "id")
}

// initialMember returns the member of its part or item with which an event begins a text.
func (e *eventEdit) initialMember(typ string) (b initialMember) {
	what := "item"
	if strings.HasSuffix(typ, "_part.added") {
		what = "part"
	} else if typ != "response.output_item.added" {
		return b
	}
	object := member(e.data, e.members, what)
	name, _ := jsonscan.String(member(object, jsonscan.Members(object, nil), "type"))
	return initialMembers[name]
}

// responseChannel returns the channel of the string that the walker visits: a delta of a kind, or a
// string in one, from the frame at from on.
func (e *eventEdit) responseChannel(w *document.Walker, from int, kind string, at responsePart) *channel {
	id, ok := e.path([]byte(kind+"|"+at.item+"|"+at.part), w, from, at.item)
	if !ok {
		return nil
	}
	c, fresh := e.open(string(id), at.item)
	if !fresh {
		return c
	}
	c.kind, c.at = kind, at
	if strings.HasSuffix(kind, "_arguments.delta") {
		c.inner = new(document.InnerJSON)
	}
	c.template = e.template(w, from, kind)
	if kind == outputText || kind == refusal {
		e.end(func(o *channel) bool { return o.kind == kind && o.at.item == at.item && o.at != at })
		before := e.follow(c, kind+"|"+at.item)
		if _, ok := e.stream.precedingTexts[at]; !ok && len(e.stream.precedingTexts) < maxChannels {
			e.stream.precedingTexts[at] = before
		}
	}
	return c
}

// template returns an event of a kind for the rest of its channel, made from the current event
// without padding and token probabilities.
func (e *eventEdit) template(w *document.Walker, from int, kind string) eventTemplate {
	out := eventTemplate{head: []byte{'{'}}
	if len(e.event.Name) > 0 {
		out.name = kind
	}
	out.head = appendMember(out.head, "type", jsonscan.AppendString(nil, kind))
	for _, m := range e.members {
		key := string(m.Key(e.data))
		switch value := m.Value(e.data); {
		case key == "type" || key == "delta" || key == "part" || key == "item" || key == "obfuscation" || key == "logprobs":
		case key == "sequence_number" && e.sequence.End > 0:
			out.head = append(out.head, `"sequence_number":`...)
			out.sequence.Start = len(out.head)
			out.head = append(out.head, value...)
			out.sequence.End = len(out.head)
			out.head = append(out.head, ',')
		case m.PlainKey():
			out.head = appendMember(out.head, key, value)
		}
	}
	if member(e.data, e.members, "item_id") == nil {
		out.head = appendMember(out.head, "item_id", e.itemID())
	}
	if kind == outputText {
		out.head = append(out.head, `"logprobs":[],`...)
	}
	head, tail := e.enclosing(w, from, "")
	out.head = append(append(out.head, `"delta":`...), head...)
	out.tail = append(tail, '}')
	return out
}
