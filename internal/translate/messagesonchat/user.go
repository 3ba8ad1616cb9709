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
func (m *messageWriter) userMessage(o translate.Reader) {
	if m.user.at == "" {
		m.user.at = o.Param("content")
	}
	c := &m.user.content
	eachBlock(o, "content", func(quoted []byte) { c.text(quoted, nil) }, func(block translate.Reader) {
		typ := blockType(block, "text", "image", "document", "tool_result")
		if typ != "tool_result" {
			m.addBlock(c, block, typ)
			return
		}
		m.user.results = true
		m.toolResult(block)
	})
}

// endUser writes the user message, if there is one.
func (m *messageWriter) endUser(in translate.Reader) {
	t := m.user
	m.user = userTurn{}
	switch {
	case t.at == "" || t.content.n == 0 && t.results:
		return
	case t.content.n == 0:
		in.Fail(translate.Invalid(t.at, "text or blocks that are not empty"))
	}
	m.begin("user")
	m.out = t.content.append(translate.AppendKey(m.out, "content"))
	m.out = append(m.out, '}')
}

// addBlock adds a text, an image or a document.
func (m *messageWriter) addBlock(c *content, block translate.Reader, typ string) {
	cache := m.opt.cacheControl(block)
	switch typ {
	case "image":
		addImage(c, block, cache)
		return
	case "document":
		m.addDocument(c, block, cache)
		return
	}
	citations := block.Get("citations")
	if citations != nil && string(citations) != "[]" && m.opt.Version == anthropic.Version2026 {
		block.Fail(notInVersion(block.Param("citations")))
	}
	c.text(block.RequiredText("text"), cache)
}
