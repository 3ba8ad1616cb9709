package caddymodule

import (
	"cmp"
	"encoding/json"
	"fmt"
	"time"

	"github.com/caddyserver/caddy/v2"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
)

// Provider is a model provider and its callable models.
type Provider struct {
	// Name is the first part of its models' names. Required, unique; a-z, 0-9 and "-".
	Name string `json:"name"`

	// Dialect is the provider's protocol: "openai" (any OpenAI-compatible API), "openrouter" (the
	// same, with OpenRouter's own request fields), "anthropic" (only the Messages API) or "test"
	// (built in, no network). Default: openai; openrouter or anthropic if base_url names that
	// vendor's host.
	Dialect string `json:"dialect,omitempty"`

	// Account is that of a provider with one address, and the default of its endpoints.
	Account

	// Endpoints are several addresses or accounts of the provider. They share its calls, and one
	// that fails is avoided alone. Default: one, from the provider's own account.
	Endpoints []Endpoint `json:"endpoints,omitempty"`

	// Optional leaves the provider, or an endpoint, out if a secret of its account is not set,
	// instead of failing the load. Default: false.
	Optional bool `json:"optional,omitempty"`

	// Models are the callable names: patterns over the catalog and the discovered models, or exact
	// names. "*" alone means all discovered models, and any name if discover is off or a catalog
	// has models of this provider. Default: all discovered models; for "test" its own models.
	Models []string `json:"models,omitempty"`

	// CatalogName is the provider's name in catalog files, if it differs from Name. Default: Name.
	CatalogName string `json:"catalog_name,omitempty"`

	// Chat is how chat calls are served: "native" (the provider has chat completions) or
	// "translate" (it has only the Responses API; calls are translated). Not together with
	// responses translate. Default: native.
	Chat string `json:"chat,omitempty"`

	// Responses is how Responses calls are served: "native" (the provider has that API) or
	// "translate" (it has only chat completions; calls are translated). Default: native.
	Responses string `json:"responses,omitempty"`

	// Messages is how calls of the Messages API are served: "native" (the provider has that API
	// besides OpenAI's) or "translate". Default: translate; native with dialect anthropic.
	Messages string `json:"messages,omitempty"`

	// MaxTokensField is the only name that the provider's chat completions know for the limit of an
	// output, "max_tokens" (older servers) or "max_completion_tokens". A request that uses the
	// other name is edited. Default: both names are known.
	MaxTokensField string `json:"max_tokens_field,omitempty"`

	// Translate has the options of "translate".
	Translate Translate `json:"translate,omitzero"`

	// Discover is the interval at which the provider's own list of models is read; a failed refresh
	// keeps the last list. Default: 10m where models has "*" and no catalog has models of this
	// provider, else never.
	Discover caddy.Duration `json:"discover,omitempty"`

	// DiscoverOff never reads that list: with "*" in models any name can be called, and no list
	// shows it. Not together with discover. Default: false.
	DiscoverOff bool `json:"discover_off,omitempty"`

	// AccountOf names the tenant that owns the provider's account. Its calls may refer to any
	// stored state (responses, files, conversations). Default: the account is shared, and a call
	// may refer only to responses that its tenant made through this gateway.
	AccountOf string `json:"account_of,omitempty"`

	// Cost is where the cost of a call comes from: "reported" takes the cost in the provider's
	// usage, if it is there. Default: the catalog's price.
	Cost string `json:"cost,omitempty"`

	// TraceContext sends the call's trace to the provider, as the header field traceparent (W3C Trace
	// Context). It needs Caddy's directive tracing. Default: false.
	TraceContext bool `json:"trace_context,omitempty"`

	// Timeouts of an attempt of a call at the provider.
	Timeouts ProviderTimeouts `json:"timeouts,omitzero"`

	// ModelTimeouts are those of some models. Of several that fit, the first which has a value
	// applies. Default: those of the provider.
	ModelTimeouts []ModelTimeouts `json:"model_timeouts,omitempty"`

	// TransportRaw is Caddy's HTTP transport module. Differences from its defaults: 256 idle
	// connections a host, no compression. Not possible: proxy_protocol, placeholders in the TLS
	// server name, TLS settings on an http:// base_url.
	TransportRaw json.RawMessage `json:"transport,omitempty" caddy:"namespace=http.reverse_proxy.transport inline_key=protocol"`
}

// Account is an address of a provider, and what authorizes the gateway there.
type Account struct {
	// BaseURL is the base URL as an SDK would use it. Required, except for dialect "test". Default
	// for dialect anthropic: https://api.anthropic.com/v1.
	BaseURL string `json:"base_url,omitempty"`

	// APIKey is the credential sent to the provider: {env.NAME} or {file./path}. The file is read
	// again when it changes. Default: none is sent.
	APIKey string `json:"api_key,omitempty"`

	// Header has fields for the header of every request, by name. A value can have one placeholder
	// {env.NAME} or {file./path}, which is a secret; the file is read again when it changes. Fields
	// that the gateway sets itself, and those of the connection, are not possible. Default: none.
	Header map[string]string `json:"header,omitempty"`

	// Query has parameters for the URL of every request, by name. Default: none.
	Query map[string]string `json:"query,omitempty"`
}

