package core

import (
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/caddyserver/caddy/v2"
	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/internal/catalog"
	"github.com/gatehouse-proxy/gatehouse/internal/models"
	"github.com/gatehouse-proxy/gatehouse/internal/provider"
)

// Provider is a model provider and its callable models.
type Provider struct {
	// Name is the first part of its models' names. Required, unique; a-z, 0-9 and "-".
	Name string `json:"name"`

	// Dialect is the provider's protocol: "openai" (any OpenAI-compatible API), "openrouter" (the
	// same, with OpenRouter's own request fields), "anthropic" (only the Messages API), "gemini"
	// (Google's generateContent), "vertex-anthropic" (Claude on Vertex AI), "bedrock" (Amazon's
	// Converse), "bedrock-anthropic" (Claude by Amazon's InvokeModel) or "test" (built in, no
	// network). Default: that of the host of base_url (openrouter, anthropic, gemini), else openai;
	// without base_url gemini with project, bedrock with region, openai with resource.
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

	// Deployments are more names that can be called, which say nothing about their model: each has
	// the price and the capabilities of the model of this name in catalog files. Default: none; the
	// list of an Azure resource or Foundry project says it of its deployments.
	Deployments map[string]string `json:"deployments,omitempty"`

	// CatalogName is the provider's name in catalog files, if it differs from Name. Default: Name,
	// or if no file has models of that name what price maps call the cloud: gemini, vertex_ai,
	// bedrock, azure, azure_ai.
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
	// provider, and where deployments are listed and models has "*" or nothing; else never.
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

	// PriceVariant names other rates of the catalog that apply: "regional" (an endpoint that keeps
	// the data in its region), or the service tier that the provider is asked for, "priority" or
	// "flex". Default: the usual rates.
	PriceVariant string `json:"price_variant,omitempty"`

	// Betas are beta features of the Messages API that Claude on Vertex AI or Bedrock knows,
	// besides those that the gateway knows of. Only with the dialects vertex-anthropic and
	// bedrock-anthropic.
	Betas []string `json:"betas,omitempty"`

	// TraceContext sends the call's trace to the provider, as the header field traceparent (W3C
	// Trace Context). It needs Caddy's directive tracing. Default: false.
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

// builtProviders is the result of the provider blocks.
type builtProviders struct {
	providers []*provider.Provider
	sources   []catalog.Source
	models    []catalog.Model // of the built-in provider
	discover  []models.Discovery
	accounts
}

// buildProviders makes the providers; models are those of catalog files. References to credentials
// are held until they are released.
func buildProviders(ctx caddy.Context, list []Provider, models []catalog.Model, held *heldCredentials, all features) (builtProviders, error) {
	catalogued := map[string]bool{}
	for _, m := range models {
		catalogued[m.Provider] = true
	}
	built := builtProviders{accounts: accounts{ctx: ctx, logger: ctx.Logger(), credentials: held}}
	for i := range list {
		p := &list[i]
		if err := p.build(ctx, all, &built, catalogued); err != nil {
			return built, fmt.Errorf("provider %q: %w", p.Name, err)
		}
	}
	return built, nil
}

// build adds the provider to those that are built.
func (p *Provider) build(ctx caddy.Context, all features, built *builtProviders, catalogued map[string]bool) error {
	if err := provider.ValidName("provider", p.Name); err != nil {
		return err
	}
	if err := p.check(); err != nil {
		return err
	}
	timeouts, err := p.Timeouts.resolve()
	if err != nil {
		return err
	}
	config := provider.Config{
		Name: p.Name, Dialect: p.Dialect, AccountOf: p.AccountOf, Timeouts: timeouts,
		Translate: p.translation(), MaxTokensField: p.MaxTokensField, ResponsesOnly: p.Chat == translated, NativeMessages: p.Messages == native,
		Betas:        p.Betas,
		CostReported: p.Cost == reported, TraceContext: p.TraceContext, UserAgent: UserAgent,
	}
	if config.ModelTimeouts, err = p.modelTimeouts(); err != nil {
		return err
	}
	source := catalog.Source{Provider: p.Name, Patterns: p.Models, CatalogName: p.nameIn(catalogued), Variant: p.PriceVariant, Deployments: p.Deployments}
	if p.Dialect == provider.Test {
		err = p.builtIn(all, built, &source, &config)
	} else {
		err = p.connect(ctx, built, &config)
	}
	if err != nil {
		return err
	}
	discover := p.discoverEvery(catalogued[source.CatalogName])
	if len(config.Endpoints) == 0 {
		source.Skipped, source.Discover = true, discover > 0
		built.sources = append(built.sources, source)
		return nil
	}
	made, err := provider.New(config)
	if err == nil {
		err = p.checkDialect(made)
	}
	if err != nil {
		return err
	}
	if p.Discover == 0 && !made.Has(provider.Models) {
		discover = 0
	}
	source.Discover = discover > 0
	built.providers = append(built.providers, made)
	built.sources = append(built.sources, source)
	switch {
	case discover > 0:
		built.discover = append(built.discover, models.Discovery{Provider: made, Every: discover})
	case p.anyModel() && (p.DiscoverOff || !made.Has(provider.Models)):
		built.logger.Warn("no list of models is read and models has \"*\": "+
			"any model name is sent to this provider; names that are in no catalog are not listed and have no price",
			zap.String("provider", p.Name))
	}
	return nil
}

// connect adds the endpoints of a provider and the transports to them. It adds none if the provider
// is left out.
func (p *Provider) connect(ctx caddy.Context, built *builtProviders, config *provider.Config) (err error) {
	if config.Endpoints, err = built.of(p); err != nil || len(config.Endpoints) == 0 {
		return err
	}
	var bases []string
	for _, e := range config.Endpoints {
		bases = append(bases, e.BaseURL)
	}
	connections, err := newConnections(p.TransportRaw, config.Timeouts.Connect, bases...)
	if err == nil {
		config.Timeouts.Connect = connections.connect
		config.Transport, config.Fresh, err = connections.transports(ctx)
	}
	if err != nil {
		return fmt.Errorf("transport: %w", err)
	}
	return nil
}

// TestProvider is a feature that answers for providers of the dialect test.
type TestProvider interface {
	// TestProvider returns its transport, and its models as the catalog has them.
	TestProvider() (http.RoundTripper, []catalog.Model)
}

// builtIn makes a provider the built-in one.
func (p *Provider) builtIn(all features, built *builtProviders, source *catalog.Source, config *provider.Config) error {
	test, ok := offerOf[TestProvider](all)
	if !ok {
		return NotInBuild("dialect test", "demo")
	}
	transport, models := test.TestProvider()
	config.Endpoints, config.Transport = provider.One(testBaseURL, ""), transport
	for _, m := range models {
		m.Provider = source.CatalogName
		built.models = append(built.models, m)
		if len(p.Models) == 0 {
			source.Patterns = append(source.Patterns, m.Name)
		}
	}
	return nil
}

// UserAgent names the gateway to servers that it asks.
const UserAgent = "gatehouse"

// testBaseURL is the base URL of the built-in provider. Nothing is ever dialled.
const testBaseURL = "http://test.invalid/v1"
