package embeddingsonbedrock

import (
	"io"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/embedding"
)

// Whole returns the list of embeddings.
func (o *Original) Whole(body io.Reader, call openai.Call, again translate.Again) ([]byte, error) {
	asked := embedding.Asked{Texts: o.texts, Base64: o.base64, End: o.end, Body: o.body, Vectors: o.vectors}
	return asked.Whole(body, call, again)
}

// Stream returns the answer as it is: embeddings are not streamed.
func (o *Original) Stream(body io.Reader, _ openai.Call, _ translate.Again) io.Reader { return body }

// vectors adds the vectors of an answer, and returns the tokens that it, or its header, counts.
func (o *Original) vectors(answer []byte, add func(values []byte) bool) (tokens int64, ok bool) {
	if !o.model.cohere {
		return max(embedding.Count(answer, "inputTextTokenCount"), o.counted), add(translate.Member(answer, "embedding"))
	}
	list := translate.Member(answer, "embeddings")
	if byType := translate.Member(list, "float"); byType != nil {
		list = byType
	}
	for span := range jsonscan.AllElements(list) {
		if !add(span.Value(list)) {
			return 0, false
		}
	}
	return o.counted, true
}
