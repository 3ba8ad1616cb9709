package chatonresponses

import (
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/conversation"
)

// putTools writes tools, tool_choice and parallel_tool_calls. What is left in a request without
// tools are the defaults.
func putTools(w *translate.Writer, c *conversation.Conversation, parallel []byte) {
	if len(c.Tools) == 0 {
		return
	}
	w.Array("tools")
	for i := range c.Tools {
		putTool(w, &c.Tools[i])
	}
	w.End()
	putChoice(w, &c.Choice)
	w.Member("parallel_tool_calls", parallel)
}

// putTool writes a tool as Responses has it: flat. A function always gets parameters, which
// Responses requires, and strict, whose default is true in Responses and false in chat.
func putTool(w *translate.Writer, tool *conversation.Tool) {
	w.Object()
	if tool.Custom {
		putTyped(w, "custom", tool.Name)
		w.Member("description", tool.Description)
		putGrammar(w, tool.Own)
	} else {
		putTyped(w, "function", tool.Name)
		w.Member("description", tool.Description)
		w.Member("parameters", translate.ObjectSchema(tool.Parameters, true))
		w.BoolMember("strict", string(tool.Strict) == "true")
	}
	w.End()
}

func putTyped(w *translate.Writer, typ string, name []byte) {
	w.StringMember("type", typ)
	w.Member("name", name)
}

// putGrammar writes the format of a custom tool's input, if it has one: any text, or a grammar,
// which chat nests.
func putGrammar(w *translate.Writer, tool translate.Reader) {
	format, ok := tool.Object("format")
	if !ok {
		return
	}
	typ := translate.TypeOf(format)
	w.Object("format")
	w.StringMember("type", typ)
	switch typ {
	case "text":
		format.Only("type")
	case "grammar":
		format.Only("type", "grammar")
		grammar := format.RequiredObject("grammar", "definition", "syntax")
		w.Member("definition", grammar.RequiredText("definition"))
		w.Member("syntax", grammar.RequiredText("syntax"))
	default:
		translate.RefuseType(format, typ)
	}
	w.End()
}

// putChoice writes tool_choice: a mode, one tool, or several.
func putChoice(w *translate.Writer, choice *conversation.Choice) {
	switch {
	case choice.One != nil:
		w.Object("tool_choice")
		putChosen(w, choice.One)
	case choice.Among != nil:
		w.Object("tool_choice")
		w.StringMember("type", "allowed_tools")
		w.StringMember("mode", choice.Mode)
		w.Array("tools")
		for i := range choice.Among {
			w.Object()
			putChosen(w, &choice.Among[i])
			w.End()
		}
		w.End()
	case choice.Mode != "":
		w.StringMember("tool_choice", choice.Mode)
		return
	default:
		return
	}
	w.End()
}

func putChosen(w *translate.Writer, c *conversation.Chosen) {
	typ := "function"
	if c.Custom {
		typ = "custom"
	}
	putTyped(w, typ, c.Name)
}
