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

// offer adds the tools with the members of their namespaces.
func (c *call) offer(tools []tool) {
	for _, t := range tools {
		if t.Type != "namespace" {
			c.tools = append(c.tools, t)
			continue
		}
		for _, member := range t.Tools {
			member.namespace = t.Name
			c.tools = append(c.tools, member)
		}
	}
}

// asked reads a prompt of the form "use NAME ARGUMENTS": the tool to call, if it
// is offered. The arguments of a custom tool are free text, and may have lines.
func (c *call) asked() (t tool, arguments string, ok bool) {
	rest, ok := strings.CutPrefix(strings.TrimSpace(c.prompt), "use ")
	if !ok {
		return tool{}, "", false
	}
	name, arguments, _ := strings.Cut(rest, " ")
	i := slices.IndexFunc(c.tools, func(t tool) bool { return t.name() == name })
	if i < 0 {
		return tool{}, "", false
	}
	return c.tools[i], arguments, true
}

// agentCalls is the one call that the prompt asks for, as long as no tool has
// answered.
func (c *call) agentCalls() []toolCall {
	t, arguments, ok := c.asked()
	if !ok {
		return nil
	}
	return []toolCall{{
		id: "call_fake_a", name: t.name(), namespace: t.namespace, custom: t.Type == "custom",
		fragments: words(arguments),
	}}
}

// agentText is what the model says when it calls nothing.
func (c *call) agentText() string {
	switch {
	case c.answered:
		return "The tool said: " + c.toolSaid
	case strings.HasPrefix(strings.TrimSpace(c.prompt), "use "):
		names := make([]string, len(c.tools))
		for i, t := range c.tools {
			names[i] = t.name()
		}
		return "No such tool is offered, only: " + strings.Join(names, ", ")
	}
	return "You said: " + c.prompt
}

// lookTools reads tools that stand among the items of a Responses input.
func (c *call) lookTools(input json.RawMessage) {
	var items []struct {
		Type  string `json:"type"`
		Tools []tool `json:"tools"`
	}
	if json.Unmarshal(input, &items) != nil {
		return
	}
	for _, it := range items {
		if it.Type == "additional_tools" || it.Type == "tool_search_output" {
			c.offer(it.Tools)
		}
	}
}
