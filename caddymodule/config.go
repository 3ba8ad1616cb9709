package caddymodule

import (
	"encoding/json"

	"github.com/caddyserver/caddy/v2"
)

// Provider is a model provider and the models of it that can be called.
type Provider struct {
	// Name is the first part of its models' names. Required, unique; a-z, 0-9 and "-".
	Name string `json:"name"`

	// Dialect is how it is spoken to: "openai" (any OpenAI-compatible API),
	// "openrouter" (the same, with that family's own request fields) or
	// "test" (built in, no network). Default: openai; openrouter where
	// base_url names that vendor's host.
	Dialect string `json:"dialect,omitempty"`

	// BaseURL is what an SDK's base URL would be. Required, except for "test".
	BaseURL string `json:"base_url,omitempty"`

	// APIKey is the credential sent to the provider: {env.NAME} or
	// {file./path}. Default: none is sent.
	APIKey string `json:"api_key,omitempty"`

	// Optional leaves the provider out when its api_key is not set, instead
	// of failing the load. Default: false.
	Optional bool `json:"optional,omitempty"`

	// Models are the names that can be called: patterns over the catalog and
	// what discover finds, or exact names. "*" alone is all that discover
	// finds, and any name where discover is off or a catalog has models of
	// this provider. Default: what discover finds; for "test" its own models.
	Models []string `json:"models,omitempty"`

	// CatalogName is the provider's name in catalog files, where it differs
	// from Name. Default: Name.
	CatalogName string `json:"catalog_name,omitempty"`

	// Chat tells how chat calls are served: "native" (the provider has chat
	// completions) or "translate" (it has only the Responses API, into which
	// they are translated). Not together with responses translate. Default:
	// native.
	Chat string `json:"chat,omitempty"`

	// Responses tells how Responses calls are served: "native" (the provider
	// has that API) or "translate" (it has only chat completions, into which
	// they are translated). Default: native.
	Responses string `json:"responses,omitempty"`

	// MaxTokensField is the one name its chat completions know for the limit of
	// an output, "max_tokens" (older servers) or "max_completion_tokens"; a
	// request that uses the other is edited. Default: both are known.
	MaxTokensField string `json:"max_tokens_field,omitempty"`

	// Translate is how, for "translate".
	Translate Translate `json:"translate,omitzero"`

	// Discover is the interval at which the provider's own list of models is
	// read; a failed refresh keeps the last list. Default: 10m where models has
	// "*" and no catalog has models of this provider, else never.
	Discover caddy.Duration `json:"discover,omitempty"`

	// DiscoverOff never reads that list: with "*" in models any name can be
	// called, and no list shows it. Not beside discover. Default: false.
	DiscoverOff bool `json:"discover_off,omitempty"`

	// AccountOf names the tenant that alone uses the provider's account: its
	// stored state (responses, files, conversations) may be referred to
	// freely. Default: the account is shared, and only responses that the
	// tenant made through this gateway can be referred to.
	AccountOf string `json:"account_of,omitempty"`

	// Cost tells what a call cost: "reported" takes the cost in the provider's
	// usage, where it is there. Default: the catalog's price.
	Cost string `json:"cost,omitempty"`

	// TransportRaw is Caddy's HTTP transport module. Differences from its
	// defaults: 256 idle connections a host, no compression. Not possible:
	// proxy_protocol, placeholders in the TLS server name, TLS settings on
	// an http:// base_url.
	TransportRaw json.RawMessage `json:"transport,omitempty" caddy:"namespace=http.reverse_proxy.transport inline_key=protocol"`
}

// Translate says what a provider's chat completions differ in.
type Translate struct {
	// DeveloperRole sends instructions as role developer instead of system.
	// Default: false.
	DeveloperRole bool `json:"developer_role,omitempty"`

	// ReasoningContent sends the reasoning of earlier turns back, as
	// reasoning_content. Default: false, it is left out.
	ReasoningContent bool `json:"reasoning_content,omitempty"`
}

// Timeouts of a model call; 0 takes the default.
type Timeouts struct {
	// Body is how long a request's body may take to arrive. Default: 2m.
	Body caddy.Duration `json:"body,omitempty"`
	// Header is how long a provider may take to begin its answer. Default: 10m.
	Header caddy.Duration `json:"header,omitempty"`
	// Idle is how long a provider may be silent within its answer. Default: 5m.
	Idle caddy.Duration `json:"idle,omitempty"`
	// CommitAfter is how long a stream's start may be silent before the
	// client gets status 200 and comments that keep the line open. Default: 20s.
	CommitAfter caddy.Duration `json:"commit_after,omitempty"`
	// Heartbeat is the longest silence within a stream to the client,
	// filled with comments. Default: 15s.
	Heartbeat caddy.Duration `json:"heartbeat,omitempty"`
}

// Retention of activity rows; 0 takes the default.
type Retention struct {
	// Age is how long a row is kept. Default: 30d.
	Age caddy.Duration `json:"age,omitempty"`
	// Size bounds the database, in bytes; the oldest rows go first. Default: 10 GiB.
	Size int64 `json:"size,omitempty"`
}
