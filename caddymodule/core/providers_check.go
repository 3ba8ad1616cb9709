package core

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/catalog"
	"github.com/gatehouse-proxy/gatehouse/internal/provider"
)

// The ways to serve the calls of an API.
const (
	native     = "native"
	translated = "translate"

	reported = "reported"

	dropTools   = "drop"
	refuseTools = "refuse"
)

func (p *Provider) translation() *provider.Translate {
	if p.Responses != translated {
		return nil
	}
	return &provider.Translate{
		DeveloperRole: p.Translate.DeveloperRole, ReasoningContent: p.Translate.ReasoningContent,
		RefuseUnknownTools: p.Translate.UnknownTools == refuseTools,
	}
}

func (p *Provider) check() error {
	if err := checkDialect(p.Dialect); err != nil {
		return err
	}
	switch p.Responses {
	case translated:
	case "", native:
		if p.Translate != (Translate{}) {
			return errors.New("translate options without responses translate")
		}
	default:
		return fmt.Errorf("responses %q: want %s or %s", p.Responses, native, translated)
	}
	switch p.Translate.UnknownTools {
	case "", dropTools, refuseTools:
	default:
		return fmt.Errorf("unknown_tools %q: want %s or %s", p.Translate.UnknownTools, dropTools, refuseTools)
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
	if err := catalog.ValidVariant(p.PriceVariant); err != nil {
		return err
	}
	if len(p.Betas) > 0 && p.Dialect != provider.VertexAnthropic && p.Dialect != provider.BedrockAnthropic {
		return fmt.Errorf("betas: only the dialects %s and %s need to know them", provider.VertexAnthropic, provider.BedrockAnthropic)
	}
	if p.Discover != 0 && p.DiscoverOff {
		return errors.New("discover and discover_off: give only one of them")
	}
	if p.Discover != 0 && time.Duration(p.Discover) < shortestDiscover {
		return fmt.Errorf("discover %s: at least %s", time.Duration(p.Discover), shortestDiscover)
	}
	if p.Dialect != provider.Test {
		if len(p.Models)+len(p.Deployments) == 0 && p.Discover == 0 && (p.DiscoverOff || !p.listsDeployments()) {
			return errors.New("nothing would be callable: give models, discover, or both")
		}
		return nil
	}
	if p.BaseURL != "" || p.APIKey != "" || p.Auth != nil || p.Optional || p.TransportRaw != nil || p.Discover != 0 || p.DiscoverOff {
		return errors.New("the built-in test provider takes no base_url, api_key, auth, optional, discover or transport")
	}
	if p.TraceContext {
		return errors.New("the built-in test provider takes no trace_context: it sends no requests")
	}
	if len(p.Header)+len(p.Query)+len(p.Endpoints)+len(p.Deployments) > 0 || p.Place != (Place{}) {
		return errors.New("the built-in test provider takes no header, query, endpoint, deployments or place at a cloud")
	}
	return nil
}

// checkDialect refuses what says that a provider has an API or a list that its dialect does not
// have.
func (p *Provider) checkDialect(made *provider.Provider) error {
	d := made.Dialect
	lacks := func(op provider.Operation) bool { return !d.Has(op) }
	switch {
	case p.Discover != 0 && !made.ListsModels():
		return fmt.Errorf("dialect %s has no list of models there: leave out discover, and name them in models", d.Name)
	case lacks(provider.Chat) && (p.Chat+p.Responses+p.MaxTokensField != "" || p.Messages == translated):
		return fmt.Errorf("dialect %s has only the Messages API, to which all other calls are translated: leave out chat, responses, messages and "+
			"max_tokens_field, or write dialect openai for the provider's OpenAI-compatible API", d.Name)
	case !lacks(provider.Chat) && lacks(provider.Responses) && (p.Chat+p.MaxTokensField != "" || p.Responses == native || p.Messages == native):
		return fmt.Errorf("dialect %s has an API of its own, to which all calls are translated: leave out chat, messages, max_tokens_field and "+
			"responses native", d.Name)
	}
	return nil
}

const (
	// shortestDiscover keeps a mistyped interval from hammering a provider.
	shortestDiscover = 10 * time.Second

	// usualDiscover is for a provider whose models only its own list names. Providers add and
	// retire models within days.
	usualDiscover = 10 * time.Minute
)

// discoverEvery is the interval at which the provider's own list is read, 0 for never.
func (p *Provider) discoverEvery(catalogued bool) time.Duration {
	if p.Discover == 0 && !p.DiscoverOff && p.Dialect != provider.Test && (p.anyModel() && !catalogued || p.listsDeployments()) {
		return usualDiscover
	}
	return time.Duration(p.Discover)
}

// listsDeployments reports whether all deployments of a resource are meant, which it lists.
func (p *Provider) listsDeployments() bool {
	at := p.first()
	return at.Resource != "" && (p.Dialect != provider.Anthropic || at.Project != "") && (p.anyModel() || len(p.Models) == 0)
}

func (p *Provider) anyModel() bool { return slices.Contains(p.Models, "*") }

// nameIn returns the provider's name in catalog files, which have models of these names.
func (p *Provider) nameIn(catalogued map[string]bool) string {
	if p.CatalogName != "" {
		return p.CatalogName
	}
	if usual := provider.Place(p.first().Place).CatalogName(p.Dialect); usual != "" && !catalogued[p.Name] && catalogued[usual] {
		return usual
	}
	return p.Name
}

// first is the account of the first endpoint.
func (p *Provider) first() Account {
	if len(p.Endpoints) > 0 {
		return p.Endpoints[0].over(p.Account)
	}
	return p.Account
}
