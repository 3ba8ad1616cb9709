package responsesonchat

import "github.com/gatehouse-proxy/gatehouse/internal/translate"

// inNextMessage stands in a tool message for what few providers accept there. The user message
// behind all results has it.
const inNextMessage = "[image or file: in the user message behind the results]"

// output writes the result of a call.
func (m *messageWriter) output(o translate.Object) error {
	id, err := o.RequiredText("call_id")
	if err != nil {
		return err
	}
	m.beginResult(id)
	output := o.Get("output")
	switch {
	case output == nil:
		return translate.Missing(o.Param("output"))
	case output[0] == '"':
		m.put("content", output)
	case m.opt.ToolParts:
		if err := m.content(o, "output", "user"); err != nil {
			return err
		}
	default:
		if err := m.outputText(o, id); err != nil {
			return err
		}
	}
	m.out = append(m.out, '}')
	return nil
}

func (m *messageWriter) beginResult(id []byte) {
	m.endTurn()
	m.begin("tool")
	m.put("tool_call_id", id)
}

// outputText writes a result as text: few providers accept parts in a tool message. Texts are joined
// by line ends.
func (m *messageWriter) outputText(o translate.Object, id []byte) error {
	m.out = append(m.out, `,"content":"`...)
	err := o.Each("output", translate.MaxParts, func(i int, part translate.Object) error {
		if i > 0 {
			m.out = append(m.out, `\n`...)
		}
		if typ, err := part.DecodedText("type"); err != nil || typ == "input_image" || typ == "input_file" {
			m.out = append(m.out, inNextMessage...)
			return m.addMedia(part, id)
		}
		quoted, err := partText(part)
		if err != nil {
			return err
		}
		text, _ := translate.Unquoted(quoted)
		m.out = append(m.out, text...)
		return nil
	})
	m.out = append(m.out, '"')
	return err
}

// addMedia adds an image or a file of the result of a call to the user message.
func (m *messageWriter) addMedia(part translate.Object, id []byte) (err error) {
	m.media = append(translate.AppendComma(m.media), `{"type":"text","text":"From the result of the call `...)
	m.media = append(append(m.media, id[1:len(id)-1]...), `:"},`...)
	m.media, _, err = m.appendPart(m.media, part, "user")
	return err
}

// endMedia writes the user message with the images and files of results, if there is one.
func (m *messageWriter) endMedia() {
	if len(m.media) == 0 {
		return
	}
	m.begin("user")
	m.out = append(append(append(m.out, `,"content":[`...), m.media...), "]}"...)
	m.media = m.media[:0]
}

// searchOutput adds the tools that a search found, and tells the model their names.
func (m *messageWriter) searchOutput(o translate.Object) error {
	if err := m.tools.addLoaded(o); err != nil {
		return err
	}
	id, err := o.Text("call_id")
	if id == nil || err != nil { // another provider searched
		return err
	}
	m.beginResult(id)
	m.out = append(m.out, `,"content":"`...)
	if len(m.tools.loaded) == 0 {
		m.out = append(m.out, `No tools were found.`...)
	} else {
		m.out = append(m.out, `These functions can be called now:`...)
	}
	for _, name := range m.tools.loaded {
		m.out = append(m.out, ' ')
		m.out = append(m.out, name[1:len(name)-1]...)
	}
	m.out = append(m.out, `"}`...)
	return nil
}
