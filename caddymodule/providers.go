package caddymodule

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/internal/catalog"
	"github.com/gatehouse-proxy/gatehouse/internal/gateway"
	"github.com/gatehouse-proxy/gatehouse/internal/provider"
	"github.com/gatehouse-proxy/gatehouse/internal/testprovider"
)

// builtProviders is the result of the provider blocks.
type builtProviders struct {
	providers []*provider.Provider
	sources   []catalog.Source
	models    []catalog.Model // of the built-in provider
	discover  []gateway.Discovery
	accounts
}

const (
	// shortestDiscover keeps a mistyped interval from hammering a provider.
	shortestDiscover = 10 * time.Second

	// usualDiscover is for a provider whose models only its own list names. Providers add and
	// retire models within days.
	usualDiscover = 10 * time.Minute
)

// buildProviders makes the providers; models are those of catalog files.
func (a *App) buildProviders(models []catalog.Model) (builtProviders, error) {
	catalogued := map[string]bool{}
	for _, m := range models {
		catalogued[m.Provider] = true
	}
	built := builtProviders{accounts: accounts{logger: a.logger}}
	for i := range a.Providers {
		p := &a.Providers[i]
		if err := a.addProvider(&built, p, catalogued[catalogName(p)]); err != nil {
			return built, fmt.Errorf("provider %q: %w", p.Name, err)
		}
	}
	return built, nil
}

func (a *App) addProvider(built *builtProviders, p *Provider, catalogued bool) error {
	if err := provider.ValidName(p.Name); err != nil {
		return err
	}
	if err := p.check(); err != nil {
		return err
	}
	discover := p.discoverEvery(catalogued)
	source := catalog.Source{Provider: p.Name, Patterns: p.Models, Discover: discover > 0, CatalogName: p.CatalogName}
	timeouts, err := p.Timeouts.resolve()
	if err != nil {
		return err
	}
	config := provider.Config{
		Name: p.Name, Dialect: p.Dialect, AccountOf: p.AccountOf, Timeouts: timeouts,
		Translate: p.translation(), MaxTokensField: p.MaxTokensField, ResponsesOnly: p.Chat == translated, NativeMessages: p.Messages == native,
		CostReported: p.Cost == reported, UserAgent: "gatehouse",
	}
	if config.ModelTimeouts, err = p.modelTimeouts(); err != nil {
		return err
	}
	if p.Dialect == provider.Test {
		built.addTest(p, &source, &config)
	} else if err := a.connect(built, p, &config); err != nil {
		return err
	}
	if len(config.Endpoints) == 0 {
		source.Skipped = true
		built.sources = append(built.sources, source)
		return nil
	}
	made, err := provider.New(config)
	if err == nil && made.Dialect.Path(provider.Chat) == "" {
		err = p.checkMessagesOnly()
	}
	if err != nil {
		return err
	}
	built.providers = append(built.providers, made)
	built.sources = append(built.sources, source)
	switch {
	case discover > 0:
		built.discover = append(built.discover, gateway.Discovery{Provider: made, Every: discover})
	case p.DiscoverOff && p.anyModel():
		a.logger.Warn("discover is off and models has \"*\": any model name is sent to this provider; names that are in no catalog are not listed and have no price",
			zap.String("provider", p.Name))
	}
	return nil
}

// connect adds the endpoints of a provider and the transports to them. It adds none if the provider is
// left out.
func (a *App) connect(built *builtProviders, p *Provider, config *provider.Config) (err error) {
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
		config.Transport, err = connections.kept(a.ctx)
	}
	if err == nil {
		config.Fresh, err = connections.fresh(a.ctx)
	}
	if err != nil {
		return fmt.Errorf("transport: %w", err)
	}
	return nil
}

