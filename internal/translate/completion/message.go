package completion

import "github.com/gatehouse-proxy/gatehouse/internal/translate"

// Message gathers the message of a whole completion.
type Message struct {
	functions translate.Functions

	content, refused, reasoning  []byte // JSON without quotes
	hasContent                   bool
	details, annotations, tokens []byte // elements
	images                       []byte // likewise
	calls                        []toolCall
}

// toolCall is a tool call of the message.
type toolCall struct {
	custom   bool
	id, name []byte
	argument []byte // JSON without quotes
	extra    []byte // extra_content, nil for none
}

var _ translate.Content = (*Message)(nil)

// NewMessage returns a message for a chat that has functions or tools.
func NewMessage(functions translate.Functions) *Message { return &Message{functions: functions} }

func (m *Message) Begin(bool) {}

func (m *Message) Text(piece, logprobs []byte) {
	m.hasContent = true
	m.content = append(m.content, piece...)
	if len(logprobs) > 0 {
		m.tokens = append(translate.AppendComma(m.tokens), logprobs...)
	}
}

func (m *Message) Refusal(piece []byte) { m.refused = append(m.refused, piece...) }

func (m *Message) Reasoning(piece, detail []byte) {
	m.reasoning = append(m.reasoning, piece...)
	if len(detail) > 0 {
		m.details = append(translate.AppendComma(m.details), detail...)
	}
}

func (m *Message) Citation(c translate.Citation) {
	m.annotations = appendCitation(translate.AppendComma(m.annotations), c)
}

// Image takes an image by the URL with its data, JSON without quotes.
func (m *Message) Image(url []byte) {
	m.images = appendImage(translate.AppendComma(m.images), url)
}

func (m *Message) BeginCall(_ int, custom bool, id, name []byte) {
	m.calls = append(m.calls, toolCall{custom: custom, id: id, name: name})
}

func (m *Message) Arguments(n int, _ bool, piece []byte) {
	m.calls[n].argument = append(m.calls[n].argument, piece...)
}

// Call takes call n of a function as a whole. Extra is the object extra_content, nil for none.
func (m *Message) Call(_ int, id, name, arguments, extra []byte) {
	m.calls = append(m.calls, toolCall{id: id, name: name, argument: arguments, extra: extra})
}

// Speaks reports whether the message has text, reasoning or a tool call.
func (m *Message) Speaks() bool {
	return len(m.content) > 0 || len(m.reasoning) > 0 || len(m.calls) > 0
}

// Append appends the completion. Its id and time are nil if the provider gave none.
func (m *Message) Append(dst, id, created []byte, e Ending) []byte {
	dst = append(dst, '{')
	if id != nil {
		dst = translate.AppendMember(dst, "id", id)
	}
	if created != nil {
		dst = translate.AppendMember(dst, "created", created)
	}
	dst = append(translate.AppendComma(dst), `"object":"chat.completion","choices":[{"index":0,"message":{`...)
	dst = append(m.append(dst), '}')
	dst = appendLogprobs(translate.AppendKey(dst, "logprobs"), m.tokens)
	dst = translate.AppendTextMember(dst, "finish_reason", []byte(e.Finish))
	dst = append(dst, "}]"...)
	if e.Tier != nil {
		dst = translate.AppendMember(dst, "service_tier", e.Tier)
	}
	if usage := e.usage(); usage != nil {
		dst = translate.AppendMember(dst, "usage", usage)
	}
	return append(dst, '}')
}

// append appends the members of the message.
func (m *Message) append(dst []byte) []byte {
	dst = append(dst, `"role":"assistant"`...)
	dst = appendTextOrNull(dst, "content", m.content, m.hasContent || len(m.refused) == 0 && len(m.calls) == 0)
	dst = appendTextOrNull(dst, "refusal", m.refused, len(m.refused) > 0)
	if len(m.reasoning) > 0 {
		dst = translate.AppendTextMember(dst, "reasoning_content", m.reasoning)
	}
	dst = translate.AppendList(dst, "reasoning_details", m.details)
	dst = translate.AppendList(dst, "annotations", m.annotations)
	dst = translate.AppendList(dst, "images", m.images)
	switch {
	case len(m.calls) == 0:
		return dst
	case bool(m.functions):
		return m.functions.AppendCall(dst, m.calls[0].name, m.calls[0].argument)
	}
	dst = append(dst, `,"tool_calls":[`...)
	for i := range m.calls {
		dst = m.calls[i].append(translate.AppendComma(dst))
	}
	return append(dst, ']')
}

// append appends a tool call.
func (c *toolCall) append(dst []byte) []byte {
	typ, key := "function", "arguments"
	if c.custom {
		typ, key = "custom", "input"
	}
	dst = append(dst, '{')
	if c.id != nil {
		dst = translate.AppendMember(dst, "id", c.id)
	}
	dst = translate.AppendTextMember(dst, "type", []byte(typ))
	dst = append(translate.AppendKey(dst, typ), '{')
	dst = translate.AppendMember(dst, "name", c.name)
	dst = append(translate.AppendTextMember(dst, key, c.argument), '}')
	if c.extra != nil {
		dst = translate.AppendMember(dst, "extra_content", c.extra)
	}
	return append(dst, '}')
}

// appendTextOrNull appends a member that is text, or null if there is none.
func appendTextOrNull(dst []byte, key string, text []byte, has bool) []byte {
	if !has {
		return append(translate.AppendKey(dst, key), "null"...)
	}
	return translate.AppendTextMember(dst, key, text)
}
