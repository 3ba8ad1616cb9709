package testprovider

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// messages checks the conversation and brings it into the form of chat.
func (p *messagesParser) messages() error {
	last := len(p.body.Messages) - 1
	for i, m := range p.body.Messages {
		path := fmt.Sprintf("messages.%d", i)
		role, err := m.text("role", path)
		if err != nil {
			return err
		}
		if role != "user" && role != "assistant" {
			return errField(path+".role", "Input should be 'user' or 'assistant'")
		}
		if !m.present("content") {
			return errField(path+".content", "Field required")
		}
		if err := m.only(path, []string{"role", "content"}); err != nil {
			return err
		}
		blocks, err := contentBlocks(m["content"], path+".content")
		if err != nil {
			return err
		}
		if err := p.emptiness(role, blocks, path); err != nil {
			return err
		}
		if role == "assistant" {
			if err = p.answered(nil); err == nil {
				err = p.assistant(blocks, path, i)
			}
		} else {
			err = p.user(blocks, path)
		}
		if err != nil {
			return err
		}
		if text := p.out.Messages[len(p.out.Messages)-1].Content.Text; i == last && role == "assistant" && strings.TrimSpace(text) != text {
			return errPlain("messages: final assistant content cannot end with trailing whitespace")
		}
	}
	return p.answered(nil)
}

// contentBlocks are the blocks of a content. A string is one text block, an
// empty one none.
func contentBlocks(raw json.RawMessage, path string) (blocks []fields, err error) {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		if text == "" {
			return nil, nil
		}
		return []fields{{"type": json.RawMessage(`"text"`), "text": raw}}, nil
	}
	if err := decodeFields(raw, &blocks, path); err != nil {
		return nil, err
	}
	return blocks, nil
}

// emptiness refuses the empty texts that Anthropic refuses.
func (p *messagesParser) emptiness(role string, blocks []fields, path string) error {
	if len(blocks) == 0 && role == "user" {
		return errPlain("%s: user messages must have non-empty content", path)
	}
	blank := 0
	for i, b := range blocks {
		if kind, _ := b.text("type", path); kind != "text" {
			continue
		}
		text, err := b.text("text", fmt.Sprintf("%s.content.%d.text", path, i))
		if err != nil {
			return err
		}
		if text == "" {
			return errPlain("messages: text content blocks must be non-empty")
		}
		if strings.TrimSpace(text) == "" {
			blank++
		}
	}
	if blank > 0 && blank == len(blocks) {
		return errPlain("messages: text content blocks must contain non-whitespace text")
	}
	return nil
}

// answered checks that the calls of the message before have their results.
func (p *messagesParser) answered(results []string) error {
	var missing []string
	for _, id := range p.uses {
		if !slices.Contains(results, id) {
			missing = append(missing, id)
		}
	}
	p.uses = nil
	if missing == nil {
		return nil
	}
	return errPlain("messages.%d: `tool_use` ids were found without `tool_result` blocks immediately after: %s. Each `tool_use` block must have a corresponding `tool_result` block in the next message.",
		p.usedAt, strings.Join(missing, ", "))
}

func (p *messagesParser) assistant(blocks []fields, path string, index int) error {
	m := Message{Role: "assistant"}
	p.lastStart, p.lastUses, p.usedAt = "", false, index
	var texts []string
	var calls []Message
	kind := ""
	for i, b := range blocks {
		path := fmt.Sprintf("%s.content.%d", path, i)
		if err := p.blockFields(b, path, assistantBlocks...); err != nil {
			return err
		}
		kind, _ = b.text("type", path)
		if i == 0 {
			p.lastStart = kind
		}
		switch kind {
		case "text":
			text, _ := b.text("text", path)
			texts = append(texts, text)
		case "document":
			if p.version == Version2026 {
				return errField(path, "document blocks are not permitted in assistant messages")
			}
		case "thinking", "redacted_thinking":
			if err := p.signature(b, kind, path); err != nil {
				return err
			}
		case "tool_use":
			arguments, err := p.toolUse(b, path+".tool_use")
			if err != nil {
				return err
			}
			p.lastUses = true
			calls = append(calls, Message{Type: "function_call", Arguments: Content{Text: arguments}})
		}
	}
	if kind == "thinking" || kind == "redacted_thinking" {
		return errPlain("%s: The final block in an assistant message cannot be `thinking`.", path)
	}
	m.Content.Text = strings.Join(texts, "\n")
	p.out.Messages = append(append(p.out.Messages, calls...), m)
	return nil
}

func (p *messagesParser) user(blocks []fields, path string) error {
	m := Message{Role: "user"}
	var texts, front []string
	uses := p.uses
	for i, b := range blocks {
		path := fmt.Sprintf("%s.content.%d", path, i)
		if err := p.blockFields(b, path, userBlocks...); err != nil {
			return err
		}
		kind, _ := b.text("type", path)
		if kind != "tool_result" {
			text, err := p.media(b, kind, path, &m.Content)
			if err != nil {
				return err
			}
			if kind == "text" {
				texts = append(texts, text)
			}
			continue
		}
		result, id, err := p.toolResult(b, path)
		if err != nil {
			return err
		}
		if !slices.Contains(uses, id) {
			return errPlain("%s: unexpected `tool_use_id` found in `tool_result` blocks: %s. Each `tool_result` block must have a corresponding `tool_use` block in the previous message.", path, id)
		}
		if len(front) == i { // nothing else stood before it
			front = append(front, id)
		}
		p.out.Messages = append(p.out.Messages, result)
	}
	if err := p.answered(front); err != nil {
		return err
	}
	if m.Content.Text = strings.Join(texts, "\n"); len(front) < len(blocks) || len(blocks) == 0 {
		p.out.Messages = append(p.out.Messages, m)
	}
	return nil
}
