package wire

import (
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/openai/params"
	"github.com/gatehouse-proxy/gatehouse/internal/openrouter"
)

// encodeEmbeddings sends the caller's own bytes with a few edits.
func encodeEmbeddings(e Encoding) (*Sending, error) {
	if e.adapter(embeddingsWire) != nil {
		return e.adapted(embeddingsWire, e.Body, embeddingsAnswer{e.Answer})
	}
	if err := e.setPreferences(); err != nil {
		return nil, err
	}
	params.EncodeEmbeddings(e.Body, e.Asked, e.Model.Name)
	if err := openrouter.EncodeResponsesFields(e.Body, e.openRouter()); err != nil {
		return nil, err
	}
	return e.native(embeddingsWire, embeddingsAnswer{e.Answer}), nil
}

// embeddingsAnswer is a provider's list of embeddings.
type embeddingsAnswer struct{ call openai.Call }

func (a embeddingsAnswer) Whole(dst, body []byte) ([]byte, openai.Summary, error) {
	return openai.EmbeddingsResult(dst, body, a.call)
}

func (a embeddingsAnswer) Stream() openai.Stream { return nil } // none is asked for
