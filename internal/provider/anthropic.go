package provider

import "net/http"

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
