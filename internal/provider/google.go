package provider

import (
	"net/http"
	"net/url"
	"strings"
)

// gemini is the dialect of Google's generateContent. The base URL ends in the version of the Gemini
// API (/v1beta), or in the publisher on Vertex AI (…/locations/LOCATION/publishers/google).
type gemini struct{ vertex bool }

// vertexGemini is how the base URL ends on Vertex AI.
const vertexGemini = "/publishers/google"

// OnVertex reports whether the provider has Gemini on Vertex AI: some requests have another form there.
func (p *Provider) OnVertex() bool {
	d, ok := p.Dialect.(gemini)
	return ok && d.vertex
}

func (gemini) Name() string { return Gemini }

// geminiMethods stand behind the model. Chat completions are always streamed: a long answer in one
// piece would be refused, and a failure shows earlier.
var geminiMethods = map[Operation]string{
	Chat: ":streamGenerateContent", CountTokens: ":countTokens", Embeddings: ":batchEmbedContents",
	GenerateContent: ":generateContent", CountContent: ":countTokens",
	EmbedContent: ":embedContent", BatchEmbedContents: ":batchEmbedContents",
}

func (d gemini) Path(op Operation, model string, stream bool) string {
	switch {
	case op == GenerateContent && stream:
		return googlePath(model, ":streamGenerateContent")
	case op == Models && d.vertex:
		return "" // the list there says nothing of a region
	case op == Models:
		return "/models"
	case op == Embeddings && d.vertex && !strings.Contains(model, "gemini"): // older models, as Google's SDK decides
		return googlePath(model, ":predict")
	}
	return googlePath(model, geminiMethods[op])
}

// googlePath is the path of a method of a model, "" without a method.
func googlePath(model, method string) string {
	if method == "" {
		return ""
	}
	return "/models/" + url.PathEscape(model) + method
}

func (gemini) KeyField(key string) (name, value string) { return "X-Goog-Api-Key", key }

func (gemini) Header() http.Header { return nil }

// ModelsQuery asks for the largest page; without it Google sends 50 models.
func (gemini) ModelsQuery() string { return "pageSize=1000" }

func (gemini) OpenRouterFields() bool { return false }

// vertexAnthropic is the dialect of Claude on Vertex AI. The base URL ends in
// …/locations/LOCATION/publishers/anthropic.
type vertexAnthropic struct{}

func (vertexAnthropic) Name() string { return VertexAnthropic }

func (vertexAnthropic) Path(op Operation, model string, stream bool) string {
	switch {
	case op == CountTokens:
		return googlePath("count-tokens", ":rawPredict") // the body names the model
	case op == Messages && stream:
		return googlePath(model, ":streamRawPredict")
	case op == Messages:
		return googlePath(model, ":rawPredict")
	}
	return ""
}

func (vertexAnthropic) KeyField(key string) (name, value string) { return BearerField(key) }

func (vertexAnthropic) Header() http.Header { return nil }

func (vertexAnthropic) ModelsQuery() string { return "" }

func (vertexAnthropic) OpenRouterFields() bool { return false }

// googleHost is the host of a location of Vertex AI. "us" and "eu" are multi-regions.
func googleHost(location string) string {
	switch location {
	case "global":
		return "aiplatform.googleapis.com"
	case "us", "eu":
		return "aiplatform." + location + ".rep.googleapis.com"
	}
	return location + "-aiplatform.googleapis.com"
}
