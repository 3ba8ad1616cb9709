package chatongemini

import (
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/conversation"
)

// modes are the names of the modes of a choice.
var modes = map[string]string{"auto": "AUTO", "required": "ANY", "none": "NONE"}

// putTools writes tools, with the search that the request may ask for, and toolConfig. Only a
// choice that requires a function can name those that it means; else the others are not sent.
func putTools(w *translate.Writer, c *conversation.Conversation, search bool) {
	some := len(c.Tools) > 0
	w.Array("tools")
	if some {
		w.Object()
		w.Array("functionDeclarations")
		for i := range c.Tools {
			putTool(w, &c.Tools[i])
		}
		w.End()
		w.End()
	}
	if search {
		w.Object()
		w.Object("googleSearch")
		w.End()
		w.End()
	}
	w.EndOptional()
	if !some {
		return
	}
	w.Object("toolConfig")
	if mode := modes[c.Choice.Mode]; mode != "" {
		putMode(w, &c.Choice, mode)
	}
	if search {
		w.BoolMember("includeServerSideToolInvocations", true)
	}
	w.EndOptional()
}

func putMode(w *translate.Writer, choice *conversation.Choice, mode string) {
	w.Object("functionCallingConfig")
	w.StringMember("mode", mode)
	if choice.Required() && len(choice.Among) > 0 {
		w.Array("allowedFunctionNames")
		for _, one := range choice.Among {
			w.Raw(one.Name)
		}
		w.End()
	}
	w.End()
}

// putTool writes a function. Its schema goes as it is: parametersJsonSchema takes JSON Schema, and
// parameters only a part of it. Google refuses an object without properties.
func putTool(w *translate.Writer, tool *conversation.Tool) {
	w.Object()
	w.Member("name", tool.Name)
	w.Member("description", tool.Description)
	if hasParameters(tool) {
		w.Member("parametersJsonSchema", tool.Parameters)
	}
	w.End()
}

// hasParameters reports whether a function takes something. Its schema must be that of an object.
func hasParameters(tool *conversation.Tool) bool {
	var typ, properties []byte
	some := false
	for m := range jsonscan.AllMembers(tool.Parameters) {
		switch value := m.Value(tool.Parameters); string(m.DecodedKey(tool.Parameters)) {
		case "type":
			typ = value
		case "properties":
			properties = value
		case "$ref", "anyOf":
			some = true
		}
	}
	if typ != nil && string(typ) != `"object"` {
		tool.Own.Fail(translate.Invalid(tool.Own.Param(tool.Schema)+".type", `"object"`))
	}
	return some || len(jsonscan.Members(properties, nil)) > 0
}
