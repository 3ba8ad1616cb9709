package wire

import (
	"net/http"

	"github.com/gatehouse-proxy/gatehouse/internal/gemini"
	"github.com/gatehouse-proxy/gatehouse/internal/guardrail"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/openai/params"
	"github.com/gatehouse-proxy/gatehouse/internal/provider"
)

// The parts of Google's API.
var (
	generateWire   = &Wire{Name: provider.GenerateContent, Guardrail: guardrail.Generate, Usage: gemini.EventUsage, Events: gemini.Events}
	countContent   = &Wire{Name: provider.CountContent}
	embedWire      = &Wire{Name: provider.EmbedContent}
	batchEmbedWire = &Wire{Name: provider.BatchEmbedContents}
)

// insteadOfGoogle is how a model is called that no provider serves by Google's API.
const insteadOfGoogle = "chat completions (POST /v1/chat/completions)"

// GenerateContent is Google's API, which no provider gets translated.
var GenerateContent = &Operation{
	Name: provider.GenerateContent, Span: "generate_content", List: "contents", Generates: true, Instead: insteadOfGoogle, TwoSpellings: true,
	Parse: func(b *jsonscan.Body, _ http.Header, path params.Request) (params.Request, error) {
		return params.ParseGenerate(b, path)
	},
	Limits: params.GenerateLimits, References: params.GenerateReferences, Fields: params.GenerateFields, Content: generateContent,
	// Google's SDKs fail on comments and on names of events.
	Heartbeat: func(http.Header) Heartbeat { return Heartbeat{Comment: gemini.Heartbeat} },
	Routes:    []Route{{Wire: generateWire, Encode: encodeGenerate}},
}

// CountContent counts the tokens of such a request and does not run it.
var CountContent = &Operation{
	Name: provider.CountContent, Span: "count_tokens", List: "contents", Instead: insteadOfGoogle, TwoSpellings: true,
	Parse: func(b *jsonscan.Body, _ http.Header, path params.Request) (params.Request, error) {
		return params.ParseCount(b, path)
	},
	References: params.GenerateReferences,
	Routes:     named(countContent, &gemini.Count),
}

// EmbedContent is Google's API of embeddings.
var EmbedContent = &Operation{
	Name: provider.EmbedContent, Span: "embeddings", List: "content", Instead: insteadOfEmbedding, TwoSpellings: true,
	Parse: func(b *jsonscan.Body, _ http.Header, path params.Request) (params.Request, error) {
		return params.ParseEmbed(b, path)
	},
	Limits: embedLimits, References: params.GenerateReferences, Fields: params.EmbedFields, Content: generateContent,
	Routes: named(embedWire, &gemini.Embedding),
}

// BatchEmbedContents embeds several texts.
var BatchEmbedContents = &Operation{
	Name: provider.BatchEmbedContents, Span: "embeddings", List: "requests", Instead: insteadOfEmbedding, TwoSpellings: true,
	Parse: func(b *jsonscan.Body, _ http.Header, path params.Request) (params.Request, error) {
		return params.ParseBatchEmbed(b, path)
	},
	Limits: embedLimits, References: params.GenerateReferences, Fields: params.BatchEmbedFields, Content: generateContent,
	Routes: named(batchEmbedWire, &gemini.Embeddings),
}

const insteadOfEmbedding = "embeddings (POST /v1/embeddings)"

func generateContent(b *jsonscan.Body, _ http.Header) params.Content {
	return params.GenerateContentOf(b)
}

func embedLimits(b *jsonscan.Body) (params.RequestedLimits, error) { return params.EmbedLimits(b), nil }

// encodeGenerate sends the caller's own bytes with a few edits.
func encodeGenerate(e Encoding) (*Sending, error) {
	params.EncodeGenerate(e.Body, e.Output)
	return e.adapted(generateWire, e.Body, &generateAnswer{e.Answer, e.Asked.Array, e.Asked.Choices})
}

// named is the route of a request that has the name of its model within, too.
func named(w *Wire, m *gemini.Member) []Route {
	return []Route{{Wire: w, Encode: func(e Encoding) (*Sending, error) {
		name := gemini.ModelPrefix + e.Model.Name
		if e.Provider.Dialect.Unnamed {
			name = ""
		}
		params.EncodeNamed(e.Body, name)
		return e.adapted(w, e.Body, &memberAnswer{m, e.Answer})
	}}}
}

// generateAnswer is the answer of a provider that has Google's API.
type generateAnswer struct {
	call       openai.Call
	array      bool  // the caller wants it as the only element of one
	candidates int64 // that were asked for
}

func (a *generateAnswer) Whole(dst, body []byte) ([]byte, openai.Summary, error) {
	if !a.array {
		return gemini.Result(dst, body, a.call)
	}
	out, sum, err := gemini.Result(append(dst, '['), body, a.call)
	if err != nil {
		return dst, sum, err
	}
	return append(out, ']'), sum, nil
}

func (a *generateAnswer) Stream() openai.Stream { return gemini.NewStream(a.call, a.candidates) }

// memberAnswer is an answer that is not streamed.
type memberAnswer struct {
	member *gemini.Member
	call   openai.Call
}

func (a *memberAnswer) Whole(dst, body []byte) ([]byte, openai.Summary, error) {
	return a.member.Result(dst, body, a.call)
}

func (a *memberAnswer) Stream() openai.Stream { return nil } // none is asked for
