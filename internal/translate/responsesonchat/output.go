package responsesonchat

import (
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
)

// inNextMessage stands in a tool message for what few providers accept there. The user message
// behind all results has it.
const inNextMessage = "[image or file: in the user message behind the results]"

// output writes the result of a call.
func (m *messageWriter) output(o translate.Reader) {
	id := o.RequiredText("call_id")
	m.beginResult(id)
	switch output := translate.Required(o, "output"); {
	case output == nil:
	case output[0] == '"':
		m.put("content", output)
	case m.opt.ToolParts:
		m.content(o, "output", "user")
	default:
		m.outputText(o, id)
	}
	m.out = append(m.out, '}')
}

func (m *messageWriter) beginResult(id []byte) {
	m.endTurn()
	m.begin("tool")
	m.put("tool_call_id", id)
}

// outputText writes a result as text: few providers accept parts in a tool message. Texts are joined
// by line ends.
func (m *messageWriter) outputText(o translate.Reader, id []byte) {
	m.out = append(m.out, `,"content":"`...)
	o.Each("output", translate.MaxParts, func(i int, part translate.Reader) {
		if i > 0 {
			m.out = append(m.out, `\n`...)
		}
		if typ, _ := jsonscan.String(part.Get("type")); typ == "input_image" || typ == "input_file" {
			m.out = append(m.out, inNextMessage...)
			m.addMedia(part, id)
			return
		}
		text, _ := translate.Unquoted(partText(part))
		m.out = append(m.out, text...)
	})
	m.out = append(m.out, '"')
}

// addMedia adds an image or a file of the result of a call to the user message.
func (m *messageWriter) addMedia(part translate.Reader, id []byte) {
	m.media = append(translate.AppendComma(m.media), `{"type":"text","text":"From the result of the call `...)
	m.media = append(append(m.media, id[1:len(id)-1]...), `:"},`...)
	m.media, _ = m.appendPart(m.media, part, "user")
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
func (m *messageWriter) searchOutput(o translate.Reader) {
	m.tools.addLoaded(o)
	id := o.Text("call_id")
	if id == nil { // another provider searched
		return
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
}
