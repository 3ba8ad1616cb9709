package responsesonchat

import (
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
)

// assistantTurn gathers an assistant message. One chat message has the content of several items of
// a Response: reasoning, text, and all calls that were made together. The results of the calls must
// follow directly.
type assistantTurn struct {
	texts     [][]byte // quoted
	calls     []byte   // the elements of tool_calls
	reasoning []byte   // JSON without quotes
	details   []byte   // the elements of reasoning_details
}

// hasOnlyText reports whether another text or reasoning begins the next message.
func (t *assistantTurn) hasOnlyText() bool { return len(t.texts) > 0 && len(t.calls) == 0 }

// addText adds a message of the model. A refusal becomes text: it says the same to the model, and
// few providers know the field.
func (t *assistantTurn) addText(o translate.Reader) {
	value := translate.Required(o, "content")
	switch {
	case value == nil:
		return
	case value[0] == '"':
		t.texts = append(t.texts, value)
		return
	}
	some := false
	o.Each("content", translate.MaxParts, func(_ int, part translate.Reader) {
		some = true
		t.texts = append(t.texts, answerText(part))
	})
	if !some {
		t.texts = append(t.texts, []byte(`""`))
	}
}

// answerText returns the quoted text of a part of the model's message.
func answerText(part translate.Reader) []byte {
	if typ, _ := jsonscan.String(part.Get("type")); typ != "refusal" {
		return partText(part)
	}
	part.Only(partFields["refusal"]...)
	return part.RequiredText("refusal")
}

// addCall adds a call of a function, or of a custom tool.
func (t *assistantTurn) addCall(o translate.Reader, k kind, names *toolNames) {
	var arguments []byte
	if k == customCall {
		arguments = customArguments(o.RequiredText("input"))
	} else {
		arguments = o.RequiredText("arguments")
	}
	tool := calledTool{kind: k, namespace: o.Text("namespace")}
	id := o.RequiredText("call_id")
	tool.name = o.RequiredText("name")
	t.append(id, names.of(tool), arguments)
}

// addSearch adds a search for tools, whose arguments are an object. One that another provider made
// is left out.
func (t *assistantTurn) addSearch(o translate.Reader, names *toolNames) {
	id := o.Text("call_id")
	if id == nil {
		return
	}
	text := translate.AppendWithNull(nil, o.RequiredObject("arguments"))
	t.append(id, names.of(calledTool{kind: searchCall, name: searchName}), jsonscan.AppendString(nil, string(text)))
}

func (t *assistantTurn) append(id, name, arguments []byte) {
	t.calls = translate.AppendToolCall(t.calls, id, name, arguments)
}

// endTurn writes the assistant message, if there is one. Reasoning that nothing follows is dropped.
func (m *messageWriter) endTurn() {
	t := m.turn
	m.turn = assistantTurn{texts: t.texts[:0], calls: t.calls[:0], reasoning: t.reasoning[:0], details: t.details[:0]}
	if len(t.texts) == 0 && len(t.calls) == 0 {
		return
	}
	m.begin("assistant")
	switch len(t.texts) {
	case 0:
		m.out = append(m.out, `,"content":null`...)
	case 1:
		m.put("content", t.texts[0])
	default:
		m.out = append(m.out, `,"content":[`...)
		for _, text := range t.texts {
			m.out = appendTextPart(translate.AppendComma(m.out), text)
		}
		m.out = append(m.out, ']')
	}
	m.out = translate.AppendAssistantEnd(m.out, t.reasoning, t.details, t.calls)
}
