package answers

// ResponseStream is the reply as events, in OpenAI's order:
//
//	response.created, response.in_progress
//	response.output_item.added
//	  text:     response.content_part.added, response.output_text.delta …,
//	            response.output_text.done, response.content_part.done
//	  function: response.function_call_arguments.delta …,
//	            response.function_call_arguments.done
//	response.output_item.done
//	response.completed or response.incomplete
//
// Several calls are open at once and their pieces take turns. No [DONE] follows.
func (r *Reply) ResponseStream() []Event {
	l := r.responseHead()
	for i := range r.pieces() {
		call, piece := r.piece(i)
		rest := append(r.position(call), member{"delta", piece})
		if len(r.Calls) == 0 && !r.Refusal {
			rest = append(rest, noLogprobs)
		}
		l.add(r.pieceKind(call)+".delta", rest)
		l[len(l)-1].Text = call == 0
	}
	r.responseTail(&l)
	return l
}

var noLogprobs = member{"logprobs", []Object{}}

// eventList numbers its events.
type eventList []Event

func (l *eventList) add(kind string, rest Object) {
	*l = append(*l, Event{Name: kind, Data: append(Object{{"type", kind}, {"sequence_number", len(*l)}}, rest...)})
}

// item adds an event about a whole item.
func (l *eventList) item(kind string, index int, item Object) {
	l.add("response.output_item."+kind, Object{{"output_index", index}, {"item", item}})
}

// firstItem is the index of the message or the first call.
func (r *Reply) firstItem() int { return min(1, len(r.Reasoning)) }

// position says which item the pieces of the text or of a call belong to.
func (r *Reply) position(call int) Object {
	o := Object{{"item_id", r.itemID(call)}, {"output_index", r.firstItem() + call}}
	if len(r.Calls) == 0 {
		o = append(o, member{"content_index", 0})
	}
	return o
}

// pieceKind begins the names of the events of pieces.
func (r *Reply) pieceKind(call int) string {
	switch {
	case len(r.Calls) > 0 && r.Calls[call].Custom:
		return "response.custom_tool_call_input"
	case len(r.Calls) > 0:
		return "response.function_call_arguments"
	case r.Refusal:
		return "response.refusal"
	}
	return "response.output_text"
}

func (r *Reply) responseHead() eventList {
	var l eventList
	begun := Object{{"response", r.Response("in_progress")}}
	l.add("response.created", begun)
	l.add("response.in_progress", begun)
	if len(r.Reasoning) > 0 {
		r.reasoningEvents(&l)
	}
	first := r.firstItem()
	for i, item := range r.items("in_progress")[first:] {
		l.item("added", first+i, item)
	}
	if len(r.Calls) == 0 {
		l.add("response.content_part.added", append(r.position(0), member{"part", r.part("")}))
	}
	return l
}

// reasoningEvents are all events of item 0, if that is the reasoning.
func (r *Reply) reasoningEvents(l *eventList) {
	position := Object{{"item_id", "rs_" + r.ID}, {"output_index", 0}, {"summary_index", 0}}
	whole := summaryPart(r.reasoningText())
	l.item("added", 0, r.reasoningItem())
	l.add("response.reasoning_summary_part.added", position.With("part", summaryPart("")))
	for _, piece := range r.Reasoning {
		l.add("response.reasoning_summary_text.delta", position.With("delta", piece))
	}
	l.add("response.reasoning_summary_text.done", position.With("text", r.reasoningText()))
	l.add("response.reasoning_summary_part.done", position.With("part", whole))
	l.item("done", 0, r.reasoningItem(whole))
}

func (r *Reply) responseTail(l *eventList) {
	for i, c := range r.Calls {
		rest := Object{{"name", c.Name}, {"arguments", c.arguments()}}
		if c.Custom {
			rest = Object{{"input", c.arguments()}}
		}
		l.add(r.pieceKind(i)+".done", append(r.position(i), rest...))
	}
	if len(r.Calls) == 0 {
		key := "text"
		if r.Refusal {
			key = "refusal"
		}
		rest := append(r.position(0), member{key, r.text()})
		if !r.Refusal {
			rest = append(rest, noLogprobs)
		}
		l.add(r.pieceKind(0)+".done", rest)
		l.add("response.content_part.done", append(r.position(0), member{"part", r.part(r.text())}))
	}
	final, first := r.FinalResponse(), r.firstItem()
	for i, item := range r.items(r.status())[first:] {
		l.item("done", first+i, item)
	}
	l.add("response."+r.status(), Object{{"response", final}})
}
