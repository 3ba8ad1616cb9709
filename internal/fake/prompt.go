package fake

import (
	"encoding/json"
	"strings"
)

// message is a chat message or an item of Responses input.
type message struct {
	Type    string          `json:"type"`
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"`
	Output  json.RawMessage `json:"output"` // of an item that answers a tool call
}

// text joins the text of a message or of a tool's output, string or parts.
func (m message) text() string {
	content := m.Content
	if content == nil {
		content = m.Output
	}
	var s string
	if json.Unmarshal(content, &s) == nil {
		return s
	}
	var parts []struct {
		Text string `json:"text"`
	}
	_ = json.Unmarshal(content, &parts) // neither: no text, as with null
	texts := make([]string, 0, len(parts))
	for _, part := range parts {
		if part.Text != "" {
			texts = append(texts, part.Text)
		}
	}
	return strings.Join(texts, " ")
}

func (c *call) look(messages []message) {
	for _, m := range messages {
		if m.Role == "user" {
			c.prompt = m.text()
		}
		c.tools.look(m)
	}
}

func (c *call) lookInput(input json.RawMessage) {
	var s string
	if json.Unmarshal(input, &s) == nil && s != "" {
		c.prompt = s
		return
	}
	var items []message
	if json.Unmarshal(input, &items) == nil {
		c.look(items)
	}
}

// schema is as much of JSON Schema as it takes to make up a value that fits.
type schema struct {
	Type       any                `json:"type"`
	Enum       []any              `json:"enum"`
	Properties map[string]*schema `json:"properties"`
	Items      *schema            `json:"items"`
}

// maxSchemaDepth ends schemas that a test nests by mistake.
const maxSchemaDepth = 16

// sample makes a value for s in which every text is text.
func (s *schema) sample(text string, depth int) any {
	if s == nil || depth > maxSchemaDepth {
		return nil
	}
	if len(s.Enum) > 0 {
		return s.Enum[0]
	}
	kind := s.Type
	if list, ok := kind.([]any); ok && len(list) > 0 {
		kind = list[0]
	}
	switch kind {
	case "object":
		out := make(map[string]any, len(s.Properties))
		for name, property := range s.Properties {
			out[name] = property.sample(text, depth+1)
		}
		return out
	case "array":
		return []any{s.Items.sample(text, depth+1)}
	case "integer":
		return 7
	case "number":
		return 1.5
	case "boolean":
		return true
	case "null":
		return nil
	}
	return text
}
