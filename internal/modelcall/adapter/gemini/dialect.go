// Package gemini is the dialect of Google's generateContent, of the Gemini API and of Vertex AI. It
// registers itself.
package gemini

import (
	"net/url"
	"strings"

	"github.com/gatehouse-proxy/gatehouse/internal/modelcall/adapter"
	"github.com/gatehouse-proxy/gatehouse/internal/provider"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/chatongemini"
)

func init() {
	adapter.Register(adapter.Dialect{Dialect: gemini, Requests: chatongemini.Requests, Adapters: map[provider.Operation]adapter.Adapter{
		provider.Chat: geminiChat, provider.CountTokens: geminiCount, provider.Embeddings: geminiEmbeddings,
		provider.GenerateContent: geminiNative, provider.CountContent: geminiNative,
		provider.EmbedContent: geminiNative, provider.BatchEmbedContents: geminiNative,
	}})
}

const geminiHost = "generativelanguage.googleapis.com"

// vertexGemini is how the base URL of Gemini ends on Vertex AI.
const vertexGemini = "/publishers/google"

// gemini is the dialect of Google's generateContent. The base URL ends in the version of the Gemini
// API (/v1beta), or in the publisher on Vertex AI (…/locations/LOCATION/publishers/google). Names
// that end in -latest exist only in the beta of the Gemini API, and only the beta of Vertex AI
// continues long answers. Without a query Google lists 50 models; this is the largest page.
var gemini = &provider.Dialect{
	Name: provider.Gemini,
	Selects: func(base *url.URL) bool { // it has a layer of OpenAI's API, too
		return base.Hostname() == geminiHost && !strings.Contains(base.Path, "/openai")
	},
	Bases: map[string]string{
		"":              "https://" + geminiHost + "/{version}",
		provider.Google: "https://{host}/{version}/projects/{project}/locations/{location}/publishers/google",
	},
	Versions:     map[string]string{"": "v1beta", provider.Google: "v1beta1"},
	UsualAt:      []string{provider.Google},
	CatalogNames: map[string]string{"": "gemini"},
	Variants:     map[string]*provider.Dialect{vertexGemini: geminiOnVertex},
	Path:         geminiPath,
	KeyField:     googleKeyField,
	ModelsQuery:  geminiPage,
}

// geminiOnVertex is gemini on Vertex AI: some requests have another form there.
var geminiOnVertex = &provider.Dialect{
	Name: provider.Gemini,
	Path: func(op provider.Operation, model string, stream bool) string {
		switch {
		case op == provider.Models:
			return "" // the list there says nothing of a region
		case op == provider.Embeddings && !strings.Contains(model, "gemini"): // older models, as Google's SDK decides
			return googlePath(model, ":predict")
		}
		return geminiPath(op, model, stream)
	},
	KeyField:    googleKeyField,
	ModelsQuery: geminiPage,
	Unnamed:     true,
}

const geminiPage = "pageSize=1000"

func googleKeyField(key string) (name, value string) { return "X-Goog-Api-Key", key }

// geminiMethods stand behind the model. Chat completions are always streamed: a long answer in one
// piece would be refused, and a failure shows earlier.
var geminiMethods = map[provider.Operation]string{
	provider.Chat: ":streamGenerateContent", provider.CountTokens: ":countTokens", provider.Embeddings: ":batchEmbedContents",
	provider.GenerateContent: ":generateContent", provider.CountContent: ":countTokens",
	provider.EmbedContent: ":embedContent", provider.BatchEmbedContents: ":batchEmbedContents",
}

func geminiPath(op provider.Operation, model string, stream bool) string {
	switch {
	case op == provider.GenerateContent && stream:
		return googlePath(model, ":streamGenerateContent")
	case op == provider.Models:
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
