package api

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/testkit/jsontest"
	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

// object is a JSON object.
type object = map[string]any

func jsonOf(v any) string {
	text, _ := json.Marshal(v)
	return string(text)
}

// geminiCaller is an API in which a conversation with tools is held.
type geminiCaller struct {
	path, first string
	// next returns what follows the caller's first messages: the answer and the results of its calls.
	list, answer string
	next         func(answer object) []any
}

var geminiFunctions = `[{"type":"function","function":{"name":"weather","parameters":{"type":"object","properties":{"city":{"type":"string"}}}}},{"type":"function","function":{"name":"clock"}}]`

// chatNext keeps the carriers of signatures that are named, of the answer in chat completions.
func chatNext(extra, details bool) func(object) []any {
	return func(answer object) []any {
		message := answer["choices"].([]any)[0].(object)["message"].(object)
		if !details {
			delete(message, "reasoning_details")
		}
		next := []any{message}
		for _, c := range message["tool_calls"].([]any) {
			if call := c.(object); !extra {
				delete(call, "extra_content")
			}
			next = append(next, object{"role": "tool", "tool_call_id": c.(object)["id"], "content": `{"$ref":"x"}`})
		}
		slices.Reverse(next[1:]) // results come as tools are ready
		return next
	}
}

func responsesNext(answer object) (next []any) {
	next = answer["output"].([]any)
	for _, item := range slices.Clone(next) {
		if call := item.(object); call["type"] == "function_call" {
			next = append(next, object{"type": "function_call_output", "call_id": call["call_id"], "output": `{"$ref":"x"}`})
		}
	}
	return next
}

func messagesNext(answer object) []any {
	var results []any
	for _, b := range answer["content"].([]any) {
		if block := b.(object); block["type"] == "tool_use" {
			content := []any{object{"type": "text", "text": `{"$ref":"x"}`}}
			if block["name"] == "clock" {
				content = append(content, object{"type": "image", "source": object{"type": "base64", "media_type": "image/png", "data": "AAAA"}})
			}
			results = append(results, object{"type": "tool_result", "tool_use_id": block["id"], "content": content})
		}
	}
	return []any{object{"role": "assistant", "content": answer["content"]}, object{"role": "user", "content": results}}
}

const geminiUser = `[{"role":"user","content":"Weather in Oslo?"}]`

func geminiCallers() map[string]geminiCaller {
	chat := `{"model":"gem/` + geminiModel + `","messages":` + geminiUser + `,"tools":` + geminiFunctions + `}`
	messages := `{"model":"gem/` + geminiModel + `","max_tokens":4000,"messages":` + geminiUser +
		`,"tools":[{"name":"weather","input_schema":{"type":"object","properties":{"city":{"type":"string"}}}},{"name":"clock","input_schema":{"type":"object"}}]`
	responses := `{"model":"gem/` + geminiModel + `","input":` + geminiUser +
		`,"tools":[{"type":"function","name":"weather","parameters":{"type":"object","properties":{"city":{"type":"string"}}}},{"type":"function","name":"clock"}]`
	return map[string]geminiCaller{
		"chat, extra_content":      {harness.ChatV1, chat, "messages", "done", chatNext(true, false)},
		"chat, reasoning_details":  {harness.ChatV1, chat, "messages", "done", chatNext(false, true)},
		"chat, both":               {harness.ChatV1, chat, "messages", "done", chatNext(true, true)},
		"chat, none":               {harness.ChatV1, chat, "messages", "done", chatNext(false, false)},
		"responses, not stored":    {"/v1/responses", responses + `,"store":false}`, "input", "", responsesNext},
		"responses, include":       {"/v1/responses", responses + `,"include":["reasoning.encrypted_content"]}`, "input", "", responsesNext},
		"messages, thinking":       {"/v1/messages", messages + `,"thinking":{"type":"enabled","budget_tokens":2000}}`, "messages", "", messagesNext},
		"messages, none":           {"/v1/messages", messages + `}`, "messages", "", messagesNext},
		"messages, other provider": {"/v1/messages", messages + `,"thinking":{"type":"enabled","budget_tokens":2000}}`, "messages", "", foreignNext},
	}
}

// foreignNext is messagesNext with the thinking of another provider's model.
func foreignNext(answer object) []any {
	next := messagesNext(answer)
	for _, b := range next[0].(object)["content"].([]any) {
		if block := b.(object); block["type"] == "thinking" {
			block["signature"] = "RXJyb3I="
		}
	}
	return next
}

// postGemini sends a call of any API.
func postGemini(h *harness.Gateway, path, body string) harness.Answer {
	r := h.Client.Request(path, "full", body)
	r.Header.Set("Anthropic-Version", "2023-06-01")
	return h.Client.Send(r)
}

func TestThoughtSignaturesReturnThroughEachAPI(t *testing.T) {
	g := newSigner(t)
	h := harness.Start(t, g.setup())
	for name, c := range geminiCallers() {
		for _, stream := range []bool{false, true} {
			t.Run(fmt.Sprint(name, ", stream ", stream), func(t *testing.T) { g.converse(t, h, name, c, stream) })
		}
	}
}

