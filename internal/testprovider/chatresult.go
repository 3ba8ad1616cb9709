package testprovider

import "encoding/json"

// null is a JSON null in a field that would be left out if it were empty.
var null = json.RawMessage("null")

// chatReply is a reply with what both shapes of a chat answer need around it.
type chatReply struct {
	reply
	n       int
	callIDs []string // one a choice, if a function is called
	id      string
	created int64
	model   string
	usage   chatUsage
}

func (c *chatReply) finishReason() string {
	switch {
	case c.cut:
		return "length"
	case c.function != "":
		return "tool_calls"
	default:
		return "stop"
	}
}

type chatUsage struct {
	PromptTokens     int `json:"prompt_tokens"`
	CompletionTokens int `json:"completion_tokens"`
	TotalTokens      int `json:"total_tokens"`
	PromptDetails    struct {
		CachedTokens int `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
	CompletionDetails struct {
		ReasoningTokens int `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`
}

func newChatUsage(prompt, completion int) chatUsage {
	return chatUsage{PromptTokens: prompt, CompletionTokens: completion, TotalTokens: prompt + completion}
}

// chatObject is a result or a chunk; C is the type of their choices.
type chatObject[C any] struct {
	ID                string `json:"id"`
	Object            string `json:"object"`
	Created           int64  `json:"created"`
	Model             string `json:"model"`
	Choices           []C    `json:"choices"`
	Usage             any    `json:"usage,omitempty"`
	ServiceTier       string `json:"service_tier"`
	SystemFingerprint string `json:"system_fingerprint"`
}

func newChatObject[C any](c *chatReply, object string, choices []C, usage any) chatObject[C] {
	return chatObject[C]{
		ID: c.id, Object: object, Created: c.created, Model: c.model, Choices: choices, Usage: usage,
		ServiceTier: "default", SystemFingerprint: systemFingerprint,
	}
}

type chatCall struct {
	Index    *int   `json:"index,omitempty"` // in chunks only
	ID       string `json:"id,omitempty"`
	Type     string `json:"type,omitempty"`
	Function struct {
		Name      string `json:"name,omitempty"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

type chatChoice struct {
	Index   int `json:"index"`
	Message struct {
		Role      string     `json:"role"`
		Content   *string    `json:"content"`
		Refusal   *string    `json:"refusal"`
		ToolCalls []chatCall `json:"tool_calls,omitempty"`
	} `json:"message"`
	Logprobs     *struct{} `json:"logprobs"`
	FinishReason string    `json:"finish_reason"`
}

// result is the answer that is not streamed.
func (c *chatReply) result() any {
	choices := make([]chatChoice, c.n)
	for i := range choices {
		choice := &choices[i]
		choice.Index = i
		choice.FinishReason = c.finishReason()
		choice.Message.Role = "assistant"
		text := c.text()
		if c.function == "" {
			choice.Message.Content = &text
			continue
		}
		call := chatCall{ID: c.callIDs[i], Type: "function"}
		call.Function.Name, call.Function.Arguments = c.function, text
		choice.Message.ToolCalls = []chatCall{call}
	}
	return newChatObject(c, "chat.completion", choices, c.usage)
}

type chunkChoice struct {
	Index        int       `json:"index"`
	Delta        chatDelta `json:"delta"`
	Logprobs     *struct{} `json:"logprobs"`
	FinishReason *string   `json:"finish_reason"`
}

type chatDelta struct {
	Role      string     `json:"role,omitempty"`
	Content   any        `json:"content,omitempty"`
	Refusal   any        `json:"refusal,omitempty"`
	ToolCalls []chatCall `json:"tool_calls,omitempty"`
}

// script is the answer as chunks: the role of each choice (with the name of the
// called function), the words, the finish reasons, the usage if it was asked for.
// Where usage is asked for, the other chunks say "usage": null, as OpenAI's do.
func (c *chatReply) script(includeUsage bool) *script {
	var usage any
	if includeUsage {
		usage = null
	}
	chunk := func(i int, delta chatDelta, finish *string) frame {
		choices := []chunkChoice{{Index: i, Delta: delta, FinishReason: finish}}
		return frame{data: newChatObject(c, "chat.completion.chunk", choices, usage)}
	}
	s := &script{words: len(c.tokens) * c.n}
	for i := range c.n {
		delta := chatDelta{Role: "assistant", Content: "", Refusal: null}
		if c.function != "" {
			call := chatCall{Index: new(int), ID: c.callIDs[i], Type: "function"}
			call.Function.Name = c.function
			delta.Content, delta.ToolCalls = null, []chatCall{call}
		}
		s.head = append(s.head, chunk(i, delta, nil))
	}
	s.word = func(k int) frame {
		token, i := c.tokens[k/c.n], k%c.n
		delta := chatDelta{Content: token}
		if c.function != "" {
			call := chatCall{Index: new(int)}
			call.Function.Arguments = token
			delta = chatDelta{ToolCalls: []chatCall{call}}
		}
		f := chunk(i, delta, nil)
		f.due = i == 0 // all choices say a word at the same time
		return f
	}
	s.tail = func() []frame {
		var frames []frame
		finish := c.finishReason()
		for i := range c.n {
			frames = append(frames, chunk(i, chatDelta{}, &finish))
		}
		if includeUsage {
			frames = append(frames, frame{data: newChatObject(c, "chat.completion.chunk", []chunkChoice{}, any(c.usage))})
		}
		return append(frames, frame{done: true})
	}
	return s
}
