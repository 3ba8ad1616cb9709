package messagesonchat

import (
	"strings"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
)

// messageWriter writes the messages of a chat request. Turns of one role that follow each other are
// one message, as they are for Anthropic.
type messageWriter struct {
	opt       *Options
	out       []byte
	user      userTurn
	assistant assistantTurn
	called    [][]byte // the quoted ids of the calls in the last assistant message
}

// appendMessages translates system and messages.
func appendMessages(dst []byte, body translate.Object, opt Options) ([]byte, error) {
	m := messageWriter{opt: &opt, out: append(dst, `,"messages":[`...)}
	if err := m.system(body, "system", true); err != nil {
		return dst, err
	}
	if body.Get("messages") == nil {
		return dst, translate.Missing("messages")
	}
	last, some := translate.Object{}, false
	err := body.Each("messages", translate.MaxMessages, func(_ int, o translate.Object) error {
		last, some = o, true
		return m.message(o)
	})
	switch {
	case err != nil:
		return dst, err
	case !some:
		return dst, translate.Invalid("messages", "an array of at least one message")
	case m.assistant.some && !opt.Prefill:
		return dst, apierror.New(apierror.UnsupportedParameter,
			"%q cannot be \"assistant\" in the last message: the provider of this model does not continue a message", last.Param("role")).
			WithParam(last.Param("role"))
	}
	if err := m.endTurn(); err != nil {
		return dst, err
	}
	return append(m.out, ']'), nil
}

func (m *messageWriter) message(o translate.Object) error {
	if err := o.Only("role", "content"); err != nil {
		return err
	}
	role, err := o.RequiredText("role")
	if err != nil {
		return err
	}
	content := o.Get("content")
	switch {
	case content == nil:
		return translate.Missing(o.Param("content"))
	case content[0] != '"' && content[0] != '[':
		return translate.Invalid(o.Param("content"), "a string or an array")
	}
	switch string(role) {
	case `"user"`:
		m.endAssistant()
		return m.userMessage(o)
	case `"assistant"`:
		if err := m.endUser(); err != nil {
			return err
		}
		return m.assistantMessage(o)
	case `"system"`:
		if err := m.endTurn(); err != nil {
			return err
		}
		return m.system(o, "content", false)
	}
	return translate.Invalid(o.Param("role"), "user, assistant or system")
}

func (m *messageWriter) endTurn() error {
	m.endAssistant()
	return m.endUser()
}

// begin starts a message.
func (m *messageWriter) begin(role string) {
	m.out = append(translate.AppendComma(m.out), '{')
	m.out = translate.AppendTextMember(m.out, "role", []byte(role))
}

func (m *messageWriter) put(key string, value []byte) {
	m.out = translate.AppendMember(m.out, key, value)
}

// attribution begins the text that Claude Code puts first into system. It is for Anthropic's
// accounting. It says nothing to a model, and older versions change it in each request, so that no
// provider could cache the prompt.
const attribution = "x-anthropic-billing-header:"

// isAttribution reports whether a quoted text is Claude Code's attribution and no more.
func isAttribution(quoted []byte) bool {
	text, ok := translate.Unquoted(quoted)
	return ok && strings.HasPrefix(string(text[:min(len(text), len(attribution))]), attribution) && !strings.Contains(string(text), `\n`)
}

// system writes the texts in a member as a system message, with line ends between the blocks. first
// says that it is the prompt of the request.
func (m *messageWriter) system(o translate.Object, key string, first bool) error {
	if value := o.Get(key); value != nil && value[0] != '"' && value[0] != '[' {
		return translate.Invalid(o.Param(key), "a string or an array")
	}
	var texts [][]byte
	var c content
	cached := false
	add := func(quoted, cache []byte) {
		if first && isAttribution(quoted) {
			return
		}
		texts = append(texts, quoted)
		cached = cached || cache != nil
		c.text(quoted, cache)
	}
	err := eachBlock(o, key, func(quoted []byte) { add(quoted, nil) }, func(block translate.Object) error {
		if _, err := blockType(block, "text"); err != nil {
			return err
		}
		text, err := block.RequiredText("text")
		if err != nil {
			return err
		}
		cache, err := m.opt.cacheControl(block)
		add(text, cache)
		return err
	})
	if err != nil || c.n == 0 {
		return err
	}
	m.begin("system")
	m.out = translate.AppendKey(m.out, "content")
	if cached {
		m.out = c.append(m.out)
	} else {
		m.out = append(m.out, joined(texts)...)
	}
	m.out = append(m.out, '}')
	return nil
}

