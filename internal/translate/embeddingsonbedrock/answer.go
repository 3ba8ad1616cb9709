package embeddingsonbedrock

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
	end := o.end(0)
	err := l.Read(body, o.texts[:end], o.vectors)
	for err == nil && end < len(o.texts) {
		from := end
		end = o.end(from)
		var further io.ReadCloser
		if further, err = again(o.body(from)); err == nil {
			err = l.Read(further, o.texts[from:end], o.vectors)
			_ = further.Close()
		}
	}
	return l.End(err)
}

// Stream returns the answer as it is: embeddings are not streamed.
func (o *Original) Stream(body io.Reader, _ openai.Call, _ translate.Again) io.Reader { return body }

// vectors adds the vectors of an answer, and returns the tokens that it, or its header, counts.
func (o *Original) vectors(answer []byte, add func(values []byte) bool) (tokens int64, ok bool) {
	if !o.model.cohere {
		return max(embedding.Count(answer, "inputTextTokenCount"), o.counted), add(embedding.Member(answer, "embedding"))
	}
	list := embedding.Member(answer, "embeddings")
	if byType := embedding.Member(list, "float"); byType != nil {
		list = byType
	}
	for span := range jsonscan.AllElements(list) {
		if !add(span.Value(list)) {
			return 0, false
		}
	}
	return o.counted, true
}
