package answers

import (
	"encoding/json"
	"strconv"
)

// Response is the response object in a status, without output and usage. Every
// key of OpenAI's is there. There is no output_text: that is a convenience of
// SDKs and not on the wire.
func (r *Reply) Response(status string) Object {
	o := Object{
		{"id", "resp_" + r.ID}, {"object", "response"}, {"created_at", r.Created}, {"status", status}, {"completed_at", nil},
		{"error", nil}, {"incomplete_details", nil}, {"model", r.Model}, {"output", []Object{}},
	}
	return append(append(o, r.Settings...), member{"usage", nil})
}

// FinalResponse is the response object at the end.
func (r *Reply) FinalResponse() Object {
	o := r.Response(r.status()).With("output", r.items(r.status())).With("usage", r.Usage.responses())
	switch r.Finish {
	case "length":
		return o.With("incomplete_details", Object{{"reason", "max_output_tokens"}})
	case "content_filter":
		return o.With("incomplete_details", Object{{"reason", r.Finish}})
	}
	return o.With("completed_at", r.Now().Unix())
}

// status is how the response ends.
func (r *Reply) status() string {
	if r.Finish == "length" || r.Finish == "content_filter" {
		return "incomplete"
	}
	return "completed"
}

func (u Usage) responses() Object {
	return Object{
		{"input_tokens", u.Input}, {"input_tokens_details", Object{{"cached_tokens", u.CacheRead}, {"cache_write_tokens", u.CacheWrite + u.CacheWriteHour}}},
		{"output_tokens", u.Output}, {"output_tokens_details", Object{{"reasoning_tokens", u.Reasoning}}},
		{"total_tokens", u.Input + u.Output},
	}
}

// items are the items of the output, empty while in progress: reasoning, then a
// message or calls.
func (r *Reply) items(status string) []Object {
	var items []Object
	begun := status == "in_progress"
	if len(r.Reasoning) > 0 {
		items = append(items, r.reasoningItem(summaryPart(r.reasoningText())))
	}
	for i, c := range r.Calls {
		arguments := c.arguments()
		if begun {
			arguments = ""
		}
		items = append(items, r.callItem(i, status, arguments))
	}
	if len(r.Calls) == 0 {
		content := []Object{}
		if !begun {
			content = append(content, r.part(r.text()))
		}
		items = append(items, Object{{"id", r.itemID(0)}, {"type", "message"}, {"status", status},
			{"role", "assistant"}, {"content", content}})
	}
	return items
}

// part is the one part of a message.
func (r *Reply) part(text string) Object {
	if r.Refusal {
		return Object{{"type", "refusal"}, {"refusal", text}}
	}
	return Object{{"type", "output_text"}, {"text", text}, {"annotations", []Object{}}, {"logprobs", []Object{}}}
}

// itemID is the id of the message, or of the item of a call.
func (r *Reply) itemID(call int) string {
	switch {
	case len(r.Calls) == 0:
		return "msg_" + r.ID
	case r.Calls[call].Custom:
		return "ctc_" + r.ID + "_" + strconv.Itoa(call)
	}
	return "fc_" + r.ID + "_" + strconv.Itoa(call)
}

func (r *Reply) callItem(i int, status, arguments string) Object {
	c := r.Calls[i]
	if c.Computer {
		return Object{{"id", "cu_" + r.ID + "_" + strconv.Itoa(i)}, {"type", "computer_call"}, {"status", status},
			{"call_id", r.callID(0, i)}, {"actions", json.RawMessage(c.arguments())}, {"pending_safety_checks", []Object{}}}
	}
	kind, key := "function_call", "arguments"
	if c.Custom {
		kind, key = "custom_tool_call", "input"
	}
	o := Object{{"id", r.itemID(i)}, {"type", kind}, {"status", status},
		{"call_id", r.callID(0, i)}, {"name", c.Name}, {key, arguments}}
	if c.Namespace != "" {
		o = append(o, member{"namespace", c.Namespace})
	}
	return o
}

func (r *Reply) reasoningItem(summary ...Object) Object {
	return Object{{"id", "rs_" + r.ID}, {"type", "reasoning"}, {"summary", append([]Object{}, summary...)}}
}

func summaryPart(text string) Object { return Object{{"type", "summary_text"}, {"text", text}} }
