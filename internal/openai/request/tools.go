package request

import (
	"strings"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
)

// ToolUse is what a request says of tools, wherever the API lets it: in tools,
// functions and tool_choice, in items of input that bring some
// (additional_tools, tool_search_output, any other with such a member), in a
// namespace, and in fields of their own.
type ToolUse struct {
	// Count is how many tools are declared. A namespace is one, and so is each
	// of its members.
	Count int

	// Hosted names the first tool that runs at the provider, on its account, ""
	// for none. HostedIn is the top-level field that asks for it.
	Hosted, HostedIn string

	// BuiltIn is how many tools the caller runs, but the provider describes to
	// the model: that text is not in the request.
	BuiltIn int

	// LocalShell reports that there is a shell with a local environment, which
	// the caller runs, unless the provider knows no such environment.
	LocalShell bool
}

// AddHosted notes a tool that runs at the provider, and the field that asks for it.
func (u *ToolUse) AddHosted(name, field string) {
	if u.Hosted == "" {
		u.Hosted, u.HostedIn = strings.ToValidUTF8(name[:min(len(name), maxTypeName)], ""), field
	}
}

// toolKind is what is known of a type of tool.
type toolKind uint8

const (
	// clientRun tools always run at the caller.
	clientRun toolKind = 1 << iota
	// clientIfAsked tools run there if execution is "client".
	clientIfAsked
	// clientIfLocal tools run there if environment is an object of type "local".
	clientIfLocal
	// builtIn tools are described to the model by the provider.
	builtIn
)

// clientTools is the table of the tools that the caller runs (openai-python
// 3.54, types/responses/tool_param.py, and OpenAI's guides). Every other type
// runs at the provider, or is not known, which counts as the same.
var clientTools = map[string]toolKind{
	"function":             clientRun,
	"custom":               clientRun,
	"namespace":            clientRun, // its members are judged one by one
	"tool_search":          clientIfAsked,
	"local_shell":          clientRun | builtIn,
	"shell":                clientIfLocal | builtIn,
	"apply_patch":          clientRun | builtIn,
	"computer":             clientRun | builtIn,
	"computer_use_preview": clientRun | builtIn,
}

// plainChoices are the types of a tool_choice that are no types of tools, or
// name a tool of the caller that is declared by another name (computer_use).
var plainChoices = map[string]bool{
	"allowed_tools": true, "auto": true, "any": true, "none": true, "required": true, "tool": true,
	"computer_use": true,
}

// hostedItems are the items of input that have the provider run something: a
// call that was approved, a program that goes on.
var hostedItems = map[string]bool{"mcp_approval_response": true, "program": true}

// Names of hosted tools that their type does not tell.
const (
	untypedTool  = "a tool without a type"
	serverSearch = `tool_search, whose execution is not "client"`
	hostedShell  = `shell, whose environment is not of type "local"`
	deepTool     = "a tool nested too deep"
	storedPrompt = "prompt, which can bring tools"
)

// maxToolNesting is how deep tools may lie in one another. Deeper ones count as
// hosted. The API has two levels: a namespace and its members.
const maxToolNesting = 4

// toolFrame is what a walker knows of an open value as a tool.
type toolFrame struct {
	list        bool     // it is a list of tools
	tool        bool     // it is one
	inside      bool     // it is either, or lies in one
	environment bool     // it is the environment of a tool
	depth       uint8    // tools that it lies in, itself counted
	kind        toolKind // of a tool, by all its types
}

// opaqueFields are members with names that the caller chose: the arguments of a
// call, the variables of its shell, the properties of a schema.
var opaqueFields = map[string]bool{"arguments": true, "input": true, "env": true, "properties": true}

// openTool finds out what a value is as a tool. It opens in the frame f, nil at
// the top.
func (w *walker) openTool(child, f *frame) {
	t := &child.toolFrame
	if f == nil {
		t.list = w.root == "tools" && !child.object
		t.tool = w.root == "tool_choice" && child.object
	} else {
		t.depth, t.inside = f.depth, f.inside
		switch {
		case child.opaque:
		case f.list:
			t.tool = true
		case f.key == "tools":
			t.list, t.tool = !child.object, child.object
		case f.tool && f.key == "environment":
			t.environment = true
		}
	}
	if t.tool {
		t.depth++
	}
	t.inside = t.inside || t.list || t.tool
}

// toolKey takes a key. A second of its name leaves open which of them counts.
func (w *walker) toolKey(f *frame) {
	var of fact
	switch f.key {
	case "execution":
		of = runsAtClient
	case "environment":
		of = isLocal
	}
	if f.facts[of] == yes {
		f.note(of, false)
	}
}

// toolText takes a string that is a tool, or a member of one.
func (w *walker) toolText(f *frame, value []byte) {
	switch {
	case f.list, f.key == "tools":
		w.refs.Tools.Count++
		w.refs.Tools.AddHosted(untypedTool, w.field)
	case f.key == "execution":
		if s, _ := jsonscan.String(value); s != "client" {
			f.note(runsAtClient, false)
		}
	case f.key == "environment":
		f.note(isLocal, false)
	}
}

// toolType takes a type of a tool, an item or an environment.
func (w *walker) toolType(f *frame, name []byte) {
	switch {
	case f.tool:
		kind, ok := clientTools[string(name)]
		if !ok && len(name) > 0 && !(w.root == "tool_choice" && plainChoices[string(name)]) {
			w.refs.Tools.AddHosted(string(name), w.field)
		}
		f.kind |= kind
	case f.environment:
		if string(name) != "local" {
			f.note(hasType, false)
		}
	case w.root == "input" && hostedItems[string(name)]:
		w.refs.Tools.AddHosted(string(name), w.field)
	}
}

// closeTool judges a tool, or the environment of the tool in the frame outer.
func (w *walker) closeTool(f, outer *frame) {
	if f.environment && outer != nil {
		outer.note(isLocal, outer.current == isLocal && f.facts[hasType] == yes)
	}
	if !f.tool || w.root == "tool_choice" { // a choice declares nothing
		return
	}
	use := &w.refs.Tools
	use.Count++
	switch {
	case f.facts[hasType] != yes:
		use.AddHosted(untypedTool, w.field)
	case f.kind&clientIfAsked != 0 && f.facts[runsAtClient] != yes:
		use.AddHosted(serverSearch, w.field)
	case f.kind&clientIfLocal != 0 && f.facts[isLocal] != yes:
		use.AddHosted(hostedShell, w.field)
	case f.depth > maxToolNesting:
		use.AddHosted(deepTool, w.field)
	}
	if f.kind&builtIn != 0 {
		use.BuiltIn++
	}
	use.LocalShell = use.LocalShell || f.kind&clientIfLocal != 0
}
