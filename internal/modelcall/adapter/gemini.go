package adapter

import (
	"io"

	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/provider"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/chatongemini"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/embeddingsongemini"
)

// geminiChat is chat completions on Google's generateContent, which is always asked for a stream.
func geminiChat(r *Request) (*Adapted, error) {
	body, original, err := chatongemini.Request(r.Chat(), geminiOptions(r))
	if err != nil {
		return nil, err
	}
	return &Adapted{Body: [][]byte{body}, Query: "alt=sse", Stream: true, LeftOut: original.LeftOut(), call: r.Call, answer: original}, nil
}

// Requests returns how many requests an answer of so many tokens may take at a provider, for an API that it
// is made to look like. Each of them is billed for the prompt.
func Requests(p *provider.Provider, api provider.Operation, output int64) int64 {
	if p.Dialect.Protocol() == provider.GenerateContentAPI && api == provider.Chat {
		return chatongemini.Requests(output)
	}
	return 1
}

func geminiOptions(r *Request) chatongemini.Options {
	return chatongemini.Options{UpstreamModel: r.Model, MaxOutput: r.Output}
}

// geminiCount is the number of tokens of a chat request, by Google's countTokens.
func geminiCount(r *Request) (*Adapted, error) {
	body, _, err := chatongemini.Request(r.Chat(), geminiOptions(r))
	if err != nil {
		return nil, err
	}
	return &Adapted{Body: [][]byte{chatongemini.CountRequest(body, r.Model, r.Provider.OnVertex())}, call: r.Call, answer: count{"totalTokens", chatongemini.Refusal}}, nil
}

// geminiEmbeddings is OpenAI's embeddings on Google's models that embed.
func geminiEmbeddings(r *Request) (*Adapted, error) {
	body, original, err := embeddingsongemini.Request(r.Body, r.Model, r.Provider.OnVertex())
	if err != nil {
		return nil, err
	}
	return &Adapted{Body: [][]byte{body}, call: r.Call, answer: geminiList{Original: original}}, nil
}

// geminiNative is a request of Google's own API. Only its errors become OpenAI's.
func geminiNative(r *Request) (*Adapted, error) {
	a := &Adapted{Body: r.Body.Segments(nil), call: r.Call, answer: geminiAnswer{}}
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
