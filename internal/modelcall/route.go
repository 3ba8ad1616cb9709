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
	// Find returns where calls of a name that the key allows can be sent. The error is a refusal; that
	// of a model which is known and not callable has catalog.ErrNotCallable as its cause.
	Find(ctx context.Context, key *keys.Key, name string) (Found, error)
}

// Found is where calls of a name can be sent: groups of models, which are tried in their order.
type Found struct {
	Groups [][]Candidate // none is empty
	Alias  bool          // the name is an alias, not a model
}

// Candidate is a callable model, and its provider.
type Candidate struct {
	Model    catalog.Model
	Provider *provider.Provider
	Weight   int // in its group; 0 = 1
}

// target is a model at an endpoint of a provider, and what the provider is asked.
type target struct {
	model     catalog.Model
	provider  *provider.Provider
	endpoint  *provider.Endpoint
	limits    []*ModelLimits // of the model
	asked     provider.Operation
	operation provider.Operation // asked, or what it is translated into
}

// findTargets returns where an operation of the model that a request names can be sent: today one
// target.
func findTargets(ctx context.Context, d *Deps, key *keys.Key, op provider.Operation, name string) ([]*target, error) {
	found, err := d.Models.Find(ctx, key, name)
	if errors.Is(err, catalog.ErrNotCallable) {
		err = apierror.New(apierror.ModelNotCallable,
			"the model %q is in the catalog but not callable through this gateway; GET the list of models for those that are", name).WithParam("model")
	}
	if err != nil {
		return nil, err
	}
	model, p := found.Groups[0][0].Model, found.Groups[0][0].Provider
	t := &target{model: model, provider: p, endpoint: p.Endpoints[0], asked: op, operation: p.Upstream(op)}
	switch {
	case model.Serves(string(t.operation)):
	case t.operation == "" && model.Serves(string(op)): // the gateway does it itself
	case t.operation != op:
		return nil, apierror.New(apierror.ModelNotCallable,
			"the model %q does not serve %s, the one API of its provider %q", name, t.operation, p.Name).WithParam("model")
	default:
		return nil, apierror.New(apierror.ModelNotCallable, "the model %q does not serve %s", name, op).WithParam("model")
	}
	t.limits = d.Limits.matching(name)
	return []*target{t}, nil
}

// translatesResponses reports whether a Responses call is translated.
func (t *target) translatesResponses() bool {
	return t.asked == provider.Responses && t.operation != t.asked
}

// dropsUnknownTools reports whether the provider gets no tools but those that the caller runs.
func (t *target) dropsUnknownTools() bool {
	return t.translatesResponses() && t.operation == provider.Chat && !t.provider.Translate.RefuseUnknownTools
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
func recordedName(d *Deps, name string, targets []*target, err error) (string, error) {
	if len(targets) > 0 && targets[0].model.Known {
		return name, err
	}
	safe := d.Redactor.Name(name)
	if safe != name && (err == nil || apierror.From(err).Code == apierror.ModelNotFound) {
		err = apierror.New(apierror.ModelNotFound, "the model's name holds a key; send the key in the Authorization header only").WithParam("model")
	}
	return safe, err
}
