package modelcall

import (
	"context"
	"errors"
	"slices"
	"strconv"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/catalog"
	"github.com/gatehouse-proxy/gatehouse/internal/failover"
	"github.com/gatehouse-proxy/gatehouse/internal/keys"
	"github.com/gatehouse-proxy/gatehouse/internal/openrouter"
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

// routed is where a call can be sent.
type routed struct {
	targets []*target
	limits  []*ModelLimits // of the name in the request
	listed  bool           // the request names further models
	routing *failover.Routing
	limit   func([]failover.Pick) []failover.Pick // drops those that the request forbids; nil for none
}

// names returns the name that was asked for and, for an alias or a list, the models that it may lead to.
func (r *routed) names(asked string) []string {
	names := []string{asked}
	for _, t := range r.targets {
		if t.alias || r.listed {
			names = append(names, t.model.ID)
		}
	}
	return names
}

// answersAs returns the model that an answer names: as it was asked for, or where an alias or a list
// led.
func (r *routed) answersAs(t *target, asked string) string {
	if t.alias || r.listed {
		return t.model.ID
	}
	return asked
}

// findTargets returns where an operation can be sent that names a model, and more of them in routing,
// which is nil if the request says nothing of its targets.
func findTargets(ctx context.Context, d *Deps, key *keys.Key, op provider.Operation, name string, routing *failover.Routing) (routed, error) {
	r := routed{routing: routing, limits: d.Limits.matching(name)}
	found, err := d.Models.Find(ctx, key, name)
	if err != nil && apierror.From(err).Code == apierror.ModelNotFound {
		sorted := failover.Routing{}
		if routing != nil {
			sorted = *routing
		}
		if model, ok := openrouter.CutSort(&sorted, name); ok {
			if sortable, e := d.Models.Find(ctx, key, model); e == nil {
				found, err, r.routing, r.limits = sortable, nil, &sorted, d.Limits.matching(model)
			}
		}
	}
	if err != nil {
		return r, notCallable(err, name, "model")
	}
	first, refused := targetsOf(d, found, op, r.limits)
	if r.routing == nil || len(r.routing.Models) == 0 && plainRouter(found) {
		if r.targets = first; len(first) == 0 {
			return r, refused
		}
		return r, nil
	}
	models, some := [][][]*target{grouped(first)}, len(first) > 0
	for i, name := range r.routing.Models {
		r.listed = true
		found, err := d.Models.Find(ctx, key, name)
		if err != nil {
			return r, notCallable(err, name, "models["+strconv.Itoa(i)+"]")
		}
		further, err := targetsOf(d, found, op, r.limits)
		if refused == nil {
			refused = err
		}
		models, some = append(models, grouped(further)), some || len(further) > 0
	}
	if !some {
		return r, refused
	}
	kept, err := failover.Apply(r.routing, models, optionOf)
	if err != nil {
		return r, err
	}
	for group, targets := range kept.Groups {
		for _, t := range targets {
			t.group = group
			r.targets = append(r.targets, t)
		}
	}
	r.limit = kept.Limit
	return r, nil
}

func notCallable(err error, name, param string) error {
	if errors.Is(err, catalog.ErrNotCallable) {
		return apierror.New(apierror.ModelNotCallable,
			"the model %q is in the catalog but not callable through this gateway; GET the list of models for those that are", name).WithParam(param)
	}
	if refusal := apierror.From(err); refusal.Param == "model" {
		refusal.Param = param
	}
	return err
}

// plainRouter reports whether a name is a model of a router, which gets the routing fields as they
// are.
func plainRouter(f Found) bool {
	return !f.Alias && f.Groups[0][0].Provider.Dialect.OpenRouterFields()
}

// targetsOf returns the targets of a name. If one does not serve the operation, refused says why.
// Limits are those of the name in the request.
func targetsOf(d *Deps, found Found, op provider.Operation, limits []*ModelLimits) (targets []*target, refused error) {
	for group, candidates := range found.Groups {
		for i := range candidates {
			c := &candidates[i]
			if err := serves(c, op); err != nil {
				if refused == nil {
					refused = err
				}
				continue
			}
			own := without(d.Limits.matching(c.Model.ID), limits)
			for _, e := range c.Provider.Endpoints {
				targets = append(targets, &target{
					model: c.Model, provider: c.Provider, endpoint: e, id: failover.TargetID(c.Model.ID, e.Name), group: group, weight: c.Weight,
					asked: op, operation: c.Provider.Upstream(op), alias: found.Alias, own: own,
				})
			}
		}
	}
	return targets, refused
}

// grouped returns targets by their group.
func grouped(targets []*target) [][]*target {
	var groups [][]*target
	for _, t := range targets {
		for len(groups) <= t.group {
			groups = append(groups, nil)
		}
		groups[t.group] = append(groups[t.group], t)
	}
	return groups
}

// optionOf is what the routing fields of a request look at.
func optionOf(t *target) failover.Option {
	o := failover.Option{Provider: t.provider.Name, Endpoint: t.endpoint.Name, OpenRouter: t.provider.Dialect.OpenRouterFields()}
	if p := t.model.Price; p != nil && p.Prompt.Known && p.Completion.Known {
		o.Priced, o.Prompt, o.Completion = true, int64(p.Prompt.Rate), int64(p.Completion.Rate)
	}
	return o
}

// serves refuses an operation that the model does not have at its provider.
func serves(c *Candidate, op provider.Operation) error {
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
		if !slices.Contains(others, m) {
			rest = append(rest, m)
		}
	}
	return rest
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
	return t.asked == provider.Responses && t.translated() && (t.operation == provider.Messages || !t.provider.Translate.RefuseUnknownTools)
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
