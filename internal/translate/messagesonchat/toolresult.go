package messagesonchat

import (
	"bytes"
	"slices"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
)

// toolResult writes the result of a tool. Few providers accept parts in a tool message: texts are
// joined by line ends, and images and files go into the user message, with the id of the call.
func (m *messageWriter) toolResult(block translate.Reader) {
	id := block.RequiredText("tool_use_id")
	failed, cache := block.Bool("is_error"), m.opt.cacheControl(block)
	var r toolResult
	m.readResult(&r, block)
	if !slices.ContainsFunc(m.called, func(called []byte) bool { return bytes.Equal(called, id) }) {
		block.Fail(translate.Invalid(block.Param("tool_use_id"), "the id of a tool_use block in the assistant message before it"))
	}
	if failed {
		r.fail()
	}
	m.begin("tool")
	m.put("tool_call_id", id)
	m.out = translate.AppendKey(m.out, "content")
	switch text := joined(r.texts); {
	case m.opt.ToolParts && r.media.n > 0:
		c := content{}
		c.text(text, nil)
		c.join(&r.media)
		m.out = c.append(m.out)
	case cache != nil && len(text) > len(`""`):
		c := content{}
		c.text(text, cache)
		m.out = c.append(m.out)
	default:
		m.out = append(m.out, text...)
	}
	m.out = append(m.out, '}')
	if r.media.n > 0 && !m.opt.ToolParts {
		decoded, _ := jsonscan.String(id)
		m.user.content.text(jsonscan.AppendString(nil, "From the result of the tool call "+decoded+":"), nil)
		m.user.content.join(&r.media)
	}
}

// toolResult is what a result of a tool has in it.
type toolResult struct {
	texts [][]byte // quoted
	media content
}

// placeholder stands in a tool message for what chat can only have in a user message.
var placeholder = []byte(`"[An image or a file: see the next user message.]"`)

func (m *messageWriter) readResult(r *toolResult, block translate.Reader) {
	text := func(quoted []byte) { r.texts = append(r.texts, quoted) }
	eachBlock(block, "content", text, func(inner translate.Reader) {
		typ := blockType(inner, "text", "image", "document", "tool_reference")
		switch typ {
		case "tool_reference": // the provider has all tools in any case
			text(joined([][]byte{[]byte(`"This tool is available:"`), inner.RequiredText("tool_name")}))
			return
		case "text":
			text(inner.RequiredText("text"))
			return
		}
		var c content
		m.addBlock(&c, inner, typ)
		switch {
		case c.n == 0: // an empty document
		case c.single != nil: // a document that is text
			text(c.single)
		default:
			if !m.opt.ToolParts {
				text(placeholder)
			}
			r.media.join(&c)
		}
	})
}

// fail marks the result as that of a tool that failed, which chat has no field for.
func (r *toolResult) fail() {
	const mark = `"Error: `
	if len(r.texts) == 0 {
		r.texts = append(r.texts, []byte(mark+`"`))
		return
	}
	r.texts[0] = append([]byte(mark), r.texts[0][1:]...)
}
