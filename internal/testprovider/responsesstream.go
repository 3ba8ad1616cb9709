package testprovider

// The events of a streamed response, in OpenAI's order:
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
// No [DONE] follows. There is one item, output_index 0, with at most one part.

// eventHead begins every event.
type eventHead struct {
	Type     string `json:"type"`
	Sequence int    `json:"sequence_number"`
}

type responseEvent struct {
	eventHead
	Response responseObject `json:"response"`
}

type itemEvent struct {
	eventHead
	OutputIndex int `json:"output_index"`
	Item        any `json:"item"`
}

// place is where in the response an event belongs.
type place struct {
	ItemID      string `json:"item_id"`
	OutputIndex int    `json:"output_index"`
}

type partEvent struct {
	eventHead
	place
	ContentIndex int      `json:"content_index"`
	Part         textPart `json:"part"`
}

type textEvent struct {
	eventHead
	place
	ContentIndex int        `json:"content_index"`
	Delta        *string    `json:"delta,omitempty"`
	Text         *string    `json:"text,omitempty"`
	Logprobs     []struct{} `json:"logprobs"`
}

type argumentsEvent struct {
	eventHead
	place
	Delta     *string `json:"delta,omitempty"`
	Name      *string `json:"name,omitempty"`
	Arguments *string `json:"arguments,omitempty"`
}

// script is the answer as events.
func (m *responsesReply) script() *script {
	s := &script{words: len(m.tokens)}
	s.head = m.head()
	first := len(s.head)
	s.word = func(i int) frame {
		f := m.delta(first+i, &m.tokens[i])
		f.due = true
		return f
	}
	s.tail = func() []frame { return m.tail(first + s.words) }
	return s
}

func (m *responsesReply) at() place { return place{ItemID: m.itemID} }

func (m *responsesReply) head() []frame {
	var e events
	e.add("response.created", func(h eventHead) any { return responseEvent{h, m.base} })
	e.add("response.in_progress", func(h eventHead) any { return responseEvent{h, m.base} })
	e.add("response.output_item.added", func(h eventHead) any {
		return itemEvent{eventHead: h, Item: m.item("in_progress")}
	})
	if m.function == "" {
		e.add("response.content_part.added", func(h eventHead) any {
			return partEvent{eventHead: h, place: m.at(), Part: newTextPart("")}
		})
	}
	return e.frames
}

func (m *responsesReply) delta(sequence int, token *string) frame {
	e := events{next: sequence}
	if m.function != "" {
		e.add("response.function_call_arguments.delta", func(h eventHead) any {
			return argumentsEvent{eventHead: h, place: m.at(), Delta: token}
		})
	} else {
		e.add("response.output_text.delta", func(h eventHead) any {
			return textEvent{eventHead: h, place: m.at(), Delta: token, Logprobs: []struct{}{}}
		})
	}
	return e.frames[0]
}

func (m *responsesReply) tail(sequence int) []frame {
	e := events{next: sequence}
	text := m.text()
	if m.function != "" {
		e.add("response.function_call_arguments.done", func(h eventHead) any {
			return argumentsEvent{eventHead: h, place: m.at(), Name: &m.function, Arguments: &text}
		})
	} else {
		e.add("response.output_text.done", func(h eventHead) any {
			return textEvent{eventHead: h, place: m.at(), Text: &text, Logprobs: []struct{}{}}
		})
		e.add("response.content_part.done", func(h eventHead) any {
			return partEvent{eventHead: h, place: m.at(), Part: newTextPart(text)}
		})
	}
	e.add("response.output_item.done", func(h eventHead) any {
		return itemEvent{eventHead: h, Item: m.item(m.status())}
	})
	e.add("response."+m.status(), func(h eventHead) any { return responseEvent{h, m.final()} })
	return e.frames
}

// events numbers frames from next on.
type events struct {
	frames []frame
	next   int
}

func (e *events) add(kind string, event func(eventHead) any) {
	e.frames = append(e.frames, frame{event: kind, data: event(eventHead{Type: kind, Sequence: e.next})})
	e.next++
}
