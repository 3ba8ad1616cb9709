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
func (t *assistantTurn) addText(o translate.Object) error {
	value := o.Get("content")
	switch {
	case value == nil:
		return translate.Missing(o.Param("content"))
	case value[0] == '"':
		t.texts = append(t.texts, value)
		return nil
	}
	some := false
	err := o.Each("content", translate.MaxParts, func(_ int, part translate.Object) error {
		some = true
		text, err := answerText(part)
		t.texts = append(t.texts, text)
		return err
	})
	if !some {
		t.texts = append(t.texts, []byte(`""`))
	}
	return err
}

// answerText returns the quoted text of a part of the model's message.
func answerText(part translate.Object) ([]byte, error) {
	if typ, err := part.DecodedText("type"); err != nil || typ != "refusal" {
		return partText(part)
	}
	if err := part.Only(partFields["refusal"]...); err != nil {
		return nil, err
	}
	return part.RequiredText("refusal")
}

// addCall adds a call of a function.
func (t *assistantTurn) addCall(o translate.Object, names *toolNames) error {
	arguments, err := o.RequiredText("arguments")
	if err != nil {
		return err
	}
	return t.add(o, functionCall, arguments, names)
}

// addCustomCall adds a call of a custom tool.
func (t *assistantTurn) addCustomCall(o translate.Object, names *toolNames) error {
	input, err := o.RequiredText("input")
	if err != nil {
		return err
	}
	return t.add(o, customCall, customArguments(input), names)
}

// add adds a call of the model.
func (t *assistantTurn) add(o translate.Object, k kind, arguments []byte, names *toolNames) (err error) {
	tool := calledTool{kind: k}
	if tool.namespace, err = o.Text("namespace"); err != nil {
		return err
	}
	id, err := o.RequiredText("call_id")
	if err != nil {
		return err
	}
	if tool.name, err = o.RequiredText("name"); err != nil {
		return err
	}
	t.append(id, names.of(tool), arguments)
	return nil
}

// addSearch adds a search for tools, whose arguments are an object. One that another provider made
// is left out.
func (t *assistantTurn) addSearch(o translate.Object, names *toolNames) error {
	id, err := o.Text("call_id")
	if id == nil || err != nil {
		return err
	}
	arguments, err := o.RequiredObject("arguments")
	if err != nil {
		return err
	}
	text := translate.AppendWithNull(nil, arguments)
	t.append(id, names.of(calledTool{kind: searchCall, name: searchName}), jsonscan.AppendString(nil, string(text)))
	return nil
}

func (t *assistantTurn) append(id, name, arguments []byte) {
	t.calls = append(translate.AppendComma(t.calls), '{')
	t.calls = translate.AppendMember(t.calls, "id", id)
	t.calls = append(t.calls, `,"type":"function","function":{`...)
	t.calls = translate.AppendMember(t.calls, "name", name)
	t.calls = translate.AppendMember(t.calls, "arguments", arguments)
	t.calls = append(t.calls, "}}"...)
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
	if len(t.reasoning) > 0 {
		m.out = translate.AppendTextMember(m.out, "reasoning_content", t.reasoning)
	}
	if len(t.details) > 0 {
		m.out = append(append(append(m.out, `,"reasoning_details":[`...), t.details...), ']')
	}
	if len(t.calls) > 0 {
		m.out = append(m.out, `,"tool_calls":[`...)
		m.out = append(m.out, t.calls...)
		m.out = append(m.out, ']')
	}
	m.out = append(m.out, '}')
}
