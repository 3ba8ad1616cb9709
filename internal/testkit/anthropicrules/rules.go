// Package anthropicrules refuses requests of the Messages API as Anthropic does, by the rules that
// no model is excepted from. The fake provider of tests answers by them, and the translation into
// that API is checked against them. The built-in provider, which is for trying out, has no such rules.
package anthropicrules

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strings"
)

// The versions of the Messages API. The newer one has no sampling parameters.
const (
	version2023 = "2023-06-01"
	version2026 = "2026-10-21"
)

// requestFields are the members of a request. Those that are true come with a
// beta; without the header that names one they are unknown, as at Anthropic.
var requestFields = map[string]bool{
	"model": false, "messages": false, "max_tokens": false, "system": false, "stop_sequences": false, "stream": false,
	"temperature": false, "top_p": false, "top_k": false, "tools": false, "tool_choice": false, "thinking": false,
	"output_config": false, "metadata": false, "service_tier": false, "cache_control": false, "inference_geo": false,
	"container": true, "context_management": true, "mcp_servers": true, "speed": true, "fallbacks": true,
	"fallback_credit_token": true, "diagnostics": true, "output_format": true,
}

// uncounted are those that count_tokens does not take.
var uncounted = []string{"max_tokens", "stop_sequences", "stream", "temperature", "top_p", "top_k", "metadata", "service_tier"}

