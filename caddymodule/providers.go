package caddymodule

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp/reverseproxy"
	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/internal/caddykit"
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
	secrets   []string
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
	var built builtProviders
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
	credential := ""
	if p.APIKey != "" {
		var err error
		credential, err = a.secret(fmt.Sprintf("provider %q", p.Name), p.APIKey)
		switch {
		case errors.Is(err, caddykit.ErrUnset) && p.Optional:
			a.logger.Info("an optional provider is left out: its api_key is not set", zap.String("provider", p.Name))
			source.Skipped = true
			built.sources = append(built.sources, source)
			return nil
		case err != nil:
			return err
		}
		built.secrets = append(built.secrets, credential)
	}
	base := p.BaseURL
	var transport, fresh http.RoundTripper
	if p.Dialect == provider.Test {
		base, transport = testBaseURL, &testprovider.Transport{}
		for _, m := range testprovider.Models() {
			built.models = append(built.models, testModel(catalogName(p), m))
			if len(p.Models) == 0 {
				source.Patterns = append(source.Patterns, m.ID)
			}
		}
	} else {
		var err error
		if transport, err = a.keepingTransport(p); err != nil {
			return fmt.Errorf("transport: %w", err)
		}
		if fresh, err = a.freshTransport(p); err != nil {
			return fmt.Errorf("transport: %w", err)
		}
	}
	made, err := provider.New(provider.Config{
		Name: p.Name, Dialect: p.Dialect, AccountOf: p.AccountOf,
		Endpoints: provider.One(base, credential),
		Transport: transport, Fresh: fresh, Translate: p.translation(), MaxTokensField: p.MaxTokensField, ResponsesOnly: p.Chat == translated, CostReported: p.Cost == reported,
		UserAgent: "gatehouse",
	})
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

const (
	httpTransport = "http.reverse_proxy.transport.http"
	// idlePerHost is high because calls last seconds and come in bursts. Caddy's own 32 would open
	// and close connections all the time.
	idlePerHost = 256
)

// keepingTransport keeps connections to the provider, as its block says.
func (a *App) keepingTransport(p *Provider) (http.RoundTripper, error) {
	settings, err := transportSettings(p)
	if err != nil {
		return nil, err
	}
	return a.loadTransport(settings)
}

// freshTransport opens a connection for each request, and closes it.
func (a *App) freshTransport(p *Provider) (http.RoundTripper, error) {
	settings, err := transportSettings(p)
	if err != nil {
		return nil, err
	}
	settings.KeepAlive.Enabled = new(bool)
	return a.loadTransport(settings)
}

// transportSettings checks the block's settings of Caddy's own HTTP transport, and adds our
// defaults. Settings that need reverse_proxy to prepare the request are refused: the transport is
// used as a bare RoundTripper.
func transportSettings(p *Provider) (*reverseproxy.HTTPTransport, error) {
	t := new(reverseproxy.HTTPTransport)
	if p.TransportRaw != nil {
		raw, err := withoutProtocol(p.TransportRaw)
		if err != nil {
			return nil, err
		}
		if err := caddy.StrictUnmarshalJSON(raw, t); err != nil {
			return nil, err
		}
	}
	switch {
	case t.ProxyProtocol != "":
		return nil, errors.New("proxy_protocol is not possible: providers get no data about clients")
	case t.TLS != nil && strings.Contains(t.TLS.ServerName, "{"):
		return nil, errors.New("a placeholder in tls_server_name is not possible")
	case t.TLS != nil && strings.HasPrefix(p.BaseURL, "http://"):
		return nil, errors.New("TLS settings with an http:// base_url: write https://")
	}
	if t.KeepAlive == nil {
		t.KeepAlive = new(reverseproxy.KeepAlive)
	}
	if t.KeepAlive.MaxIdleConnsPerHost == 0 {
		t.KeepAlive.MaxIdleConnsPerHost = idlePerHost
	}
	if t.Compression == nil {
		t.Compression = new(bool)
	}
	return t, nil
}

func (a *App) loadTransport(settings *reverseproxy.HTTPTransport) (http.RoundTripper, error) {
	raw, err := json.Marshal(settings)
	if err != nil {
		return nil, err
	}
	module, err := a.ctx.LoadModuleByID(httpTransport, raw)
	if err != nil {
		return nil, err
	}
	made := module.(*reverseproxy.HTTPTransport)
	made.Transport.DialContext = provider.ReadToEnd(made.Transport.DialContext)
	return made, nil
}

// withoutProtocol removes the module's inline key, and refuses other transports.
func withoutProtocol(raw json.RawMessage) (json.RawMessage, error) {
	var fields map[string]json.RawMessage
	decoder := json.NewDecoder(bytes.NewReader(raw))
	if err := decoder.Decode(&fields); err != nil {
		return nil, err
	}
	if protocol := string(fields["protocol"]); protocol != `"http"` {
		return nil, fmt.Errorf("protocol %s: only the http transport is possible", protocol)
	}
	delete(fields, "protocol")
	return json.Marshal(fields)
}
