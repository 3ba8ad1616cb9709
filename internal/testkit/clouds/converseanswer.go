package clouds

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// converseAnswer takes the answer of a chat provider and writes it as Bedrock does:
// a whole message, or events in frames with the usage behind the end.
type converseAnswer struct {
	http.ResponseWriter
	stream bool

	status int
	body   []byte // not read yet
	block  int    // index of the open one
	open   string // kind of the open block, "" for none
	calls  map[int]int
	finish string
	usage  map[string]any
}

// FlushError holds a refusal back until it is whole.
func (a *converseAnswer) FlushError() error {
	if a.status != http.StatusOK || !a.stream {
		return nil
	}
	return http.NewResponseController(a.ResponseWriter).Flush()
}

// Unwrap lets the provider reset the connection.
func (a *converseAnswer) Unwrap() http.ResponseWriter { return a.ResponseWriter }

func (a *converseAnswer) WriteHeader(status int) {
	a.status = status
	a.Header().Del("Content-Length")
	if status == http.StatusOK && a.stream {
		a.Header().Set("Content-Type", "application/vnd.amazon.eventstream")
		a.ResponseWriter.WriteHeader(status)
	}
}

func (a *converseAnswer) Write(p []byte) (int, error) {
	if a.status == 0 {
		a.WriteHeader(http.StatusOK)
	}
	a.body = append(a.body, p...)
	for a.status == http.StatusOK && a.stream {
		event, rest, ok := bytes.Cut(a.body, []byte("\n\n"))
		if !ok {
			break
		}
		a.body = rest
		if err := a.event(event); err != nil {
			return 0, err
		}
	}
	return len(p), nil
}

// chatDelta is what is read of a message, or of a piece of one.
type chatDelta struct {
	Content   string
	ToolCalls []struct {
		Index    int
		ID       string
		Function chatCall
	} `json:"tool_calls"`
}

// chatBody is what is read of a chat completion, or of a chunk of one.
type chatBody struct {
	Choices []struct {
		Delta, Message chatDelta
		FinishReason   string `json:"finish_reason"`
	}
	Usage *struct {
		Prompt     int `json:"prompt_tokens"`
		Completion int `json:"completion_tokens"`
		Details    struct {
			Cached int `json:"cached_tokens"`
		} `json:"prompt_tokens_details"`
	}
	Error *struct{ Message string }
}

var stopReasons = map[string]string{"length": "max_tokens", "tool_calls": "tool_use", "content_filter": "content_filtered"}

func (b *chatBody) used() map[string]any {
	if b.Usage == nil {
		return nil
	}
	u := b.Usage
	return map[string]any{"inputTokens": u.Prompt - u.Details.Cached, "outputTokens": u.Completion, "totalTokens": u.Prompt + u.Completion, "cacheReadInputTokens": u.Details.Cached}
}

func (a *converseAnswer) event(event []byte) error {
	data, ok := strings.CutPrefix(strings.TrimSpace(string(event)), "data:")
	data = strings.TrimSpace(data)
	if !ok {
		return nil
	}
	if data == "[DONE]" {
		return a.last()
	}
	var chunk chatBody
	if err := json.Unmarshal([]byte(data), &chunk); err != nil {
		_, err := a.ResponseWriter.Write([]byte(data)) // nonsense stays nonsense
		return err
	}
	if chunk.Error != nil {
		text, _ := json.Marshal(chunk.Error.Message)
		_, err := a.ResponseWriter.Write(Frame(`{"message":`+string(text)+`}`, ":message-type", "exception", ":exception-type", "modelStreamErrorException"))
		return err
	}
	if used := chunk.used(); used != nil {
		a.usage = used
	}
	for _, choice := range chunk.Choices {
		if d := choice.Delta; d.Content != "" {
			if a.open != "text" {
				a.close()
				a.open = "text"
			}
			a.send("contentBlockDelta", map[string]any{"contentBlockIndex": a.block, "delta": map[string]any{"text": d.Content}})
		}
		for _, call := range choice.Delta.ToolCalls {
			a.call(call.Index, call.ID, call.Function)
		}
		if choice.FinishReason != "" {
			a.finish = choice.FinishReason
		}
	}
	return nil
}

