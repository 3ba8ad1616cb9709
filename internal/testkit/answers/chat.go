package answers

// ChatResult is the reply as a chat completion.
func (r *Reply) ChatResult() Object {
	choices := make([]Object, r.Choices)
	for i := range choices {
		message := Object{{"role", "assistant"}, {"content", r.text()}, {"refusal", nil}}
		switch {
		case len(r.Calls) > 0:
			calls := make([]Object, len(r.Calls))
			for k, c := range r.Calls {
				calls[k] = r.chatCall(i, k, c.arguments())
			}
			message = message.With("content", nil).With("tool_calls", calls)
		case r.Refusal:
			message = message.With("content", nil).With("refusal", r.text())
		}
		if len(r.Reasoning) > 0 {
			message = message.With("reasoning_content", r.reasoningText())
		}
		choices[i] = Object{{"index", i}, {"message", message}, {"logprobs", nil}, {"finish_reason", r.Finish}}
	}
	return append(r.chatObject("chat.completion", choices), member{"usage", r.Usage.chat()})
}

// ChatStream is the reply as chunks: the role of each choice with the names of
// called functions, the pieces, the finish reasons, and with usage a chunk of
// its own for it. All other chunks then say "usage": null, as OpenAI's do.
func (r *Reply) ChatStream(usage bool) (events []Event) {
	chunk := func(choice int, delta Object, finish any) Event {
		o := r.chatObject("chat.completion.chunk", []Object{
			{{"index", choice}, {"delta", delta}, {"logprobs", nil}, {"finish_reason", finish}}})
		if usage {
			o = append(o, member{"usage", nil})
		}
		return Event{Data: o}
	}
	for i := range r.Choices {
		role := Object{{"role", "assistant"}, {"content", ""}, {"refusal", nil}}
		if len(r.Calls) > 0 {
			role = role.With("content", nil)
		}
		events = append(events, chunk(i, role, nil))
		for _, piece := range r.Reasoning {
			events = append(events, chunk(i, Object{{"reasoning_content", piece}}, nil))
		}
		for k := range r.Calls {
			call := append(Object{{"index", k}}, r.chatCall(i, k, "")...)
			events = append(events, chunk(i, Object{{"tool_calls", []Object{call}}}, nil))
		}
	}
	for n := range r.pieces() * r.Choices {
		choice := n % r.Choices
		call, piece := r.piece(n / r.Choices)
		delta := Object{{"content", piece}}
		switch {
		case len(r.Calls) > 0:
			delta = Object{{"tool_calls", []Object{{{"index", call}, {"function", Object{{"arguments", piece}}}}}}}
		case r.Refusal:
			delta = Object{{"refusal", piece}}
		}
		e := chunk(choice, delta, nil)
		e.Text = choice == 0 && call == 0 // all choices say a word at the same time
		events = append(events, e)
	}
	for i := range r.Choices {
		events = append(events, chunk(i, Object{}, r.Finish))
	}
	if usage {
		last := append(r.chatObject("chat.completion.chunk", []Object{}), member{"usage", r.Usage.chat()})
		events = append(events, Event{Data: last})
	}
	return append(events, Done)
}

// chatObject is what results and chunks have in common.
func (r *Reply) chatObject(kind string, choices []Object) Object {
	return Object{
		{"id", "chatcmpl-" + r.ID}, {"object", kind}, {"created", r.Created}, {"model", r.Model}, {"choices", choices},
		{"service_tier", "default"}, {"system_fingerprint", "fp_testprovider"},
	}
}

func (r *Reply) chatCall(choice, call int, arguments string) Object {
	return Object{{"id", r.callID(choice, call)}, {"type", "function"},
		{"function", Object{{"name", r.Calls[call].Name}, {"arguments", arguments}}}}
}

func (u Usage) chat() Object {
	return Object{
		{"prompt_tokens", u.Input}, {"completion_tokens", u.Output}, {"total_tokens", u.Input + u.Output},
		{"prompt_tokens_details", Object{{"cached_tokens", u.CacheRead}}},
		{"completion_tokens_details", Object{{"reasoning_tokens", u.Reasoning}}},
	}
}
