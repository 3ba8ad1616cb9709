package chatonmessages

import (
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
)

// assistant adds a message of the model: its thoughts, its text, and then its calls.
func (c *conversation) assistant(o translate.Object) error {
	refusal, err := o.Text("refusal")
	if err != nil {
		return err
	}
	content, calls, details := o.Get("content"), o.Get("tool_calls"), o.Get("reasoning_details")
	if content == nil && calls == nil && refusal == nil && details == nil {
		return translate.Missing(o.Param("content"))
	}
	if err := c.turns.begin(assistant, o); err != nil {
		return err
	}
	if err := translate.EachThought(o, c.origin, c.putThought); err != nil {
		return err
	}
	if content != nil {
		if err := eachText(o, c.turns.text); err != nil {
			return err
		}
	}
	if refusal != nil {
		c.turns.text(refusal, nil)
	}
	return o.Each("tool_calls", translate.MaxTools, func(_ int, call translate.Object) error { return c.toolCall(call) })
}

func (c *conversation) toolCall(call translate.Object) error {
	asked, err := translate.ReadToolCall(call)
	if err != nil {
		return err
	}
	cache, err := cacheOf(call)
	if err != nil {
		return err
	}
	w := &c.turns
	w.solid++
	w.blocks = append(translate.AppendComma(w.blocks), `{"type":"tool_use"`...)
	w.blocks = translate.AppendMember(w.blocks, "id", allowedID(asked.ID))
	w.blocks = translate.AppendMember(w.blocks, "name", c.names.allowed(asked.Name))
	w.blocks = translate.AppendMember(w.blocks, "input", asked.Input)
	w.blocks = append(appendCache(w.blocks, cache), '}')
	return nil
}

// toolResult adds the result of a tool.
func (c *conversation) toolResult(o translate.Object) error {
	id, err := o.RequiredText("tool_call_id")
	if err != nil {
		return err
	}
	if err := c.turns.begin(user, o); err != nil {
		return err
	}
	cache, err := cacheOf(o)
	if err != nil {
		return err
	}
	failed, err := o.Bool("is_error")
	if err != nil {
		return err
	}
	w := &c.turns
	w.solid++
	w.results = append(translate.AppendComma(w.results), `{"type":"tool_result"`...)
	w.results = translate.AppendMember(w.results, "tool_use_id", allowedID(id))
	w.results = translate.AppendKey(w.results, "content")
	if value := o.Get("content"); value != nil && value[0] == '"' {
		w.results = append(w.results, value...)
	} else {
		r := resultWriter{append(w.results, '[')}
		if err := parts(o, nil, &r); err != nil {
			return err
		}
		w.results = append(r.out, ']')
	}
	if failed {
		w.results = append(w.results, `,"is_error":true`...)
	}
	w.results = append(appendCache(w.results, cache), '}')
	return nil
}

// resultWriter writes the parts of a tool's result.
type resultWriter struct{ out []byte }

func (w *resultWriter) text(quoted, cache []byte) {
	if string(quoted) != `""` {
		w.out = appendText(w.out, quoted, cache)
	}
}

func (w *resultWriter) media(block, cache []byte) {
	w.out = append(translate.AppendComma(w.out), block...)
	w.out = append(appendCache(w.out, cache), '}')
}
