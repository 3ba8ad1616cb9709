package modelcall

import (
	"slices"

	"github.com/gatehouse-proxy/gatehouse/internal/modelcall/wire"
	"github.com/gatehouse-proxy/gatehouse/internal/policy"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/catalog"
	"github.com/gatehouse-proxy/gatehouse/internal/failover"
	"github.com/gatehouse-proxy/gatehouse/internal/openai/params"
	"github.com/gatehouse-proxy/gatehouse/internal/provider"
)

// target is a model at an endpoint of a provider, for one call.
type target struct {
	model    *catalog.Model
	provider *provider.Provider
	endpoint *provider.Endpoint
	id       string                // "provider/model", with "@endpoint" if the provider has several
	group    int                   // targets of an earlier group are asked first
	weight   float64               // in its group
	rank     int                   // its place in the order if no target were cooling
	op       *wire.Operation       // of the caller
	route    *wire.Route           // how it reaches the provider; nil: not at all
	named    string                // what the request names: the model, or an alias
	alias    bool                  // it is an alias: answers name this model
	own      []*policy.ModelLimits // of the model and its alias, besides those of the call
	allowed  allowed
}

// allowed is what a call may use at a target.
type allowed struct {
	caps      policy.Caps // of key, alias and model
	output    int64       // the most tokens of a choice; 0: not bounded
	setOutput bool        // the provider must be told output
	use       estimate
	account   accountUse
}

// targetsOf returns the targets of a name. If one does not serve the operation, refused says why.
func (r *routed) targetsOf(d *Deps, found Found, op *wire.Operation, name string) (targets []*target, refused error) {
	for group, candidates := range found.Groups {
		for i := range candidates {
			c := &candidates[i]
			route := op.RouteTo(c.Provider)
			if err := serves(c, op, route); err != nil {
				if refused == nil {
					refused = err
				}
				r.refused(c.Model.ID, err)
				continue
			}
			own := without(d.Limits.Matching(c.Model.ID), r.limits)
			if found.Alias {
				own = append(own, without(without(d.Limits.Matching(name), r.limits), own)...)
			}
			endpoints := c.Provider.Endpoints
			for _, e := range endpoints {
				targets = append(targets, &target{
					model: c.Model, provider: c.Provider, endpoint: e, id: failover.TargetID(c.Model.ID, e.Name), group: group,
					weight: float64(max(c.Weight, 1)) / float64(len(endpoints)),
					op:     op, route: route, named: name, alias: found.Alias, own: own,
				})
			}
		}
	}
	return targets, refused
}

// Callable reports whether an operation can be sent to any of the candidates.
func Callable(found Found, op *wire.Operation) bool {
	for _, candidates := range found.Groups {
		for i := range candidates {
			if c := &candidates[i]; serves(c, op, op.RouteTo(c.Provider)) == nil {
				return true
			}
		}
	}
	return false
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
	o := failover.Option{Provider: t.provider.Name, Endpoint: t.endpoint.Name, OpenRouter: t.provider.Dialect.OpenRouterFields}
	if p := t.model.Price; p != nil && p.Prompt.Known && p.Completion.Known {
		o.Priced, o.Prompt, o.Completion = true, int64(p.Prompt.Rate), int64(p.Completion.Rate)
	}
	return o
}

// serves refuses an operation that the model does not have at its provider.
func serves(c *Candidate, op *wire.Operation, route *wire.Route) error {
	switch {
	case route == nil && op.Instead != "":
		return apierror.New(apierror.UnsupportedParameter, "the provider %q does not have Google's API: call the model %q by %s", c.Provider.Name, c.Model.ID, op.Instead).WithParam("model")
	case route == nil && op.Estimate == "":
		return apierror.New(apierror.ModelNotCallable, "the provider %q has no %s", c.Provider.Name, op.Name).WithParam("model")
	case route == nil || c.Model.Serves(string(route.Wire.Name)):
		return nil
	case route.Translated:
		return apierror.New(apierror.ModelNotCallable,
			"the model %q does not serve %s, the one API of its provider %q", c.Model.ID, route.Wire.Name, c.Provider.Name).WithParam("model")
	default:
		return apierror.New(apierror.ModelNotCallable, "the model %q does not serve %s", c.Model.ID, op.Name).WithParam("model")
	}
}

// without returns the limits that are not among others.
func without(limits, others []*policy.ModelLimits) (rest []*policy.ModelLimits) {
	for _, m := range limits {
		if !slices.Contains(others, m) {
			rest = append(rest, m)
		}
	}
	return rest
}

// accountName names the account at the provider that keeps state: that of an endpoint, if there are
// several.
func (t *target) accountName() string {
	if t.endpoint.Name == "" {
		return t.provider.Name
	}
	return t.provider.Name + "@" + t.endpoint.Name
}

// rated reports whether a token rate holds for the target alone.
func (t *target) rated() bool { return slices.ContainsFunc(t.own, (*policy.ModelLimits).Rated) }

// dropsTools reports whether the provider gets no tools but those that the caller runs.
func (t *target) dropsTools() bool {
	return t.route.DropsTools != nil && t.route.DropsTools(t.provider)
}

// made is the most that an answer has besides text.
func (t *target) made(l *params.RequestedLimits) params.Made {
	if t.op.Made == nil {
		return params.Made{}
	}
	return t.op.Made(l, t.model)
}

// price returns the price of the model for what the request asks, nil if none is known.
func (t *target) price(l *params.RequestedLimits) *catalog.Price {
	return t.model.Price.Pictured(l.Picture.Quality, l.Picture.Size)
}

// outputField is the one name that the provider knows for the limit of an output, "" if it knows the
// usual ones.
func (t *target) outputField() string {
	if t.op.OutputField == nil {
		return ""
	}
	return t.op.OutputField(t.provider)
}