// Endpoint is one of several addresses or accounts of a provider.
type Endpoint struct {
	// Name is shown in logs and metrics. Required, unique in the provider; a-z, 0-9 and "-".
	Name string `json:"name"`

	// Account replaces that of the provider, field by field.
	Account
}

// ProviderTimeouts are those of an attempt of a call at a provider; 0 takes the default.
type ProviderTimeouts struct {
	// Connect is how long opening a connection may take, and then the TLS handshake. Default: 10s.
	Connect caddy.Duration `json:"connect,omitempty"`

	AnswerTimeouts
}

// AnswerTimeouts are those of a provider's answer; 0 takes the default.
type AnswerTimeouts struct {
	// FirstByte is how long the answer to a streamed request may take to begin. Default: that of the
	// gateway.
	FirstByte caddy.Duration `json:"first_byte,omitempty"`

	// Whole is how long an answer in one piece may take to begin, which most providers do when it is
	// complete. Default: 75s if the call can go to another target, header of the gateway if not.
	Whole caddy.Duration `json:"whole,omitempty"`

	// Idle is how long the provider may be silent within its answer. Default: that of the gateway.
	Idle caddy.Duration `json:"idle,omitempty"`

	// Call is how long the request and its answer may take together. Default: that of the gateway.
	Call caddy.Duration `json:"call,omitempty"`
}

// ModelTimeouts are those of some models of a provider.
type ModelTimeouts struct {
	// Models are patterns over the provider's names of its models. Required.
	Models []string `json:"models"`

	AnswerTimeouts
}

// Translate describes the chat completions of the provider.
type Translate struct {
	// DeveloperRole sends instructions as role developer instead of system. Default: false.
	DeveloperRole bool `json:"developer_role,omitempty"`

	// ReasoningContent sends the reasoning of earlier turns back, as reasoning_content. Default:
	// false, it is left out.
	ReasoningContent bool `json:"reasoning_content,omitempty"`

	// UnknownTools says what becomes of tools that chat completions cannot have, such as
	// web_search: "drop" leaves them out and names them in the log, and "refuse" answers 400. A
	// tool_choice of such a tool is always refused. Default: drop.
	UnknownTools string `json:"unknown_tools,omitempty"`
}

// Timeouts are those of a model call; 0 takes the default.
type Timeouts struct {
	// Body is how long a request's body may take to arrive. Default: 2m.
	Body caddy.Duration `json:"body,omitempty"`
	// Header is how long a provider may take to begin its answer. Default: 10m.
	Header caddy.Duration `json:"header,omitempty"`
	// FirstByte is how long a provider may take to begin its answer to a streamed request. Default:
	// 30s if the call can go to another target, header if not.
	FirstByte caddy.Duration `json:"first_byte,omitempty"`
	// Idle is how long a provider may be silent within its answer. Default: 5m.
	Idle caddy.Duration `json:"idle,omitempty"`
	// Call is how long a request to a provider and its answer may take together. Default: no limit.
	Call caddy.Duration `json:"call,omitempty"`
	// CommitAfter is how long a stream's start may be silent before the client gets status 200 and
	// comments that keep the connection open. Default: 20s.
	CommitAfter caddy.Duration `json:"commit_after,omitempty"`
	// Heartbeat is the longest silence within a stream to the client. Comments are sent to fill it.
	// Default: 15s.
	Heartbeat caddy.Duration `json:"heartbeat,omitempty"`
}

// Retention is how long activity rows, and their sums, are kept; 0 takes the default.
type Retention struct {
	// Age is how long a row is kept. Default: 30d.
	Age caddy.Duration `json:"age,omitempty"`
	// Size bounds the database, in bytes; the oldest rows are deleted first. Default: 10 GiB.
	Size int64 `json:"size,omitempty"`
	// Series is how long the hourly and daily sums of the rows are kept, at least as long as the
	// rows. Default: 400d, or Age if that is more.
	Series caddy.Duration `json:"series,omitempty"`
}

// build checks the retention.
func (r Retention) build() (activity.Retention, error) {
	keep := activity.Retention{Age: time.Duration(r.Age), Size: r.Size, Series: time.Duration(r.Series)}
	if age := cmp.Or(keep.Age, activity.DefaultAge); keep.Series > 0 && keep.Series < age {
		return keep, fmt.Errorf("activity: keep_series %v is less than keep, which is %v: rows without their sums would be missing in series", keep.Series, age)
	}
	return keep, nil
}
