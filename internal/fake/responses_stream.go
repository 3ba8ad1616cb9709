package fake

// responseEvents is the whole stream of a Responses answer. Parallel tool calls
// are open together and their fragments take turns.
func (c *call) responseEvents() []event {
	var out []event
	emit := func(kind string, text bool, rest object) {
		out = append(out, c.responseEvent(kind, len(out), text, rest))
	}
	emit("response.created", false, object{{"response", c.response("in_progress", nil, nil)}})
	emit("response.in_progress", false, object{{"response", c.response("in_progress", nil, nil)}})
	if c.mode.course == courseUnknownEvent {
		emit("response.fake_mystery", false, object{{"mystery", "nobody knows this event"}})
	}
	items := c.items()
	if len(c.toolCalls()) > 0 {
		for i, it := range items {
			emit("response.output_item.added", false, object{{"output_index", i}, {"item", it.added}})
		}
		for n := range items[0].between { // all calls have as many fragments
			for i, it := range items {
				c.itemEvent(emit, i, it, it.between[n])
			}
		}
		for i, it := range items {
			emit("response.output_item.done", false, object{{"output_index", i}, {"item", it.done}})
		}
	} else {
		for i, it := range items {
			emit("response.output_item.added", false, object{{"output_index", i}, {"item", it.added}})
			for _, e := range it.between {
				c.itemEvent(emit, i, it, e)
			}
			emit("response.output_item.done", false, object{{"output_index", i}, {"item", it.done}})
		}
	}
	final := c.finalResponse()
	emit("response."+final.get("status").(string), false, object{{"response", final}})
	if c.mode.done {
		out = append(out, doneEvent)
	}
	return out
}

func (c *call) itemEvent(emit func(string, bool, object), index int, it item, e itemEvent) {
	head := object{{"item_id", it.added.get("id")}, {"output_index", index}}
	emit(e.kind, e.text, append(head, e.rest...))
}

func (c *call) responseEvent(kind string, number int, text bool, rest object) event {
	o := object{{"type", kind}, {"sequence_number", number}}
	if c.mode.sloppy {
		o = o.without("sequence_number")
	}
	return event{name: kind, data: encode(append(o, rest...)), text: text}
}

// responseFailure is how a stream fails that has come to event n: by the nested
// error event that OpenAI really sends, or by response.failed.
func (c *call) responseFailure(n int) []event {
	if c.mode.course == courseFailed {
		return []event{c.responseEvent("response.failed", n, false, object{{"response", c.failedResponse()}})}
	}
	return []event{c.responseEvent("error", n, false, object{
		{"error", object{{"type", "server_error"}, {"code", "server_error"}, {"message", c.complaint()}, {"param", nil}}}})}
}
