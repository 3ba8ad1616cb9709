package testprovider

import (
	"encoding/json"
	"fmt"
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
	return m.Role == "tool" || m.Role == "function" || m.Type == "function_call_output" || m.Type == "custom_tool_call_output"
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
	if json.Unmarshal(data, (*[]Message)(in)) != nil {
		return errValue("input", "input is a string or an array of items")
	}
	return nil
}

// Content is the content of a message, or what a tool said: a string or an
// array of parts. Anything else has no text.
type Content struct {
	Text                  string // of all text parts, one a line
	images, sounds, files int
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
		case "image_url", "input_image", "image":
			c.images++
		case "input_audio":
			c.sounds++
		case "file", "input_file", "document":
			c.files++
		default:
			lines = append(lines, p.Text+p.Refusal)
		}
	}
	c.Text = strings.Join(lines, "\n")
	return nil
}

// attachments names what came with the text: "2 images, 1 file", or "".
func (c Content) attachments() string {
	var list []string
	for _, kind := range []struct {
		n    int
		name string
	}{{c.images, "image"}, {c.sounds, "sound"}, {c.files, "file"}} {
		switch {
		case kind.n == 1:
			list = append(list, "1 "+kind.name)
		case kind.n > 1:
			list = append(list, fmt.Sprintf("%d %ss", kind.n, kind.name))
		}
	}
	return strings.Join(list, ", ")
}

// echo is the reply of the echoing models.
func (c Content) echo() string {
	attached := c.attachments()
	switch {
	case c.Text == "" && attached == "":
		return "You said nothing."
	case c.Text == "":
		return "You sent " + attached + "."
	case attached == "":
		return "You said: " + c.Text
	default:
		return "You said: " + c.Text + " (with " + attached + ")"
	}
}
