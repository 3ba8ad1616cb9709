package anthropicrules

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// messages checks the conversation.
func (c *checker) messages() error {
	last := len(c.body.Messages) - 1
	for i, m := range c.body.Messages {
		path := fmt.Sprintf("messages.%d", i)
		role, err := m.text("role", path)
		if err != nil {
			return err
		}
		if role != "user" && role != "assistant" {
			return field(path+".role", "Input should be 'user' or 'assistant'")
		}
		if !m.present("content") {
			return field(path+".content", "Field required")
		}
		if err := m.only(path, []string{"role", "content"}); err != nil {
			return err
		}
		blocks, err := contentBlocks(m["content"], path+".content")
		if err != nil {
			return err
		}
		if err := c.emptiness(role, blocks, path); err != nil {
			return err
		}
		if role == "assistant" {
			if err = c.answered(nil); err == nil {
				err = c.assistant(blocks, path, i)
			}
		} else {
			err = c.user(blocks, path)
		}
		if err != nil {
			return err
		}
		c.prefill = role == "assistant"
		if i == last && c.prefill && strings.TrimSpace(c.said) != c.said {
			return errors.New("messages: final assistant content cannot end with trailing whitespace")
		}
	}
	return c.answered(nil)
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
func (c *checker) emptiness(role string, blocks []fields, path string) error {
	if len(blocks) == 0 && role == "user" {
		return fmt.Errorf("%s: user messages must have non-empty content", path)
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
			return errors.New("messages: text content blocks must be non-empty")
		}
		if strings.TrimSpace(text) == "" {
			blank++
		}
	}
	if blank > 0 && blank == len(blocks) {
		return errors.New("messages: text content blocks must contain non-whitespace text")
	}
	return nil
}

// answered checks that the calls of the message before have their results.
func (c *checker) answered(results []string) error {
	var missing []string
	for _, id := range c.uses {
		if !slices.Contains(results, id) {
			missing = append(missing, id)
		}
	}
	c.uses = nil
	if missing == nil {
		return nil
	}
	return fmt.Errorf("messages.%d: `tool_use` ids were found without `tool_result` blocks immediately after: %s. Each `tool_use` block must have a corresponding `tool_result` block in the next message.",
		c.usedAt, strings.Join(missing, ", "))
}

func (c *checker) assistant(blocks []fields, path string, index int) error {
	c.lastStart, c.lastUses, c.usedAt = "", false, index
	var texts []string
	kind := ""
	for i, b := range blocks {
		path := fmt.Sprintf("%s.content.%d", path, i)
		if err := c.blockFields(b, path, assistantBlocks...); err != nil {
			return err
		}
		kind, _ = b.text("type", path)
		if i == 0 {
			c.lastStart = kind
		}
		switch kind {
		case "text":
			text, _ := b.text("text", path)
			texts = append(texts, text)
		case "document":
			if c.version == version2026 {
				return field(path, "document blocks are not permitted in assistant messages")
			}
		case "thinking", "redacted_thinking":
			if err := c.signature(b, kind, path); err != nil {
				return err
			}
		case "tool_use":
			if err := c.toolUse(b, path+".tool_use"); err != nil {
				return err
			}
			c.lastUses = true
		}
	}
	if kind == "thinking" || kind == "redacted_thinking" {
		return fmt.Errorf("%s: The final block in an assistant message cannot be `thinking`.", path)
	}
	c.said = strings.Join(texts, "\n")
	return nil
}

func (c *checker) user(blocks []fields, path string) error {
	var front []string // ids of the results that begin the message
	uses := c.uses
	for i, b := range blocks {
		path := fmt.Sprintf("%s.content.%d", path, i)
		if err := c.blockFields(b, path, userBlocks...); err != nil {
			return err
		}
		kind, _ := b.text("type", path)
		if kind != "tool_result" {
			if err := c.media(b, path); err != nil {
				return err
			}
			continue
		}
		id, err := c.toolResult(b, path)
		if err != nil {
			return err
		}
		if !slices.Contains(uses, id) {
			return fmt.Errorf("%s: unexpected `tool_use_id` found in `tool_result` blocks: %s. Each `tool_result` block must have a corresponding `tool_use` block in the previous message.", path, id)
		}
		if slices.Contains(front, id) {
			return fmt.Errorf("%s: each `tool_use` must have a single result. Found multiple `tool_result` blocks with id: %s", path, id)
		}
		if len(front) == i {
			front = append(front, id)
		}
	}
	return c.answered(front)
}
