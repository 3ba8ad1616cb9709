package modelcall

import (
	"encoding/json"

	"github.com/gatehouse-proxy/gatehouse/internal/modelcall/wire"
)

// caller is an API of callers: how it says a conversation, and how its answers name calls.
type caller struct {
	name, path string
	op         *wire.Operation
	say        func(*dialogue) object
	calls      func(answer object) []string        // of a whole answer, or of an event
	next       func(request, answer object) object // answers the call of an answer
	members    func(*pairCase) string
}

var callers = []caller{
	{"chat", "/v1/chat/completions", wire.Chat, (*dialogue).asChat, func(a object) (names []string) {
		for _, choice := range list(a, "choices") {
			for _, message := range []string{"message", "delta"} {
				inner, _ := choice[message].(object)
				for _, c := range list(inner, "tool_calls") {
					function, _ := c["function"].(object)
					names = appendText(names, function["name"])
				}
			}
		}
		return names
	}, func(request, answer object) object {
		said, _ := list(answer, "choices")[0]["message"].(object)
		id := list(said, "tool_calls")[0]["id"]
		return join(request, "messages", said, object{"role": "tool", "tool_call_id": id, "content": "rain"})
	}, func(c *pairCase) string { return c.chat }},
	{"responses", "/v1/responses", wire.Responses, (*dialogue).asResponses, func(a object) (names []string) {
		if item, ok := a["item"].(object); ok && a["type"] == "response.output_item.done" {
			names = appendText(names, item["name"])
		}
		for _, item := range list(a, "output") {
			names = appendText(names, item["name"])
		}
		return names
	}, func(request, answer object) object {
		items := list(answer, "output")
		id := items[len(items)-1]["call_id"]
		return join(request, "input", append(items, object{"type": "function_call_output", "call_id": id, "output": "rain"})...)
	}, func(c *pairCase) string { return c.responses }},
	{"messages", "/v1/messages", wire.Messages, (*dialogue).asMessages, func(a object) (names []string) {
		if block, ok := a["content_block"].(object); ok {
			names = appendText(names, block["name"])
		}
		for _, block := range list(a, "content") {
			names = appendText(names, block["name"])
		}
		return names
	}, func(request, answer object) object {
		blocks := list(answer, "content")
		id := blocks[len(blocks)-1]["id"]
		return join(request, "messages", object{"role": "assistant", "content": blocks},
			object{"role": "user", "content": []object{{"type": "tool_result", "tool_use_id": id, "content": "rain"}}})
	}, func(c *pairCase) string { return c.messages }},
}

// join adds turns to a request.
func join(request object, key string, turns ...object) object {
	all, _ := request[key].([]any)
	for _, t := range turns {
		all = append(all, t)
	}
	request[key] = all
	return request
}

func decodeObject(text []byte) (o object) {
	if err := json.Unmarshal(text, &o); err != nil {
		panic(string(text))
	}
	return o
}

func list(o object, key string) (all []object) {
	elements, _ := o[key].([]any)
	for _, e := range elements {
		if inner, ok := e.(object); ok {
			all = append(all, inner)
		}
	}
	return all
}

func appendText(list []string, value any) []string {
	if text, ok := value.(string); ok && text != "" {
		list = append(list, text)
	}
	return list
}
