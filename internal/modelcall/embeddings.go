package modelcall

import (
	"net/http"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/openai/params"
	"github.com/gatehouse-proxy/gatehouse/internal/openrouter"
	"github.com/gatehouse-proxy/gatehouse/internal/provider"
)

// embeddings is the API of embeddings: the caller's own bytes with a few edits. The families of OpenAI
// and OpenRouter have the same shapes here, and no provider gets it translated.
type embeddings struct{}

func (embeddings) kind() provider.Operation { return provider.Embeddings }
func (embeddings) messages() string         { return "input" }

func (embeddings) parse(b *jsonscan.Body, _ http.Header) (params.Request, error) {
	return params.ParseEmbeddings(b)
}

func (embeddings) requestedLimits(b *jsonscan.Body) (params.RequestedLimits, error) {
	return params.EmbeddingsLimits(b), nil
}

func (embeddings) references(b *jsonscan.Body) (params.Refs, error) { return params.References(b) }

func (embeddings) heartbeat(http.Header) heartbeat { return heartbeat{} }

func (embeddings) encode(e encoding) (*sending, error) {
	if err := e.setPreferences(); err != nil {
		return nil, err
	}
	params.EncodeEmbeddings(e.body, e.asked, e.target.model.Name)
	if err := openrouter.EncodeResponsesFields(e.body, e.openRouter()); err != nil {
		return nil, err
	}
	return &sending{operation: provider.Embeddings, body: e.body.Segments(nil), answer: embeddingsAnswer{e.answer}}, nil
}

// embeddingsAnswer is a provider's list of embeddings.
type embeddingsAnswer struct{ call openai.Call }

func (a embeddingsAnswer) whole(dst, body []byte) ([]byte, openai.Summary, error) {
	return openai.EmbeddingsResult(dst, body, a.call)
}

func (a embeddingsAnswer) stream() openai.Stream { return nil } // none is asked for
