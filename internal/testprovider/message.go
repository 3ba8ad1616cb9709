package testprovider

import (
	"encoding/json"
	"fmt"
	"strings"
)

type message struct {
	Role      string  `json:"role"`
	Content   content `json:"content"`
	ToolCalls []struct {
		Function struct {
			Arguments string `json:"arguments"`
		} `json:"function"`
	} `json:"tool_calls"`
}

// content is the content of a message: a string or an array of parts. Anything else has no text.
type content struct {
	text        string // of all text parts, one a line
	attachments map[string]int
}

// attachmentOf says what a part other than text is.
var attachmentOf = map[string]string{"image_url": "image", "input_audio": "sound", "file": "file"}

// UnmarshalJSON implements [json.Unmarshaler].
func (c *content) UnmarshalJSON(data []byte) error {
	if json.Unmarshal(data, &c.text) == nil {
		return nil
	}
	var parts []struct {
		Type    string `json:"type"`
		Text    string `json:"text"`
		Refusal string `json:"refusal"`
	}
	_ = json.Unmarshal(data, &parts) // an object, or nonsense
	c.attachments = map[string]int{}
	var lines []string
	for _, p := range parts {
		if kind, ok := attachmentOf[p.Type]; ok {
			c.attachments[kind]++
		} else {
			lines = append(lines, p.Text+p.Refusal)
		}
	}
	c.text = strings.Join(lines, "\n")
	return nil
}

// attached names what came with the text: "2 images, 1 file", or "".
func (c content) attached() string {
	var list []string
	for _, kind := range []string{"image", "sound", "file"} {
		switch n := c.attachments[kind]; {
		case n == 1:
			list = append(list, "1 "+kind)
		case n > 1:
			list = append(list, fmt.Sprintf("%d %ss", n, kind))
		}
	}
	return strings.Join(list, ", ")
}

// echo is the reply of the echoing models.
func (c content) echo() string {
	attached := c.attached()
	switch {
	case c.text == "" && attached == "":
		return "You said nothing."
	case c.text == "":
		return "You sent " + attached + "."
	case attached == "":
		return "You said: " + c.text
	default:
		return "You said: " + c.text + " (with " + attached + ")"
	}
}
