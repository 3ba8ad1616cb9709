package gemini

import (
	"io"

	"github.com/gatehouse-proxy/gatehouse/internal/modelcall/adapter"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/chatongemini"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/embeddingsongemini"
)

// geminiChat is chat completions on Google's generateContent, which is always asked for a stream.
func geminiChat(r *adapter.Request) (*adapter.Adapted, error) {
	body, original, err := chatongemini.Request(r.Chat(), geminiOptions(r))
	if err != nil {
		return nil, err
	}
	return &adapter.Adapted{Body: [][]byte{body}, Query: "alt=sse", Stream: true, LeftOut: original.LeftOut(), Call: r.Call, From: original}, nil
}

func geminiOptions(r *adapter.Request) chatongemini.Options {
	return chatongemini.Options{UpstreamModel: r.Model, MaxOutput: r.Output}
}

// geminiCount is the number of tokens of a chat request, by Google's countTokens.
func geminiCount(r *adapter.Request) (*adapter.Adapted, error) {
	body, _, err := chatongemini.Request(r.Chat(), geminiOptions(r))
	if err != nil {
		return nil, err
	}
	counted := chatongemini.CountRequest(body, r.Model, r.Provider.Dialect.Unnamed)
	return &adapter.Adapted{Body: [][]byte{counted}, Call: r.Call, From: adapter.Count{Member: "totalTokens", Failure: chatongemini.Refusal}}, nil
}

// geminiEmbeddings is OpenAI's embeddings on Google's models that embed.
func geminiEmbeddings(r *adapter.Request) (*adapter.Adapted, error) {
	body, original, err := embeddingsongemini.Request(r.Body, r.Model, r.Provider.Dialect.Unnamed)
	if err != nil {
		return nil, err
	}
	return &adapter.Adapted{Body: [][]byte{body}, Call: r.Call, From: geminiList{Original: original}}, nil
}

// geminiNative is a request of Google's own API. Only its errors become OpenAI's.
func geminiNative(r *adapter.Request) (*adapter.Adapted, error) {
	a := &adapter.Adapted{Body: r.Body.Segments(nil), Call: r.Call, From: geminiAnswer{}}
	if r.Stream {
		a.Query = "alt=sse"
	}
	return a, nil
}

// geminiAnswer is an answer that is given as it came.
type geminiAnswer struct{ chatongemini.Refusals }

func (geminiAnswer) Stream(body io.Reader, _ openai.Call, _ translate.Again) io.Reader { return body }

// geminiList is an answer with embeddings.
type geminiList struct {
	*embeddingsongemini.Original
	chatongemini.Refusals
}