// assistantTurn gathers an assistant message.
type assistantTurn struct {
	some      bool
	content   content
	calls     []byte // the elements of tool_calls
	ids       [][]byte
	reasoning []byte // JSON without quotes
	details   []byte // the elements of reasoning_details
}

func (m *messageWriter) assistantMessage(o translate.Object) error {
	t := &m.assistant
	t.some = true
	return eachBlock(o, "content", func(quoted []byte) { t.content.text(quoted, nil) }, func(block translate.Object) error {
		typ, err := blockType(block, "text", "tool_use", "thinking", "redacted_thinking")
		if err != nil {
			return err
		}
		switch typ {
		case "text":
			text, err := block.RequiredText("text")
			if err != nil {
				return err
			}
			cache, err := m.opt.cacheControl(block)
			t.content.text(text, cache)
			return err
		case "tool_use":
			return t.addCall(block)
		case "thinking":
			text, err := block.RequiredText("thinking")
			piece, _ := translate.Unquoted(text)
			t.reasoning = append(t.reasoning, piece...)
			if err == nil {
				err = t.addSigned(block, "signature")
			}
			return err
		}
		return t.addSigned(block, "data")
	})
}

// addSigned adds the reasoning_details that an earlier answer of the gateway wrapped. Only who made other
// thinking can read it.
func (t *assistantTurn) addSigned(block translate.Object, key string) error {
	wrapped, err := block.DecodedText(key)
	if elements, ok := translate.UnwrapReasoning(wrapped); ok {
		t.details = append(translate.AppendComma(t.details), elements...)
	}
	return err
}

// addCall adds a call of the model.
func (t *assistantTurn) addCall(block translate.Object) error {
	for _, key := range []string{"id", "name"} {
		if _, err := block.RequiredText(key); err != nil {
			return err
		}
	}
	if _, err := block.RequiredObject("input"); err != nil {
		return err
	}
	t.ids = append(t.ids, block.Get("id"))
	t.calls = append(translate.AppendComma(t.calls), '{')
	t.calls = translate.AppendMember(t.calls, "id", block.Get("id"))
	t.calls = append(t.calls, `,"type":"function","function":{`...)
	t.calls = translate.AppendMember(t.calls, "name", block.Get("name"))
	t.calls = translate.AppendKey(t.calls, "arguments")
	t.calls = append(jsonscan.AppendString(t.calls, compact(block.Get("input"))), "}}"...)
	return nil
}

// endAssistant writes the assistant message, if there is one.
func (m *messageWriter) endAssistant() {
	t := m.assistant
	if !t.some {
		return
	}
	m.assistant, m.called = assistantTurn{}, t.ids
	m.begin("assistant")
	m.out = translate.AppendKey(m.out, "content")
	if t.content.n == 0 && len(t.calls) > 0 {
		m.out = append(m.out, "null"...)
	} else {
		m.out = t.content.append(m.out)
	}
	if m.opt.ReasoningContent && len(t.reasoning) > 0 {
		m.out = translate.AppendTextMember(m.out, "reasoning_content", t.reasoning)
	}
	if m.opt.SignedReasoning && len(t.details) > 0 {
		m.out = append(append(append(m.out, `,"reasoning_details":[`...), t.details...), ']')
	}
	if len(t.calls) > 0 {
		m.out = append(m.out, `,"tool_calls":[`...)
		m.out = append(append(m.out, t.calls...), ']')
	}
	m.out = append(m.out, '}')
}
