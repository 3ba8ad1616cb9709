package models

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/catalog"
	"github.com/gatehouse-proxy/gatehouse/internal/keys"
	"github.com/gatehouse-proxy/gatehouse/internal/modelcall"
	"github.com/gatehouse-proxy/gatehouse/internal/pattern"
	"github.com/gatehouse-proxy/gatehouse/internal/provider"
)

// Alias is a name that stands for models: groups in the order in which they are tried.
type Alias struct {
	Name   string
	Groups [][]AliasTarget

	leftOut []activity.Skipped // targets whose provider is left out
}

// AliasTarget is a model of an alias.
type AliasTarget struct {
	Model  string // "<provider>/<model>"
	Weight int    // its share of the calls of its group; 0 = 1
}

// MaxWeight bounds the weight of a target, so that their sum is a small number.
const MaxWeight = 1000

// aliases are those of a configuration.
type aliases struct {
	catalog   *catalog.Catalog
	providers map[string]*provider.Provider
	byName    map[string]Alias
	names     []string // sorted
}

// newAliases checks aliases. It logs the targets of providers that are left out, and drops them; it
// also logs those that the configuration and the catalog do not have.
func newAliases(list []Alias, c *catalog.Catalog, providers map[string]*provider.Provider, logger *zap.Logger) (*aliases, error) {
	a := &aliases{catalog: c, providers: providers, byName: make(map[string]Alias, len(list))}
	for _, alias := range list {
		if _, twice := a.byName[alias.Name]; twice {
			return nil, fmt.Errorf("alias %q is configured twice", alias.Name)
		}
		a.byName[alias.Name] = alias
	}
	var targets []string
	for _, alias := range list {
		err := a.checkName(alias.Name)
		if err == nil {
			err = a.configure(&alias, logger)
		}
		if err != nil {
			return nil, fmt.Errorf("alias %q: %w", alias.Name, err)
		}
		a.byName[alias.Name] = alias
		for _, t := range slices.Concat(alias.Groups...) {
			targets = append(targets, t.Model)
		}
	}
	c.Admit(targets)
	a.names = slices.Sorted(maps.Keys(a.byName))
	return a, nil
}

// checkName refuses what is or can become the name of a model.
func (a *aliases) checkName(name string) error {
	if pattern.Valid(name) != nil || !pattern.IsExact(name) {
		return fmt.Errorf("want a name of 1 to %d printable characters, without space and \"*\"", pattern.MaxBytes)
	}
	of, _, qualified := strings.Cut(name, "/")
	if _, configured := a.catalog.Source(of); configured && qualified {
		return fmt.Errorf("names that begin with %q are those of the models of this provider; choose another one", of+"/")
	}
	if _, err := a.catalog.Resolve(name); !errors.Is(err, catalog.ErrUnknown) {
		return errors.New("a catalog file has a model of this name; choose another one")
	}
	return nil
}

