package modelcall

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/gatehouse-proxy/gatehouse/internal/modelcall/wire"
	"github.com/gatehouse-proxy/gatehouse/internal/policy"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/catalog"
	"github.com/gatehouse-proxy/gatehouse/internal/failover"
	"github.com/gatehouse-proxy/gatehouse/internal/keys"
	"github.com/gatehouse-proxy/gatehouse/internal/openrouter"
	"github.com/gatehouse-proxy/gatehouse/internal/provider"
	"github.com/gatehouse-proxy/gatehouse/internal/redact"
)

// Models finds models.
type Models interface {
	// Find returns where calls of a name that the key allows can be sent. The error is a refusal. That
	// of a model which is known and not callable has catalog.ErrNotCallable as a cause, that of one
	// which its provider does not list catalog.ErrNotListed.
	Find(key *keys.Key, name string) (Found, error)
	// Await waits a little for the lists that have never come and that decide about names. The error is
	// the refusal of a client that has left.
	Await(ctx context.Context, names ...string) error
	// NotListed notes that a call is refused because the provider does not list its model.
	NotListed(name string)
}

// Found is where calls of a name can be sent: groups of models, which are tried in their order.
type Found struct {
	Groups  [][]Candidate      // none is empty
	Alias   bool               // the name is an alias, not a model
	Skipped []activity.Skipped // models of the alias that cannot be called now; also with an error
}

// Candidate is a callable model, and its provider.
type Candidate struct {
	Model    *catalog.Model // of the catalog; it must not be changed
	Provider *provider.Provider
	Weight   int // in its group; 0 = 1
}

// routed is where a call can be sent.
type routed struct {
	targets []*target
	model   string                // the name in the request, without a suffix that sorts targets
	known   bool                  // it is an alias, or the catalog has it
	limits  []*policy.ModelLimits // of this name
	listed  bool                  // the request names further models
	routing *failover.Routing

	limit  func([]failover.Pick) (allowed, passed, barred []failover.Pick) // see failover.Routed; nil: all are allowed
	barred []*target                                                       // by limit; the request forbids fallbacks

	several bool               // the name stands for targets, or there were several
	skipped []activity.Skipped // which of them the call does not ask
}

