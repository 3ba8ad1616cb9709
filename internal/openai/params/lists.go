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
	return req, required(b, "input", true)
}

// DefaultModeration is the model of moderations that name none, as at OpenAI. It can be an alias.
const DefaultModeration = "omni-moderation-latest"

// ParseRerank reads a request to rank documents: `query` is a text, `documents` an array of texts or
// objects. Cohere, Jina, vLLM and OpenRouter have these fields.
func ParseRerank(b *jsonscan.Body) (Request, error) {
	req, err := listHead(b, "rerank", true)
	if err != nil {
		return req, err
	}
	if query, ok := member(b, "query"); !ok {
		return req, missing("query")
	} else if query.Kind != '"' && query.Kind != '{' {
		return req, wrong("query", "a string")
	}
	return req, required(b, "documents", false)
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

// required refuses a request without a list. It may be a single text.
func required(b *jsonscan.Body, name string, orText bool) error {
	m, ok := member(b, name)
	switch {
	case !ok:
		return missing(name)
	case m.Kind == '[' || m.Kind == '"' && orText:
		return nil
	case orText:
		return wrong(name, "a string or an array")
	}
	return wrong(name, "an array")
}

// ListLimits is [EmbeddingsLimits] for a request with another list.
func ListLimits(b *jsonscan.Body, name string) RequestedLimits {
	m, ok := member(b, name)
	if !ok {
		return RequestedLimits{}
	}
	return RequestedLimits{Messages: count(m.Value(b.Data()))}
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
	m, _ := member(b, "documents")
	q, _ := member(b, "query")
	query := int64(len(q.Value(b.Data())))
	chunks := int64(0)
	documents := m.Value(b.Data())
	for d := range jsonscan.AllElements(documents) {
		chunks += max(1, (int64(d.End-d.Start)+query+documentTokens-1)/documentTokens)
	}
	l.Units[units.Queries] = max(1, (chunks+unitDocuments-1)/unitDocuments)
	return l
}

// RerankContentOf is [ContentOf] for a request that [ParseRerank] accepted. Models read the query with each
// document.
func RerankContentOf(b *jsonscan.Body) Content {
	c := ContentOf(b)
	q, _ := member(b, "query")
	c.Again = int64(len(q.Value(b.Data()))) * int64(max(RerankLimits(b).Messages-1, 0))
	return c
}

// EncodeList turns a caller's request into the provider's: the model as the provider knows it.
func EncodeList(b *jsonscan.Body, req Request, upstreamModel string) { req.setModel(b, upstreamModel) }
