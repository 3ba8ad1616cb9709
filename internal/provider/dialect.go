package provider

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// Dialect is the protocol of one kind of provider. Implementations are stateless: one value serves
// every provider of its kind.
type Dialect interface {
	// Name is what a provider block calls it.
	Name() string
	// Path returns the path below the base URL, escaped, at which a model is asked for an operation, or
	// a request is made about a response; some providers have another one for streams. It is "" if this
	// kind of provider does not have the operation.
	Path(op Operation, name string, stream bool) string
	// KeyField is the field of a request's header that has the API key, and its value.
	KeyField(key string) (name, value string)
	// Header is sent with every request that has no value of its own; nil for none.
	Header() http.Header
	// ModelsQuery is the query for the list of models. It is "" if this kind of provider has one page.
	ModelsQuery() string
	// OpenRouterFields reports whether request fields that only OpenRouter knows may be sent.
	OpenRouterFields() bool
}

// The dialects a provider block can name.
const (
	OpenAI     = "openai"     // any OpenAI-compatible base URL
	OpenRouter = "openrouter" // the same, with OpenRouter's own fields
	Anthropic  = "anthropic"  // the Messages API
	Test       = "test"       // built in, no network

	Gemini           = "gemini"            // Google's generateContent, at the Gemini API or on Vertex AI
	VertexAnthropic  = "vertex-anthropic"  // Claude on Vertex AI: rawPredict
	Bedrock          = "bedrock"           // Amazon Bedrock's Converse
	BedrockAnthropic = "bedrock-anthropic" // Claude on Amazon Bedrock: InvokeModel
)

var dialects = map[string]Dialect{
	OpenAI:     openAI{name: OpenAI},
	OpenRouter: openAI{name: OpenRouter},
	Anthropic:  anthropic{},
	Test:       openAI{name: Test},

	Gemini:           gemini{},
	VertexAnthropic:  vertexAnthropic{},
	Bedrock:          bedrock{},
	BedrockAnthropic: bedrockAnthropic{},
}

// These hosts select the dialect of a block that has only a base URL.
const (
	openRouterHost = "openrouter.ai"
	anthropicHost  = "api.anthropic.com"
	geminiHost     = "generativelanguage.googleapis.com"
)

// dialectFor returns the dialect with this name. An empty name means openai, or the dialect of a
// vendor's own host.
func dialectFor(name string, base *url.URL) (Dialect, error) {
	if name == "" {
		switch base.Hostname() {
		case openRouterHost:
			name = OpenRouter
		case anthropicHost:
			name = Anthropic
		case geminiHost:
			name = Gemini
			if strings.Contains(base.Path, "/openai") { // Google's own layer of OpenAI's API
				name = OpenAI
			}
		default:
			name = OpenAI
		}
	}
	if name == Gemini && strings.HasSuffix(base.Path, vertexGemini) {
		return gemini{vertex: true}, nil
	}
	return dialects[name], ValidDialect(name)
}

// Dialects are the names of the dialects, sorted.
func Dialects() []string { return slices.Sorted(maps.Keys(dialects)) }

// ValidDialect returns an error unless there is a dialect with this name. An empty name is the default.
func ValidDialect(name string) error {
	if _, ok := dialects[name]; ok || name == "" {
		return nil
	}
	return fmt.Errorf("unknown dialect %q; known dialects: %s", name, strings.Join(Dialects(), ", "))
}
