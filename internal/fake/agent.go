package fake

import (
	"encoding/json"
	"slices"
	"strings"
)

// agentSuffix ends the names of models that behave as "agent": coding clients
// offer other tools to models whose names begin in a way that they know.
const agentSuffix = "-agent"

// tool is one that the request offers: nested in chat, flat in Responses, or
// a namespace of others.
type tool struct {
	Type     string `json:"type"`
	Name     string `json:"name"`
	Function struct {
		Name string `json:"name"`
	} `json:"function"`
	Tools []tool `json:"tools"`

	namespace string
}

func (t tool) name() string {
	if t.Name != "" {
		return t.Name
	}
	return t.Function.Name
}

// toolUse is what a request says of tools: those on offer, and the answer of one
// if that is the last message.
type toolUse struct {
	offered  []tool
	answered bool
	said     string
}

// offer adds the tools with the members of their namespaces.
func (u *toolUse) offer(tools []tool) {
	for _, t := range tools {
		if t.Type != "namespace" {
			u.offered = append(u.offered, t)
			continue
		}
		for _, member := range t.Tools {
			member.namespace = t.Name
			u.offered = append(u.offered, member)
		}
	}
}

// lookInput finds tools on offer among the items of a Responses input.
func (u *toolUse) lookInput(input json.RawMessage) {
	var items []struct {
		Type  string `json:"type"`
		Tools []tool `json:"tools"`
	}
	if json.Unmarshal(input, &items) != nil {
		return // a text, or chat
	}
	for _, it := range items {
		if it.Type == "additional_tools" || it.Type == "tool_search_output" {
			u.offer(it.Tools)
		}
	}
}

// look takes note of the next message.
func (u *toolUse) look(m message) {
	u.answered = m.Role == "tool" || m.Type == "function_call_output" || m.Type == "custom_tool_call_output"
	if u.answered {
		u.said = m.text()
	}
}

// calls is the one call that a prompt of the form "use NAME ARGUMENTS" asks for.
// The arguments of a custom tool are free text, and may have lines.
func (u *toolUse) calls(prompt string) []toolCall {
	name, arguments, ok := asked(prompt)
	if !ok {
		return nil
	}
	i := slices.IndexFunc(u.offered, func(t tool) bool { return t.name() == name })
	if i < 0 {
		return nil
	}
	t := u.offered[i]
	return []toolCall{{id: "call_fake_a", name: name, namespace: t.namespace, custom: t.Type == "custom", fragments: words(arguments)}}
}

// text is what an agent says when it calls nothing.
func (u *toolUse) text(prompt string) string {
	if u.answered {
		return "The tool said: " + u.said
	}
	if _, _, ok := asked(prompt); !ok {
		return "You said: " + prompt
	}
	names := make([]string, len(u.offered))
	for i, t := range u.offered {
		names[i] = t.name()
	}
	return "No such tool is offered, only: " + strings.Join(names, ", ")
}

func asked(prompt string) (name, arguments string, ok bool) {
	rest, ok := strings.CutPrefix(strings.TrimSpace(prompt), "use ")
	name, arguments, _ = strings.Cut(rest, " ")
	return name, arguments, ok
}