// names returns the names that the request has for its targets, and the models that they may lead to.
func (r *routed) names() []string {
	names := []string{r.model}
	for _, t := range r.targets {
		for _, name := range [...]string{t.named, t.model.ID} {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
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
// which is nil if the request says nothing of its targets. Only without any other target it waits for
// lists of models that have never come.
func findTargets(ctx context.Context, d *Deps, key *keys.Key, op *wire.Operation, name string, routing *failover.Routing) (routed, error) {
	r, err := findKnown(d, key, op, name, routing)
	if err == nil || !isUnlisted(err) {
		return r, err
	}
	names := []string{name}
	if routing != nil {
		names = append(names, routing.Models...)
	}
	if err := d.Models.Await(ctx, names...); err != nil {
		return r, err
	}
	return findKnown(d, key, op, name, routing)
}

// findKnown is findTargets without a wait.
func findKnown(d *Deps, key *keys.Key, op *wire.Operation, name string, routing *failover.Routing) (routed, error) {
	r := routed{routing: routing}
	found, err := r.find(d.Models, key, name)
	if r.routing != nil {
		r.listed = len(r.routing.Models) > 0
	}
	if err != nil && !(r.listed && isUnlisted(err)) {
		return r, d.notCallable(err, name, "model")
	}
	r.limits = d.Limits.Matching(r.model)
	first, refused := r.targetsOf(d, found, op, r.model)
	if err != nil {
		refused = err
		r.refused(r.model, err)
	}
	if r.routing == nil || !r.listed && plainRouter(found) {
		if r.targets = first; len(first) == 0 {
			return r, refused
		}
		if suffix := name[len(r.model):]; suffix != "" { // the router knows it
			for _, t := range first {
				named := *t.model
				named.Name += suffix
				t.model = &named
			}
		}
		return r, nil
	}
	models, all := [][][]*target{grouped(first)}, first
	for i, name := range r.routing.Models {
		found, err := d.Models.Find(key, name)
		if err != nil && !isUnlisted(err) {
			return r, d.notCallable(err, name, "models["+strconv.Itoa(i)+"]")
		}
		if r.lacks(found); err != nil {
			r.refused(name, err)
		}
		further, e := r.targetsOf(d, found, op, name)
		if refused == nil {
			refused = cmp.Or(err, e)
		}
		further = slices.DeleteFunc(further, func(t *target) bool {
			return slices.ContainsFunc(all, func(other *target) bool { return other.id == t.id })
		})
		models, all = append(models, grouped(further)), append(all, further...)
	}
	if len(all) == 0 {
		return r, refused
	}
	kept, err := failover.Apply(r.routing, models, optionOf, func(t *target, field string) {
		r.skip(activity.Skipped{Target: t.id, Code: apierror.ExcludedByRequest, RefusedBy: "request: " + field})
	})
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

// find finds the model of a request by its name, which may end in a suffix that sorts targets.
func (r *routed) find(models Models, key *keys.Key, name string) (Found, error) {
	r.model = name
	found, err := models.Find(key, name)
	if err != nil && apierror.From(err).Code == apierror.ModelNotFound {
		sorted := failover.Routing{}
		if r.routing != nil {
			sorted = *r.routing
		}
		if model, ok := openrouter.CutSort(&sorted, name); ok {
			if sortable, e := models.Find(key, model); e == nil {
				found, err, r.routing, r.model = sortable, nil, &sorted, model
			}
		}
	}
	r.known = err == nil && (found.Alias || found.Groups[0][0].Model.Known)
	r.several = found.Alias
	r.lacks(found)
	return found, err
}

// isUnlisted reports whether only a list of models that has not come can say what a name means. The
// other models of the request need not wait for it.
func isUnlisted(err error) bool { return apierror.From(err).Code == apierror.NoProvider }

func (d *Deps) notCallable(err error, name, param string) error {
	if errors.Is(err, catalog.ErrNotListed) {
		d.Models.NotListed(name)
	}
	if errors.Is(err, catalog.ErrNotCallable) {
		e := apierror.New(apierror.ModelNotCallable,
			"the model %q is in the catalog but not callable through this gateway; GET the list of models for those that are", name).WithParam(param)
		of, _, _ := strings.Cut(name, "/")
		e.RefusedBy = cmp.Or(apierror.From(err).RefusedBy, "provider "+of+": models")
		return e
	}
	if refusal := apierror.From(err); refusal.Param == "model" {
		refusal.Param = param
	}
	return err
}

// plainRouter reports whether a name is a model of a router, which gets the routing fields as they
// are.
func plainRouter(f Found) bool {
	return !f.Alias && f.Groups[0][0].Provider.Dialect.OpenRouterFields
}

// recordedName returns what the record shows of a model's name, and the error of the call. Known says
// that there is such an alias, or such a model in the catalog. A client whose settings are mixed up
// sends its key as the model. The record and the refusal have it redacted, and a call with it is
// refused if there is such a model, or none. Other errors stay: one that is not callable, or that may
// be listed soon. No other secret may matter here: the answer would tell who guessed it.
func recordedName(name, secret string, known bool, err error) (string, error) {
	if known {
		return name, err
	}
	safe := redact.Own(name, secret)
	if safe != name && (err == nil || apierror.From(err).Code == apierror.ModelNotFound) {
		err = UnknownModel(safe)
	}
	return safe, err
}

// UnknownModel refuses a name that the caller may not call.
func UnknownModel(name string) *apierror.Error {
	return apierror.New(apierror.ModelNotFound, "the model %q does not exist or this key may not use it", name).WithParam("model")
}
