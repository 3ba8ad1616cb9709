package messagesonchat

import (
	"bytes"
	"slices"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
)

// toolResult writes the result of a tool. Few providers accept parts in a tool message: texts are
// joined by line ends, and images and files go into the user message, with the id of the call.
func (m *messageWriter) toolResult(block translate.Object) error {
	id, err := block.RequiredText("tool_use_id")
	if err != nil {
		return err
	}
	failed, err := block.Bool("is_error")
	if err != nil {
		return err
	}
	cache, err := m.opt.cacheControl(block)
	if err != nil {
		return err
	}
	var r toolResult
	if err := m.readResult(&r, block); err != nil {
		return err
	}
	if !slices.ContainsFunc(m.called, func(called []byte) bool { return bytes.Equal(called, id) }) {
		return translate.Invalid(block.Param("tool_use_id"), "the id of a tool_use block in the assistant message before it")
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
	return nil
}

// toolResult is what a result of a tool has in it.
type toolResult struct {
	texts [][]byte // quoted
	media content
}

// placeholder stands in a tool message for what chat can only have in a user message.
var placeholder = []byte(`"[An image or a file: see the next user message.]"`)

func (m *messageWriter) readResult(r *toolResult, block translate.Object) error {
	text := func(quoted []byte) { r.texts = append(r.texts, quoted) }
	return eachBlock(block, "content", text, func(inner translate.Object) error {
		typ, err := blockType(inner, "text", "image", "document", "tool_reference")
		if err != nil {
			return err
		}
		var c content
		switch typ {
		case "tool_reference": // the provider has all tools in any case
			name, err := inner.RequiredText("tool_name")
			text(joined([][]byte{[]byte(`"This tool is available:"`), name}))
			return err
		case "text":
			quoted, err := inner.RequiredText("text")
			text(quoted)
			return err
		}
		if err := m.addBlock(&c, inner, typ); err != nil {
			return err
		}
		switch {
		case c.n == 0: // an empty document
			return nil
		case c.single != nil: // a document that is text
			text(c.single)
			return nil
		}
		if !m.opt.ToolParts {
			text(placeholder)
		}
		r.media.join(&c)
		return nil
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
