package caddymodule

import (
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
		CostReported: p.Cost == reported, TraceContext: p.TraceContext, UserAgent: "gatehouse",
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
	if err == nil && made.Dialect.Path(provider.Chat, "", false) == "" {
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
		b.models = append(b.models, testModel(catalogName(p), m))
		if len(p.Models) == 0 {
			source.Patterns = append(source.Patterns, m.ID)
		}
	}
}

// testModel is a model of the built-in provider in the catalog.
func testModel(provider string, m testprovider.Model) catalog.Model {
	listed := catalog.Model{
		Provider: provider, Name: m.ID, Description: m.Description, Created: testprovider.Created, OwnedBy: "gatehouse", Mode: catalog.ModeEmbedding,
	}
	if !m.Embeds {
		listed.Mode, listed.MaxOutput, listed.SupportedParameters = catalog.ModeChat, testprovider.MaxOutputTokens, testParameters
		listed.InputModalities = []string{"text", "image", "file", "audio"}
	}
	return listed
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
