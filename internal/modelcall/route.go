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

// target is a model at an endpoint of a provider, and what a call may use there.
type target struct {
	model     catalog.Model
	provider  *provider.Provider
	endpoint  *provider.Endpoint
	id        string             // "provider/model", with "@endpoint" if the provider has several
	group     int                // targets of an earlier group are asked first
	weight    int                // in its group
	asked     provider.Operation // of the caller
	operation provider.Operation // asked, or what it is translated into
	alias     bool               // the caller named an alias: answers name this model
	own       []*ModelLimits     // of this model, if the caller named an alias

	caps      Caps  // of key, alias and model
	output    int64 // the most tokens of a choice; 0: not bounded
	setOutput bool  // the provider must be told output
	use       estimate
	account   accountUse
}

// findTargets returns where an operation of the name in a request can be sent, and the limits of that
// name.
func findTargets(ctx context.Context, d *Deps, key *keys.Key, op provider.Operation, name string) ([]*target, []*ModelLimits, error) {
	found, err := d.Models.Find(ctx, key, name)
	if errors.Is(err, catalog.ErrNotCallable) {
		err = apierror.New(apierror.ModelNotCallable,
			"the model %q is in the catalog but not callable through this gateway; GET the list of models for those that are", name).WithParam("model")
	}
	if err != nil {
		return nil, nil, err
	}
	limits := d.Limits.matching(name)
	var targets []*target
	var refused error
	for group, candidates := range found.Groups {
		for _, c := range candidates {
			if err := serves(c, op); err != nil {
				if refused == nil {
					refused = err
				}
				continue
			}
			for _, e := range c.Provider.Endpoints {
				t := &target{
					model: c.Model, provider: c.Provider, endpoint: e, id: c.Model.ID, group: group, weight: c.Weight,
					asked: op, operation: c.Provider.Upstream(op), alias: found.Alias,
				}
				if e.Name != "" {
					t.id += "@" + e.Name
				}
				if found.Alias {
					t.own = without(d.Limits.matching(c.Model.ID), limits)
				}
				targets = append(targets, t)
			}
		}
	}
	if len(targets) == 0 {
		return nil, nil, refused
	}
	return targets, limits, nil
}

// serves refuses an operation that the model does not have at its provider.
func serves(c Candidate, op provider.Operation) error {
	operation := c.Provider.Upstream(op)
	switch {
	case op == provider.Embeddings && c.Provider.Dialect.Path(op) == "":
		return apierror.New(apierror.ModelNotCallable, "the provider %q has no embeddings", c.Provider.Name).WithParam("model")
	case operation == "" || c.Model.Serves(string(operation)):
		return nil
	case operation != op:
		return apierror.New(apierror.ModelNotCallable,
			"the model %q does not serve %s, the one API of its provider %q", c.Model.ID, operation, c.Provider.Name).WithParam("model")
	default:
		return apierror.New(apierror.ModelNotCallable, "the model %q does not serve %s", c.Model.ID, op).WithParam("model")
	}
}

// without returns the limits that are not among others.
func without(limits, others []*ModelLimits) (rest []*ModelLimits) {
	for _, m := range limits {
		if !contains(others, m) {
			rest = append(rest, m)
		}
	}
	return rest
}

func contains(list []*ModelLimits, m *ModelLimits) bool {
	for _, other := range list {
		if other == m {
			return true
		}
	}
	return false
}

// keep returns the targets that do not refuse the call. If all do, the error is that of the first.
func keep(targets []*target, refuse func(*target) error) ([]*target, error) {
	var first error
	kept := targets[:0]
	for _, t := range targets {
		switch err := refuse(t); {
		case err == nil:
			kept = append(kept, t)
		case first == nil:
			first = err
		}
	}
	if len(kept) > 0 {
		first = nil
	}
	return kept, first
}

// answersAs returns the model that the answer names: as it was asked, or where an alias led.
func (t *target) answersAs(asked string) string {
	if t.alias {
		return t.model.ID
	}
	return asked
}

// accountName names the account at the provider that keeps state: that of an endpoint, if there are
// several.
func (t *target) accountName() string {
	if t.endpoint.Name == "" {
		return t.provider.Name
	}
	return t.provider.Name + "@" + t.endpoint.Name
}

// generates reports whether the answer is text, whose tokens are counted and limited.
func (t *target) generates() bool { return t.asked != provider.Embeddings }

// translated reports whether the request becomes one of another API.
func (t *target) translated() bool { return t.operation != t.asked }

// dropsUnknownTools reports whether the provider gets no tools but those that the caller runs.
func (t *target) dropsUnknownTools() bool {
	return t.asked == provider.Responses && t.translated() && t.operation == provider.Chat && !t.provider.Translate.RefuseUnknownTools
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
	if len(targets) > 0 && (targets[0].alias || targets[0].model.Known) {
		return name, err
	}
	safe := d.Redactor.Name(name)
	if safe != name && (err == nil || apierror.From(err).Code == apierror.ModelNotFound) {
		err = apierror.New(apierror.ModelNotFound, "the model's name holds a key; send the key in the Authorization header only").WithParam("model")
	}
	return safe, err
}
