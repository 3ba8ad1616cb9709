package openai

import (
	"bytes"
	"slices"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
)

// Content is what of a request is not measured by its bytes.
type Content struct {
	Images      int64 // inline or by URL
	Encoded     int64 // bytes of those that are inline, which are no text
	AudioInput  bool
	AudioOutput bool
	Prediction  int64 // bytes of a predicted output, which is billed as output where it is wrong

	// Unpriced names the first thing whose price nobody can tell beforehand: a
	// file, a part of an unknown kind, a dearer tier of service, a field that is
	// not known.
	Unpriced string
}

// contentKind is what a part or an item is, as its price goes.
type contentKind uint8

const (
	kindUnknown contentKind = iota
	kindText
	kindImage
	kindAudio
)

// contentKinds is the table of types. What is not here has no known price.
var contentKinds = map[string]contentKind{
	"text": kindText, "refusal": kindText,
	"image_url": kindImage, "input_audio": kindAudio,

	"input_text": kindText, "output_text": kindText, "summary_text": kindText, "reasoning_text": kindText,
	"input_image": kindImage,

	"message": kindText, "reasoning": kindText,
	"function_call": kindText, "function_call_output": kindText,
	"custom_tool_call": kindText, "custom_tool_call_output": kindText,
	"item_reference": kindText, // judged as a reference to stored state
}

// plainTiers are the service tiers that cost what the price list says, or less.
var plainTiers = []string{"auto", "default", "flex", "standard", "standard_only", ""}

// maxNesting is how deep contents are looked into: an item, its output, a part.
const maxNesting = 4

// maxTypeName bounds a caller's text in the refusal, in bytes.
const maxTypeName = 64

// ContentOf looks through a chat or Responses body, which jsonscan.Strict
// accepted with these members, for what costs more than its bytes. Every member
// of a repeated key is looked at: what was judged has to be what is read.
func ContentOf(body []byte, members []jsonscan.Member) Content {
	var c Content
	for _, m := range members {
		value := m.Value(body)
		if m.Kind == 'n' {
			continue
		}
		switch string(m.Key(body)) {
		case "messages", "input":
			if m.Kind == '[' {
				c.list(value, maxNesting, false)
			}
		case "prediction":
			c.Prediction += int64(len(value))
		case "service_tier":
			if tier, ok := jsonscan.String(value); !ok || !slices.Contains(plainTiers, tier) {
				c.unpriced("service_tier")
			}
		case "modalities":
			c.modalities(value)
		case "audio":
			c.AudioOutput = true
		default:
			if name := m.Key(body); !boundedFields[string(name)] {
				c.unpriced(string(name[:min(len(name), maxTypeName)]))
			}
		}
	}
	return c
}

func (c *Content) unpriced(what string) {
	if c.Unpriced == "" {
		c.Unpriced = what
	}
}

func (c *Content) modalities(value []byte) {
	for _, e := range jsonscan.Elements(value, nil) {
		switch name, _ := jsonscan.String(e.Value(value)); name {
		case "text":
		case "audio":
			c.AudioOutput = true
		default:
			c.unpriced("modalities")
		}
	}
}

// list looks at the elements of an array: messages and items, or the parts of
// one, which must say what they are.
func (c *Content) list(array []byte, depth int, parts bool) {
	if depth == 0 {
		c.unpriced("content")
		return
	}
	var room [16]jsonscan.Span
	for _, e := range jsonscan.Elements(array, room[:0]) {
		switch e.Kind {
		case '{':
			c.object(e.Value(array), depth, parts)
		case '"', 'n':
		default:
			c.unpriced("content")
		}
	}
}

func (c *Content) object(object []byte, depth int, part bool) {
	var room [12]jsonscan.Member
	typed, image := false, false
	for _, m := range jsonscan.Members(object, room[:0]) {
		value := m.Value(object)
		key := string(foldKey(keyOf(object, m)))
		if m.Kind == 'n' && key != "type" {
			continue
		}
		// A provider may go by the member that is there and not by the type.
		switch key {
		case "type":
			typed = true
			name, _ := jsonscan.String(value)
			image = c.kind(name) == kindImage || image
		case "content", "output", "summary", "images":
			switch m.Kind {
			case '"':
			case '[':
				c.list(value, depth-1, true)
			default:
				c.unpriced("content")
			}
		case "image_url":
			image = true
			c.Encoded += inline(value)
		case "input_audio":
			c.AudioInput = true
		case "audio_url", "video_url":
			c.unpriced(key)
		case "file", "file_id", "file_url", "file_data", "input_file":
			c.unpriced("file")
		}
	}
	if image {
		c.Images++
	}
	if part && !typed {
		c.unpriced("content")
	}
}

// inline is the length of an image in a data URL, which is the value or its
// member url.
func inline(value []byte) int64 {
	if value[0] == '{' {
		var room [4]jsonscan.Member
		members := jsonscan.Members(value, room[:0])
		i, ok := jsonscan.Find(value, members, "url")
		if !ok {
			return 0
		}
		value = members[i].Value(value)
	}
	if !bytes.HasPrefix(value, []byte(`"data:`)) {
		return 0
	}
	return int64(len(value))
}

func (c *Content) kind(name string) contentKind {
	kind := contentKinds[name]
	switch kind {
	case kindAudio:
		c.AudioInput = true
	case kindUnknown:
		if name == "" || len(name) > maxTypeName {
			name = "content"
		}
		c.unpriced(name)
	}
	return kind
}
