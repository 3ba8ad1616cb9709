package embeddingsongemini

import (
	"io"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/embedding"
)

// Whole returns the list of embeddings.
func (o *Original) Whole(body io.Reader, call openai.Call, again translate.Again) ([]byte, error) {
	asked := embedding.Asked{Texts: o.texts, Base64: o.base64, End: o.end, Body: o.body, Vectors: vectors}
	return asked.Whole(body, call, again)
}

// Stream returns the answer as it is: embeddings are not streamed.
func (o *Original) Stream(body io.Reader, _ openai.Call, _ translate.Again) io.Reader { return body }

// vectors adds the vectors of an answer, and returns the tokens that it counts, in all or of each
// text.
func vectors(answer []byte, add func(values []byte) bool) (tokens int64, ok bool) {
	list, inner := translate.Member(answer, "embeddings"), false
	if list == nil {
		list, inner = translate.Member(answer, "predictions"), true
	}
	counted := int64(0)
	for span := range jsonscan.AllElements(list) {
		one := span.Value(list)
		if inner {
			one = translate.Member(one, "embeddings")
		}
		if !add(translate.Member(one, "values")) {
			return 0, false
		}
		statistics := translate.Member(one, "statistics")
		counted += max(embedding.Count(statistics, "token_count"), embedding.Count(statistics, "tokenCount"))
	}
	return max(embedding.Count(translate.Member(answer, "usageMetadata"), "promptTokenCount"), counted), true
}
