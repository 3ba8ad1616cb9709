package modelcall

import (
	"context"
	"errors"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/catalog"
	"github.com/gatehouse-proxy/gatehouse/internal/keys"
	"github.com/gatehouse-proxy/gatehouse/internal/provider"
)

// Models finds models.
type Models interface {
	// Find returns a callable model that the key allows, and its provider. The error is a refusal; that
	// of a model which is known and not callable has catalog.ErrNotCallable as its cause.
	Find(ctx context.Context, key *keys.Key, name string) (catalog.Model, *provider.Provider, error)
}

// target is a model at a provider, and what the provider is asked.
type target struct {
	model     catalog.Model
	provider  *provider.Provider
	limits    []*ModelLimits // of the model
	asked     provider.Operation
	operation provider.Operation // asked, or what it is translated into
}

// findTarget returns the target of an operation of the model that a request names.
func findTarget(ctx context.Context, d *Deps, key *keys.Key, op provider.Operation, name string) (*target, error) {
	model, p, err := d.Models.Find(ctx, key, name)
	if errors.Is(err, catalog.ErrNotCallable) {
		err = apierror.New(apierror.ModelNotCallable,
			"the model %q is in the catalog but not callable through this gateway; GET the list of models for those that are", name).WithParam("model")
	}
	if err != nil {
		return nil, err
	}
	t := &target{model: model, provider: p, asked: op, operation: upstreamOperation(op, p)}
	switch {
	case model.Serves(string(t.operation)):
	case t.operation != op:
		return nil, apierror.New(apierror.ModelNotCallable,
			"the model %q does not serve %s, the one API of its provider %q", name, t.operation, p.Name).WithParam("model")
	default:
		return nil, apierror.New(apierror.ModelNotCallable, "the model %q does not serve %s", name, op).WithParam("model")
	}
	t.limits = d.Limits.matching(name)
	return t, nil
}

// upstreamOperation is what a provider is asked for an operation: the same, or what it is translated
// into.
func upstreamOperation(op provider.Operation, p *provider.Provider) provider.Operation {
	switch {
	case op == provider.Responses && p.Translate != nil:
		return provider.Chat
	case op == provider.Chat && p.ResponsesOnly:
		return provider.Responses
	}
	return op
}

// translatesResponses reports whether a Responses call is translated.
func (t *target) translatesResponses() bool {
	return t.asked == provider.Responses && t.operation != t.asked
}

// outputField is the one name that the provider knows for the output limit of a chat. It is "" if it
// knows the usual ones, or if the request is translated.
func (t *target) outputField() string {
	if t.asked == provider.Chat {
		return t.provider.MaxTokensField
	}
	return ""
}

// recordedName returns what the record shows of a model's name, and the error of the call. A client
// whose settings are mixed up sends a key as the model. The record has it redacted, and a call with
// it is refused if there is such a model, or none. Other errors stay: one that is not callable, or
// that may be listed soon.
func recordedName(d *Deps, name string, t *target, err error) (string, error) {
	if t != nil && t.model.Known {
		return name, err
	}
	safe := d.Redactor.Name(name)
	if safe != name && (err == nil || apierror.From(err).Code == apierror.ModelNotFound) {
		err = apierror.New(apierror.ModelNotFound, "the model's name holds a key; send the key in the Authorization header only").WithParam("model")
	}
	return safe, err
}
