// Package models is the index of a configuration: which models each key may call, and at which
// provider. It reads the lists of providers, knows the health of what calls are sent to, and
// whether credentials can be had.
package models

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/catalog"
	"github.com/gatehouse-proxy/gatehouse/internal/failover"
	"github.com/gatehouse-proxy/gatehouse/internal/keys"
	"github.com/gatehouse-proxy/gatehouse/internal/modelcall"
	"github.com/gatehouse-proxy/gatehouse/internal/provider"
)

// maxModelName bounds the name of a model in a request, in bytes.
const maxModelName = 256

// Config is what an index is made of.
type Config struct {
	Catalog   *catalog.Catalog
	Providers []*provider.Provider
	Aliases   []Alias
	Discover  []Discovery
	Issued    []Issued // credentials of others than providers
	Health    *failover.Health
	Lists     *Lists // outlive the configuration
	// Redact takes secrets out of a text, and RedactName out of a name.
	Redact, RedactName func(text string) string
	Logger             *zap.Logger
	Now                func() time.Time
}

// Index has the models of a configuration, as each key may call them.
type Index struct {
	catalog   *catalog.Catalog
	ordered   []*provider.Provider          // as configured
	providers map[string]*provider.Provider // by name
	discovery *discovery
	health    *failover.Health
	aliases   *aliases
	notListed notListed
	// Issued are the credentials that clouds and authorization servers give, also to others than
	// providers.
	Issued []Issued
	logger *zap.Logger
}

// New returns an index that is not started: it asks nobody.
func New(c Config) (*Index, error) {
	m := &Index{
		catalog: c.Catalog, ordered: c.Providers, providers: make(map[string]*provider.Provider, len(c.Providers)),
		health: c.Health, Issued: append(issuedTo(c.Providers), c.Issued...), logger: c.Logger,
		notListed: notListed{now: c.Now, redact: c.RedactName, logger: c.Logger},
	}
	for _, p := range c.Providers {
		if _, twice := m.providers[p.Name]; twice {
			return nil, fmt.Errorf("provider %q is configured twice", p.Name)
		}
		m.providers[p.Name] = p
	}
	var err error
	m.aliases, err = newAliases(c.Aliases, c.Catalog, m.providers, c.Logger)
	m.discovery = newDiscovery(c.Discover, c.Catalog, c.Lists, c.Redact, c.Logger)
	return m, err
}

// Start reads the lists of models, and asks for credentials, until ctx ends.
func (m *Index) Start(ctx context.Context) {
	watchCredentials(ctx, m.Issued, m.logger)
	m.discovery.start(ctx)
}

// Awaited returns the providers whose list of models has never come.
func (m *Index) Awaited() []string { return m.catalog.Awaited() }

// Find returns where calls of a name that the key allows can be sent. It implements
// [modelcall.Models].
func (m *Index) Find(key *keys.Key, name string) (modelcall.Found, error) {
	none := modelcall.Found{}
	if len(name) > maxModelName {
		return none, apierror.New(apierror.ModelNotFound, "the model's name has %d bytes; none has more than %d", len(name), maxModelName).WithParam("model")
	}
	if !key.AllowsModel(name) {
		refusal := m.unknownModel(key, name)
		refusal.RefusedBy = "key " + key.Name + ": models"
		return none, refusal
	}
	if alias, ok := m.aliases.byName[name]; ok {
		return m.findAlias(alias)
	}
	model, err := m.find(key, name)
	if err != nil {
		return none, err
	}
	return modelcall.Found{Groups: [][]modelcall.Candidate{{{Model: model, Provider: m.providers[model.Provider]}}}}, nil
}

// maxHints bounds the names that a 404 offers: more are a list, which has a route.
const maxHints = 5

// unknownModel refuses a name. Some clients leave the provider out of it, so the refusal names
// models that end in it and that the key may call.
func (m *Index) unknownModel(key *keys.Key, name string) *apierror.Error {
	refusal := modelcall.UnknownModel(name)
	if len(name) <= maxModelName {
		ids := append(m.aliases.ending(key, name), m.catalog.Ending(name, key.AllowsModel, maxHints)...)
		if len(ids) > 0 {
			refusal.Message += "; name its provider too: this key can call " + strings.Join(ids[:min(len(ids), maxHints)], ", ")
		}
	}
	return refusal
}

