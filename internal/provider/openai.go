package provider

import (
	"net/url"
	"strings"
)

// Dialects with OpenAI's API.
const (
	OpenAI     = "openai"     // any OpenAI-compatible base URL
	OpenRouter = "openrouter" // the same, with OpenRouter's own fields
	Test       = "test"       // built in, no network
)

// openAI is the dialect of OpenAI and of compatible providers.
var openAI = &Dialect{
	name: OpenAI,
	bases: map[string]string{
		google:         "https://{host}/{version}/projects/{project}/locations/{location}/endpoints/openapi",
		ServiceBedrock: "https://bedrock-runtime.{region}.amazonaws.com" + openAIV1,
		serviceMantle:  "https://bedrock-mantle.{region}.api.aws/v1",
		azure:          "https://{resource}.openai.azure.com" + openAIV1,
	},
	versions: map[string]string{google: "v1"},
	usualAt:  []string{serviceMantle, azure},
	path:     openAIPath,
	keyField: BearerField,
}

// openAIPaths are the same for all models. Only some compatible providers have the last rows.
var openAIPaths = map[Operation]string{
	Chat: "/chat/completions", Responses: "/responses", Embeddings: "/embeddings", Models: "/models",
	Messages: "/messages", CountTokens: "/messages/count_tokens", InputTokens: "/responses/input_tokens",
	Rerank: "/rerank", Moderations: "/moderations", Completions: "/completions", Images: "/images/generations", ImageEdits: "/images/edits",
	Realtime: "/realtime", Speech: "/audio/speech", Transcriptions: "/audio/transcriptions", Translations: "/audio/translations",
	Compact: "/responses/compact", ReadResponse: "/responses/{id}", DeleteResponse: "/responses/{id}",
	CancelResponse: "/responses/{id}/cancel", InputItems: "/responses/{id}/input_items",
}

func openAIPath(op Operation, name string, _ bool) string {
	return strings.Replace(openAIPaths[op], "{id}", url.PathEscape(name), 1)
}

// openRouter is asked for the models that embed, too: by itself it lists those that write text.
var openRouter = &Dialect{
	name:             OpenRouter,
	selects:          atHost("openrouter.ai"),
	path:             openRouterPath,
	keyField:         BearerField,
	modelsQuery:      "output_modalities=text%2Cembeddings",
	openRouterFields: true,
}

// openRouterPaths are those that differ at OpenRouter, which keeps no responses.
var openRouterPaths = map[Operation]string{
	Images: "", ImageEdits: "", RouterImages: "/images", Realtime: "",
	Compact: "", ReadResponse: "", DeleteResponse: "", CancelResponse: "", InputItems: "",
}

func openRouterPath(op Operation, name string, stream bool) string {
	if path, own := openRouterPaths[op]; own {
		return path
	}
	return openAIPath(op, name, stream)
}

// builtIn is the dialect of the test provider.
var builtIn = &Dialect{
	name: Test,
	path: func(op Operation, name string, stream bool) string {
		if op != Chat && op != Embeddings {
			return ""
		}
		return openAIPath(op, name, stream)
	},
	keyField: BearerField,
}
