package testprovider

import (
	"encoding/base64"
	"encoding/json"
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
func (p *messagesParser) blockFields(b fields, path string, kinds ...string) error {
	kind, err := b.text("type", path)
	if err != nil {
		return err
	}
	if !slices.Contains(kinds, kind) {
		return errField(path, "Input tag '%s' found using 'type' does not match any of the expected tags: '%s'", kind, strings.Join(kinds, "', '"))
	}
	if b.present("cache_control") {
		if kind == "thinking" || kind == "redacted_thinking" {
			return errField(path+"."+kind+".cache_control", "Extra inputs are not permitted")
		}
		p.breakpoints++
	}
	if allowed, known := blockFields[kind]; known {
		return b.only(path+"."+kind, append([]string{"type", "cache_control"}, allowed...))
	}
	return nil
}

// signature checks that thinking is what this provider wrote for this model.
func (p *messagesParser) signature(b fields, kind, path string) error {
	name := "signature"
	if kind == "redacted_thinking" {
		name = "data"
	}
	path += "." + kind
	if !b.present(name) {
		return errField(path+"."+name, "Field required")
	}
	signature, err := b.text(name, path)
	if err != nil {
		return err
	}
	written, ok := signed(p.body.Model, signature)
	if kind == "thinking" {
		if !b.present("thinking") {
			return errField(path+".thinking", "Field required")
		}
		text, err := b.text("thinking", path)
		if err != nil {
			return err
		}
		ok = ok && (text == written || text == "") // "": it was omitted
	}
	if !ok {
		return errPlain("%s: Invalid `%s` in `%s` block", strings.TrimSuffix(path, "."+kind), name, kind)
	}
	return nil
}

func (p *messagesParser) toolUse(b fields, path string) (arguments string, err error) {
	id, err := b.text("id", path)
	if err != nil {
		return "", err
	}
	name, err := b.text("name", path)
	if err != nil {
		return "", err
	}
	var input fields
	switch {
	case !idPattern.MatchString(id):
		return "", errField(path+".id", "String should match pattern '%s'", idPattern)
	case slices.Contains(p.uses, id):
		return "", errPlain("messages: `tool_use` ids must be unique")
	case !toolName.MatchString(name):
		return "", errField(path+".name", "String should match pattern '%s'", toolName)
	case !b.present("input"):
		return "", errField(path+".input", "Field required")
	case json.Unmarshal(b["input"], &input) != nil:
		return "", errField(path+".input", "Input should be a valid dictionary")
	}
	p.uses = append(p.uses, id)
	return string(b["input"]), nil
}

func (p *messagesParser) toolResult(b fields, path string) (result Message, id string, err error) {
	result.Role = "tool"
	inner := path + ".tool_result"
	if id, err = b.text("tool_use_id", inner); err != nil {
		return result, "", err
	}
	if !b.present("content") {
		return result, id, nil
	}
	blocks, err := contentBlocks(b["content"], inner+".content")
	if err != nil {
		return result, "", err
	}
	var texts []string
	for i, b := range blocks {
		path := fmt.Sprintf("%s.content.%d", inner, i)
		if err := p.blockFields(b, path, resultBlocks...); err != nil {
			return result, "", err
		}
		kind, _ := b.text("type", path)
		text, err := p.media(b, kind, path, &result.Content)
		if err != nil {
			return result, "", err
		}
		if kind == "text" {
			texts = append(texts, text)
		}
	}
	result.Content.Text = strings.Join(texts, "\n")
	return result, id, nil
}

// media checks a block of text or of an attachment, which it counts.
func (p *messagesParser) media(b fields, kind, path string, c *Content) (text string, err error) {
	switch kind {
	case "text":
		if p.version == Version2026 && b.present("citations") && string(b["citations"]) != "[]" {
			return "", errField(path+".text.citations", "Extra inputs are not permitted")
		}
		return b.text("text", path+".text")
	case "image":
		c.images++
	case "document":
		c.files++
	default:
		return "", nil
	}
	return "", source(b["source"], kind, path+"."+kind+".source")
}

// source checks where an image or a document comes from.
func source(raw json.RawMessage, kind, path string) error {
	var s struct {
		Type      string `json:"type"`
		MediaType string `json:"media_type"`
		Data      string `json:"data"`
		URL       string `json:"url"`
	}
	if !present(raw) {
		return errField(path, "Field required")
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
			return errField(path+".base64.media_type", "Input should be '%s'", strings.Join(types, "', '"))
		}
		if _, err := base64.StdEncoding.DecodeString(s.Data); err != nil || s.Data == "" {
			return errField(path+".base64", "invalid base64 data")
		}
	case "url":
		if !strings.HasPrefix(s.URL, "https://") {
			return errField(path+".url.url", "Only HTTPS URLs are supported.")
		}
	case "file":
	case "text", "content":
		if kind == "image" {
			return errField(path, "Input tag '%s' found using 'type' does not match any of the expected tags: 'base64', 'url', 'file'", s.Type)
		}
	default:
		return errField(path, "Input tag '%s' found using 'type' does not match any of the expected tags", s.Type)
	}
	return nil
}
