package params

import (
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
)

// ParseEmbeddings reads an embeddings request as [ParseChat] reads a chat one. It must have `input`: a
// text or an array of texts, of tokens, of arrays of tokens, or of OpenRouter's objects with parts. It
// cannot be streamed.
func ParseEmbeddings(b *jsonscan.Body) (Request, error) {
	req, err := listHead(b, "embeddings", true)
	if err == nil {
		err = required(b, "input", textOrList, aTextOrList)
	}
	return req, err
}

// EmbeddingsLimits is [ChatLimits] for a request that [ParseEmbeddings] accepted. Messages counts what
// is embedded; a list of tokens is one. Nothing is generated.
func EmbeddingsLimits(b *jsonscan.Body) RequestedLimits {
	input := value(b, "input")
	for e := range jsonscan.AllElements(input) {
		if e.Kind == '0' {
			return RequestedLimits{Messages: 1}
		}
		break
	}
	return RequestedLimits{Messages: count(input)}
}
