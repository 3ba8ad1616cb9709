package testprovider

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
)

const (
	// maxStops is OpenAI's limit of stop sequences.
	maxStops = 4
	// maxChoices bounds n: each choice is one more copy of the reply.
	maxChoices = 8
)

var roles = []string{"system", "developer", "user", "assistant", "tool", "function"}

// request is a call of chat completions, as far as an answer depends on it.
type request struct {
	Model         string `json:"model"`
	Stream        bool   `json:"stream"`
	StreamOptions struct {
		IncludeUsage bool `json:"include_usage"`
	} `json:"stream_options"`

	Messages            []message  `json:"messages"`
	Tools               []tool     `json:"tools"`
	ToolChoice          toolChoice `json:"tool_choice"`
	ResponseFormat      *format    `json:"response_format"`
	N                   *int       `json:"n"`
	MaxTokens           *int       `json:"max_tokens"`
	MaxCompletionTokens *int       `json:"max_completion_tokens"`
	Stop                stopList   `json:"stop"`
}

type format struct {
	Type   string `json:"type"`
	Nested struct {
		Schema json.RawMessage `json:"schema"`
	} `json:"json_schema"`
}

// decode reads the body of a call into v. The error is the refusal that OpenAI would answer with.
func decode(body []byte, v any) error {
	err := json.Unmarshal(body, v)
	if refusal, ok := errors.AsType[*apiError](err); ok {
		return refusal
	}
	if typed, ok := errors.AsType[*json.UnmarshalTypeError](err); ok && typed.Field != "" {
		return errValue(typed.Field, "a JSON %s is not allowed in %q", typed.Value, typed.Field)
	}
	if err != nil {
		return errJSON(err)
	}
	return nil
}

// check refuses what this provider cannot answer.
func (r *request) check() error {
	if r.Messages == nil {
		return errMissing("messages")
	}
	if len(r.Messages) == 0 {
		return errValue("messages", "messages is empty")
	}
	for _, m := range r.Messages {
		if !slices.Contains(roles, m.Role) {
			return errValue("messages", "unknown role: %q", m.Role)
		}
	}
	if r.N != nil && (*r.N < 1 || *r.N > maxChoices) {
		return errValue("n", "n is from 1 to %d, not %d", maxChoices, *r.N)
	}
	return nil
}

// prompt is the content of the last message of the user.
func (r *request) prompt() (prompt content) {
	for _, m := range r.Messages {
		if m.Role == "user" {
			prompt = m.Content
		}
	}
	return prompt
}

// results are the texts of the tool results that end the conversation.
func (r *request) results() (results []string) {
	for _, m := range r.Messages {
		if m.Role != "tool" && m.Role != "function" {
			results = nil
			continue
		}
		results = append(results, m.Content.text)
	}
	return results
}

// inputTokens counts the texts and tool arguments of the whole conversation.
func (r *request) inputTokens() (n int) {
	for _, m := range r.Messages {
		n += CountTokens(m.Content.text)
		for _, call := range m.ToolCalls {
			n += CountTokens(call.Function.Arguments)
		}
	}
	return n
}

// outputLimit is how many tokens are written at most.
func (r *request) outputLimit() (int, error) {
	name, limit := "max_completion_tokens", r.MaxCompletionTokens
	if limit == nil {
		name, limit = "max_tokens", r.MaxTokens
	}
	switch {
	case limit == nil:
		return MaxOutputTokens, nil
	case *limit < 1:
		return 0, errValue(name, "%q is at least 1, not %d", name, *limit)
	}
	return min(MaxOutputTokens, *limit), nil
}

// formatted brings a text into the format that the request asks for: the
// smallest document of its schema, or {"reply": text} without one.
func (r *request) formatted(text string) (string, error) {
	f := r.ResponseFormat
	switch {
	case f == nil || f.Type == "" || f.Type == "text":
		return text, nil
	case f.Type == "json_schema" && present(f.Nested.Schema):
		example, err := Example(f.Nested.Schema)
		if err != nil {
			return "", errValue("response_format", "no example for the schema: %v", err)
		}
		return example, nil
	case f.Type == "json_schema" || f.Type == "json_object":
		return string(encode(map[string]string{"reply": text})), nil
	}
	return "", errValue("response_format", "unknown format: %q", f.Type)
}

// present reports whether there is a value other than null.
func present(raw json.RawMessage) bool { return len(raw) > 0 && string(raw) != "null" }

// stopList is a string or an array of strings.
type stopList []string

// UnmarshalJSON implements [json.Unmarshaler].
func (l *stopList) UnmarshalJSON(data []byte) error {
	var one *string
	if json.Unmarshal(data, &one) == nil {
		if one != nil {
			*l = stopList{*one}
		}
		return nil
	}
	if err := json.Unmarshal(data, (*[]string)(l)); err != nil || len(*l) > maxStops {
		return errValue("stop", "stop is a string or an array of at most %d strings", maxStops)
	}
	return nil
}

// cut ends text before the first stop sequence in it.
func (l stopList) cut(text string) string {
	for _, s := range l {
		if s != "" {
			text, _, _ = strings.Cut(text, s)
		}
	}
	return text
}
