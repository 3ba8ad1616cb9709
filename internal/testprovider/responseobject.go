package testprovider

import (
	"encoding/json"
	"time"
)

// responseObject is a response with every key of OpenAI's: what the request said, its
// default where there is one, null otherwise. There is no output_text: that is
// a convenience of SDKs and not on the wire. "store" is always false, whatever was
// asked for, because nothing is kept.
type responseObject struct {
	ID                string             `json:"id"`
	Object            string             `json:"object"`
	CreatedAt         int64              `json:"created_at"`
	Status            string             `json:"status"`
	Background        bool               `json:"background"`
	CompletedAt       *int64             `json:"completed_at"`
	Error             *struct{}          `json:"error"`
	IncompleteDetails *incompleteDetails `json:"incomplete_details"`

	Instructions       *string           `json:"instructions"`
	MaxOutputTokens    *int              `json:"max_output_tokens"`
	MaxToolCalls       *int              `json:"max_tool_calls"`
	Metadata           map[string]string `json:"metadata"`
	Model              string            `json:"model"`
	Output             []any             `json:"output"`
	ParallelToolCalls  bool              `json:"parallel_tool_calls"`
	PreviousResponseID *string           `json:"previous_response_id"`
	PromptCacheKey     *string           `json:"prompt_cache_key"`
	Reasoning          any               `json:"reasoning"`
	SafetyIdentifier   *string           `json:"safety_identifier"`
	ServiceTier        string            `json:"service_tier"`
	Store              bool              `json:"store"`
	Temperature        float64           `json:"temperature"`
	Text               responseText      `json:"text"`
	ToolChoice         json.RawMessage   `json:"tool_choice"`
	Tools              []json.RawMessage `json:"tools"`
	TopLogprobs        int               `json:"top_logprobs"`
	TopP               float64           `json:"top_p"`
	Truncation         string            `json:"truncation"`
	Usage              *responsesUsage   `json:"usage"`
	User               *string           `json:"user"`
}

type incompleteDetails struct {
	Reason string `json:"reason"`
}

type responseText struct {
	Format    json.RawMessage `json:"format"`
	Verbosity string          `json:"verbosity"`
}

type responsesUsage struct {
	InputTokens  int `json:"input_tokens"`
	InputDetails struct {
		CachedTokens     int `json:"cached_tokens"`
		CacheWriteTokens int `json:"cache_write_tokens"`
	} `json:"input_tokens_details"`
	OutputTokens  int `json:"output_tokens"`
	OutputDetails struct {
		ReasoningTokens int `json:"reasoning_tokens"`
	} `json:"output_tokens_details"`
	TotalTokens int `json:"total_tokens"`
}

func newResponsesUsage(input, output int) responsesUsage {
	return responsesUsage{InputTokens: input, OutputTokens: output, TotalTokens: input + output}
}

// newResponseObject is the response to r before any output.
func newResponseObject(r *responsesRequest, model string) responseObject {
	o := responseObject{
		Object: "response", Status: "in_progress", Output: []any{},
		Instructions:      r.Instructions,
		MaxOutputTokens:   r.MaxOutputTokens,
		MaxToolCalls:      r.MaxToolCalls,
		Metadata:          r.Metadata,
		Model:             model,
		ParallelToolCalls: or(r.ParallelToolCalls, true),
		PromptCacheKey:    r.PromptCacheKey,
		Reasoning:         r.Reasoning,
		SafetyIdentifier:  r.SafetyIdentifier,
		ServiceTier:       "default",
		Temperature:       or(r.Temperature, 1),
		Text:              responseText{Format: r.Text.Format, Verbosity: or(r.Text.Verbosity, "medium")},
		ToolChoice:        r.ToolChoice,
		Tools:             r.Tools,
		TopLogprobs:       or(r.TopLogprobs, 0),
		TopP:              or(r.TopP, 1),
		Truncation:        or(r.Truncation, "disabled"),
		User:              r.User,
	}
	if o.Metadata == nil {
		o.Metadata = map[string]string{}
	}
	if !present(o.Text.Format) {
		o.Text.Format = json.RawMessage(`{"type":"text"}`)
	}
	if !present(o.ToolChoice) {
		o.ToolChoice = json.RawMessage(`"auto"`)
	}
	if o.Tools == nil {
		o.Tools = []json.RawMessage{}
	}
	return o
}

func or[T any](v *T, otherwise T) T {
	if v != nil {
		return *v
	}
	return otherwise
}

// responsesReply is a reply on its way to a response: the same ids at every stage.
type responsesReply struct {
	reply
	now            func() time.Time
	base           responseObject
	usage          responsesUsage
	itemID, callID string
}

type messageItem struct {
	ID      string     `json:"id"`
	Type    string     `json:"type"`
	Status  string     `json:"status"`
	Role    string     `json:"role"`
	Content []textPart `json:"content"`
}

type textPart struct {
	Type        string     `json:"type"`
	Text        string     `json:"text"`
	Annotations []struct{} `json:"annotations"`
	Logprobs    []struct{} `json:"logprobs"`
}

func newTextPart(text string) textPart {
	return textPart{Type: "output_text", Text: text, Annotations: []struct{}{}, Logprobs: []struct{}{}}
}

type callItem struct {
	ID        string `json:"id"`
	Type      string `json:"type"`
	Status    string `json:"status"`
	CallID    string `json:"call_id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

// item is the one output item, without its text or arguments while in progress.
func (m *responsesReply) item(status string) any {
	whole := status != "in_progress"
	if m.function != "" {
		call := callItem{ID: m.itemID, Type: "function_call", Status: status, CallID: m.callID, Name: m.function}
		if whole {
			call.Arguments = m.text()
		}
		return call
	}
	message := messageItem{ID: m.itemID, Type: "message", Status: status, Role: "assistant", Content: []textPart{}}
	if whole {
		message.Content = append(message.Content, newTextPart(m.text()))
	}
	return message
}

// status is how the response ends.
func (m *responsesReply) status() string {
	if m.cut {
		return "incomplete"
	}
	return "completed"
}

// final is the finished response.
func (m *responsesReply) final() responseObject {
	o := m.base
	o.Status = m.status()
	o.Output = []any{m.item(o.Status)}
	o.Usage = &m.usage
	if m.cut {
		o.IncompleteDetails = &incompleteDetails{Reason: "max_output_tokens"}
	} else {
		at := m.now().Unix()
		o.CompletedAt = &at
	}
	return o
}
