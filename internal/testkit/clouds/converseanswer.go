package clouds

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// converseAnswer takes the answer of a chat provider and writes it as Bedrock does:
// a whole message, or events in frames with the usage behind the end.
type converseAnswer struct {
	http.ResponseWriter
	stream bool

	status int
	body   []byte         // not read yet
	block  int            // index of the open one
	open   string         // kind of the open block, "" for none
	claude bool           // thoughts are signed
	spoken string         // thoughts of the open block
	calls  []*pendingCall // sent at the end: blocks do not mix
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

// pendingCall is a call whose arguments have not all come.
type pendingCall struct {
	id string
	chatCall
}

// chatDelta is what is read of a message, or of a piece of one.
type chatDelta struct {
	Content, Reasoning string
	ReasoningContent   string `json:"reasoning_content"`
	ToolCalls          []struct {
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
	Error *struct{ Message, Code string }
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
		d := choice.Delta
		if text := cmp.Or(d.ReasoningContent, d.Reasoning); text != "" {
			a.delta("reasoning", map[string]any{"reasoningContent": map[string]any{"text": text}})
			a.spoken += text
		}
		if d.Content != "" {
			a.delta("text", map[string]any{"text": d.Content})
		}
		for _, call := range d.ToolCalls {
			for len(a.calls) <= call.Index {
				a.calls = append(a.calls, &pendingCall{})
			}
			pending := a.calls[call.Index]
			pending.id += call.ID
			pending.Name += call.Function.Name
			pending.Arguments += call.Function.Arguments
		}
		if choice.FinishReason != "" {
			a.finish = choice.FinishReason
		}
	}
	return nil
}

// delta sends a piece of a block, of a kind.
func (a *converseAnswer) delta(kind string, delta map[string]any) {
	if a.open != kind {
		a.close()
		a.open = kind
	}
	a.send("contentBlockDelta", map[string]any{"contentBlockIndex": a.block, "delta": delta})
}

func (a *converseAnswer) sendCalls() {
	for _, call := range a.calls {
		a.close()
		a.open = "call"
		a.send("contentBlockStart", map[string]any{"contentBlockIndex": a.block, "start": map[string]any{"toolUse": map[string]any{"toolUseId": call.id, "name": call.Name}}})
		for piece := range slices.Chunk([]byte(call.Arguments), 5) {
			if call.Arguments != "{}" { // empty arguments have no piece
				a.delta("call", map[string]any{"toolUse": map[string]any{"input": string(piece)}})
			}
		}
	}
}

// thoughtSignature is what a Claude signs thoughts with.
func thoughtSignature(text string) string {
	hash := sha256.Sum256([]byte(text))
	return base64.StdEncoding.EncodeToString(hash[:])
}

// close ends the open block.
func (a *converseAnswer) close() {
	if a.open == "reasoning" && a.claude {
		a.delta("reasoning", map[string]any{"reasoningContent": map[string]any{"signature": thoughtSignature(a.spoken)}})
	}
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
	a.sendCalls()
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
		if chat.Error != nil && chat.Error.Code == "context_length_exceeded" {
			message = "Input is too long for requested model."
		}
		awsError(a.ResponseWriter, a.status, name, message)
		return
	}
	content, reason := []any{}, "end_turn"
	for _, choice := range chat.Choices {
		if text := cmp.Or(choice.Message.ReasoningContent, choice.Message.Reasoning); text != "" {
			thought := map[string]any{"text": text}
			if a.claude {
				thought["signature"] = thoughtSignature(text)
			}
			content = append(content, map[string]any{"reasoningContent": map[string]any{"reasoningText": thought}})
		}
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
