package faults

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// The edits of behaviours. An object is a chat result or chunk, a response, or
// an event of a Responses stream.

// choice edits the choice of a chat object, if it has one.
func choice(o object, edit func(object) object) object {
	if list, _ := o.Get("choices").([]object); len(list) == 1 {
		return o.With("choices", []object{edit(list[0])})
	}
	return o
}

// member edits an object in a member, if it is there.
func member(o object, name string, edit func(object) object) object {
	if inner, ok := o.Get(name).(object); ok {
		return o.With(name, edit(inner))
	}
	return o
}

func isChat(o object) bool { return o.Has("choices") }

func nulls(o object, names ...string) object {
	for _, name := range names {
		if o.Get(name) == nil {
			o = o.With(name, nil)
		}
	}
	return o
}

func nullFields(o object) object {
	if isMessage(o) {
		return nullMessage(o)
	}
	if !isChat(o) {
		return noUsage(o)
	}
	if o.Get("object") == "chat.completion" {
		o = noUsage(o)
	}
	o = nulls(o.Without("system_fingerprint", "service_tier"), "system_fingerprint", "service_tier", "error", "usage")
	return choice(o, func(c object) object {
		c = member(c, "message", func(m object) object { return nulls(m, "audio", "function_call", "tool_calls") })
		return member(c, "delta", func(d object) object { return nulls(d, "role", "refusal", "tool_calls", "function_call") })
	})
}

func sloppy(o object) object {
	if isMessage(o) {
		return sloppyMessage(o)
	}
	if !isChat(o) {
		o = member(o.Without("sequence_number"), "response", sloppy)
		if o.Get("object") == "response" {
			o = o.Without("object", "completed_at", "error", "incomplete_details", "metadata", "background", "truncation")
		}
		return o
	}
	return choice(o.Without("id", "object", "created", "system_fingerprint", "service_tier"), func(c object) object {
		if c.Get("finish_reason") == nil {
			c = c.Without("finish_reason")
		}
		c = member(c.Without("index", "logprobs"), "message", func(m object) object { return m.Without("role", "refusal") })
		return member(c, "delta", func(d object) object { return d.Without("role", "refusal") })
	})
}

func floatCreated(o object) object {
	for _, name := range []string{"created", "created_at"} {
		if at, ok := o.Get(name).(int64); ok {
			o = o.With(name, float64(at)+0.25)
		}
	}
	return member(o, "response", floatCreated)
}

func noUsage(o object) object {
	if isMessage(o) {
		return noMessageUsage(o)
	}
	if isChat(o) {
		return o.Without("usage")
	}
	if o.Has("usage") {
		o = o.With("usage", nil)
	}
	return member(o, "response", noUsage)
}

func roleEach(o object) object {
	return choice(o, func(c object) object {
		return member(c, "delta", func(d object) object { return d.With("role", "assistant") })
	})
}

// noNullUsage leaves usage to the chunk that has it.
func noNullUsage(events []event) []event {
	for i, e := range events {
		if isChat(e.Data) && e.Data.Get("usage") == nil {
			events[i].Data = e.Data.Without("usage")
		}
	}
	return events
}

// takeUsage takes the chunk with the usage out of a chat stream.
func takeUsage(events []event) (rest []event, usage object) {
	i := slices.IndexFunc(events, func(e event) bool { return isChat(e.Data) && e.Data.Get("usage") != nil })
	if i < 0 {
		return events, nil
	}
	usage, _ = events[i].Data.Get("usage").(object)
	return noNullUsage(slices.Delete(events, i, i+1)), usage
}

func usageInline(events []event) []event {
	events, usage := takeUsage(events)
	if usage != nil {
		last := &events[len(events)-2] // before [DONE]
		last.Data = last.Data.With("usage", usage)
	}
	return events
}

func usageEach(events []event) []event {
	if events[0].Name == "message_start" {
		return messageUsageEach(events)
	}
	events, usage := takeUsage(events)
	said := 0
	for i, e := range events {
		if e.Text {
			said++
		}
		if usage != nil && isChat(e.Data) {
			soFar := usage.With("completion_tokens", said).With("total_tokens", usage.Get("prompt_tokens").(int)+said)
			events[i].Data = e.Data.With("usage", soFar)
		}
	}
	return events
}

func withoutDone(events []event) []event {
	return slices.DeleteFunc(events, func(e event) bool { return e.Data == nil || e.Name == "message_stop" })
}

func withDone(events []event) []event {
	if last := events[len(events)-1]; last.Data == nil {
		return events
	}
	return append(events, event{})
}

func idChanges(events []event) []event {
	for i, e := range events {
		if isChat(e.Data) {
			events[i].Data = e.Data.With("id", fmt.Sprintf("%s-%d", e.Data.Get("id"), i))
		}
	}
	return events
}

func emptyDeltas(events []event) (out []event) {
	for _, e := range events {
		if e.Text {
			empty := event{Name: e.Name, Data: choice(e.Data, func(c object) object { return c.With("delta", object{}) })}
			switch {
			case e.Name == "content_block_delta":
				empty.Data = member(e.Data, "delta", func(d object) object {
					if d.Has("text") {
						return d.With("text", "")
					}
					return d.With("partial_json", "")
				})
			case !isChat(e.Data):
				empty.Data = e.Data.With("delta", "")
			}
			out = append(out, empty)
		}
		out = append(out, e)
	}
	return out
}

func unknownEvent(events []event) []event {
	if events[0].Name == "" {
		return events
	}
	kind := "response.fake_mystery"
	if events[0].Name == "message_start" {
		kind = "fake_mystery"
	}
	data := events[0].Data.Without("response", "message").With("type", kind).With("mystery", "nobody knows this event")
	return slices.Insert(events, 2, event{Name: kind, Data: data})
}

func replaces(pairs ...string) func([]byte) []byte {
	replacer := strings.NewReplacer(pairs...)
	return func(frame []byte) []byte { return []byte(replacer.Replace(string(frame))) }
}

func commented(frame []byte) []byte { return append([]byte(": still here\n\n"), frame...) }

func inBytes(frame []byte) [][]byte { return slices.Collect(slices.Chunk(frame, 1)) }

// inRunes ends the writes inside the characters.
func inRunes(frame []byte) (writes [][]byte) {
	start := 0
	for i := 1; i < len(frame); i++ {
		if !utf8.RuneStart(frame[i]) {
			writes = append(writes, frame[start:i])
			start = i
		}
	}
	return append(writes, frame[start:])
}
