package sdkgo_test

import (
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
