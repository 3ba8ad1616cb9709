package params

import (
	"bytes"
	"slices"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/units"
)

// Content is the part of a request whose cost its bytes do not tell.
type Content struct {
	Images  int64 // inline or by URL
	Encoded int64 // bytes of the inline ones, which are no text; at most those of the body
	Sounds  Sounds
	Again   int64 // bytes of text that the model reads once more
	// Units says which units that are tokens some of the prompt or of the answer may be, with 1.
	Units      units.Counts
	Prediction int64 // bytes of a predicted output: its wrong parts are billed as output
	Thinking   int64 // tokens of thought that the request allows beside the output
	LongWindow bool  // the prompt may be longer than the window in the catalog
	Compacts   bool  // the answer is a compaction, which is of no use if it is cut off

	// Unpriced names the first thing whose price cannot be known before the call: a file, a part of
	// an unknown kind, a dearer service tier, an unknown field. It is "" for none.
	Unpriced string
}

// The estimates: English text has four bytes a token.
const (
	BytesPerToken = 4
	likelyImage   = 1_000
	likelyBuiltIn = 500
)

// LikelyTokens estimates the tokens of a prompt with the content, in a body of so many bytes, that
// declares so many tools which the provider describes itself.
func (c Content) LikelyTokens(bytes, builtIn int64) int64 {
	text := bytes - c.Encoded - c.Sounds.Bytes
	return Tokens(text, BytesPerToken) + c.Images*likelyImage + perSecond(c.Sounds.Millis, promptPerSecond) + builtIn*likelyBuiltIn
}

// Tokens returns how many tokens text of so many bytes has, rounded up.
func Tokens(bytes, perToken int64) int64 { return (max(0, bytes) + perToken - 1) / perToken }

// contentKind is what a part or an item is, with regard to its price.
type contentKind uint8

const (
	kindUnknown contentKind = iota
	kindText
	kindImage
	kindAudio
	kindTrigger // asks for a compaction instead of an answer; Codex ends its input with it
)

// contentKinds is the table of types. A type that is missing has no known price. [References]
// judges the tools in items.
var contentKinds = map[string]contentKind{
	"text": kindText, "refusal": kindText,
	"image_url": kindImage, "input_audio": kindAudio,

	"input_text": kindText, "output_text": kindText, "summary_text": kindText, "reasoning_text": kindText,
	"input_image": kindImage, "computer_screenshot": kindImage,

	// Anthropic's, which some providers take in chats.
	"thinking": kindText, "redacted_thinking": kindText, "tool_use": kindText, "tool_result": kindText,
	"search_result": kindText, "tool_reference": kindText,
	"document": kindText, // its source is judged by itself
	"image":    kindImage,

	"message": kindText, "reasoning": kindText, "compaction": kindText, "compaction_summary": kindText, "context_compaction": kindText,
	"agent_message": kindText, "encrypted_content": kindText, // between Codex's agents
	"function_call": kindText, "function_call_output": kindText,
	"custom_tool_call": kindText, "custom_tool_call_output": kindText,
	"local_shell_call": kindText, "local_shell_call_output": kindText,
	"shell_call": kindText, "shell_call_output": kindText,
	"apply_patch_call": kindText, "apply_patch_call_output": kindText,
	"computer_call": kindText, "computer_call_output": kindText,
	"tool_search_call": kindText, "tool_search_output": kindText, "additional_tools": kindText,
	"configuration_update": kindText,
	"compaction_trigger":   kindTrigger,
	"item_reference":       kindText, // judged as a reference to stored state
}

// plainTiers are the service tiers that cost at most what the price list says.
var plainTiers = []string{"auto", "default", "flex", "standard", "standard_only", ""}

// maxThinking is more tokens of thought than any model has.
const maxThinking = 1 << 31

// maxNesting is how deep contents are read: an item, its output, a part.
const maxNesting = 4

// maxTypeName bounds a caller's text in the refusal, in bytes.
const maxTypeName = 64

// ContentOf looks through a chat, Responses or Messages body for what costs more than its bytes. It looks at
// every member of a repeated key: what was judged has to be what the provider reads.
func ContentOf(b *jsonscan.Body) Content { return contentOf(b, nil) }

