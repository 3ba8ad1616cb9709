package embeddingsongemini

import (
	"io"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/embedding"
)

// Whole returns the list of embeddings: one vector for each text, in order. It sends the requests for
// the texts that the first one did not have.
func (o *Original) Whole(body io.Reader, call openai.Call, again translate.Again) ([]byte, error) {
	l := embedding.NewList(&call, o.base64)
	first, end := o.next(0)
	err := l.Read(body, o.texts[first:end], vectors)
	for err == nil && end < len(o.texts) {
		first, end = o.next(end)
		var further io.ReadCloser
		if further, err = again(o.body(first, end)); err == nil {
			err = l.Read(further, o.texts[first:end], vectors)
			_ = further.Close()
		}
	}
	return l.End(err)
}

// Stream returns the answer as it is: embeddings are not streamed.
func (o *Original) Stream(body io.Reader, _ openai.Call, _ translate.Again) io.Reader { return body }

// vectors adds the vectors of an answer, and returns the tokens that it counts, in all or of each text.
func vectors(answer []byte, add func(values []byte) bool) (tokens int64, ok bool) {
	list, inner := embedding.Member(answer, "embeddings"), false
	if list == nil {
		list, inner = embedding.Member(answer, "predictions"), true
	}
	counted := int64(0)
	for span := range jsonscan.AllElements(list) {
		one := span.Value(list)
		if inner {
			one = embedding.Member(one, "embeddings")
		}
		if !add(embedding.Member(one, "values")) {
			return 0, false
		}
		statistics := embedding.Member(one, "statistics")
		counted += max(embedding.Count(statistics, "token_count"), embedding.Count(statistics, "tokenCount"))
	}
	return max(embedding.Count(embedding.Member(answer, "usageMetadata"), "promptTokenCount"), counted), true
}
