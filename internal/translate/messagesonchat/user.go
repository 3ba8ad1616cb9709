package messagesonchat

import (
	"github.com/gatehouse-proxy/gatehouse/internal/anthropic"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/conversation"
)

// userMessage adds the results of tools, which must follow their calls directly, and gathers the
// rest.
func (in *input) userMessage(o translate.Reader) {
	if in.user.at == "" {
		in.user.at = o.Param("content")
	}
	t := &in.user
	eachBlock(o, "content", func(quoted []byte) { t.parts = in.text(t.parts, quoted, nil) }, func(block translate.Reader) {
		typ := blockType(block, "text", "image", "document", "tool_result")
		if typ != "tool_result" {
			t.parts = in.block(t.parts, block, typ)
			return
		}
		t.results = true
		in.result(block)
	})
}

// endUser adds the turn of the user, if there is one.
func (in *input) endUser(o translate.Reader) {
	t := in.user
	in.user = userTurn{}
	switch {
	case t.at == "" || len(t.parts) == 0 && t.results:
		return
	case len(t.parts) == 0:
		o.Fail(translate.Invalid(t.at, "text or blocks that are not empty"))
	}
	in.to.Add(conversation.Turn{Role: conversation.User, Word: "user", Parts: whole(t.parts)})
}

// block adds a text, an image or a document.
func (in *input) block(parts []conversation.Part, block translate.Reader, typ string) []conversation.Part {
	cache := in.to.Rules().CacheOf(block)
	switch typ {
	case "image":
		return append(parts, image(block, cache))
	case "document":
		return in.document(parts, block, cache)
	}
	citations := block.Get("citations")
	if citations != nil && string(citations) != "[]" && in.opt.Version == anthropic.Version2026 {
		block.Fail(notInVersion(block.Param("citations")))
	}
	return in.text(parts, block.RequiredText("text"), cache)
}

// result adds the result of a tool, which the model called in the turn before.
func (in *input) result(block translate.Reader) {
	id := block.RequiredText("tool_use_id")
	r := &conversation.ToolResult{Failed: block.Bool("is_error"), Parts: in.resultParts(block)}
	if r.Call = in.to.CallOf(id); !in.called[r.Call] {
		block.Fail(translate.Invalid(block.Param("tool_use_id"), "the id of a tool_use block in the assistant message before it"))
		return
	}
	in.to.Result(r, in.to.Rules().CacheOf(block))
}

// resultParts reads the content of a result.
func (in *input) resultParts(block translate.Reader) (parts []conversation.Part) {
	eachBlock(block, "content", func(quoted []byte) { parts = in.text(parts, quoted, nil) }, func(inner translate.Reader) {
		typ := blockType(inner, "text", "image", "document", "tool_reference")
		if typ == "tool_reference" { // the provider has all tools in any case
			parts = in.text(parts, translate.Joined([]byte(`"This tool is available:"`), inner.RequiredText("tool_name")), nil)
			return
		}
		parts = in.block(parts, inner, typ)
	})
	return joinTexts(parts)
}
