package gateway

import (
	"context"
	"errors"
	"strings"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/catalog"
	"github.com/gatehouse-proxy/gatehouse/internal/keys"
	"github.com/gatehouse-proxy/gatehouse/internal/provider"
)

// maxModelName bounds the name of a model in a request, in bytes.
const maxModelName = 256

// resolve finds the model among those that are callable and allowed for the
// key, and the provider that serves the operation for it.
func (g *Gateway) resolve(ctx context.Context, key *keys.Key, op provider.Operation, name string) (catalog.Model, *provider.Provider, error) {
	none := catalog.Model{}
	if len(name) > maxModelName {
		return none, nil, apierror.New(apierror.ModelNotFound, "the model's name has %d bytes; none has more than %d", len(name), maxModelName).WithParam("model")
	}
	if !key.AllowsModel(name) {
		return none, nil, g.unknownModel(key, name)
	}
	model, err := g.findModel(ctx, key, name)
	if errors.Is(err, catalog.ErrNotCallable) {
		return none, nil, apierror.New(apierror.ModelNotCallable,
			"the model %q is in the catalog but not callable through this gateway; GET the list of models for those that are", name).WithParam("model")
	}
	if err != nil {
		return none, nil, err
	}
	p := g.providers[model.Provider]
	// What is asked of the provider: the operation itself, or what it is translated into.
	sent := op
	switch {
	case op == provider.Responses && p.Translate != nil:
		sent = provider.Chat
	case op == provider.Chat && p.ResponsesOnly:
		sent = provider.Responses
	}
	switch {
	case model.Serves(string(sent)):
	case sent != op:
		return none, nil, apierror.New(apierror.ModelNotCallable,
			"the model %q does not serve %s, the one API of its provider %q", name, sent, p.Name).WithParam("model")
	default:
		return none, nil, apierror.New(apierror.ModelNotCallable, "the model %q does not serve %s", name, op).WithParam("model")
	}
	return model, p, nil
}

// maxHints bounds the names that a 404 offers: more are a list, which has a route.
const maxHints = 5

// unknownModel refuses a name. Some clients leave the provider out of it, so the models that end in
// it are named where the key may call them.
func (g *Gateway) unknownModel(key *keys.Key, name string) *apierror.Error {
	refusal := apierror.New(apierror.ModelNotFound, "the model %q does not exist or this key may not use it", name).WithParam("model")
	if len(name) <= maxModelName {
		if ids := g.catalog.Ending(name, key.AllowsModel, maxHints); len(ids) > 0 {
			refusal.Message += "; name its provider too: this key can call " + strings.Join(ids, ", ")
		}
	}
	return refusal
}

// findModel finds a callable model that the key allows. Where the provider's first list of models
// decides and is on its way, it waits a little. Errors are refusals, that of a
// model which is known and not callable with catalog.ErrNotCallable as cause.
func (g *Gateway) findModel(ctx context.Context, key *keys.Key, name string) (catalog.Model, error) {
	model, err := g.catalog.Resolve(name)
	of, _, _ := strings.Cut(name, "/")
	if errors.Is(err, catalog.ErrUnlisted) {
		if err := g.discovery.await(ctx, of); err != nil {
			return model, err
		}
		model, err = g.catalog.Resolve(name)
	}
	switch {
	case err == nil:
		return model, nil
	case errors.Is(err, catalog.ErrUnlisted) && g.discovery.noList(of):
		refusal := apierror.New(apierror.ModelNotCallable, "provider %q has no list of models, so %q is not known; "+
			"the gateway's operator can set discover off for the provider, or name its models", of, name).WithParam("model").WithCause(err)
		refusal.NoRetry = true
		return model, refusal
	case errors.Is(err, catalog.ErrUnlisted):
		refusal := apierror.New(apierror.NoProvider, "provider %q has not listed its models yet, so %q is not known; try again shortly", of, name).WithCause(err)
		refusal.Provider = of
		return model, refusal
	case errors.Is(err, catalog.ErrNotCallable):
		return model, g.unknownModel(key, name).WithCause(err)
	}
	return model, g.unknownModel(key, name)
}

// Models lists what the key can call, from the index that routes. While a
// provider that the key may use has not listed its models yet, an empty list is no answer.
func (g *Gateway) Models(ctx context.Context, key *keys.Key) ([]catalog.Model, error) {
	if err := g.discovery.await(ctx, g.discovery.awaited(key)...); err != nil {
		return nil, err
	}
	models := g.catalog.List(key.AllowsModel)
	if awaited := g.discovery.awaited(key); len(models) == 0 && len(awaited) > 0 {
		return nil, apierror.New(apierror.NoProvider, "no model is known yet that this key may use: not listed yet are those of %s; try again shortly",
			strings.Join(awaited, ", ")).WithCause(catalog.ErrUnlisted)
	}
	return models, nil
}

// Model returns one model of the key's list.
func (g *Gateway) Model(ctx context.Context, key *keys.Key, name string) (catalog.Model, error) {
	if len(name) > maxModelName || !key.AllowsModel(name) {
		return catalog.Model{}, g.unknownModel(key, name)
	}
	return g.findModel(ctx, key, name)
}
