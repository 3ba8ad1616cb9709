package params

import (
	"strings"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
)

// ToolUse describes the tools of a request, from everywhere the API allows them: in tools,
// functions and tool_choice, in items of input (additional_tools, tool_search_output, any other
// with a member tools), in a namespace, and in fields of their own.
type ToolUse struct {
	// Count is how many tools are declared. A namespace is one, and so is each of its members.
	Count int

	// Hosted names the first tool that runs at the provider, on its account, "" for none. HostedIn
	// is the top-level field that asks for it.
	Hosted, HostedIn string

	// BuiltIn is how many tools the caller runs and the provider describes to the model: that text
	// is not in the request.
	BuiltIn int

	// LocalShell reports a shell with a local environment. The caller runs it, unless the provider
	// does not know such an environment.
	LocalShell bool
}

// AddHosted notes a tool that runs at the provider, and the field that asks for it.
func (u *ToolUse) AddHosted(name, field string) {
	if u.Hosted == "" {
		u.Hosted, u.HostedIn = strings.ToValidUTF8(name[:min(len(name), maxTypeName)], ""), field
	}
}

// toolKind are the properties of a type of tool.
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

// clientTools is the table of the tools that the caller runs (openai-python 3.54,
// types/responses/tool_param.py, and OpenAI's guides). Every other type runs at the provider, or is
// treated so because it is not known.
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

// plainChoices are the types of a tool_choice that are no types of tools, or that name a tool of
// the caller which is declared by another name (computer_use).
var plainChoices = map[string]bool{
	"allowed_tools": true, "auto": true, "any": true, "none": true, "required": true, "tool": true,
	"computer_use": true,
}

// hostedItems are the items of input that make the provider run something: a call that was
// approved, a program that continues.
var hostedItems = map[string]bool{"mcp_approval_response": true, "program": true}

// Names of hosted tools that their type does not name.
const (
	untypedTool  = "a tool without a type"
	serverSearch = `tool_search, whose execution is not "client"`
	hostedShell  = `shell, whose environment is not of type "local"`
	deepTool     = "a tool nested too deep"
	storedPrompt = "prompt, which can bring tools"
)

// maxToolNesting is how deep tools may be nested. Deeper ones count as hosted. The API has two
// levels: a namespace and its members.
const maxToolNesting = 4

// toolFrame is what a walker knows about an open value with regard to tools.
type toolFrame struct {
	list        bool     // it is a list of tools
	tool        bool     // it is a tool
	inside      bool     // it is either, or inside one
	environment bool     // it is the environment of a tool
	depth       uint8    // tools around it, itself included
	kind        toolKind // of a tool, by all its types
}

// opaqueFields are members whose keys the caller chose: the arguments of a call, the variables of
// its shell, the properties of a schema. No provider reads ids or tools in them.
var opaqueFields = map[string]bool{"arguments": true, "input": true, "env": true, "properties": true}

// openTool finds out whether a value that opens in the frame f (nil at the top) is a tool or a
// list.
func (w *walker) openTool(child, f *frame) {
	t := &child.toolFrame
	if f == nil {
		t.list = w.root == "tools" && !child.object
		t.tool = w.root == "tool_choice" && child.object
	} else {
		t.depth, t.inside = f.depth, f.inside
		switch {
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

// toolKey notes a key. If it is repeated, it is unknown which of its values counts.
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

// toolText notes a string that is a tool, or a member of one.
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

// toolType notes the type of a tool, an item or an environment.
func (w *walker) toolType(f *frame, name []byte) {
	switch {
	case f.tool:
		kind, ok := clientTools[string(name)]
		if w.refs.anthropic {
			kind, ok = messagesTool(string(name))
		}
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

// closeTool judges a tool at its end, or the environment of the tool in the frame outer.
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
	case f.facts[hasType] == unset && w.refs.anthropic: // a tool of the caller
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
