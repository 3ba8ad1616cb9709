package responsesonchat

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
)

// names are as OpenAI's chat completions take those of functions, with the characters of
// [toolCharacter].
var names = translate.Naming{Most: 64, Any: true}

// defaultNamespace is where Codex looks for a tool whose call names no namespace.
const defaultNamespace = "functions"

// searchName is the name of the search for tools, which has none in the Responses API.
var searchName = []byte(`"tool_search"`)

// calledTool is a tool as the caller names it.
type calledTool struct {
	kind            kind   // of the item that a call of it becomes
	namespace, name []byte // quoted; a nil namespace is none
}

// toolNames has the names that tools have in chat, where all are functions without namespaces.
type toolNames struct {
	chat   map[string][]byte     // the quoted name in chat, by key
	caller map[string]calledTool // the tool, by its quoted name in chat
	mapped bool                  // some tool is no plain function
}

func (t calledTool) key() string {
	return string(append(append(append([]byte{byte(t.kind)}, t.namespace...), 0), t.name...))
}

// plain reports whether chat has the tool as the caller does.
func (t calledTool) plain() bool { return t.kind == functionCall && t.namespace == nil }

// add returns the quoted name of a tool in chat, which no other tool has. It is fresh if the tool
// was not there before.
func (n *toolNames) add(t calledTool) (name []byte, fresh bool) {
	key := t.key()
	if name, ok := n.chat[key]; ok {
		return name, false
	}
	if n.chat == nil {
		n.chat, n.caller = make(map[string][]byte), make(map[string]calledTool)
	}
	name = t.chatName()
	for i := 2; ; i++ {
		if _, taken := n.caller[string(name)]; !taken {
			break
		}
		name = jsonscan.AppendString(nil, names.Legal(translate.Decoded(t.chatName())+"_"+strconv.Itoa(i)))
	}
	n.chat[key], n.caller[string(name)] = name, t
	n.mapped = n.mapped || !t.plain() || string(name) != string(t.name)
	return name, true
}

// of returns the quoted name in chat of a tool that was called or is to be called. A tool that the
// request no longer has keeps the name that it had.
func (n *toolNames) of(t calledTool) []byte {
	if name, ok := n.chat[t.key()]; ok {
		return name
	}
	return t.chatName()
}

// copy returns the tools that are no plain functions, without references to the request.
func (n *toolNames) copy() map[string]calledTool {
	if !n.mapped {
		return nil
	}
	tools := make(map[string]calledTool)
	for chat, t := range n.caller {
		if !t.plain() || chat != string(t.name) {
			t.name, t.namespace = bytes.Clone(t.name), bytes.Clone(t.namespace)
			tools[chat] = t
		}
	}
	return tools
}

// chatName is the quoted name of a tool in chat, unless another tool has it.
func (t calledTool) chatName() []byte {
	if t.plain() {
		return t.name
	}
	name := translate.Decoded(t.name)
	if namespace := translate.Decoded(t.namespace); namespace != "" && namespace != defaultNamespace {
		name = strings.TrimSuffix(namespace, "__") + "__" + name
	}
	return jsonscan.AppendString(nil, names.Legal(strings.Map(toolCharacter, name)))
}

func toolCharacter(r rune) rune {
	switch {
	case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_', r == '-':
		return r
	}
	return '_'
}