var (
	betaName  = regexp.MustCompile(`^[a-z0-9-]+-\d{4}-\d{2}-\d{2}$`)
	idPattern = regexp.MustCompile(`^[a-zA-Z0-9_-]+$`)
	toolName  = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,128}$`)
	typedTool = regexp.MustCompile(`^([a-z_]+_\d{8}|mcp_toolset)$`)
)

const (
	maxBreakpoints = 4    // cache_control in a request
	minThinking    = 1024 // budget_tokens
)

// request is a request of the Messages API as it is sent.
type request struct {
	Model         string          `json:"model"`
	MaxTokens     *int            `json:"max_tokens"`
	Messages      []fields        `json:"messages"`
	System        json.RawMessage `json:"system"`
	StopSequences []string        `json:"stop_sequences"`
	Stream        bool            `json:"stream"`
	Temperature   *float64        `json:"temperature"`
	TopP          *float64        `json:"top_p"`
	TopK          *int            `json:"top_k"`
	Tools         []fields        `json:"tools"`
	ToolChoice    *struct {
		Type string `json:"type"`
		Name string `json:"name"`
	} `json:"tool_choice"`
	Thinking struct {
		Type    string `json:"type"`
		Budget  int    `json:"budget_tokens"`
		Display string `json:"display"`
	} `json:"thinking"`
	OutputConfig struct {
		Effort string `json:"effort"`
		Format *struct {
			Type string `json:"type"`
		} `json:"format"`
	} `json:"output_config"`
	Metadata    map[string]json.RawMessage `json:"metadata"`
	ServiceTier string                     `json:"service_tier"`
}

// checker checks one request.
type checker struct {
	body        request
	members     fields // as they were sent
	version     string
	breakpoints int
	uses        []string // ids of the tools that the message before called
	usedAt      int      // and its index
	prefill     bool     // the assistant has the last word
	said        string   // text of the last assistant message
	lastStart   string   // type of the first block of the last assistant message
	lastUses    bool     // and whether it calls a tool
}

// Check checks the body of a call of the Messages API, or of its count_tokens. The error is the
// refusal that Anthropic would answer with.
func Check(header http.Header, body []byte, count bool) error {
	c := &checker{version: header.Get("Anthropic-Version")}
	switch c.version {
	case version2023, version2026:
	case "":
		return field("anthropic-version", "header is required")
	default:
		return field("anthropic-version", "%q is not a valid version", c.version)
	}
	beta := false
	for _, line := range header.Values("Anthropic-Beta") {
		for name := range strings.SplitSeq(line, ",") {
			if name = strings.TrimSpace(name); !betaName.MatchString(name) {
				return fmt.Errorf("Unexpected value(s) `%s` for the `anthropic-beta` header.", name)
			}
			beta = true
		}
	}
	if err := json.Unmarshal(body, &c.members); err != nil || c.members == nil {
		return fmt.Errorf("The request body is not valid JSON: %w", err)
	}
	for _, name := range slices.Sorted(maps.Keys(c.members)) {
		needsBeta, known := requestFields[name]
		if !known || needsBeta && !beta || count && slices.Contains(uncounted, name) {
			return field(name, "Extra inputs are not permitted")
		}
	}
	if err := decodeFields(body, &c.body, ""); err != nil {
		return err
	}
	for _, step := range []func() error{
		func() error { return c.required(count) },
		c.sampling, c.system, c.tools, c.messages, c.thinking, c.rest,
	} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// kindNames are Anthropic's words for the types of JSON.
var kindNames = map[reflect.Kind]string{
	reflect.Bool: "boolean", reflect.Int: "integer", reflect.Float64: "number", reflect.String: "string",
	reflect.Slice: "list", reflect.Map: "dictionary", reflect.Struct: "dictionary",
}

// decodeFields decodes data, the value of the field at path.
func decodeFields(data []byte, v any, path string) error {
	err := json.Unmarshal(data, v)
	if typed, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return field(strings.Trim(path+"."+typed.Field, "."), "Input should be a valid %s", kindNames[typed.Type.Kind()])
	}
	if err != nil {
		return field(path, "Input is not valid: %v", err)
	}
	return nil
}

func (c *checker) required(count bool) error {
	if c.body.Model == "" {
		return field("model", "Field required")
	}
	if !c.members.present("messages") {
		return field("messages", "Field required")
	}
	if len(c.body.Messages) == 0 {
		return field("messages", "at least one message is required")
	}
	if !count && c.body.MaxTokens == nil {
		return field("max_tokens", "Field required")
	}
	if !count && *c.body.MaxTokens < 0 {
		return field("max_tokens", "Input should be greater than or equal to 0")
	}
	return nil
}

func (c *checker) sampling() error {
	b := &c.body
	if c.version == version2026 {
		for _, name := range []string{"temperature", "top_p", "top_k"} {
			if _, sent := c.members[name]; sent {
				return field(name, "Extra inputs are not permitted")
			}
		}
	}
	for name, value := range map[string]*float64{"temperature": b.Temperature, "top_p": b.TopP} {
		switch {
		case value == nil:
		case *value > 1:
			return field(name, "Input should be less than or equal to 1")
		case *value < 0:
			return field(name, "Input should be greater than or equal to 0")
		}
	}
	for i, s := range b.StopSequences {
		if strings.TrimSpace(s) == "" {
			return field(fmt.Sprintf("stop_sequences.%d", i), "each stop sequence must contain non-whitespace")
		}
	}
	return nil
}

// system is a string, which may be empty, or text blocks, which may not.
func (c *checker) system() error {
	if !c.members.present("system") {
		return nil
	}
	var text string
	if json.Unmarshal(c.body.System, &text) == nil {
		if text != "" && strings.TrimSpace(text) == "" {
			return errors.New("system: text content blocks must contain non-whitespace text")
		}
		return nil
	}
	var blocks []fields
	if err := decodeFields(c.body.System, &blocks, "system"); err != nil {
		return err
	}
	for i, b := range blocks {
		path := fmt.Sprintf("system.%d", i)
		if err := c.blockFields(b, path, "text"); err != nil {
			return err
		}
		text, err := b.text("text", path)
		if err != nil {
			return err
		}
		if strings.TrimSpace(text) == "" {
			return errors.New("system: text content blocks must be non-empty")
		}
	}
	return nil
}

// rest checks what stands alone.
func (c *checker) rest() error {
	for name, allowed := range map[string][]string{
		"thinking": {"type", "budget_tokens", "display"}, "output_config": {"effort", "format", "task_budget"},
	} {
		var members fields
		if c.members.present(name) {
			if err := decodeFields(c.members[name], &members, name); err != nil {
				return err
			}
		}
		if err := members.only(name, allowed); err != nil {
			return err
		}
	}
	if !slices.Contains([]string{"", "low", "medium", "high", "xhigh", "max"}, c.body.OutputConfig.Effort) {
		return field("output_config.effort", "Input should be 'low', 'medium', 'high', 'xhigh' or 'max'")
	}
	for name := range c.body.Metadata {
		if name != "user_id" {
			return field("metadata."+name, "Extra inputs are not permitted")
		}
	}
	if !slices.Contains([]string{"", "auto", "standard_only"}, c.body.ServiceTier) {
		return field("service_tier", "Input should be 'auto' or 'standard_only'")
	}
	if f := c.body.OutputConfig.Format; f != nil && f.Type != "json_schema" {
		return field("output_config.format.type", "Input should be 'json_schema'")
	}
	if c.members.present("cache_control") {
		c.breakpoints++
	}
	if c.breakpoints > maxBreakpoints {
		return fmt.Errorf("A maximum of %d blocks with cache_control may be provided. Found %d.", maxBreakpoints, c.breakpoints)
	}
	return nil
}

// field refuses the field at a path.
func field(path, format string, args ...any) error {
	return fmt.Errorf("%s: %s", path, fmt.Sprintf(format, args...))
}
