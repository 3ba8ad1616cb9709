package messagesonchat

import (
	"slices"

	"github.com/gatehouse-proxy/gatehouse/internal/translate"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/conversation"
)

// joinTexts returns parts that are texts as one, with line ends between them, unless something of
// them is to be cached.
func joinTexts(parts []conversation.Part) []conversation.Part {
	var texts [][]byte
	for i := range parts {
		if parts[i].Media != nil || parts[i].Cache != nil {
			return parts
		}
		texts = append(texts, parts[i].Text)
	}
	if len(texts) == 0 {
		return nil
	}
	return []conversation.Part{{Kind: conversation.Text, Text: translate.Joined(texts...), Whole: true}}
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
