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
func appendMessages(dst []byte, body translate.Reader, opt Options) []byte {
	m := messageWriter{opt: &opt, out: append(dst, `,"messages":[`...)}
	m.system(body, "system", true)
	translate.Required(body, "messages")
	last, some := translate.Reader{}, false
	body.Each("messages", translate.MaxMessages, func(_ int, o translate.Reader) {
		last, some = o, true
		m.message(o)
	})
	switch {
	case !some:
		body.Fail(translate.Invalid("messages", "an array of at least one message"))
	case m.assistant.some && !opt.Prefill:
		role := last.Param("role")
		body.Fail(apierror.New(apierror.UnsupportedParameter,
			"%q cannot be \"assistant\" in the last message: the provider of this model does not continue a message", role).WithParam(role))
	}
	m.endTurn(body)
	return append(m.out, ']')
}

func (m *messageWriter) message(o translate.Reader) {
	o.Only("role", "content")
	role := o.RequiredText("role")
	if content := translate.Required(o, "content"); content != nil && content[0] != '"' && content[0] != '[' {
		o.Fail(translate.Invalid(o.Param("content"), "a string or an array"))
	}
	switch string(role) {
	case `"user"`:
		m.endAssistant()
		m.userMessage(o)
	case `"assistant"`:
		m.endUser(o)
		m.assistantMessage(o)
	case `"system"`:
		m.endTurn(o)
		m.system(o, "content", false)
	default:
		o.Fail(translate.Invalid(o.Param("role"), "user, assistant or system"))
	}
}

// endTurn writes the messages that are gathered, behind which in follows.
func (m *messageWriter) endTurn(in translate.Reader) {
	m.endAssistant()
	m.endUser(in)
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
func (m *messageWriter) system(o translate.Reader, key string, first bool) {
	if value := o.Get(key); value != nil && value[0] != '"' && value[0] != '[' {
		o.Fail(translate.Invalid(o.Param(key), "a string or an array"))
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
	eachBlock(o, key, func(quoted []byte) { add(quoted, nil) }, func(block translate.Reader) {
		blockType(block, "text")
		add(block.RequiredText("text"), m.opt.cacheControl(block))
	})
	if c.n == 0 {
		return
	}
	m.begin("system")
	m.out = translate.AppendKey(m.out, "content")
	if cached {
		m.out = c.append(m.out)
	} else {
		m.out = append(m.out, joined(texts)...)
	}
	m.out = append(m.out, '}')
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

func (m *messageWriter) assistantMessage(o translate.Reader) {
	t := &m.assistant
	t.some = true
	eachBlock(o, "content", func(quoted []byte) { t.content.text(quoted, nil) }, func(block translate.Reader) {
		switch blockType(block, "text", "tool_use", "thinking", "redacted_thinking") {
		case "text":
			t.content.text(block.RequiredText("text"), m.opt.cacheControl(block))
		case "tool_use":
			t.addCall(block)
		case "thinking":
			piece, _ := translate.Unquoted(block.RequiredText("thinking"))
			t.reasoning = append(t.reasoning, piece...)
			t.addSigned(block, "signature")
		default:
			t.addSigned(block, "data")
		}
	})
}

// addSigned adds the reasoning_details that an earlier answer of the gateway wrapped. Only who made other
// thinking can read it.
func (t *assistantTurn) addSigned(block translate.Reader, key string) {
	if elements, ok := translate.UnwrapReasoning(block.DecodedText(key)); ok {
		t.details = append(translate.AppendComma(t.details), elements...)
	}
}

// addCall adds a call of the model.
func (t *assistantTurn) addCall(block translate.Reader) {
	id, name := block.RequiredText("id"), block.RequiredText("name")
	block.RequiredObject("input")
	t.ids = append(t.ids, id)
	t.calls = translate.AppendToolCall(t.calls, id, name, jsonscan.AppendString(nil, compact(block.Get("input"))))
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
	if !m.opt.ReasoningContent {
		t.reasoning = nil
	}
	if !m.opt.SignedReasoning {
		t.details = nil
	}
	m.out = translate.AppendAssistantEnd(m.out, t.reasoning, t.details, t.calls)
}
