package sdkgo_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/shared"
)

func ask(model, text string) openai.ChatCompletionNewParams {
	return openai.ChatCompletionNewParams{
		Model:    model,
		Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage(text)},
	}
}

func TestTheProcedureWithChat(t *testing.T) {
	c := client(t)
	model := pick(t, c)
	var raw *http.Response
	reply, err := c.Chat.Completions.New(ctx(t), ask(model, "hello from go"), option.WithResponseInto(&raw))
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%s says %s", reply.Model, reply.Choices[0].Message.Content)
	if got := reply.Choices[0].Message.Content; got != echo("hello from go") {
		t.Errorf("text is %q", got)
	}
	if reply.Model != model {
		t.Errorf("model is %q, want %q", reply.Model, model)
	}
	if r := find(t, raw.Header.Get("X-Request-Id"), model); r.Status != 200 || r.Stream || r.PromptTokens != reply.Usage.PromptTokens {
		t.Errorf("row is %+v, usage %+v", r, reply.Usage)
	}
}

func TestAModelWithASlashCanBeRetrieved(t *testing.T) {
	c := client(t)
	model := pick(t, c)
	got, err := c.Models.Get(ctx(t), model)
	if err != nil || got.ID != model {
		t.Errorf("model is %v, error %v", got, err)
	}
}

func TestChatStreams(t *testing.T) {
	c := client(t)
	model := pick(t, c)
	var raw *http.Response
	stream := c.Chat.Completions.NewStreaming(ctx(t), ask(model, "a b c d"), option.WithResponseInto(&raw))
	var whole openai.ChatCompletionAccumulator
	for stream.Next() {
		chunk := stream.Current()
		if chunk.Model != model || len(chunk.Choices) != 1 {
			t.Errorf("chunk %s", chunk.RawJSON())
		}
		if !whole.AddChunk(chunk) {
			t.Errorf("the accumulator refuses %s", chunk.RawJSON())
		}
	}
	if stream.Err() != nil {
		t.Fatal(stream.Err())
	}
	choice := whole.Choices[0]
	if choice.Message.Content != echo("a b c d") || choice.FinishReason != "stop" {
		t.Errorf("text %q, finish reason %q", choice.Message.Content, choice.FinishReason)
	}
	if r := find(t, raw.Header.Get("X-Request-Id"), model); !r.Stream || r.PromptTokens == 0 {
		t.Errorf("row is %+v", r)
	}
}

func TestChatStreamsUsageWhenAsked(t *testing.T) {
	c := client(t)
	params := ask(pick(t, c), "a b c")
	params.StreamOptions = openai.ChatCompletionStreamOptionsParam{IncludeUsage: openai.Bool(true)}
	stream := c.Chat.Completions.NewStreaming(ctx(t), params)
	var last openai.ChatCompletionChunk
	for stream.Next() {
		last = stream.Current()
	}
	if stream.Err() != nil || last.Usage.TotalTokens == 0 || len(last.Choices) != 0 {
		t.Errorf("last chunk %s, error %v", last.RawJSON(), stream.Err())
	}
}

func TestToolsGoRound(t *testing.T) {
	c := client(t)
	model := pick(t, c)
	if target(t) != "test" {
		model = target(t) + "/tools"
	}
	params := ask(model, "what is the weather?")
	params.Tools = []openai.ChatCompletionToolUnionParam{openai.ChatCompletionFunctionTool(shared.FunctionDefinitionParam{
		Name: "get_weather",
		Parameters: shared.FunctionParameters{
			"type":       "object",
			"properties": map[string]any{"city": map[string]string{"type": "string"}},
			"required":   []string{"city"},
		},
	})}
	first, err := c.Chat.Completions.New(ctx(t), params)
	if err != nil {
		t.Fatal(err)
	}
	message := first.Choices[0].Message
	if first.Choices[0].FinishReason != "tool_calls" || len(message.ToolCalls) == 0 {
		t.Fatalf("reply %s", first.RawJSON())
	}
	params.Messages = append(params.Messages, message.ToParam())
	for _, call := range message.ToolCalls {
		var arguments map[string]any
		if err := json.Unmarshal([]byte(call.Function.Arguments), &arguments); err != nil || call.Function.Name != "get_weather" {
			t.Errorf("call %s: %v", call.RawJSON(), err)
		}
		params.Messages = append(params.Messages, openai.ToolMessage("sunny", call.ID))
	}
	second, err := c.Chat.Completions.New(ctx(t), params)
	if err != nil || second.Choices[0].FinishReason != "stop" || second.Choices[0].Message.Content == "" {
		t.Errorf("second reply %v, error %v", second, err)
	}
}

func TestJSONSchemaAndAnImage(t *testing.T) {
	c := client(t)
	params := ask(pick(t, c), "")
	params.Messages = []openai.ChatCompletionMessageParamUnion{openai.UserMessage([]openai.ChatCompletionContentPartUnionParam{
		openai.TextContentPart("who?"),
		openai.ImageContentPart(openai.ChatCompletionContentPartImageImageURLParam{URL: "data:image/png;base64,iVBORw0KGgo="}),
	})}
	params.ResponseFormat.OfJSONSchema = &shared.ResponseFormatJSONSchemaParam{
		JSONSchema: shared.ResponseFormatJSONSchemaJSONSchemaParam{
			Name: "person",
			Schema: map[string]any{
				"type":       "object",
				"properties": map[string]any{"name": map[string]string{"type": "string"}},
				"required":   []string{"name"},
			},
		},
	}
	reply, err := c.Chat.Completions.New(ctx(t), params)
	if err != nil {
		t.Fatal(err)
	}
	var person struct{ Name *string }
	if err := json.Unmarshal([]byte(reply.Choices[0].Message.Content), &person); err != nil || person.Name == nil {
		t.Errorf("content %q: %v", reply.Choices[0].Message.Content, err)
	}
}
