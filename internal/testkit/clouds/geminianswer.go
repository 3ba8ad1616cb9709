package clouds

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// geminiAnswer takes the answer of a chat provider and writes it as Google does:
// events with CRLF, usage in each, whole calls, and STOP in a last event without
// parts.
type geminiAnswer struct {
	http.ResponseWriter
	signs bool

	status int
	body   []byte // not read yet
	usage  map[string]any
	finish string
	calls  []*chatCall
	ended  bool
}

type chatCall struct{ Name, Arguments string }

// FlushError holds a refusal back until it is whole.
func (a *geminiAnswer) FlushError() error {
	if a.status != http.StatusOK {
		return nil
	}
	return http.NewResponseController(a.ResponseWriter).Flush()
}

// Unwrap lets the provider reset the connection.
func (a *geminiAnswer) Unwrap() http.ResponseWriter { return a.ResponseWriter }

func (a *geminiAnswer) WriteHeader(status int) {
	a.status = status
	h := a.Header()
	h.Del("Content-Length")
	h.Set("Content-Type", "text/event-stream")
	if status == http.StatusOK {
		a.ResponseWriter.WriteHeader(status)
	}
}

func (a *geminiAnswer) Write(p []byte) (int, error) {
	if a.status == 0 {
		a.WriteHeader(http.StatusOK)
	}
	a.body = append(a.body, p...)
	if a.status != http.StatusOK {
		return len(p), nil
	}
	for {
		event, rest, ok := bytes.Cut(a.body, []byte("\n\n"))
		if !ok {
			return len(p), nil
		}
		a.body = rest
		if err := a.event(event); err != nil {
			return 0, err
		}
	}
}

// event takes one event of a chat stream.
func (a *geminiAnswer) event(event []byte) error {
	data, ok := strings.CutPrefix(strings.TrimSpace(string(event)), "data:")
	data = strings.TrimSpace(data)
	if !ok {
		return nil // a comment
	}
	if data == "[DONE]" {
		a.ended = true
		return a.last()
	}
	var chunk struct {
		Choices []struct {
			Delta struct {
				Content, Reasoning, ReasoningContent string
				ToolCalls                            []struct {
					Index    int
					Function chatCall
				} `json:"tool_calls"`
			}
			FinishReason string `json:"finish_reason"`
		}
		Usage *struct {
			Prompt     int `json:"prompt_tokens"`
			Completion int `json:"completion_tokens"`
			Details    struct {
				Reasoning int `json:"reasoning_tokens"`
			} `json:"completion_tokens_details"`
			PromptDetails struct {
				Cached int `json:"cached_tokens"`
			} `json:"prompt_tokens_details"`
		}
		Error json.RawMessage
	}
	if err := json.Unmarshal([]byte(data), &chunk); err != nil {
		return a.raw("data: " + data) // nonsense stays nonsense
	}
	if chunk.Error != nil && string(chunk.Error) != "null" {
		a.ended = true
		return a.raw(`data: {"error":{"code":503,"message":"The model is overloaded. Please try again later.","status":"UNAVAILABLE"}}`)
	}
	if u := chunk.Usage; u != nil {
		a.usage = map[string]any{
			"promptTokenCount": u.Prompt, "candidatesTokenCount": u.Completion - u.Details.Reasoning, "thoughtsTokenCount": u.Details.Reasoning,
			"cachedContentTokenCount": u.PromptDetails.Cached, "totalTokenCount": u.Prompt + u.Completion,
		}
	}
	for _, choice := range chunk.Choices {
		d := choice.Delta
		for _, text := range []struct {
			text    string
			thought bool
		}{{d.Reasoning + d.ReasoningContent, true}, {d.Content, false}} {
			if text.text == "" {
				continue
			}
			p := map[string]any{"text": text.text}
			if text.thought {
				p["thought"] = true
			}
			if err := a.write(map[string]any{"role": "model", "parts": []any{p}}, ""); err != nil {
				return err
			}
		}
		for _, call := range d.ToolCalls {
			for len(a.calls) <= call.Index {
				a.calls = append(a.calls, &chatCall{})
			}
			a.calls[call.Index].Name += call.Function.Name
			a.calls[call.Index].Arguments += call.Function.Arguments
		}
		if choice.FinishReason != "" {
			a.finish = choice.FinishReason
		}
	}
	return nil
}

// last writes the calls, and then the end in an event of its own.
func (a *geminiAnswer) last() error {
	for i, call := range a.calls {
		var args any
		if err := json.Unmarshal([]byte(call.Arguments), &args); err != nil {
			args = map[string]any{}
		}
		f := map[string]any{"name": call.Name, "args": args}
		p := map[string]any{"functionCall": f}
		if a.signs {
			f["id"] = fmt.Sprintf("fc-%d", i)
			if i == 0 {
				p["thoughtSignature"] = Signature
			}
		}
		if err := a.write(map[string]any{"role": "model", "parts": []any{p}}, ""); err != nil {
			return err
		}
	}
	reason := map[string]string{"length": "MAX_TOKENS", "content_filter": "SAFETY", "": ""}[a.finish]
	if a.finish == "" {
		return nil // it was cut
	}
	if reason == "" {
		reason = "STOP"
	}
	return a.write(map[string]any{}, reason)
}

// write writes an event with a content, and a reason to finish if there is one.
func (a *geminiAnswer) write(content map[string]any, reason string) error {
	candidate := map[string]any{"content": content, "index": 0}
	if reason != "" {
		candidate["finishReason"] = reason
	}
	event := map[string]any{"candidates": []any{candidate}, "modelVersion": "gemini-3-fake", "responseId": "r-1"}
	if a.usage != nil {
		event["usageMetadata"] = a.usage
	}
	text, err := json.Marshal(event)
	if err != nil {
		return err
	}
	return a.raw("data: " + string(text))
}

func (a *geminiAnswer) raw(event string) error {
	if _, err := a.ResponseWriter.Write([]byte(event + "\r\n\r\n")); err != nil {
		return err
	}
	return http.NewResponseController(a.ResponseWriter).Flush()
}

// end writes the refusal of the provider, if that is what it answered.
func (a *geminiAnswer) end() {
	if a.status == http.StatusOK || a.status == 0 {
		return
	}
	var body struct {
		Error struct{ Message, Code string }
	}
	_ = json.Unmarshal(a.body, &body)
	status := map[int]string{400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED", 404: "NOT_FOUND", 429: "RESOURCE_EXHAUSTED", 503: "UNAVAILABLE"}[a.status]
	if status == "" {
		status = "INTERNAL"
	}
	if body.Error.Code == "context_length_exceeded" {
		body.Error.Message = "The input token count (1048577) exceeds the maximum number of tokens allowed (1048576)."
	}
	var details []string
	if pause := a.Header().Get("Retry-After"); pause != "" {
		details = []string{fmt.Sprintf(`{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"%ss"}`, pause)}
		a.Header().Del("Retry-After")
	}
	googleError(a.ResponseWriter, a.status, status, body.Error.Message, details...)
}