// contentOf is ContentOf for a request with further fields that cannot make it cost more.
func contentOf(b *jsonscan.Body, bounded []string) Content {
	var c Content
	body := b.Data()
	for _, m := range b.Members() {
		value := m.Value(body)
		if m.Kind == 'n' {
			continue
		}
		switch string(m.Key(body)) {
		case "messages", "input", "system":
			if m.Kind == '[' {
				c.list(value, maxNesting, false)
			}
		case "prediction":
			c.Prediction += int64(len(value))
		case "thinking_budget", "reasoning_budget": // beside max_tokens at SiliconFlow
			if n, ok := jsonscan.Int(value); ok && 0 <= n && n <= maxThinking {
				c.Thinking += n
			} else { // -1 lets the model decide
				c.unpriced(string(m.Key(body)))
			}
		case "service_tier":
			if tier, ok := jsonscan.String(value); !ok || !slices.Contains(plainTiers, tier) {
				c.unpriced("service_tier")
			}
		case "modalities":
			c.modalities(value)
		case "audio":
			c.Units[units.AudioOutput] = 1
		case "context_management":
			if !onlyClears(value) {
				c.unpriced("context_management")
			}
		default:
			name := string(m.Key(body))
			if h, ok := hostedFields[name]; boundedFields[name] || slices.Contains(bounded, name) || ok && h.off(value) {
				continue
			}
			c.unpriced(name[:min(len(name), maxTypeName)])
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
	for e := range jsonscan.AllElements(value) {
		switch name, _ := jsonscan.String(e.Value(value)); name {
		case "text":
		case "audio":
			c.Units[units.AudioOutput] = 1
		default:
			c.unpriced("modalities")
		}
	}
}

// list reads the elements of an array: messages and items, or their parts, which must have a type. The
// input of embeddings may be numbers, which are tokens, and lists of them.
func (c *Content) list(array []byte, depth int, parts bool) {
	if depth == 0 {
		c.unpriced("content")
		return
	}
	for e := range jsonscan.AllElements(array) {
		switch e.Kind {
		case '{':
			c.object(e.Value(array), depth, parts)
		case '[':
			if !areTokens(e.Value(array)) {
				c.unpriced("content")
			}
		case '"', 'n', '0':
		default:
			c.unpriced("content")
		}
	}
}

// areTokens reports whether an array has numbers only.
func areTokens(array []byte) bool {
	for e := range jsonscan.AllElements(array) {
		if e.Kind != '0' {
			return false
		}
	}
	return true
}

func (c *Content) object(object []byte, depth int, part bool) {
	typed, image, other, document := false, false, false, false
	audio, before := false, c.Sounds.Count
	var sources sourceSum
	for m := range jsonscan.AllMembers(object) {
		value := m.Value(object)
		key := foldKey(m.DecodedKey(object))
		if m.Kind == 'n' && string(key) != "type" {
			continue
		}
		// A provider may look at the member and not at the type.
		switch string(key) {
		case "type":
			typed = true
			name, _ := jsonscan.String(value)
			kind := c.kind(name)
			image, other = image || kind == kindImage, other || kind != kindImage
			document = document || name == "document"
			audio = audio || kind == kindAudio
		case "stdout", "stderr": // parts of shell_call_output, which have no type
			typed = true
		case "text":
			if m.Kind != '"' {
				c.unpriced("content")
			}
		case "content", "output", "summary", "images", "thinking":
			switch {
			case m.Kind == '"':
			case m.Kind == '[':
				c.list(value, depth-1, true)
			case m.Kind == '{' && string(key) == "output" && depth > 1: // of computer_call_output
				c.object(value, depth-1, true)
			default:
				c.unpriced("content")
			}
		case "source":
			c.source(&sources, value, depth)
		case "image_url":
			image = true
			c.imageURL(value)
		case "input_audio":
			audio = true
			length, ok := inputAudio(value)
			c.Sounds.add(length, ok, len(value))
		case "audio_url", "video_url", "document_url":
			c.unpriced(string(key))
		case "file", "file_id", "file_url", "file_data", "input_file", "document":
			c.unpriced("file")
		}
	}
	if image {
		c.Images++
	}
	if audio {
		c.Units[units.AudioInput] = 1
		c.Sounds.Unbounded = c.Sounds.Unbounded || c.Sounds.Count == before // it is elsewhere
	}
	switch {
	case document && (!sources.text || sources.name):
		c.unpriced("file")
	case sources.bytes == 0:
	case image && !other && !sources.file:
		c.Encoded += sources.bytes
	default:
		c.unpriced("file")
	}
	if part && !typed {
		c.unpriced("content")
	}
}

func (c *Content) kind(name string) contentKind {
	kind := contentKinds[name]
	switch kind {
	case kindTrigger:
		c.Compacts = true
	case kindUnknown:
		if name == "" || len(name) > maxTypeName {
			name = "content"
		}
		c.unpriced(name)
	}
	return kind
}

// AsksHourCache reports whether a request asks for the dearer kind of cache, which is kept for an
// hour ("cache_control": {"ttl": "1h"}). It may report true for a text of the same form. The usage
// in the answer does not say which kind it was.
func AsksHourCache(data []byte) bool {
	return slices.ContainsFunc(hourTTLs, func(spelling []byte) bool { return bytes.Contains(data, spelling) })
}

// hourTTLs are all spellings of that string in JSON.
var hourTTLs = [][]byte{[]byte(`"1h"`), []byte(`"\u0031h"`), []byte(`"1\u0068"`), []byte(`"\u0031\u0068"`)}
