package check

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gatehouse-proxy/gatehouse/internal/catalog"
	"github.com/gatehouse-proxy/gatehouse/internal/pattern"
)

// open returns the providers whose models the configuration does not name: their own list does, or
// any name can be called.
func (c *inspected) open() (names []string) {
	awaited := c.Built.Catalog.Awaited()
	for _, p := range c.Providers {
		source, ok := c.Built.Catalog.Source(p.Name)
		if ok && !source.Skipped && (slices.Contains(awaited, p.Name) || p.AnyModel && !source.Discover) {
			names = append(names, p.Name)
		}
	}
	return names
}

// callable returns the models that the configuration can serve, and its aliases.
func (c *inspected) callable() (ids []string) {
	for _, m := range c.Built.Catalog.List(nil) {
		ids = append(ids, m.ID)
	}
	for _, a := range c.Built.Aliases {
		ids = append(ids, a.Name)
	}
	return ids
}

// servable returns what reports whether a pattern matches a model that can be called, or may match
// one that only a provider knows.
func (c *inspected) servable() func(of string) bool {
	ids, open := c.callable(), c.open()
	return func(of string) bool {
		return slices.ContainsFunc(ids, func(id string) bool { return pattern.Match(of, id) }) ||
			slices.ContainsFunc(open, func(provider string) bool { return pattern.MatchesSome(of, provider+"/") })
	}
}

const nameAdvice = "Models are named provider/model. GET /v1/models lists what can be called."

// checkKeys looks for keys that are not valid, and for those that can call nothing.
func checkKeys(c *inspected) (found []Finding) {
	servable := c.servable()
	if len(c.Keys) == 0 {
		found = append(found, Finding{Failure, "keys", "there is no key: every call is answered 401", "Make one with caddy gatehouse key new."})
	}
	for _, k := range c.Keys {
		subject := "key " + k.Name
		if k.Expires != "" && !c.now.Before(k.ExpiresAt) {
			found = append(found, Finding{Warning, subject, "it expired at " + k.Expires, "Remove it, or give it another date."})
			continue
		}
		if k.Disabled {
			found = append(found, Finding{Note, subject, "it is disabled", "Remove it if it is not needed any more."})
			continue
		}
		if k.Literal {
			found = append(found, Finding{Warning, subject, "its secret is written in the configuration, which the admin endpoint shows",
				"Write {env.NAME}, {file./path}, or the hash."})
		}
		if !k.CanChat {
			continue
		}
		var useless []string
		for _, of := range k.Models {
			if !servable(of) {
				useless = append(useless, of)
			}
		}
		switch {
		case len(k.Models) == 0 && len(c.callable())+len(c.open()) == 0:
			found = append(found, Finding{Failure, subject, "no provider can serve a model: it can call nothing", "Add a provider with models."})
		case len(useless) > 0 && len(useless) == len(k.Models):
			found = append(found, Finding{Failure, subject, "it can call nothing: no provider serves a model of " + some(useless), nameAdvice})
		case len(useless) > 0:
			found = append(found, Finding{Warning, subject, "no provider serves a model of " + some(useless), nameAdvice})
		}
	}
	return found
}

// checkModelNames looks for limits of models that nobody can call.
func checkModelNames(c *inspected) (found []Finding) {
	servable := c.servable()
	for _, of := range c.Models {
		if !servable(of) {
			found = append(found, Finding{Warning, "model " + of, "it limits nothing: no provider serves a model of this pattern", nameAdvice})
		}
	}
	return found
}

// checkAliases looks for targets that cannot be called.
func checkAliases(c *inspected) (found []Finding) {
	for _, a := range c.Built.Aliases {
		var dead []string
		all := 0
		for _, g := range a.Groups {
			for _, t := range g {
				all++
				if _, err := c.Built.Catalog.Resolve(t.Model); err != nil && !errors.Is(err, catalog.ErrUnlisted) {
					dead = append(dead, t.Model)
				}
			}
		}
		switch {
		case len(dead) == 0:
		case len(dead) == all:
			found = append(found, Finding{Failure, "alias " + a.Name, "none of its targets can be called: " + some(dead), nameAdvice})
		default:
			found = append(found, Finding{Warning, "alias " + a.Name, "targets that cannot be called: " + some(dead), nameAdvice})
		}
	}
	return found
}

// checkProviders looks for providers that are left out or serve nothing, and for built-in ones.
func checkProviders(c *inspected) (found []Finding) {
	open := c.open()
	for _, p := range c.Providers {
		subject := "provider " + p.Name
		source, _ := c.Built.Catalog.Source(p.Name)
		if source.Skipped {
			found = append(found, Finding{Note, subject, "it is optional and left out: its secret is not set", "Set " + placeholderText(p.APIKey) + " where Caddy runs, to use it."})
			continue
		}
		if p.Test {
			found = append(found, Finding{c.testSeverity(), subject, "it is the built-in test provider, which only imitates models", "Take it out where others can call."})
			continue
		}
		serves := slices.ContainsFunc(c.Built.Catalog.List(nil), func(m catalog.Model) bool { return m.Provider == p.Name })
		if !serves && !slices.Contains(open, p.Name) {
			found = append(found, Finding{Failure, subject, "no model of it can be called: models has no name that a catalog or the provider's list has",
				"Name models exactly, or set discover."})
		}
		if p.Keyless && (p.BaseURL == "" || strings.HasPrefix(p.BaseURL, "https://")) {
			found = append(found, Finding{Warning, subject, strings.TrimSuffix("it has no api_key, auth or header, and is not on this machine's network: "+p.BaseURL, ": "),
				"Add api_key {env.NAME} or {file./path}, or auth for the account of a cloud."})
		}
		if p.APIKey != "" && !strings.Contains(p.APIKey, "{") {
			found = append(found, Finding{Warning, subject, "its api_key is written in the configuration, which the admin endpoint shows",
				"Write {env.NAME} or {file./path}."})
		}
	}
	if len(c.Providers)+len(c.MCP) == 0 && c.Desktops == nil {
		found = append(found, Finding{Failure, "providers", "there is none, and no mcp or vnc: the gateway serves nothing", "Add a provider."})
	}
	return found
}

// placeholderText names a placeholder, never a literal secret.
func placeholderText(text string) string {
	if strings.HasPrefix(text, "{") {
		return text
	}
	return "its secret"
}

// checkPrices looks for models without a price that a key under a hard budget of money can call.
func checkPrices(c *inspected) (found []Finding) {
	models, open := c.Built.Catalog.List(nil), c.open()
	for _, k := range c.Keys {
		limits := c.limitsOf(k)
		hard := slices.IndexFunc(limits, func(l ownedLimit) bool { return l.hardMoney })
		if k.Unpriced || k.Disabled || hard < 0 {
			continue
		}
		allowed := pattern.List(k.Models)
		var unpriced []string
		for _, m := range models {
			if m.Price == nil && (len(allowed) == 0 || allowed.Match(m.ID)) {
				unpriced = append(unpriced, m.ID)
			}
		}
		for _, name := range open {
			if len(allowed) == 0 || allowed.MatchesSome(name+"/") {
				unpriced = append(unpriced, name+"/* (what no catalog has)")
			}
		}
		if len(unpriced) > 0 {
			found = append(found, Finding{Warning, "key " + k.Name,
				fmt.Sprintf("%s of %s is hard, so its calls of %s are refused with 402: no price is known", limits[hard].text, limits[hard].owner, some(unpriced)),
				"Add the models to a catalog, make the budget soft, or set unpriced allow."})
		}
	}
	return found
}