// addTest makes a provider the built-in one.
func (b *builtProviders) addTest(p *Provider, source *catalog.Source, config *provider.Config) {
	config.Endpoints, config.Transport = provider.One(testBaseURL, ""), &testprovider.Transport{}
	for _, m := range testprovider.Models() {
		b.models = append(b.models, catalog.Model{
			Provider: catalogName(p), Name: m.ID, Description: m.Description, Mode: catalog.ModeChat,
			Created: testprovider.Created, MaxOutput: testprovider.MaxOutputTokens, OwnedBy: "gatehouse",
			InputModalities: []string{"text", "image", "file", "audio"}, SupportedParameters: testParameters,
		})
		if len(p.Models) == 0 {
			source.Patterns = append(source.Patterns, m.ID)
		}
	}
}

// discoverEvery is the interval at which the provider's own list is read, 0 for never.
func (p *Provider) discoverEvery(catalogued bool) time.Duration {
	if p.Discover == 0 && !p.DiscoverOff && p.Dialect != provider.Test && p.anyModel() && !catalogued {
		return usualDiscover
	}
	return time.Duration(p.Discover)
}

func (p *Provider) anyModel() bool { return slices.Contains(p.Models, "*") }

// testBaseURL is the base URL of the built-in provider. Nothing is ever dialled.
const testBaseURL = "http://test.invalid/v1"

// testParameters are the parameters that the built-in provider supports.
var testParameters = []string{"max_tokens", "n", "response_format", "stop", "structured_outputs", "tool_choice", "tools"}

func catalogName(p *Provider) string {
	if p.CatalogName != "" {
		return p.CatalogName
	}
	return p.Name
}

// The ways to serve the calls of an API.
const (
	native     = "native"
	translated = "translate"

	reported = "reported"
)

func (p *Provider) translation() *provider.Translate {
	if p.Responses != translated {
		return nil
	}
	return &provider.Translate{DeveloperRole: p.Translate.DeveloperRole, ReasoningContent: p.Translate.ReasoningContent}
}

func (p *Provider) check() error {
	switch p.Responses {
	case translated:
	case "", native:
		if p.Translate != (Translate{}) {
			return errors.New("translate options without responses translate")
		}
	default:
		return fmt.Errorf("responses %q: want %s or %s", p.Responses, native, translated)
	}
	switch p.Chat {
	case "", native, translated:
	default:
		return fmt.Errorf("chat %q: want %s or %s", p.Chat, native, translated)
	}
	switch p.Messages {
	case "", native, translated:
	default:
		return fmt.Errorf("messages %q: want %s or %s", p.Messages, native, translated)
	}
	switch p.Cost {
	case "", reported:
	default:
		return fmt.Errorf("cost %q: want %s", p.Cost, reported)
	}
	if p.Discover != 0 && p.DiscoverOff {
		return errors.New("discover and discover_off: give only one of them")
	}
	if p.Discover != 0 && time.Duration(p.Discover) < shortestDiscover {
		return fmt.Errorf("discover %s: at least %s", time.Duration(p.Discover), shortestDiscover)
	}
	if p.Dialect != provider.Test {
		if len(p.Models) == 0 && p.Discover == 0 {
			return errors.New("nothing would be callable: give models, discover, or both")
		}
		return nil
	}
	if p.BaseURL != "" || p.APIKey != "" || p.Optional || p.TransportRaw != nil || p.Discover != 0 || p.DiscoverOff {
		return errors.New("the built-in test provider takes no base_url, api_key, optional, discover or transport")
	}
	if len(p.Header)+len(p.Query)+len(p.Endpoints) > 0 {
		return errors.New("the built-in test provider takes no header, query or endpoint")
	}
	return nil
}

// checkMessagesOnly refuses what says that a provider with only the Messages API has another one.
func (p *Provider) checkMessagesOnly() error {
	if p.Chat+p.Responses+p.MaxTokensField == "" && p.Messages != translated {
		return nil
	}
	return errors.New("dialect anthropic has only the Messages API, to which all other calls are translated: leave out chat, responses, messages and " +
		"max_tokens_field, or write dialect openai for the provider's OpenAI-compatible API")
}
