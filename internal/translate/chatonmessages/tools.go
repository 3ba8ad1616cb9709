package chatonmessages

import (
	"regexp"

	"github.com/gatehouse-proxy/gatehouse/internal/translate"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/conversation"
)

// typedTool are the types of the tools that Anthropic defines: web_search_20250305. They may have
// the model cite.
var typedTool = regexp.MustCompile(`^[a-z_]+_20[0-9]{6}$`)

// putTools writes tools and tool_choice, and reports whether a tool of Anthropic's is among them.
// single says that the caller wants one call at a time.
func putTools(w *translate.Writer, c *conversation.Conversation, single bool) (typed bool) {
	w.Array("tools")
	for i := range c.Tools {
		tool := &c.Tools[i]
		if tool.Name == nil {
			typed = true
			w.Raw(translate.Written(tool.Own))
			continue
		}
		putTool(w, tool)
	}
	w.EndOptional()
	if len(c.Tools) > 0 {
		putChoice(w, c, single)
	}
	return typed
}

// putTool writes a function. strict is sent only if it is wanted: few schemas are strict enough.
func putTool(w *translate.Writer, tool *conversation.Tool) {
	schema := translate.ObjectSchema(tool.Parameters, tool.Parameters == nil)
	strict := string(tool.Strict) == "true"
	if strict {
		schema = translate.ClosedSchema(schema)
	}
	w.Object()
	w.Member("name", tool.Name)
	w.Member("description", tool.Description)
	w.Member("input_schema", schema)
	if strict {
		w.BoolMember("strict", true)
	}
	w.Member("cache_control", tool.Cache)
	w.End()
}

// putChoice writes tool_choice. What forbids parallel calls is a part of it. A caller without
// tools, whose history has calls, gets none.
func putChoice(w *translate.Writer, c *conversation.Conversation, single bool) {
	choice, mode := &c.Choice, c.Choice.Mode
	switch {
	case choice.One != nil:
		mode = "tool"
	case choice.Required():
		mode = "any"
	case c.Described:
		mode = "none"
	case mode == "" && single:
		mode = "auto"
	case mode == "":
		return
	}
	w.Object("tool_choice")
	w.StringMember("type", mode)
	if choice.One != nil {
		w.Member("name", choice.One.Name)
	}
	if single && mode != "none" {
		w.BoolMember("disable_parallel_tool_use", true)
	}
	w.End()
}
