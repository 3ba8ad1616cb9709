package testprovider

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"time"
)

const (
	// maxChoices bounds n: each choice is one more copy of the reply.
	maxChoices = 8
	// maxStops is OpenAI's limit of stop sequences.
	maxStops = 4

	systemFingerprint = "fp_testprovider"
)

var chatRoles = []string{"system", "developer", "user", "assistant", "tool", "function"}

// chatRequest holds the fields of a chat completion request that matter here.
type chatRequest struct {
	Model    *string       `json:"model"`
	Messages []chatMessage `json:"messages"`

	Tools          []tool     `json:"tools"`
	ToolChoice     toolChoice `json:"tool_choice"`
	ResponseFormat format     `json:"response_format"`

	N                   *int     `json:"n"`
	MaxTokens           *int     `json:"max_tokens"`
	MaxCompletionTokens *int     `json:"max_completion_tokens"`
	Stop                stopList `json:"stop"`

	Stream        bool `json:"stream"`
	StreamOptions struct {
		IncludeUsage bool `json:"include_usage"`
	} `json:"stream_options"`
}

type chatMessage struct {
	Role      string  `json:"role"`
	Content   content `json:"content"`
	ToolCalls []struct {
		Function struct {
			Arguments string `json:"arguments"`
		} `json:"function"`
	} `json:"tool_calls"`
}

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
	var list []string
	if err := json.Unmarshal(data, &list); err != nil || len(list) > maxStops {
		return errValue("stop", "stop is a string or an array of at most %d strings", maxStops)
	}
	*l = list
	return nil
}

// ask checks the request and takes it out of its wire shape.
func (r *chatRequest) ask() (*ask, error) {
	model, err := findModel(r.Model)
	if err != nil {
		return nil, err
	}
	if r.Messages == nil {
		return nil, errMissing("messages")
	}
	if len(r.Messages) == 0 {
		return nil, errValue("messages", "messages is empty")
	}
	a := &ask{
		model: model, choice: r.ToolChoice, format: r.ResponseFormat, param: "response_format",
		stop: r.Stop, limit: r.MaxTokens, limitKey: "max_tokens",
	}
	if r.MaxCompletionTokens != nil {
		a.limit, a.limitKey = r.MaxCompletionTokens, "max_completion_tokens"
	}
	if a.offered, err = functions(r.Tools); err != nil {
		return nil, err
	}
	for i, m := range r.Messages {
		if !slices.Contains(chatRoles, m.Role) {
			return nil, errValue(fmt.Sprintf("messages[%d].role", i), "unknown role: %q", m.Role)
		}
		a.input += countTokens(m.Content.text)
		for _, call := range m.ToolCalls {
			a.input += countTokens(call.Function.Arguments)
		}
		switch m.Role {
		case "user":
			a.user, a.results = m.Content, nil
		case "tool", "function":
			a.results = append(a.results, m.Content)
		default:
			a.results = nil
		}
	}
	return a, nil
}

// chat serves POST {base}/chat/completions.
func (t *Transport) chat(req *http.Request) (answer, error) {
	var r chatRequest
	if err := decode(req, &r); err != nil {
		return answer{}, err
	}
	a, err := r.ask()
	if err != nil {
		return answer{}, err
	}
	n := 1
	if r.N != nil {
		if n = *r.N; n < 1 || n > maxChoices {
			return answer{}, errValue("n", "n is from 1 to %d, not %d", maxChoices, n)
		}
	}
	said, err := a.reply()
	if err != nil {
		return answer{}, err
	}
	c := &chatReply{
		reply: said, n: n, callIDs: make([]string, n),
		id: t.newID("chatcmpl-"), created: t.now().Unix(), model: a.model.ID,
		usage: newChatUsage(a.input, n*len(said.tokens)),
	}
	if said.function != "" {
		for i := range c.callIDs {
			c.callIDs[i] = t.newID("call_")
		}
	}
	delay := t.wordDelay(a.model)
	if r.Stream {
		s := c.script(r.StreamOptions.IncludeUsage)
		s.delay = delay
		if a.model.fails {
			s.cut = failAfter
		}
		return answer{stream: s}, nil
	}
	if a.model.fails {
		return answer{}, errFails(a.model.ID)
	}
	if err := t.pause(req.Context(), time.Duration(len(said.tokens))*delay); err != nil {
		return answer{}, err
	}
	return answer{body: c.result()}, nil
}
