package provider

import (
	"net/http"
	"net/url"
	"strings"
)

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