// configure drops the targets of an alias whose provider is left out, and empty groups.
func (a *aliases) configure(alias *Alias, logger *zap.Logger) error {
	if len(alias.Groups) == 0 {
		return errors.New("it has no target")
	}
	var groups [][]AliasTarget
	seen := map[string]bool{}
	for i, group := range alias.Groups {
		if len(group) == 0 {
			return fmt.Errorf("group %d has no target", i+1)
		}
		var kept []AliasTarget
		for _, t := range group {
			of, name, _ := strings.Cut(t.Model, "/")
			source, configured := a.catalog.Source(of)
			_, nested := a.byName[t.Model]
			switch {
			case seen[t.Model]:
				return fmt.Errorf("target %q is given twice", t.Model)
			case nested:
				return fmt.Errorf("target %q is an alias; a target is a model", t.Model)
			case name == "":
				return fmt.Errorf("target %q: want PROVIDER/MODEL", t.Model)
			case !configured:
				return fmt.Errorf("target %q: no provider %q is configured", t.Model, of)
			case t.Weight < 0 || t.Weight > MaxWeight:
				return fmt.Errorf("target %q: weight %d: want 1 to %d", t.Model, t.Weight, MaxWeight)
			}
			seen[t.Model] = true
			if source.Skipped {
				logger.Info("a target of an alias is left out: its provider is left out (optional, no api_key)",
					zap.String("alias", alias.Name), zap.String("target", t.Model))
				alias.leftOut = append(alias.leftOut, activity.Skipped{
					Target: t.Model, Code: apierror.ProviderLeftOut, RefusedBy: "provider " + of + ": optional",
				})
				continue
			}
			if _, err := a.catalog.Resolve(t.Model); err != nil && !errors.Is(err, catalog.ErrUnlisted) {
				logger.Warn("a target of an alias cannot be called: its provider's block and the catalog do not have the model",
					zap.String("alias", alias.Name), zap.String("target", t.Model))
			}
			kept = append(kept, t)
		}
		if len(kept) > 0 {
			groups = append(groups, kept)
		}
	}
	alias.Groups = groups
	return nil
}

// candidates returns the targets that can be called now, without empty groups, and the others.
func (a *aliases) candidates(alias Alias) (groups [][]modelcall.Candidate, skipped []activity.Skipped) {
	skipped = slices.Clip(alias.leftOut)
	for _, group := range alias.Groups {
		var found []modelcall.Candidate
		for _, t := range group {
			model, err := a.catalog.Resolve(t.Model)
			if err != nil {
				skipped = append(skipped, uncallable(t.Model, err))
				continue
			}
			found = append(found, modelcall.Candidate{Model: model, Provider: a.providers[model.Provider], Weight: t.Weight})
		}
		if len(found) > 0 {
			groups = append(groups, found)
		}
	}
	return groups, skipped
}

// uncallable says why a target of an alias cannot be called now.
func uncallable(model string, err error) activity.Skipped {
	of, _, _ := strings.Cut(model, "/")
	code, by := apierror.ModelNotFound, "provider "+of+": models"
	switch {
	case errors.Is(err, catalog.ErrUnlisted):
		code, by = apierror.NoProvider, "provider "+of+" has sent no list of models yet: "+notListedAdvice
	case errors.Is(err, catalog.ErrNotCallable):
		code = apierror.ModelNotCallable
	}
	return activity.Skipped{Target: model, Code: string(code), RefusedBy: by}
}

// common returns the alias as lists show it.
func (alias Alias) common(groups [][]modelcall.Candidate) catalog.Model {
	var models []catalog.Model
	for _, c := range slices.Concat(groups...) {
		models = append(models, *c.Model)
	}
	return catalog.Common(alias.Name, models)
}

// list returns the aliases that the key can call, as lists show them.
func (a *aliases) list(key *keys.Key) (models []catalog.Model) {
	for _, name := range a.names {
		if key.AllowsModel(name) {
			if groups, _ := a.candidates(a.byName[name]); len(groups) > 0 {
				models = append(models, a.byName[name].common(groups))
			}
		}
	}
	return models
}

// ending returns the names of the key's aliases that end in "/" and name.
func (a *aliases) ending(key *keys.Key, name string) (names []string) {
	for _, full := range a.names {
		if name != "" && strings.HasSuffix(full, "/"+name) && key.AllowsModel(full) {
			names = append(names, full)
		}
	}
	return names
}

// findAlias returns where calls of an alias can be sent. Errors are refusals.
func (m *Index) findAlias(alias Alias) (modelcall.Found, error) {
	groups, skipped := m.aliases.candidates(alias)
	found := modelcall.Found{Groups: groups, Alias: true, Skipped: skipped}
	if len(groups) > 0 {
		return found, nil
	}
	return found, apierror.New(apierror.ModelNotCallable,
		"none of the models that the alias %q stands for can be called through this gateway", alias.Name).WithParam("model")
}
