package gateway

import (
	"errors"

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
		return none, nil, unknownModel(name)
	}
	model, err := g.catalog.Resolve(name)
	switch {
	case errors.Is(err, catalog.ErrNotCallable):
		return none, nil, fault.New(fault.ModelNotCallable,
			"the model %q is in the catalog but not callable through this gateway; GET the list of models for those that are", name).WithParam("model")
	case err != nil:
		return none, nil, unknownModel(name)
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

func unknownModel(name string) error {
	return fault.New(fault.ModelNotFound, "the model %q does not exist or this key may not use it", name).WithParam("model")
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
	return catalog.Model{}, unknownModel(name)
}
