package answers

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// messagesBody is a request of the Messages API, as far as an answer depends on it.
type messagesBody struct {
	Model     string `json:"model"`
	MaxTokens *int   `json:"max_tokens"`
	Messages  []struct {
		Role    string    `json:"role"`
		Content blockList `json:"content"`
	} `json:"messages"`
	System Content `json:"system"`
	Stream bool    `json:"stream"`
	Tools  []struct {
		Type       string          `json:"type"`
		Name       string          `json:"name"`
		Parameters json.RawMessage `json:"input_schema"`
	} `json:"tools"`
	Thinking struct {
		Type    string `json:"type"`
		Display string `json:"display"`
	} `json:"thinking"`
	OutputConfig struct {
		Format *format `json:"format"`
	} `json:"output_config"`
}

// blockList is the content of a message: blocks, or a string, which is one of text.
type blockList []contentBlock

type contentBlock struct {
	Type    string          `json:"type"`
	Text    string          `json:"text"`
	Input   json.RawMessage `json:"input"`   // of a call
	Content Content         `json:"content"` // of a tool's result
}

// UnmarshalJSON implements [json.Unmarshaler].
func (l *blockList) UnmarshalJSON(data []byte) error {
	var text string
	if json.Unmarshal(data, &text) == nil {
		*l = blockList{{Type: "text", Text: text}}
		return nil
	}
	return json.Unmarshal(data, (*[]contentBlock)(l))
}

// ParseMessages reads the body of a call of the Messages API, or of its count_tokens, which needs
// no max_tokens. What Anthropic refuses beyond the error is taken.
func ParseMessages(body []byte, count bool) (*Request, error) {
	var b messagesBody
	r := &Request{}
	if err := decode(body, &b, r); err != nil {
		return nil, err
	}
	if b.MaxTokens == nil && !count {
		return nil, errors.New("max_tokens: Field required")
	}
	r.Model, r.Stream, r.MaxTokens = b.Model, b.Stream, b.MaxTokens
	r.Instructions, r.ResponseFormat = b.System.Text, b.OutputConfig.Format
	r.Thinks = b.Thinking.Type == "enabled" || b.Thinking.Type == "adaptive"
	r.ThinkingOmitted = b.Thinking.Display == "omitted"
	for i, m := range b.Messages {
		switch m.Role {
		case "assistant":
			r.Messages = append(r.Messages, m.Content.assistant()...)
		case "user":
			r.Messages = append(r.Messages, m.Content.user()...)
		default:
			return nil, fmt.Errorf("messages.%d.role: Input should be 'user' or 'assistant'", i)
		}
	}
	for _, t := range b.Tools {
		kind := t.Type
		if kind == "" || kind == "custom" {
			kind = "function"
		}
		r.Tools = append(r.Tools, Tool{Type: kind, Function: Function{t.Name, t.Parameters}})
	}
	return r, nil
}

// assistant brings the blocks of an assistant into the form of chat: calls, then the text.
func (l blockList) assistant() (messages []Message) {
	var texts []string
	for _, b := range l {
		switch b.Type {
		case "text":
			texts = append(texts, b.Text)
		case "tool_use":
			call := Message{Type: "function_call", Arguments: Content{Text: string(b.Input)}}
			messages = append(messages, call)
		}
	}
	said := Content{Text: strings.Join(texts, "\n")}
	return append(messages, Message{Role: "assistant", Content: said})
}

// user brings the blocks of a user into the form of chat: results of tools, then what was said.
func (l blockList) user() (messages []Message) {
	said := Message{Role: "user"}
	var texts []string
	for _, b := range l {
		switch b.Type {
		case "tool_result":
			messages = append(messages, Message{Role: "tool", Content: b.Content})
		case "text":
			texts = append(texts, b.Text)
		}
	}
	if len(l) > 0 && len(messages) == len(l) {
		return messages
	}
	said.Content.Text = strings.Join(texts, "\n")
	return append(messages, said)
}
