package messagesonchat_test

import (
	"encoding/json"
	"fmt"
	"regexp"

	"github.com/gatehouse-proxy/gatehouse/internal/testkit/translatetest"
)

// accumulator reads the events of a message as the strictest of the SDKs does, and puts the message
// together from them.
type accumulator struct {
	message map[string]any // nil before message_start
	content []map[string]any
	open    bool   // the last block is
	input   string // JSON of the open block
	stopped bool   // message_delta came
	over    string // message_stop or error
}

// accumulate returns what a client of a stream has at its end: the message, nil after an error
// event.
func accumulate(out string) (message map[string]any, err error) {
	var a accumulator
	if err := translatetest.ReadEvents(out, a.event); err != nil {
		return nil, err
	}
	switch a.over {
	case "error":
		return nil, nil
	case "message_stop":
		content := []any{}
		for _, block := range a.content {
			content = append(content, block)
		}
		a.message["content"] = content
		return a.message, nil
	}
	return nil, fmt.Errorf("no end")
}

func (a *accumulator) event(e map[string]any) error {
	typ := e["type"].(string)
	switch {
	case a.over != "":
		return fmt.Errorf("an event after %s", a.over)
	case typ == "error":
		a.over = typ
		failure, _ := e["error"].(map[string]any)
		if failure["type"] == nil || failure["message"] == nil || e["request_id"] != "req_1" {
			return fmt.Errorf("an error of another shape")
		}
		return nil
	case (typ == "message_start") != (a.message == nil):
		return fmt.Errorf("message_start is not the first event, or came twice")
	case typ == "message_start":
		return a.start(e["message"].(map[string]any))
	case a.stopped && typ != "message_stop":
		return fmt.Errorf("an event after message_delta")
	}
	switch typ {
	case "content_block_start":
		return a.blockStart(int(e["index"].(float64)), e["content_block"].(map[string]any))
	case "content_block_delta", "content_block_stop":
		if !a.open || int(e["index"].(float64)) != len(a.content)-1 {
			return fmt.Errorf("no such block is open")
		}
		if typ == "content_block_delta" {
			return a.delta(e["delta"].(map[string]any))
		}
		return a.blockStop()
	case "message_delta":
		delta, usage := e["delta"].(map[string]any), e["usage"].(map[string]any)
		if a.open || delta["stop_reason"] == nil {
			return fmt.Errorf("a block is open, or there is no stop reason")
		}
		a.stopped = true
		a.message["stop_reason"], a.message["usage"] = delta["stop_reason"], usage
		return a.usage(usage)
	case "message_stop":
		if !a.stopped {
			return fmt.Errorf("no message_delta")
		}
		a.over = typ
		return nil
	}
	return fmt.Errorf("unknown event")
}

func (a *accumulator) start(message map[string]any) error {
	content, ok := message["content"].([]any)
	stop, hasStop := message["stop_reason"]
	if !ok || len(content) > 0 || !hasStop || stop != nil || message["role"] != "assistant" || message["type"] != "message" ||
		message["id"] != "msg_1" || message["model"] == nil {
		return fmt.Errorf("not the beginning of a message")
	}
	a.message = message
	return a.usage(message["usage"].(map[string]any))
}

func (a *accumulator) usage(usage map[string]any) error {
	for _, key := range []string{"input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"} {
		if n, ok := usage[key].(float64); !ok || n < 0 {
			return fmt.Errorf("no %s", key)
		}
	}
	return nil
}

var legalID = regexp.MustCompile(`^[a-zA-Z0-9_-]+$`)

func (a *accumulator) blockStart(index int, block map[string]any) error {
	if a.open || index != len(a.content) {
		return fmt.Errorf("block %d begins as %d, while another is open: %v", len(a.content), index, a.open)
	}
	switch block["type"] {
	case "text":
		if block["text"] != "" {
			return fmt.Errorf("text before its delta")
		}
	case "thinking":
		if block["thinking"] != "" || block["signature"] != "" {
			return fmt.Errorf("thinking before its delta, or without a signature")
		}
	case "tool_use":
		input, ok := block["input"].(map[string]any)
		if id, _ := block["id"].(string); !ok || len(input) > 0 || !legalID.MatchString(id) || block["name"] == "" {
			return fmt.Errorf("a wrong beginning of a call")
		}
	case "redacted_thinking":
		if block["data"] == "" {
			return fmt.Errorf("redacted thinking without data")
		}
	default:
		return fmt.Errorf("unknown block")
	}
	a.content, a.open, a.input = append(a.content, block), true, ""
	return nil
}

func (a *accumulator) delta(delta map[string]any) error {
	block := a.content[len(a.content)-1]
	for typ, keys := range map[string][2]string{
		"text_delta": {"text", "text"}, "thinking_delta": {"thinking", "thinking"}, "input_json_delta": {"tool_use", "partial_json"},
		"signature_delta": {"thinking", "signature"},
	} {
		if delta["type"] != typ {
			continue
		}
		piece, ok := delta[keys[1]].(string)
		if !ok || block["type"] != keys[0] {
			return fmt.Errorf("a delta of another kind")
		}
		if typ == "input_json_delta" {
			a.input += piece
		} else {
			block[keys[1]] = block[keys[1]].(string) + piece
		}
		return nil
	}
	return fmt.Errorf("unknown delta")
}

func (a *accumulator) blockStop() error {
	block := a.content[len(a.content)-1]
	a.open = false
	switch {
	case block["type"] == "text" && block["text"] == "":
		return fmt.Errorf("an empty text, which may not be sent back")
	case a.input != "":
		var input map[string]any
		if json.Unmarshal([]byte(a.input), &input) == nil {
			block["input"] = input
		} else {
			block["broken"] = a.input // allowed if the answer was cut off
		}
	}
	return nil
}

// checkWhole checks a message that came to its end.
func checkWhole(message map[string]any) error {
	calls := 0
	for _, block := range message["content"].([]any) {
		block := block.(map[string]any)
		if reason := message["stop_reason"]; block["broken"] != nil && reason != "max_tokens" && reason != "refusal" {
			return fmt.Errorf("%v with broken arguments %v", reason, block["broken"])
		}
		if block["type"] == "tool_use" {
			calls++
		}
	}
	if (message["stop_reason"] == "tool_use") && calls == 0 || message["stop_reason"] == "end_turn" && calls > 0 {
		return fmt.Errorf("%v with %d calls", message["stop_reason"], calls)
	}
	return nil
}
