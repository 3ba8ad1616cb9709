package testprovider

import (
	"encoding/json"
	"fmt"
	"strings"
)

// content is the content of a message, or the output of a tool, of both routes:
// null, a string, or an array of parts.
type content struct {
	text                  string // of all text parts, one a line
	images, sounds, files int
}

// UnmarshalJSON implements [json.Unmarshaler].
func (c *content) UnmarshalJSON(data []byte) error {
	var text *string
	if json.Unmarshal(data, &text) == nil {
		if text != nil {
			c.text = *text
		}
		return nil
	}
	var parts []struct {
		Type    string `json:"type"`
		Text    string `json:"text"`
		Refusal string `json:"refusal"`
	}
	if err := json.Unmarshal(data, &parts); err != nil {
		return errValue("content", "the content of a message is a string or an array of parts")
	}
	var lines []string
	for _, p := range parts {
		switch p.Type {
		case "text", "input_text", "output_text":
			lines = append(lines, p.Text)
		case "refusal":
			lines = append(lines, p.Refusal)
		case "image_url", "input_image":
			c.images++
		case "input_audio":
			c.sounds++
		case "file", "input_file":
			c.files++
		default:
			return errValue("content", "unknown type of content part: %q", p.Type)
		}
	}
	c.text = strings.Join(lines, "\n")
	return nil
}

// attachments names what came with the text: "2 images, 1 file", or "".
func (c content) attachments() string {
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
func (c content) echo() string {
	attached := c.attachments()
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
