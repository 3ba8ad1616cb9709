package messagesonchat

import (
	"slices"

	"github.com/gatehouse-proxy/gatehouse/internal/translate"
)

// content gathers the parts of a chat message.
type content struct {
	parts  []byte // elements
	n      int
	single []byte // the quoted text if that is all of the content
}

// text adds a text with its cache_control, nil for none. Empty texts say nothing, and some providers
// refuse them.
func (c *content) text(quoted, cache []byte) {
	if _, ok := translate.Unquoted(quoted); !ok {
		return
	}
	c.parts = append(translate.AppendComma(c.parts), `{"type":"text"`...)
	c.parts = translate.AppendMember(c.parts, "text", quoted)
	c.end(cache)
	if c.n == 1 && cache == nil {
		c.single = quoted
	}
}

// end ends a part that was begun.
func (c *content) end(cache []byte) {
	if cache != nil {
		c.parts = translate.AppendMember(c.parts, "cache_control", cache)
	}
	c.parts = append(c.parts, '}')
	c.n++
	c.single = nil
}

// join adds the parts of another content.
func (c *content) join(other *content) {
	if other.n == 0 {
		return
	}
	c.parts = append(translate.AppendComma(c.parts), other.parts...)
	c.n += other.n
	c.single = nil
}

// append appends the content: a single text as a string, which every provider accepts, and parts as
// parts.
func (c *content) append(dst []byte) []byte {
	switch {
	case c.single != nil:
		return append(dst, c.single...)
	case c.n == 0:
		return append(dst, `""`...)
	}
	dst = append(append(dst, '['), c.parts...)
	return append(dst, ']')
}

// joined returns the texts of quoted strings as one quoted string, with line ends between them.
func joined(texts [][]byte) []byte {
	out := []byte{'"'}
	for _, quoted := range texts {
		text, ok := translate.Unquoted(quoted)
		if !ok {
			continue
		}
		if len(out) > 1 {
			out = append(out, `\n`...)
		}
		out = append(out, text...)
	}
	return append(out, '"')
}

// cacheControl returns the cache_control of a block for a provider that knows it, nil for none.
func (opt *Options) cacheControl(block translate.Reader) []byte {
	if _, some := block.Object("cache_control"); !some || !opt.OpenRouter {
		return nil
	}
	return block.Get("cache_control")
}

// blockFields are the fields of content blocks, by type, that a chat request can carry, or that are
// for readers and not for the model: citations of earlier answers, and who called a tool.
var blockFields = map[string][]string{
	"text":              {"type", "text", "cache_control", "citations"},
	"image":             {"type", "source", "cache_control"},
	"document":          {"type", "source", "title", "context", "citations", "cache_control"},
	"tool_result":       {"type", "tool_use_id", "content", "is_error", "cache_control"},
	"tool_reference":    {"type", "tool_name", "cache_control"},
	"tool_use":          {"type", "id", "name", "input", "cache_control", "caller"},
	"thinking":          {"type", "thinking", "signature"},
	"redacted_thinking": {"type", "data"},
}

// blockType returns the type of a block that must be of one of some types. It refuses a block with
// fields that it should not have.
func blockType(block translate.Reader, types ...string) string {
	typ := translate.TypeOf(block)
	if !slices.Contains(types, typ) {
		translate.RefuseType(block, typ)
	}
	block.Only(blockFields[typ]...)
	return typ
}

// eachBlock calls f for the blocks of a member, and text for a member that is a string.
func eachBlock(o translate.Reader, key string, text func(quoted []byte), f func(block translate.Reader)) {
	if value := o.Get(key); value != nil && value[0] == '"' {
		text(value)
		return
	}
	o.Each(key, translate.MaxParts, func(_ int, block translate.Reader) { f(block) })
}
