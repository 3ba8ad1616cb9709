package chatonconverse

import (
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/conversation"
)

// putTools writes toolConfig. Converse has no choice "none": such a request has no tools, but for
// those that were called.
func (w *blocks) putTools(c *conversation.Conversation) {
	if len(c.Tools) == 0 {
		return
	}
	w.Object("toolConfig")
	w.Array("tools")
	for i := range c.Tools {
		w.putTool(&c.Tools[i])
	}
	w.End()
	putChoice(w.Writer, &c.Choice)
	w.End()
}

func (w *blocks) putTool(tool *conversation.Tool) {
	schema, strict := translate.ObjectSchema(tool.Parameters, false), string(tool.Strict) == "true" && w.family.strict
	if strict {
		schema = translate.ClosedSchema(schema)
	}
	w.Object()
	w.Object("toolSpec")
	w.Member("name", tool.Name)
	w.Member("description", tool.Description)
	w.Object("inputSchema")
	w.Member("json", schema)
	w.End()
	if strict {
		w.BoolMember("strict", true)
	}
	w.End()
	w.End()
	if w.family.caches == cachesAll {
		w.putCache(tool.Cache)
	}
}

func putChoice(w *translate.Writer, choice *conversation.Choice) {
	switch {
	case choice.One != nil:
		w.Object("toolChoice")
		w.Object("tool")
		w.Member("name", choice.One.Name)
	case choice.Required():
		w.Object("toolChoice")
		w.Object("any")
	case choice.Mode == "auto":
		w.Object("toolChoice")
		w.Object("auto")
	default:
		return
	}
	w.End()
	w.End()
}
