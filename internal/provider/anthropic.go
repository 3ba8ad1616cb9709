package provider

import "net/http"

// Anthropic is the dialect of the Messages API.
const Anthropic = "anthropic"

// anthropicVersion is the version of requests that the gateway makes itself. Calls have the
// caller's.
const anthropicVersion = "2023-06-01"

// anthropic is the dialect of Anthropic and of providers that have only the Messages API. Without a
// query Anthropic lists 20 models; this is the largest page.
var anthropic = &Dialect{
	Name:    Anthropic,
	Selects: atHost("api.anthropic.com"),
	Bases: map[string]string{
		"":             "https://api.anthropic.com/v1",
		ServiceBedrock: "https://bedrock-runtime.{region}.amazonaws.com" + anthropicV1,
		serviceMantle:  "https://bedrock-mantle.{region}.api.aws/anthropic/v1",
		serviceClaude:  "https://aws-external-anthropic.{region}.api.aws/v1",
		azure:          "https://{resource}.services.ai.azure.com" + anthropicV1,
	},
	UsualAt:      []string{serviceClaude},
	CatalogNames: map[string]string{azure: "azure_ai"},
	BasePath:     "/v1", // the SDKs of this API add it
	Path:         func(op Operation, _ string, _ bool) string { return anthropicPaths[op] },
	KeyField:     func(key string) (name, value string) { return "X-Api-Key", key },
	Header:       http.Header{"Anthropic-Version": {anthropicVersion}},
	ModelsQuery:  "limit=1000",
}

// anthropicPaths are the same for all models.
var anthropicPaths = map[Operation]string{Messages: "/messages", CountTokens: "/messages/count_tokens", Models: "/models"}
