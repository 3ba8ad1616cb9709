package params

import (
	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/units"
)

// ParseModerations reads a request for moderations as [ParseEmbeddings] does: `input` is a text, or an
// array of texts or parts. A request without a model asks for [DefaultModeration].
func ParseModerations(b *jsonscan.Body) (Request, error) {
	_, named := member(b, "model")
	req, err := listHead(b, "moderations", named)
	if err != nil {
		return req, err
	}
	if !named {
		req.Model = DefaultModeration
	}
	return req, required(b, "input", textOrList, aTextOrList)
}

// DefaultModeration is the model of moderations that name none, as at OpenAI. It can be an alias.
const DefaultModeration = "omni-moderation-latest"

// ParseRerank reads a request to rank documents: `query` is a text, `documents` an array of texts or
// objects. Cohere, Jina, vLLM and OpenRouter have these fields.
func ParseRerank(b *jsonscan.Body) (Request, error) {
	req, err := listHead(b, "rerank", true)
	if err == nil {
		err = required(b, "query", `"{`, "a string")
	}
	if err == nil {
		err = required(b, "documents", "[", "an array")
	}
	return req, err
}

// listHead is head for an API that answers with a list. Without a model there must be none.
func listHead(b *jsonscan.Body, api string, model bool) (req Request, err error) {
	if model {
		req, err = head(b)
	} else {
		req.model, err = -1, checkSpelling(b)
		if i, ok := b.Find("model"); ok {
			req.model = i // null
		}
	}
	if err == nil && req.Stream {
		err = apierror.New(apierror.UnsupportedParameter, "%s cannot be streamed", api).WithParam("stream")
	}
	return req, err
}

// ListLimits is [EmbeddingsLimits] for a request with another list.
func ListLimits(b *jsonscan.Body, name string) RequestedLimits {
	return RequestedLimits{Messages: count(value(b, name))}
}

// documentTokens is what a document of a search unit has at most, the query included (Cohere).
const documentTokens = 500

// unitDocuments is how many documents a search unit has at most (Cohere, OpenRouter).
const unitDocuments = 100

// RerankLimits is [ListLimits] for a request that [ParseRerank] accepted, with the most search units
// that it can use: a document counts once for every 500 tokens of it and the query, and a token has a
// byte or more.
func RerankLimits(b *jsonscan.Body) RequestedLimits {
	l := ListLimits(b, "documents")
	query, chunks := int64(len(value(b, "query"))), int64(0)
	documents := value(b, "documents")
	for d := range jsonscan.AllElements(documents) {
		chunks += max(1, (int64(d.End-d.Start)+query+documentTokens-1)/documentTokens)
	}
	l.Units[units.Queries] = max(1, (chunks+unitDocuments-1)/unitDocuments)
	return l
}

// EncodeList turns a caller's request into the provider's: the model as the provider knows it.
func EncodeList(b *jsonscan.Body, req Request, upstreamModel string) { req.setModel(b, upstreamModel) }
