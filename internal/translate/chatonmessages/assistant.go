package chatonmessages

import (
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
)

// assistant adds a message of the model: its thoughts, its text, and then its calls.
func (c *conversation) assistant(o translate.Reader) {
	refusal := o.Text("refusal")
	content := o.Get("content")
	if content == nil && refusal == nil && o.Get("tool_calls") == nil && o.Get("reasoning_details") == nil {
		o.Fail(translate.Missing(o.Param("content")))
	}
	c.turns.begin(assistant, o)
	translate.EachThought(o, c.origin, c.putThought)
	if content != nil {
		eachText(o, c.turns.text)
	}
	if refusal != nil {
		c.turns.text(refusal, nil)
	}
	o.Each("tool_calls", translate.MaxTools, func(_ int, call translate.Reader) { c.toolCall(call) })
}

func (c *conversation) toolCall(o translate.Reader) {
	call := translate.ReadToolCall(o)
	w := &c.turns
	w.solid++
	w.blocks = append(translate.AppendComma(w.blocks), `{"type":"tool_use"`...)
	w.blocks = translate.AppendMember(w.blocks, "id", translate.LegalID(call.ID, hashDigits))
	w.blocks = translate.AppendMember(w.blocks, "name", c.names.allowed(call.Name))
	w.blocks = translate.AppendMember(w.blocks, "input", call.Input)
	w.blocks = append(appendCache(w.blocks, cacheOf(o)), '}')
}

// toolResult adds the result of a tool.
func (c *conversation) toolResult(o translate.Reader) {
	id := o.RequiredText("tool_call_id")
	c.turns.begin(user, o)
	cache, failed := cacheOf(o), o.Bool("is_error")
	w := &c.turns
	w.solid++
	w.results = append(translate.AppendComma(w.results), `{"type":"tool_result"`...)
	w.results = translate.AppendMember(w.results, "tool_use_id", translate.LegalID(id, hashDigits))
	w.results = translate.AppendKey(w.results, "content")
	if value := o.Get("content"); value != nil && value[0] == '"' {
		w.results = append(w.results, value...)
	} else {
		r := resultWriter{append(w.results, '[')}
		parts(o, nil, &r)
		w.results = append(r.out, ']')
	}
	if failed {
		w.results = append(w.results, `,"is_error":true`...)
	}
	w.results = append(appendCache(w.results, cache), '}')
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