func (a *converseAnswer) call(index int, id string, f chatCall) {
	if a.calls == nil {
		a.calls = map[int]int{}
	}
	at, begun := a.calls[index]
	if !begun {
		a.close()
		a.open, at = "call", a.block
		a.calls[index] = at
		a.send("contentBlockStart", map[string]any{"contentBlockIndex": at, "start": map[string]any{"toolUse": map[string]any{"toolUseId": id, "name": f.Name}}})
	}
	if f.Arguments != "" && f.Arguments != "{}" { // empty arguments have no piece
		a.send("contentBlockDelta", map[string]any{"contentBlockIndex": at, "delta": map[string]any{"toolUse": map[string]any{"input": f.Arguments}}})
	}
}

// close ends the open block.
func (a *converseAnswer) close() {
	if a.open != "" {
		a.send("contentBlockStop", map[string]any{"contentBlockIndex": a.block})
		a.block++
		a.open = ""
	}
}

func (a *converseAnswer) last() error {
	if a.finish == "" {
		return nil // it was cut
	}
	a.close()
	reason := stopReasons[a.finish]
	if reason == "" {
		reason = "end_turn"
	}
	a.send("messageStop", map[string]any{"stopReason": reason})
	if a.usage != nil {
		a.send("metadata", map[string]any{"usage": a.usage, "metrics": map[string]any{"latencyMs": 1}})
	}
	return nil
}

func (a *converseAnswer) send(name string, payload map[string]any) {
	payload["p"] = "abcdefgh"
	text, _ := json.Marshal(payload)
	_, _ = a.ResponseWriter.Write(Frame(string(text), ":message-type", "event", ":event-type", name, ":content-type", "application/json"))
	_ = http.NewResponseController(a.ResponseWriter).Flush()
}

// exceptions are those of the statuses of the provider.
var exceptions = map[int]string{
	400: "ValidationException", 401: "UnrecognizedClientException", 403: "AccessDeniedException", 404: "ResourceNotFoundException",
	408: "ModelTimeoutException", 429: "ThrottlingException", 500: "InternalServerException", 503: "ServiceUnavailableException",
}

// end writes the whole answer, or the refusal of the provider.
func (a *converseAnswer) end() {
	if a.stream && (a.status == http.StatusOK || a.status == 0) {
		return
	}
	var chat chatBody
	if err := json.Unmarshal(a.body, &chat); a.status == http.StatusOK && (err != nil || chat.Error != nil) { // nonsense stays nonsense
		_, _ = a.ResponseWriter.Write(a.body)
		return
	}
	if a.status != http.StatusOK {
		message := ""
		if chat.Error != nil {
			message = chat.Error.Message
		}
		name := exceptions[a.status]
		if name == "" {
			name = "ModelErrorException"
		}
		awsError(a.ResponseWriter, a.status, name, message)
		return
	}
	content, reason := []any{}, "end_turn"
	for _, choice := range chat.Choices {
		if choice.Message.Content != "" {
			content = append(content, map[string]any{"text": choice.Message.Content})
		}
		for _, call := range choice.Message.ToolCalls {
			content = append(content, map[string]any{"toolUse": map[string]any{"toolUseId": call.ID, "name": call.Function.Name, "input": json.RawMessage(call.Function.Arguments)}})
		}
		if word := stopReasons[choice.FinishReason]; word != "" {
			reason = word
		}
	}
	text, err := json.Marshal(map[string]any{"output": map[string]any{"message": map[string]any{"role": "assistant", "content": content}}, "stopReason": reason, "usage": chat.used(), "metrics": map[string]any{"latencyMs": 1}})
	if err != nil {
		awsError(a.ResponseWriter, 424, "ModelErrorException", fmt.Sprint(err))
		return
	}
	a.Header().Set("Content-Type", "application/json")
	a.ResponseWriter.WriteHeader(http.StatusOK)
	_, _ = a.ResponseWriter.Write(text)
}
