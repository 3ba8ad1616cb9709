package gateway

import (
	"errors"
	"strings"

	"github.com/gatehouse-proxy/gatehouse/internal/catalog"
	"github.com/gatehouse-proxy/gatehouse/internal/fault"
	"github.com/gatehouse-proxy/gatehouse/internal/keys"
	"github.com/gatehouse-proxy/gatehouse/internal/provider"
)

// maxModelName bounds the name of a model in a request, in bytes.
const maxModelName = 256

// resolve finds the model among those that are callable and allowed for the
// key, and the provider that serves the operation for it.
func (g *Gateway) resolve(key *keys.Key, op provider.Operation, name string) (catalog.Model, *provider.Provider, error) {
	none := catalog.Model{}
	if len(name) > maxModelName {
		return none, nil, fault.New(fault.ModelNotFound, "the model's name has %d bytes; none has more than %d", len(name), maxModelName).WithParam("model")
	}
	if !key.AllowsModel(name) {
		return none, nil, g.unknownModel(key, name)
	}
	model, err := g.catalog.Resolve(name)
	switch {
	case errors.Is(err, catalog.ErrNotCallable):
		return none, nil, fault.New(fault.ModelNotCallable,
			"the model %q is in the catalog but not callable through this gateway; GET the list of models for those that are", name).WithParam("model")
	case err != nil:
		return none, nil, g.unknownModel(key, name)
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
		return none, nil, fault.New(fault.ModelNotCallable,
			"the model %q does not serve %s, the one API of its provider %q", name, sent, p.Name).WithParam("model")
	default:
		return none, nil, fault.New(fault.ModelNotCallable, "the model %q does not serve %s", name, op).WithParam("model")
	}
	return model, p, nil
}

// maxHints bounds the names that a 404 offers: more are a list, which has a route.
const maxHints = 5

// unknownModel refuses a name. Some clients leave the provider out of it, so the models that end in
// it are named where the key may call them.
func (g *Gateway) unknownModel(key *keys.Key, name string) error {
	refusal := fault.New(fault.ModelNotFound, "the model %q does not exist or this key may not use it", name).WithParam("model")
	if len(name) <= maxModelName {
		if ids := g.catalog.Ending(name, key.AllowsModel, maxHints); len(ids) > 0 {
			refusal.Message += "; name its provider too: this key can call " + strings.Join(ids, ", ")
		}
	}
	return refusal
}

// Models lists what the key can call, from the index that routes.
func (g *Gateway) Models(key *keys.Key) []catalog.Model {
	return g.catalog.List(key.AllowsModel)
}

// Model returns one model of the key's list.
func (g *Gateway) Model(key *keys.Key, name string) (catalog.Model, error) {
	if len(name) <= maxModelName && key.AllowsModel(name) {
		if m, err := g.catalog.Resolve(name); err == nil {
			return m, nil
		}
	}
	return catalog.Model{}, g.unknownModel(key, name)
}
