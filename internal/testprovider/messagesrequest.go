package testprovider

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
	Version2023 = "2023-06-01"
	Version2026 = "2026-10-21"
)

// messagesFields are the members of a request. Those that are true come with a
// beta; without the header that names one they are unknown, as at Anthropic.
var messagesFields = map[string]bool{
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

// messagesBody is a request of the Messages API as it is sent.
type messagesBody struct {
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
		Effort string  `json:"effort"`
		Format *format `json:"format"`
	} `json:"output_config"`
	Metadata    map[string]json.RawMessage `json:"metadata"`
	ServiceTier string                     `json:"service_tier"`
}

// messagesParser reads one request.
type messagesParser struct {
	body        messagesBody
	version     string
	breakpoints int
	out         *Request
	uses        []string // ids of the tools that the message before called
	usedAt      int      // and its index
	lastStart   string   // type of the first block of the last assistant message
	lastUses    bool     // and whether it calls a tool
}

// ParseMessages reads the body of a call of the Messages API, or of its
// count_tokens. The error is the refusal that Anthropic would answer with, by
// the rules that no model is excepted from.
func ParseMessages(header http.Header, body []byte, count bool) (*Request, error) {
	p := &messagesParser{version: header.Get("Anthropic-Version"), out: &Request{messages: true}}
	switch p.version {
	case Version2023, Version2026:
	case "":
		return nil, errField("anthropic-version", "header is required")
	default:
		return nil, errField("anthropic-version", "%q is not a valid version", p.version)
	}
	beta := false
	for _, line := range header.Values("Anthropic-Beta") {
		for name := range strings.SplitSeq(line, ",") {
			if name = strings.TrimSpace(name); !betaName.MatchString(name) {
				return nil, errPlain("Unexpected value(s) `%s` for the `anthropic-beta` header.", name)
			}
			beta = true
		}
	}
	if err := json.Unmarshal(body, &p.out.Members); err != nil || p.out.Members == nil {
		return nil, errPlain("The request body is not valid JSON: %v", err)
	}
	for _, name := range slices.Sorted(maps.Keys(p.out.Members)) {
		needsBeta, known := messagesFields[name]
		if !known || needsBeta && !beta || count && slices.Contains(uncounted, name) {
			return nil, errField(name, "Extra inputs are not permitted")
		}
	}
	if err := decodeFields(body, &p.body, ""); err != nil {
		return nil, err
	}
	for _, step := range []func() error{
		func() error { return p.required(count) },
		p.sampling, p.system, p.tools, p.messages, p.thinking, p.rest,
	} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	return p.out, nil
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
		return errField(strings.Trim(path+"."+typed.Field, "."), "Input should be a valid %s", kindNames[typed.Type.Kind()])
	}
	if err != nil {
		return errField(path, "Input is not valid: %v", err)
	}
	return nil
}

func (p *messagesParser) required(count bool) error {
	if p.body.Model == "" {
		return errField("model", "Field required")
	}
	if !p.out.Has("messages") {
		return errField("messages", "Field required")
	}
	if len(p.body.Messages) == 0 {
		return errField("messages", "at least one message is required")
	}
	if !count && p.body.MaxTokens == nil {
		return errField("max_tokens", "Field required")
	}
	if !count && *p.body.MaxTokens < 0 {
		return errField("max_tokens", "Input should be greater than or equal to 0")
	}
	p.out.Model, p.out.Stream, p.out.MaxTokens = p.body.Model, p.body.Stream, p.body.MaxTokens
	return nil
}

func (p *messagesParser) sampling() error {
	b := &p.body
	if p.version == Version2026 {
		for _, name := range []string{"temperature", "top_p", "top_k"} {
			if _, sent := p.out.Members[name]; sent {
				return errField(name, "Extra inputs are not permitted")
			}
		}
	}
	for name, value := range map[string]*float64{"temperature": b.Temperature, "top_p": b.TopP} {
		switch {
		case value == nil:
		case *value > 1:
			return errField(name, "Input should be less than or equal to 1")
		case *value < 0:
			return errField(name, "Input should be greater than or equal to 0")
		}
	}
	for i, s := range b.StopSequences {
		if strings.TrimSpace(s) == "" {
			return errField(fmt.Sprintf("stop_sequences.%d", i), "each stop sequence must contain non-whitespace")
		}
	}
	p.out.Stop = b.StopSequences
	return nil
}

// system is a string, which may be empty, or text blocks, which may not.
func (p *messagesParser) system() error {
	if !p.out.Has("system") {
		return nil
	}
	var text string
	if json.Unmarshal(p.body.System, &text) == nil {
		if text != "" && strings.TrimSpace(text) == "" {
			return errPlain("system: text content blocks must contain non-whitespace text")
		}
		p.out.Instructions = text
		return nil
	}
	var blocks []fields
	if err := decodeFields(p.body.System, &blocks, "system"); err != nil {
		return err
	}
	for i, b := range blocks {
		path := fmt.Sprintf("system.%d", i)
		if err := p.blockFields(b, path, "text"); err != nil {
			return err
		}
		text, err := b.text("text", path)
		if err != nil {
			return err
		}
		if strings.TrimSpace(text) == "" {
			return errPlain("system: text content blocks must be non-empty")
		}
		p.out.Instructions += text + "\n"
	}
	return nil
}

// rest checks what stands alone.
func (p *messagesParser) rest() error {
	for name, allowed := range map[string][]string{
		"thinking": {"type", "budget_tokens", "display"}, "output_config": {"effort", "format", "task_budget"},
	} {
		var members fields
		if p.out.Has(name) {
			if err := decodeFields(p.out.Members[name], &members, name); err != nil {
				return err
			}
		}
		if err := members.only(name, allowed); err != nil {
			return err
		}
	}
	if !slices.Contains([]string{"", "low", "medium", "high", "xhigh", "max"}, p.body.OutputConfig.Effort) {
		return errField("output_config.effort", "Input should be 'low', 'medium', 'high', 'xhigh' or 'max'")
	}
	for name := range p.body.Metadata {
		if name != "user_id" {
			return errField("metadata."+name, "Extra inputs are not permitted")
		}
	}
	if !slices.Contains([]string{"", "auto", "standard_only"}, p.body.ServiceTier) {
		return errField("service_tier", "Input should be 'auto' or 'standard_only'")
	}
	if f := p.body.OutputConfig.Format; f != nil {
		if f.Type != "json_schema" {
			return errField("output_config.format.type", "Input should be 'json_schema'")
		}
		p.out.ResponseFormat = f
	}
	if p.out.Has("cache_control") {
		p.breakpoints++
	}
	if p.breakpoints > maxBreakpoints {
		return errPlain("A maximum of %d blocks with cache_control may be provided. Found %d.", maxBreakpoints, p.breakpoints)
	}
	return nil
}
