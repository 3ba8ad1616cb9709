package answers

import (
	"encoding/json"
	"fmt"

	"github.com/gatehouse-proxy/gatehouse/internal/testprovider"
)

// Request is a call of any of the APIs, as far as an answer depends on it.
type Request struct {
	Model         string `json:"model"`
	Stream        bool   `json:"stream"`
	StreamOptions struct {
		IncludeUsage bool `json:"include_usage"`
	} `json:"stream_options"`

	Messages     []Message `json:"messages"`
	Input        input     `json:"input"`
	Instructions string    `json:"instructions"`

	Tools          []Tool  `json:"tools"`
	ResponseFormat *format `json:"response_format"`
	Text           struct {
		Format *format `json:"format"`
	} `json:"text"`

	MaxTokens           *int `json:"max_tokens"`
	MaxCompletionTokens *int `json:"max_completion_tokens"`
	MaxOutputTokens     *int `json:"max_output_tokens"`

	// Members are all members as they were sent.
	Members map[string]json.RawMessage `json:"-"`

	// Thinks: the Messages API asks for thinking, or, omitted, only for its signature.
	Thinks          bool `json:"-"`
	ThinkingOmitted bool `json:"-"`
}

// format is response_format of chat and text.format of Responses.
type format struct {
	Type   string          `json:"type"`
	Schema json.RawMessage `json:"schema"`
	Nested struct {
		Schema json.RawMessage `json:"schema"`
	} `json:"json_schema"`
}

// ParseRequest reads the body of a call of chat or Responses.
func ParseRequest(body []byte) (*Request, error) {
	r := &Request{}
	return r, decode(body, r, r)
}

// decode reads a body into v, and its members into r.
func decode(body []byte, v any, r *Request) error {
	if err := json.Unmarshal(body, v); err != nil {
		return fmt.Errorf("the body is not a request: %w", err)
	}
	if err := json.Unmarshal(body, &r.Members); err != nil || r.Members == nil {
		return fmt.Errorf("the body is not a JSON object: %w", err)
	}
	return nil
}

// Has reports whether a member was sent that is not null.
func (r *Request) Has(name string) bool { return present(r.Members[name]) }

// present reports whether there is a value other than null.
func present(raw json.RawMessage) bool { return len(raw) > 0 && string(raw) != "null" }

// Conversation is the messages of chat, or the items of a Responses input.
func (r *Request) Conversation() []Message {
	if len(r.Input) > 0 {
		return r.Input
	}
	return r.Messages
}

// Prompt is the content of the last message of the user.
func (r *Request) Prompt() (prompt Content) {
	for _, m := range r.Conversation() {
		if m.Role == "user" {
			prompt = m.Content
		}
	}
	return prompt
}

// Results are the texts of the tool results that end the conversation. A call
// may stand between two of them.
func (r *Request) Results() (results []string) {
	conversation := r.Conversation()
	for i, m := range conversation {
		switch {
		case m.result():
			results = append(results, m.Content.Text+m.Output.Text)
		case m.Role != "" || i == len(conversation)-1:
			results = nil
		}
	}
	return results
}

// Answered is how many tool results follow the last prompt of the user.
func (r *Request) Answered() (n int) {
	for _, m := range r.Conversation() {
		switch {
		case m.result():
			n++
		case m.Role == "user":
			n = 0
		}
	}
	return n
}

// inputTokens counts the texts and tool arguments of the whole conversation.
func (r *Request) inputTokens() int {
	n := testprovider.CountTokens(r.Instructions)
	for _, m := range r.Conversation() {
		n += testprovider.CountTokens(m.Content.Text) + testprovider.CountTokens(m.Output.Text) + testprovider.CountTokens(m.Arguments.Text)
		for _, call := range m.ToolCalls {
			n += testprovider.CountTokens(call.Function.Arguments)
		}
	}
	return n
}

// TokenCount is the answer of count_tokens.
func (r *Request) TokenCount() Object { return Object{{"input_tokens", r.inputTokens()}} }

// OutputLimit is the most tokens that the caller allows, and the member that
// says so; "" without one.
func (r *Request) OutputLimit() (name string, tokens int) {
	switch {
	case r.MaxOutputTokens != nil:
		return "max_output_tokens", *r.MaxOutputTokens
	case r.MaxCompletionTokens != nil:
		return "max_completion_tokens", *r.MaxCompletionTokens
	case r.MaxTokens != nil:
		return "max_tokens", *r.MaxTokens
	}
	return "", 0
}

// Formatted brings a text into the format that the request asks for: the
// smallest document of its schema, or {"reply": text} without one.
func (r *Request) Formatted(text string) (string, error) {
	param, f := "response_format", r.ResponseFormat
	if r.Text.Format != nil {
		param, f = "text.format", r.Text.Format
	}
	if f == nil || f.Type == "" || f.Type == "text" {
		return text, nil
	}
	schema := f.Schema
	if !present(schema) {
		schema = f.Nested.Schema
	}
	switch {
	case f.Type == "json_schema" && present(schema):
		example, err := testprovider.Example(schema)
		if err != nil {
			return "", fmt.Errorf("%s: no example for the schema: %w", param, err)
		}
		return example, nil
	case f.Type == "json_schema" || f.Type == "json_object":
		return string(Encode(Object{{"reply", text}})), nil
	}
	return "", fmt.Errorf("%s: unknown format: %q", param, f.Type)
}

// defaults are the members that a response object repeats, with their values
// where the request has none.
var defaults = Object{
	{"instructions", nil}, {"max_output_tokens", nil}, {"max_tool_calls", nil}, {"metadata", Object{}},
	{"parallel_tool_calls", true}, {"previous_response_id", nil}, {"prompt_cache_key", nil},
	{"reasoning", Object{{"effort", nil}, {"summary", nil}}}, {"safety_identifier", nil}, {"temperature", 1}, {"top_p", 1},
	{"text", Object{{"format", Object{{"type", "text"}}}, {"verbosity", "medium"}}}, {"tool_choice", "auto"}, {"tools", []Object{}},
	{"top_logprobs", 0}, {"truncation", "disabled"}, {"user", nil},
}

// Settings are the members of the request that a response object repeats.
func (r *Request) Settings() Object {
	o := Object{{"background", false}, {"service_tier", "default"}, {"store", false}}
	for _, m := range defaults {
		if r.Has(m.name) {
			m.value = r.Members[m.name]
		}
		o = append(o, m)
	}
	return o
}
