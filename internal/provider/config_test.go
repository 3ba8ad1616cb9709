package provider_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/provider"
)

func TestTheDialectFollowsTheBlockAndTheHost(t *testing.T) {
	for _, c := range []struct {
		dialect, base string
		openRouter    bool
	}{
		{"", "https://api.openai.com/v1", false},
		{"", "https://openrouter.ai/api/v1", true},
		{"", "https://openrouter.ai.evil.example/api/v1", false},
		{"openai", "https://openrouter.ai/api/v1", false},
		{"openrouter", "http://127.0.0.1:1/api/v1", true},
		{"test", "http://test.invalid/v1", false},
	} {
		p := newProvider(t, provider.Config{Dialect: c.dialect, Endpoints: provider.One(c.base, ""), Transport: &transport{}})
		if got := p.Dialect.OpenRouterFields; got != c.openRouter {
			t.Errorf("dialect %q at %s: OpenRouter's fields %v", c.dialect, c.base, got)
		}
		if p.Has("unheard") {
			t.Errorf("dialect %q has an operation that it does not know", c.dialect)
		}
	}
}

func TestNewRefuses(t *testing.T) {
	good := provider.Config{Name: "acme", Endpoints: provider.One("https://api.acme.example/v1", ""), Transport: &transport{}}
	for _, c := range []struct {
		change func(*provider.Config)
		want   string
	}{
		{func(c *provider.Config) { c.Name = "" }, `provider name ""`},
		{func(c *provider.Config) { c.Name = "Acme" }, `provider name "Acme"`},
		{func(c *provider.Config) { c.Name = "a/b" }, `provider name "a/b"`},
		{func(c *provider.Config) { c.Name = "-a" }, `provider name "-a"`},
		{func(c *provider.Config) { c.Name = strings.Repeat("a", 64) }, "1 to 63"},
		{func(c *provider.Config) { c.Endpoints = provider.One("ftp://api.acme.example", "") }, `base_url "ftp://api.acme.example"`},
		{func(c *provider.Config) { c.Endpoints = provider.One("api.acme.example/v1", "") }, "base_url"},
		{func(c *provider.Config) { c.Endpoints = provider.One("https://", "") }, "base_url"},
		{func(c *provider.Config) { c.Endpoints = provider.One("https://a b/", "") }, "base_url"},
		{func(c *provider.Config) { c.Endpoints = provider.One("https://user:pass@api.acme.example", "") }, "no user"},
		{func(c *provider.Config) { c.Endpoints[0].BaseURL += "?key=1" }, "no user, query or fragment"},
		{func(c *provider.Config) { c.Endpoints[0].BaseURL += "#top" }, "no user, query or fragment"},
		{func(c *provider.Config) { c.Dialect = "cobol" }, `unknown dialect "cobol"; known dialects: ` + strings.Join(provider.Dialects(), ", ")},
		{func(c *provider.Config) { c.Transport = nil }, "no transport"},
		{func(c *provider.Config) { c.Translate, c.ResponsesOnly = new(provider.Translate), true }, "chat translate and responses translate"},
	} {
		config := good
		config.Endpoints = slices.Clone(good.Endpoints)
		c.change(&config)
		if _, err := provider.New(config); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: error %v, want %q", config, err, c.want)
		} else if strings.Contains(err.Error(), "pass@") {
			t.Errorf("the error shows the password: %v", err)
		}
	}
	if _, err := provider.New(good); err != nil {
		t.Error(err)
	}
}

func TestIdentityDependsOnTheBaseURL(t *testing.T) {
	a := newProvider(t, provider.Config{Endpoints: provider.One("https://a.example/v1", ""), Transport: &transport{}})
	b := newProvider(t, provider.Config{Endpoints: provider.One("https://b.example/v1", ""), Transport: &transport{}})
	same := newProvider(t, provider.Config{Endpoints: provider.One("https://a.example/v1/", "another-credential"), Transport: &transport{}})
	if a.Identity() == b.Identity() || a.Identity() != same.Identity() {
		t.Errorf("identities %q, %q, %q", a.Identity(), b.Identity(), same.Identity())
	}
}

// Calls of other APIs reach every provider of chat completions, whatever its dialect lacks.
func TestAProviderOfChatSaysHowOthersAreTranslated(t *testing.T) {
	p := newProvider(t, provider.Config{Endpoints: provider.One("https://api.acme.example/v1", ""), Transport: &transport{}})
	if !p.Has(provider.Chat) || p.Translate == nil {
		t.Error("a Responses call would have no translation")
	}
}
