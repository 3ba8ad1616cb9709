package chat

import (
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/conversation"
)

// putTools writes tools and tool_choice, which only a request with tools may have. strict is sent
// only if the caller gave it.
func putTools(w *translate.Writer, c *conversation.Conversation) {
	if len(c.Tools) == 0 {
		return
	}
	w.Array("tools")
	for i := range c.Tools {
		tool := &c.Tools[i]
		w.Object()
		w.StringMember("type", "function")
		w.Object("function")
		w.Member("name", tool.Name)
		w.Member("description", tool.Description)
		if tool.Parameters != nil {
			w.Member("parameters", translate.ObjectSchema(tool.Parameters, true))
		}
		w.Member("strict", tool.Strict)
		w.End()
		w.Member("cache_control", tool.Cache)
		w.End()
	}
	w.End()
	switch choice := &c.Choice; {
	case choice.One != nil:
		w.Object("tool_choice")
		w.StringMember("type", "function")
		w.Object("function")
		w.Member("name", choice.One.Name)
		w.End()
		w.End()
	case choice.Mode != "":
		w.StringMember("tool_choice", choice.Mode)
	}
}
