package provider

import (
	"net/url"
	"strings"
)

// Dialects with Google's protocols.
const (
	Gemini          = "gemini"           // generateContent, at the Gemini API or on Vertex AI
	VertexAnthropic = "vertex-anthropic" // Claude on Vertex AI: rawPredict
)

// Google's protocols.
const (
	GenerateContentAPI Protocol = "generateContent"
	RawPredict         Protocol = "rawPredict"
)

const geminiHost = "generativelanguage.googleapis.com"

// vertexGemini is how the base URL of Gemini ends on Vertex AI.
const vertexGemini = "/publishers/google"

// gemini is the dialect of Google's generateContent. The base URL ends in the version of the Gemini
// API (/v1beta), or in the publisher on Vertex AI (…/locations/LOCATION/publishers/google). Names
// that end in -latest exist only in the beta of the Gemini API, and only the beta of Vertex AI
// continues long answers. Without a query Google lists 50 models; this is the largest page.
var gemini = &Dialect{
	name: Gemini,
	selects: func(base *url.URL) bool { // it has a layer of OpenAI's API, too
		return base.Hostname() == geminiHost && !strings.Contains(base.Path, "/openai")
	},
	bases: map[string]string{
		"":     "https://" + geminiHost + "/{version}",
		google: "https://{host}/{version}/projects/{project}/locations/{location}/publishers/google",
	},
	versions:     map[string]string{"": "v1beta", google: "v1beta1"},
	usualAt:      []string{google},
	catalogNames: map[string]string{"": "gemini"},
	variants:     map[string]*Dialect{vertexGemini: geminiOnVertex},
	path:         geminiPath,
	keyField:     googleKeyField,
	modelsQuery:  geminiPage,
	protocol:     GenerateContentAPI,
}

// geminiOnVertex is gemini on Vertex AI: some requests have another form there.
var geminiOnVertex = &Dialect{
	name: Gemini,
	path: func(op Operation, model string, stream bool) string {
		switch {
		case op == Models:
			return "" // the list there says nothing of a region
		case op == Embeddings && !strings.Contains(model, "gemini"): // older models, as Google's SDK decides
			return googlePath(model, ":predict")
		}
		return geminiPath(op, model, stream)
	},
	keyField:    googleKeyField,
	modelsQuery: geminiPage,
	protocol:    GenerateContentAPI,
}

const geminiPage = "pageSize=1000"

func googleKeyField(key string) (name, value string) { return "X-Goog-Api-Key", key }

// OnVertex reports whether the provider has Gemini on Vertex AI.
func (p *Provider) OnVertex() bool { return p.Dialect == geminiOnVertex }

// geminiMethods stand behind the model. Chat completions are always streamed: a long answer in one
// piece would be refused, and a failure shows earlier.
var geminiMethods = map[Operation]string{
	Chat: ":streamGenerateContent", CountTokens: ":countTokens", Embeddings: ":batchEmbedContents",
	GenerateContent: ":generateContent", CountContent: ":countTokens",
	EmbedContent: ":embedContent", BatchEmbedContents: ":batchEmbedContents",
}

func geminiPath(op Operation, model string, stream bool) string {
	switch {
	case op == GenerateContent && stream:
		return googlePath(model, ":streamGenerateContent")
	case op == Models:
		return "/models"
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

// vertexAnthropic is the dialect of Claude on Vertex AI. The base URL ends in
// …/locations/LOCATION/publishers/anthropic.
var vertexAnthropic = &Dialect{
	name: VertexAnthropic,
	bases: map[string]string{
		google: "https://{host}/{version}/projects/{project}/locations/{location}/publishers/anthropic",
	},
	versions: map[string]string{google: "v1"},
	path:     rawPredictPath,
	keyField: BearerField,
	protocol: RawPredict,
}

func rawPredictPath(op Operation, model string, stream bool) string {
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
