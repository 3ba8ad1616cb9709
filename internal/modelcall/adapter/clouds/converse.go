package clouds

import (
	"net/http"

	"github.com/gatehouse-proxy/gatehouse/internal/modelcall/adapter"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/chatonconverse"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/embeddingsonbedrock"
)

// converse is chat completions on Amazon Bedrock's Converse.
func converse(r *adapter.Request) (*adapter.Adapted, error) {
	body, original, err := chatonconverse.Request(r.Chat(), chatonconverse.Options{
		UpstreamModel: r.Base, Origin: r.Provider.Name + "/" + r.Model, MaxOutput: r.Output,
	})
	if err != nil {
		return nil, err
	}
	a := &adapter.Adapted{Body: [][]byte{body}, LeftOut: original.LeftOut(), Call: r.Call, From: original}
	if r.Stream {
		a.Header = http.Header{"Accept": {chatonconverse.StreamType}}
	}
	return a, nil
}

// converseCount is the number of tokens of a chat request, by Bedrock's CountTokens.
func converseCount(r *adapter.Request) (*adapter.Adapted, error) {
	a, err := converse(r)
	if err != nil {
		return nil, err
	}
	a.Body, a.From = [][]byte{chatonconverse.CountRequest(a.Body[0])}, bedrockCount
	return a, nil
}

// bedrockCount reads the answers of CountTokens.
var bedrockCount = adapter.Count{Member: "inputTokens", Failure: chatonconverse.CountRefusal}

// bedrockEmbeddings is OpenAI's embeddings on models of Bedrock that embed.
func bedrockEmbeddings(r *adapter.Request) (*adapter.Adapted, error) {
	body, original, err := embeddingsonbedrock.Request(r.Body, r.Base)
	if err != nil {
		return nil, err
	}
	return &adapter.Adapted{Body: [][]byte{body}, LeftOut: original.LeftOut(), Call: r.Call, From: original}, nil
}
