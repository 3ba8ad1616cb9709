package sdkgo_test

import (
	"net/http"
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
)

func TestEmbeddings(t *testing.T) {
	c := client(t)
	model := pick(t, c)
	if target(t) != "fake" && target(t) != "chatonly" {
		model = "test/embed"
	}
	var raw *http.Response
	params := openai.EmbeddingNewParams{Model: model, Input: openai.EmbeddingNewParamsInputUnion{OfArrayOfStrings: []string{"a b", "c"}}, Dimensions: openai.Int(8)}
	reply, err := c.Embeddings.New(ctx(t), params, option.WithResponseInto(&raw))
	if err != nil {
		t.Fatal(err)
	}
	if len(reply.Data) != 2 || len(reply.Data[1].Embedding) != 8 || reply.Model != model || reply.Usage.PromptTokens != 3 {
		t.Errorf("got %s", reply.RawJSON())
	}
	if r := find(t, raw.Header.Get("X-Request-Id"), model); r.Status != 200 || r.PromptTokens != 3 {
		t.Errorf("row is %+v", r)
	}
	params.EncodingFormat = openai.EmbeddingNewParamsEncodingFormatBase64
	if decoded, err := c.Embeddings.New(ctx(t), params); err != nil || len(decoded.Data) != 2 {
		t.Errorf("base64: %v, %v", decoded, err)
	}
	params.Dimensions = openai.Int(0)
	if _, err := c.Embeddings.New(ctx(t), params); err == nil {
		t.Error("no error for no dimensions")
	}
}
