package answers

import (
	"encoding/json"
	"strings"
)

// Message is a message of chat or an item of a Responses input.
type Message struct {
	Type      string  `json:"type"` // of an item; "" is "message"
	Role      string  `json:"role"`
	Content   Content `json:"content"`
	Output    Content `json:"output"`    // of a tool
	Arguments Content `json:"arguments"` // of a call that is an item
	ToolCalls []struct {
		Function struct {
			Arguments string `json:"arguments"`
		} `json:"function"`
	} `json:"tool_calls"`
	Tools []Tool `json:"tools"` // of an item that offers some
}

// result reports whether the message is the result of a tool.
func (m Message) result() bool {
	return m.Role == "tool" || m.Role == "function" || m.Type == "function_call_output" || m.Type == "custom_tool_call_output" || m.Type == "computer_call_output"
}

// input is a string, which is one message of the user, or an array of items.
type input []Message

// UnmarshalJSON implements [json.Unmarshaler].
func (in *input) UnmarshalJSON(data []byte) error {
	var text string
	if json.Unmarshal(data, &text) == nil {
		*in = input{{Role: "user", Content: Content{Text: text}}}
		return nil
	}
	return json.Unmarshal(data, (*[]Message)(in))
}

// Content is the content of a message, or what a tool said: a string or an
// array of parts. Anything else has no text.
type Content struct {
	Text string // of all text parts, one a line
}

// UnmarshalJSON implements [json.Unmarshaler].
func (c *Content) UnmarshalJSON(data []byte) error {
	if json.Unmarshal(data, &c.Text) == nil {
		return nil
	}
	var parts []struct {
		Type    string `json:"type"`
		Text    string `json:"text"`
		Refusal string `json:"refusal"`
	}
	_ = json.Unmarshal(data, &parts) // an object, or nonsense
	var lines []string
	for _, p := range parts {
		switch p.Type {
		case "image_url", "input_image", "image", "input_audio", "file", "input_file", "document":
		default:
			lines = append(lines, p.Text+p.Refusal)
		}
	}
	c.Text = strings.Join(lines, "\n")
	return nil
}
