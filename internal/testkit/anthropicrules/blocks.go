package anthropicrules

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// blockFields are the members of the content blocks beside type and
// cache_control. Blocks of tools that run at the provider may have any.
var blockFields = map[string][]string{
	"text":              {"text", "citations"},
	"image":             {"source", "transformations"},
	"document":          {"source", "title", "context", "citations"},
	"search_result":     {"source", "title", "content", "citations"},
	"tool_reference":    {"tool_name"},
	"tool_use":          {"id", "name", "input", "caller", "toolset_name"},
	"tool_result":       {"tool_use_id", "content", "is_error", "toolset_name"},
	"thinking":          {"thinking", "signature"},
	"redacted_thinking": {"data"},
}

var (
	userBlocks      = []string{"text", "image", "document", "search_result", "tool_result", "container_upload"}
	resultBlocks    = []string{"text", "image", "document", "search_result", "tool_reference"}
	assistantBlocks = []string{"text", "thinking", "redacted_thinking", "tool_use", "document", "server_tool_use",
		"web_search_tool_result", "web_fetch_tool_result", "code_execution_tool_result", "bash_code_execution_tool_result",
		"text_editor_code_execution_tool_result", "tool_search_tool_result", "mcp_tool_use", "mcp_tool_result", "compaction"}
	imageTypes = []string{"image/jpeg", "image/png", "image/gif", "image/webp"}
)

// blockFields checks the type and the members of a block.
func (c *checker) blockFields(b fields, path string, kinds ...string) error {
	kind, err := b.text("type", path)
	if err != nil {
		return err
	}
	if !slices.Contains(kinds, kind) {
		return field(path, "Input tag '%s' found using 'type' does not match any of the expected tags: '%s'", kind, strings.Join(kinds, "', '"))
	}
	if b.present("cache_control") {
		if kind == "thinking" || kind == "redacted_thinking" {
			return field(path+"."+kind+".cache_control", "Extra inputs are not permitted")
		}
		c.breakpoints++
	}
	if allowed, known := blockFields[kind]; known {
		return b.only(path+"."+kind, append([]string{"type", "cache_control"}, allowed...))
	}
	return nil
}

// signature checks that thinking is what this provider wrote for this model.
func (c *checker) signature(b fields, kind, path string) error {
	name := "signature"
	if kind == "redacted_thinking" {
		name = "data"
	}
	path += "." + kind
	if !b.present(name) {
		return field(path+"."+name, "Field required")
	}
	signature, err := b.text(name, path)
	if err != nil {
		return err
	}
	written, ok := signed(c.body.Model, signature)
	if kind == "thinking" {
		if !b.present("thinking") {
			return field(path+".thinking", "Field required")
		}
		text, err := b.text("thinking", path)
		if err != nil {
			return err
		}
		ok = ok && (text == written || text == "") // "": it was omitted
	}
	if !ok {
		return fmt.Errorf("%s: Invalid `%s` in `%s` block", strings.TrimSuffix(path, "."+kind), name, kind)
	}
	return nil
}

func (c *checker) toolUse(b fields, path string) error {
	id, err := b.text("id", path)
	if err != nil {
		return err
	}
	name, err := b.text("name", path)
	if err != nil {
		return err
	}
	var input fields
	switch {
	case !idPattern.MatchString(id):
		return field(path+".id", "String should match pattern '%s'", idPattern)
	case slices.Contains(c.uses, id):
		return errors.New("messages: `tool_use` ids must be unique")
	case !toolName.MatchString(name):
		return field(path+".name", "String should match pattern '%s'", toolName)
	case !b.present("input"):
		return field(path+".input", "Field required")
	case json.Unmarshal(b["input"], &input) != nil:
		return field(path+".input", "Input should be a valid dictionary")
	}
	c.uses = append(c.uses, id)
	return nil
}

// toolResult checks a result and returns the id of its call.
func (c *checker) toolResult(b fields, path string) (id string, err error) {
	path += ".tool_result"
	if id, err = b.text("tool_use_id", path); err != nil || !b.present("content") {
		return id, err
	}
	blocks, err := contentBlocks(b["content"], path+".content")
	if err != nil {
		return "", err
	}
	for i, b := range blocks {
		path := fmt.Sprintf("%s.content.%d", path, i)
		if err := c.blockFields(b, path, resultBlocks...); err != nil {
			return "", err
		}
		if err := c.media(b, path); err != nil {
			return "", err
		}
	}
	return id, nil
}

// media checks a block of text or of an attachment.
func (c *checker) media(b fields, path string) error {
	kind, _ := b.text("type", path)
	switch kind {
	case "text":
		if c.version == version2026 && b.present("citations") && string(b["citations"]) != "[]" {
			return field(path+".text.citations", "Extra inputs are not permitted")
		}
		_, err := b.text("text", path+".text")
		return err
	case "image", "document":
		return source(b["source"], kind, path+"."+kind+".source")
	}
	return nil
}

// source checks where an image or a document comes from.
func source(raw json.RawMessage, kind, path string) error {
	var s struct {
		Type      string `json:"type"`
		MediaType string `json:"media_type"`
		Data      string `json:"data"`
		URL       string `json:"url"`
	}
	if len(raw) == 0 || string(raw) == "null" {
		return field(path, "Field required")
	}
	if err := decodeFields(raw, &s, path); err != nil {
		return err
	}
	types := imageTypes
	if kind == "document" {
		types = []string{"application/pdf"}
	}
	switch s.Type {
	case "base64":
		if !slices.Contains(types, s.MediaType) {
			return field(path+".base64.media_type", "Input should be '%s'", strings.Join(types, "', '"))
		}
		if _, err := base64.StdEncoding.DecodeString(s.Data); err != nil || s.Data == "" {
			return field(path+".base64", "invalid base64 data")
		}
	case "url":
		if !strings.HasPrefix(s.URL, "https://") {
			return field(path+".url.url", "Only HTTPS URLs are supported.")
		}
	case "file":
	case "text", "content":
		if kind == "image" {
			return field(path, "Input tag '%s' found using 'type' does not match any of the expected tags: 'base64', 'url', 'file'", s.Type)
		}
	default:
		return field(path, "Input tag '%s' found using 'type' does not match any of the expected tags", s.Type)
	}
	return nil
}

// signed returns the thinking that package answers made this signature for, and whether it did so for
// this model: Anthropic refuses thinking that it did not write.
func signed(model, signature string) (thinking string, ok bool) {
	data, err := base64.StdEncoding.DecodeString(signature)
	if err != nil || len(data) < sha256.Size {
		return "", false
	}
	sum := sha256.Sum256(data[sha256.Size:])
	madeFor, thinking, found := strings.Cut(string(data[sha256.Size:]), "\x00")
	return thinking, found && madeFor == model && bytes.Equal(sum[:], data[:sha256.Size])
}
