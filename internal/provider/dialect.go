package provider

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// Operation is what a call asks of a provider.
type Operation string

// The operations of the gateway's API.
const (
	Chat      Operation = "chat"
	Responses Operation = "responses"
	Models    Operation = "models"

	Messages    Operation = "messages"
	CountTokens Operation = "count_tokens"
	InputTokens Operation = "input_tokens" // the same of the Responses API
	Compact     Operation = "compact"
	Embeddings  Operation = "embeddings"
	Rerank      Operation = "rerank"
	Moderations Operation = "moderations"
	Completions Operation = "completions"
	Images      Operation = "images"
	ImageEdits  Operation = "image_edits"
	Speech      Operation = "speech"

	Transcriptions Operation = "transcriptions"
	Translations   Operation = "translations"
	RouterImages   Operation = "router_images" // OpenRouter's

	// Requests about a response that the provider keeps. They name no model but the response.
	ReadResponse   Operation = "read_response"
	DeleteResponse Operation = "delete_response"
	CancelResponse Operation = "cancel_response"
	InputItems     Operation = "input_items"

	// Google's API.
	GenerateContent    Operation = "generate_content"
	CountContent       Operation = "count_content"
	EmbedContent       Operation = "embed_content"
	BatchEmbedContents Operation = "batch_embed_contents"
)

var operations = [...]Operation{
	Chat, Responses, Models, Messages, CountTokens, InputTokens, Embeddings, Rerank, Moderations, Completions,
	Images, ImageEdits, RouterImages, Speech, Transcriptions, Translations,
	Compact, ReadResponse, DeleteResponse, CancelResponse, InputItems,
	GenerateContent, CountContent, EmbedContent, BatchEmbedContents,
}

// responsesAPI has the operations that a provider without the Responses API lacks.
var responsesAPI = [...]Operation{Responses, InputTokens, Compact, ReadResponse, DeleteResponse, CancelResponse, InputItems}

// method is the method of the operation's requests.
func (op Operation) method() string {
	switch op {
	case Models, ReadResponse, InputItems:
		return http.MethodGet
	case DeleteResponse:
		return http.MethodDelete
	}
	return http.MethodPost
}

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

// openAI is the dialect of OpenAI and of compatible providers.
type openAI struct{ name string }

func (d openAI) Name() string { return d.name }

// openAIPaths are the same for all models. Only some compatible providers have the last rows.
var openAIPaths = map[Operation]string{
	Chat: "/chat/completions", Responses: "/responses", Embeddings: "/embeddings", Models: "/models",
	Messages: "/messages", CountTokens: "/messages/count_tokens", InputTokens: "/responses/input_tokens",
	Rerank: "/rerank", Moderations: "/moderations", Completions: "/completions", Images: "/images/generations", ImageEdits: "/images/edits",
	Speech: "/audio/speech", Transcriptions: "/audio/transcriptions", Translations: "/audio/translations",
	Compact: "/responses/compact", ReadResponse: "/responses/{id}", DeleteResponse: "/responses/{id}",
	CancelResponse: "/responses/{id}/cancel", InputItems: "/responses/{id}/input_items",
}

// openRouterPaths are those that differ at OpenRouter, which keeps no responses.
var openRouterPaths = map[Operation]string{
	Images: "", ImageEdits: "", RouterImages: "/images",
	Compact: "", ReadResponse: "", DeleteResponse: "", CancelResponse: "", InputItems: "",
}

func (d openAI) Path(op Operation, name string, _ bool) string {
	if path, own := openRouterPaths[op]; own && d.OpenRouterFields() {
		return path
	}
	if d.name == Test && op != Chat && op != Embeddings {
		return ""
	}
	return strings.Replace(openAIPaths[op], "{id}", url.PathEscape(name), 1)
}

func (openAI) KeyField(key string) (name, value string) { return BearerField(key) }

func (openAI) Header() http.Header { return nil }

// ModelsQuery asks OpenRouter for the models that embed, too: by itself it lists those that write text.
func (d openAI) ModelsQuery() string {
	if d.OpenRouterFields() {
		return "output_modalities=text%2Cembeddings"
	}
	return ""
}

func (d openAI) OpenRouterFields() bool { return d.name == OpenRouter }

// anthropic is the dialect of Anthropic and of providers that have only the Messages API.
type anthropic struct{}

func (anthropic) Name() string { return Anthropic }

// anthropicPaths are the same for all models.
var anthropicPaths = map[Operation]string{Messages: "/messages", CountTokens: "/messages/count_tokens", Models: "/models"}

func (anthropic) Path(op Operation, _ string, _ bool) string { return anthropicPaths[op] }

func (anthropic) KeyField(key string) (name, value string) { return "X-Api-Key", key }

// anthropicVersion is the version of requests that the gateway makes itself. Calls have the caller's.
const anthropicVersion = "2023-06-01"

func (anthropic) Header() http.Header {
	return http.Header{"Anthropic-Version": {anthropicVersion}}
}

// ModelsQuery asks for the largest page; without it Anthropic sends 20 models.
func (anthropic) ModelsQuery() string { return "limit=1000" }

func (anthropic) OpenRouterFields() bool { return false }