// converse asks, and returns the answer with the results of its calls.
func (g *signer) converse(t *testing.T, h *harness.Gateway, name string, c geminiCaller, stream bool) {
	var request object
	_ = json.Unmarshal([]byte(c.first), &request)
	answer, err := ask(h, c.path, request, stream)
	if err != nil {
		t.Fatal(err)
	}
	g.taken()
	request[c.list] = append(request[c.list].([]any), c.next(answer)...)
	answer, err = ask(h, c.path, request, stream)
	sent := g.taken()
	if err != nil || !strings.Contains(jsonOf(answer), "It is mild.") || len(sent) != 1 {
		t.Fatalf("%v, %v after %d requests: %s", answer, err, len(sent), sent)
	}
	want := geminiSignature
	if strings.HasSuffix(name, "none") || strings.HasSuffix(name, "other provider") {
		want = geminiDummy
	}
	var calls, results []string
	contents := readGemini([]byte(sent[0])).Contents
	for _, p := range contents[1].Parts {
		if p.FunctionCall.Name != "" {
			calls = append(calls, p.FunctionCall.Name+" "+p.ThoughtSignature)
		}
	}
	for _, p := range contents[2].Parts {
		results = append(results, p.FunctionResponse.Name+" "+string(p.FunctionResponse.Response))
	}
	if got := strings.Join(calls, ", "); len(contents) != 3 || got != "weather "+want+", clock " {
		t.Errorf("the calls return as %s\n%s", got, sent[0])
	}
	if c.path == "/v1/messages" && !jsontest.Has(t, sent[0], `{"parts":[{"inlineData":{"mimeType":"image/png","data":"AAAA"}}]}`) {
		t.Errorf("the image is not in its result: %s", sent[0])
	}
	output := `{"output":"{\"$ref\":\"x\"}"}`
	if got := strings.Join(results, ", "); got != "weather "+output+", clock "+output {
		t.Errorf("the results are %s", got)
	}
}

// ask returns the answer to a call, put together if it was streamed.
func ask(h *harness.Gateway, path string, request object, stream bool) (answer object, err error) {
	if request["stream"] = stream; !stream {
		a := postGemini(h, path, jsonOf(request))
		if a.Status != 200 {
			return nil, fmt.Errorf("%d %s", a.Status, a.Body)
		}
		return answer, json.Unmarshal(a.Body, &answer)
	}
	r := h.Client.Request(path, "full", jsonOf(request))
	r.Header.Set("Anthropic-Version", "2023-06-01")
	s := h.Client.Open(r)
	defer s.Disconnect()
	events, err := s.Rest()
	message, blocks := object{}, []any{}
	for _, e := range events {
		var v object
		if e.Data == "[DONE]" || json.Unmarshal([]byte(e.Data), &v) != nil {
			continue
		}
		switch {
		case v["type"] == "response.completed":
			return v["response"].(object), err
		case v["type"] == "content_block_start":
			blocks = append(blocks, v["content_block"])
		case v["type"] == "content_block_delta":
			join(blocks[len(blocks)-1].(object), v["delta"].(object))
		case v["choices"] != nil && len(v["choices"].([]any)) > 0:
			addDelta(message, v["choices"].([]any)[0].(object)["delta"].(object))
		}
	}
	for _, b := range blocks {
		if block := b.(object); block["type"] == "tool_use" {
			var input any
			text, _ := block["partial_json"].(string)
			_ = json.Unmarshal([]byte(text), &input)
			block["input"] = input
			delete(block, "partial_json")
		}
	}
	return object{"content": blocks, "choices": []any{object{"message": message}}}, err
}

// join adds the texts of a delta to those of its block.
func join(block, delta object) {
	for key, v := range delta {
		if text, ok := v.(string); ok && key != "type" {
			before, _ := block[key].(string)
			block[key] = before + text
		}
	}
}

// addDelta adds a chunk's delta to a chat message. Each call comes in one.
func addDelta(message, delta object) {
	join(message, delta)
	message["role"] = "assistant"
	delete(message, "reasoning") // a client need not keep it
	for _, key := range []string{"tool_calls", "reasoning_details"} {
		if list, ok := delta[key].([]any); ok {
			before, _ := message[key].([]any)
			message[key] = append(before, list...)
		}
	}
}

// A conversation with a signature that Google refuses goes on with the one for calls of other models.
func TestARefusedSignatureIsReplaced(t *testing.T) {
	g := newSigner(t)
	h := harness.Start(t, g.setup())
	c := geminiCallers()["chat, both"]
	var second object
	_ = json.Unmarshal([]byte(c.first), &second)
	second["messages"] = append(second["messages"].([]any),
		object{"role": "assistant", "tool_calls": []any{object{"id": "c1", "type": "function", "function": object{"name": "weather", "arguments": "{}"},
			"extra_content": object{"google": object{"thought_signature": "b3RoZXI="}}}}},
		object{"role": "tool", "tool_call_id": "c1", "content": "mild"})
	a := postGemini(h, c.path, jsonOf(second))
	sent := g.taken()
	if a.Status != 200 || len(sent) != 2 || strings.Replace(sent[0], "b3RoZXI=", geminiDummy, 1) != sent[1] {
		t.Fatalf("%d %s after %s", a.Status, a.Body, sent)
	}
	usage := harness.At(harness.Parse(t, a.Body), "usage")
	if harness.At(usage, "prompt_tokens") != harness.Number("20") || harness.At(usage, "completion_tokens") != harness.Number("9") {
		t.Errorf("it is charged for %v", usage)
	}
}
