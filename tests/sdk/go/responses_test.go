package sdkgo_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/responses"
)

func input(model, text string) responses.ResponseNewParams {
	return responses.ResponseNewParams{
		Model: model,
		Input: responses.ResponseNewParamsInputUnion{OfString: openai.String(text)},
	}
}

func TestTheProcedureWithResponses(t *testing.T) {
	c := client(t)
	model := pick(t, c)
	var raw *http.Response
	reply, err := c.Responses.New(ctx(t), input(model, "hello from go"), option.WithResponseInto(&raw))
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%s says %s", reply.Model, reply.OutputText())
	if reply.OutputText() != echo("hello from go") || reply.Model != model {
		t.Errorf("text %q, model %q", reply.OutputText(), reply.Model)
	}
	if r := find(t, raw.Header.Get("X-Request-Id"), model); r.Status != 200 || r.PromptTokens != reply.Usage.InputTokens {
		t.Errorf("row is %+v, usage %+v", r, reply.Usage)
	}
}

func TestResponsesStream(t *testing.T) {
	c := client(t)
	model := pick(t, c)
	stream := c.Responses.NewStreaming(ctx(t), input(model, "a b c d"))
	var text strings.Builder
	var types []string
	for stream.Next() {
		event := stream.Current()
		if want := int64(len(types)); event.SequenceNumber != want {
			t.Errorf("sequence number %d, want %d", event.SequenceNumber, want)
		}
		types = append(types, event.Type)
		switch e := event.AsAny().(type) {
		case responses.ResponseTextDeltaEvent:
			text.WriteString(e.Delta)
		case responses.ResponseCompletedEvent:
			if e.Response.Model != model || e.Response.OutputText() != text.String() {
				t.Errorf("completed: model %q, text %q", e.Response.Model, e.Response.OutputText())
			}
		}
	}
	if stream.Err() != nil {
		t.Fatal(stream.Err())
	}
	if types[0] != "response.created" || types[len(types)-1] != "response.completed" {
		t.Errorf("events %v", types)
	}
	if text.String() != echo("a b c d") {
		t.Errorf("text %q", text.String())
	}
}

// storedResponses is what the routes about a stored response show, but for ids.
func storedResponses(t *testing.T, c openai.Client, model string) string {
	t.Helper()
	var items responses.ResponseInputParam
	for _, text := range []string{"one", "two", "three"} {
		items = append(items, responses.ResponseInputItemParamOfMessage(text, responses.EasyInputMessageRoleUser))
	}
	first, err := c.Responses.New(ctx(t), responses.ResponseNewParams{Model: model, Input: responses.ResponseNewParamsInputUnion{OfInputItemList: items}})
	if err != nil {
		t.Fatal(err)
	}
	shown, err := c.Responses.Get(ctx(t), first.ID, responses.ResponseGetParams{Include: []responses.ResponseIncludable{responses.ResponseIncludableMessageOutputTextLogprobs}})
	if err != nil || shown.ID != first.ID || shown.OutputText() != first.OutputText() || shown.Model != model {
		t.Fatalf("%+v, %v", shown, err)
	}
	saw := []string{shown.OutputText()}
	list := c.Responses.InputItems.ListAutoPaging(ctx(t), first.ID, responses.InputItemListParams{Limit: openai.Int(2), Order: responses.InputItemListParamsOrderAsc})
	for list.Next() {
		saw = append(saw, list.Current().Content.OfInputItemContentList[0].Text)
	}
	count, err := c.Responses.InputTokens.Count(ctx(t), responses.InputTokenCountParams{
		Model: openai.String(model), Input: responses.InputTokenCountParamsInputUnion{OfString: openai.String("one two three")},
	})
	if err := errors.Join(list.Err(), err); err != nil {
		t.Fatal(err)
	}
	compacted, err := c.Responses.Compact(ctx(t), responses.ResponseCompactParams{
		Model: responses.ResponseCompactParamsModel(model), PreviousResponseID: openai.String(first.ID), Instructions: openai.String("be short"),
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, item := range compacted.Output {
		saw = append(saw, item.Type)
	}
	later, err := c.Responses.New(ctx(t), input(model, "in the background"))
	if err != nil {
		t.Fatal(err)
	}
	cancelled, err := c.Responses.Cancel(ctx(t), later.ID)
	if err != nil {
		t.Fatal(err)
	}
	saw = append(saw, string(cancelled.Status), string(compacted.Object), fmt.Sprint(count.InputTokens, compacted.Usage.OutputTokens))
	var refused *openai.Error
	if _, err := c.Responses.Cancel(ctx(t), first.ID); !errors.As(err, &refused) || refused.StatusCode != 400 {
		t.Errorf("cancelled: %v", err)
	}
	if err := c.Responses.Delete(ctx(t), first.ID); err != nil {
		t.Error(err)
	}
	if _, err := c.Responses.Get(ctx(t), first.ID, responses.ResponseGetParams{}); !errors.As(err, &refused) || refused.StatusCode != 404 {
		t.Errorf("after it was deleted: %v", err)
	}
	return strings.Join(saw, "; ")
}

func TestStoredResponsesAreThoseOfTheProviderOnlyFake(t *testing.T) {
	needFake(t)
	direct := openai.NewClient(option.WithBaseURL(env(t, "FAKE_ORIGIN")+"/v1"), option.WithAPIKey(env(t, "FAKE_API_KEY")), option.WithMaxRetries(0))
	want := storedResponses(t, direct, "echo")
	if got := storedResponses(t, client(t), "fake/echo"); got != want || !strings.Contains(want, "one; two; three; message; compaction") {
		t.Errorf("through the gateway %s\nat the provider %s", got, want)
	}
}
