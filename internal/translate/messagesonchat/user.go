package messagesonchat

import (
	"github.com/gatehouse-proxy/gatehouse/internal/anthropic"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
)

// userTurn gathers what follows the tool messages of a turn: one user message.
type userTurn struct {
	at      string // path of the content, "" for no turn
	results bool   // the turn has results of tools
	content content
}

// userMessage writes the results of tools, which must follow their calls directly, and gathers the
// rest.
func (m *messageWriter) userMessage(o translate.Object) error {
	if m.user.at == "" {
		m.user.at = o.Param("content")
	}
	c := &m.user.content
	return eachBlock(o, "content", func(quoted []byte) { c.text(quoted, nil) }, func(block translate.Object) error {
		typ, err := blockType(block, "text", "image", "document", "tool_result")
		switch {
		case err != nil:
			return err
		case typ == "tool_result":
			m.user.results = true
			return m.toolResult(block)
		}
		return m.addBlock(c, block, typ)
	})
}

// endUser writes the user message, if there is one.
func (m *messageWriter) endUser() error {
	t := m.user
	m.user = userTurn{}
	switch {
	case t.at == "" || t.content.n == 0 && t.results:
		return nil
	case t.content.n == 0:
		return translate.Invalid(t.at, "text or blocks that are not empty")
	}
	m.begin("user")
	m.out = t.content.append(translate.AppendKey(m.out, "content"))
	m.out = append(m.out, '}')
	return nil
}

// addBlock adds a text, an image or a document.
func (m *messageWriter) addBlock(c *content, block translate.Object, typ string) error {
	cache, err := m.opt.cacheControl(block)
	if err != nil {
		return err
	}
	switch typ {
	case "image":
		return addImage(c, block, cache)
	case "document":
		return m.addDocument(c, block, cache)
	}
	if citations := block.Get("citations"); citations != nil && string(citations) != "[]" && m.opt.Version == anthropic.Version2026 {
		return notInVersion(block.Param("citations"))
	}
	text, err := block.RequiredText("text")
	c.text(text, cache)
	return err
}
