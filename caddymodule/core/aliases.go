package core

import "github.com/gatehouse-proxy/gatehouse/internal/models"

// Alias is a name that stands for models, mostly of several providers. A call of it goes to one of
// them. If that fails before its answer begins, the next one is tried.
type Alias struct {
	// Name is the name for callers, with or without slashes. Required, unique. It must not be the
	// name of a model in a catalog file, nor begin with the name of a provider and a slash.
	Name string `json:"name"`

	// Groups are tried in their order. Required.
	Groups []AliasGroup `json:"groups"`
}

// AliasGroup is a group of models that share calls by their weights.
type AliasGroup struct {
	// Targets are the models of the group. Required.
	Targets []AliasTarget `json:"targets"`
}

// AliasTarget is a model of an alias.
type AliasTarget struct {
	// Model is "<provider>/<model>", and not an alias. Required. It must fit the models of the
	// provider, which need not list it. It is left out while it cannot be called, or if its
	// provider is optional and has no key.
	Model string `json:"model"`

	// Weight is the model's share of the calls of its group, 1 to 1000. Default: 1.
	Weight int `json:"weight,omitempty"`
}

// Aliases are those of the configuration.
type Aliases []Alias

func (a Aliases) build() (out []models.Alias) {
	for _, alias := range a {
		made := models.Alias{Name: alias.Name}
		for _, g := range alias.Groups {
			var group []models.AliasTarget
			for _, t := range g.Targets {
				group = append(group, models.AliasTarget{Model: t.Model, Weight: t.Weight})
			}
			made.Groups = append(made.Groups, group)
		}
		out = append(out, made)
	}
	return out
}