// find returns a callable model that the key allows. Errors are refusals, with the causes of
// [Index.Find].
func (m *Index) find(key *keys.Key, name string) (*catalog.Model, error) {
	model, err := m.catalog.Resolve(name)
	of, rest, _ := strings.Cut(name, "/")
	switch {
	case err == nil:
		return model, nil
	case errors.Is(err, catalog.ErrUnlisted):
		return nil, m.unlisted(of, name)
	}
	refusal := m.unknownModel(key, name).WithCause(err)
	if m.catalog.Lacks(of, rest) {
		refusal.Cause = fmt.Errorf("%w: %w", err, catalog.ErrNotListed)
		refusal.RefusedBy = "provider " + of + " does not list it: " + notListedAdvice
	}
	return nil, refusal
}

// notListedAdvice is how an operator makes a model callable that its provider does not list.
const notListedAdvice = `write "models NAME" or "discover off" in its block`

// Await waits a little for the lists that have never come and that decide about names. The error is
// the refusal of a client that has left.
func (m *Index) Await(ctx context.Context, names ...string) error {
	var providers []string
	for _, name := range names {
		if _, err := m.catalog.Resolve(name); errors.Is(err, catalog.ErrUnlisted) {
			of, _, _ := strings.Cut(name, "/")
			providers = append(providers, of)
		}
	}
	return m.discovery.await(ctx, providers...)
}

// NotListed logs that a call was refused because the provider does not list its model.
func (m *Index) NotListed(name string) { m.notListed.log(name) }

// unlisted refuses a name of which only a list that has not come can say what it means.
func (m *Index) unlisted(provider, name string) *apierror.Error {
	if m.discovery.noList(provider) {
		refusal := apierror.New(apierror.ModelNotCallable, "provider %q has no list of models, so %q is not known; "+
			"the gateway's operator can set discover off for the provider, or name its models", provider, name).WithParam("model")
		refusal.Cause = catalog.ErrUnlisted
		refusal.RefusedBy = "provider " + provider + " has no list of models: " + notListedAdvice
		return refusal
	}
	refusal := apierror.New(apierror.NoProvider, "provider %q has not listed its models yet, so %q is not known; try again shortly", provider, name)
	refusal.Cause = catalog.ErrUnlisted
	refusal.Provider = provider
	refusal.RefusedBy = "provider " + provider + " has sent no list of models yet: " + notListedAdvice
	return refusal
}

// List returns the models that the key can call, from the index that routes. An empty list is no
// answer while a provider that the key may use has not listed its models yet: the error is a 503.
func (m *Index) List(ctx context.Context, key *keys.Key) ([]catalog.Model, error) {
	awaited := m.awaited(key)
	if len(awaited) > 0 && len(m.Known(key)) > 0 {
		awaited = slices.DeleteFunc(awaited, m.discovery.tried)
	}
	if err := m.discovery.await(ctx, awaited...); err != nil {
		return nil, err
	}
	models := m.Known(key)
	if awaited := m.awaited(key); len(models) == 0 && len(awaited) > 0 {
		return nil, apierror.New(apierror.NoProvider, "no model is known yet that this key may use: not listed yet are those of %s; try again shortly",
			strings.Join(awaited, ", ")).WithCause(catalog.ErrUnlisted)
	}
	return models, nil
}

// Known returns the models and aliases that the key can call now.
func (m *Index) Known(key *keys.Key) []catalog.Model {
	models := m.catalog.List(key.AllowsModel)
	if aliases := m.aliases.list(key); len(aliases) > 0 {
		models = append(models, aliases...)
		slices.SortFunc(models, func(a, b catalog.Model) int { return strings.Compare(a.ID, b.ID) })
	}
	return models
}

// awaited returns the providers whose first list may still come and can hold a model that the key
// may use.
func (m *Index) awaited(key *keys.Key) []string {
	return slices.DeleteFunc(m.catalog.Awaited(), func(name string) bool { return m.discovery.noList(name) || !key.AllowsProvider(name) })
}

// Get returns one model of the key's list.
func (m *Index) Get(ctx context.Context, key *keys.Key, name string) (catalog.Model, error) {
	if len(name) > maxModelName || !key.AllowsModel(name) {
		return catalog.Model{}, m.unknownModel(key, name)
	}
	alias, ok := m.aliases.byName[name]
	if !ok {
		if err := m.Await(ctx, name); err != nil {
			return catalog.Model{}, err
		}
		model, err := m.find(key, name)
		if err != nil {
			return catalog.Model{}, err
		}
		return *model, nil
	}
	found, err := m.findAlias(alias)
	if err != nil {
		return catalog.Model{}, err
	}
	return alias.common(found.Groups), nil
}
