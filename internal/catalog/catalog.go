// Package catalog knows the models: what a name means, what it costs, and whether it can be called.
//
//	models, err := catalog.Parse(file)                       // LiteLLM price map, OpenRouter's list, or our short form
//	c, err := catalog.NewCatalog(models, []catalog.Source{{Provider: "openai", Patterns: []string{"gpt-*"}}})
//	model, err := c.Resolve("openai/gpt-4o")                 // the router
//	list := c.List(key.Allows)                               // the model lists, from the same index
//
// A known model is not always callable. A provider's name is callable if its mode serves one of our
// operations and
//
//   - the provider's block names it exactly, or an alias does and the provider's list decides; or
//   - it is in the catalog and fits a pattern of the block, and the provider does not discover, or
//     lists it, or has not answered yet (until then nothing can be denied); or
//   - the provider lists it and it fits a pattern, or the block has no patterns; or
//   - the block has the pattern `*`, and neither the catalog nor the provider knows the name. Such
//     a name resolves without a price, with an unknown mode, but is not listed. If the catalog has no
//     model of the provider and the provider's own list is read, `*` means that list and admits no
//     other name.
//
// Until the provider has answered once, a name that its list can make callable is ErrUnlisted.
//
// A block with neither patterns nor discovery makes nothing callable. Patterns apply to the
// provider's own name, the text after the first slash of an ID.
//
// Prices are exact integers. An unknown price is never zero: see Price.
package catalog

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/gatehouse-proxy/gatehouse/internal/pattern"
)

var (
	// ErrUnknown means that no provider of that name is configured, or that the model is unknown.
	ErrUnknown = errors.New("model is unknown")
	// ErrNotCallable means that the model is known but that this configuration does not route it.
	ErrNotCallable = errors.New("model is not callable")
	// ErrUnlisted means that the provider's first list of models decides and has not arrived yet.
	ErrUnlisted = errors.New("provider has not listed its models yet")
	// ErrNotListed means that the provider's list of models decides and does not have the name.
	ErrNotListed = errors.New("the provider does not list it")
)

// Source is what one provider's block says about models.
type Source struct {
	Provider    string   // [a-z0-9][a-z0-9-]*
	Patterns    []string // over the provider's names, or exact names; `*` alone: see the package comment
	Discover    bool     // SetDiscovered will report what the provider lists
	CatalogName string   // the provider's name in catalog files; default Provider
	Variant     string   // of the prices; "": the usual ones
	Skipped     bool     // an optional provider without its key: its models are known, but none is callable

	// Deployments are callable names that say nothing about their model: each is as the model of this
	// name in catalog files. What a provider lists can say it too.
	Deployments map[string]string
}

var providerName = regexp.MustCompile(`\A[a-z0-9][a-z0-9-]*\z`)

// Catalog is the callable index. It is safe for concurrent use.
type Catalog struct {
	known   map[string]map[string]Model // by provider (as catalog files name it), then by name
	sources []source
	index   atomic.Pointer[index]

	mu         sync.Mutex // guards the following, and the order of rebuilt indexes
	discovered map[string]map[string]Model
}

// NewCatalog returns the catalog of models as sources route them. Of two models with one ID the
// later wins; the earlier fills its gaps, so that a small file can correct a large one. A model's
// ID is made from Provider and Name.
func NewCatalog(models []Model, sources []Source) (*Catalog, error) {
	c := &Catalog{known: map[string]map[string]Model{}, discovered: map[string]map[string]Model{}}
	for _, m := range models {
		if err := errors.Join(checkProvider(m.Provider), checkName(m.Name)); err != nil {
			return nil, fmt.Errorf("model %.80q: %w", m.Provider+"/"+m.Name, err)
		}
		byName := c.known[m.Provider]
		if byName == nil {
			byName = map[string]Model{}
			c.known[m.Provider] = byName
		}
		byName[m.Name] = m.over(byName[m.Name])
	}
	seen := map[string]bool{}
	for _, s := range sources {
		if !providerName.MatchString(s.Provider) {
			return nil, fmt.Errorf("provider name %q is not of the form [a-z0-9][a-z0-9-]*", s.Provider)
		}
		if seen[s.Provider] {
			return nil, fmt.Errorf("provider %q is configured twice", s.Provider)
		}
		seen[s.Provider] = true
		for _, p := range s.Patterns {
			if err := pattern.Valid(p); err != nil {
				return nil, fmt.Errorf("provider %q: models: %w", s.Provider, err)
			}
		}
		c.sources = append(c.sources, newSource(s))
	}
	c.index.Store(c.build())
	return c, nil
}

// SetDiscovered replaces what a provider lists. An empty list means that the provider lists
// nothing. A failed refresh must not be reported, so that the earlier list stays. Providers that
// are not sources with Discover are ignored, and so are models without a usable Name.
func (c *Catalog) SetDiscovered(provider string, models []Model) {
	if !slices.ContainsFunc(c.sources, func(s source) bool { return s.Discover && s.Provider == provider }) {
		return
	}
	byName := make(map[string]Model, len(models))
	for _, m := range models {
		if checkName(m.Name) == nil {
			byName[m.Name] = m
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if old, ok := c.discovered[provider]; ok && maps.EqualFunc(old, byName, equal) {
		return
	}
	c.discovered[provider] = byName
	c.index.Store(c.build())
}

// Admit makes models callable, by ID, that their providers need not list: the operator has named them
// elsewhere than in the block, whose patterns still decide.
func (c *Catalog) Admit(ids []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, id := range ids {
		provider, name, _ := strings.Cut(id, "/")
		for _, s := range c.sources {
			if s.Provider == provider && s.Discover && s.admits(name) {
				s.exact[name] = struct{}{}
			}
		}
	}
	c.index.Store(c.build())
}

// Lacks reports whether a name is not callable only because the provider's list, which has come, does
// not have it.
func (c *Catalog) Lacks(provider, name string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	list, come := c.discovered[provider]
	_, listed := list[name]
	return come && !listed && slices.ContainsFunc(c.sources, func(s source) bool {
		return s.Provider == provider && !s.Skipped && s.admits(name)
	})
}

// Resolve returns the model with this name. For a callable model it is one look-up without
// allocation; it must not be changed. Errors are ErrUnknown, ErrNotCallable and ErrUnlisted.
func (c *Catalog) Resolve(name string) (*Model, error) {
	x := c.index.Load()
	if m, ok := x.callable[name]; ok {
		return m, nil
	}
	if _, ok := x.denied[name]; ok {
		return nil, ErrNotCallable
	}
	provider, rest, _ := strings.Cut(name, "/")
	if routed, ok := x.open[provider]; ok && checkName(rest) == nil {
		if !routed {
			return nil, ErrNotCallable
		}
		m := Model{}.as(provider, rest)
		return &m, nil
	}
	if x.awaits(provider, rest) {
		return nil, ErrUnlisted
	}
	return nil, ErrUnknown
}

// Source returns the source of a provider, and whether there is one.
func (c *Catalog) Source(provider string) (Source, bool) {
	at := slices.IndexFunc(c.sources, func(s source) bool { return s.Provider == provider })
	if at < 0 {
		return Source{}, false
	}
	return c.sources[at].Source, true
}

// Awaited returns the providers whose first list of models has not arrived yet.
func (c *Catalog) Awaited() []string {
	return slices.Sorted(maps.Keys(c.index.Load().awaited))
}

// List returns the callable models whose ID is allowed, sorted by ID. A nil allowed allows all. The
// caller owns the slice. Every ID in it resolves until the index changes.
func (c *Catalog) List(allowed func(id string) bool) []Model {
	x := c.index.Load()
	list := make([]Model, 0, len(x.sorted))
	for _, m := range x.sorted {
		if allowed == nil || allowed(m.ID) {
			list = append(list, *m)
		}
	}
	return list
}

// Ending returns the IDs of allowed callable models that end in "/" and name, sorted, at most
// limit. They are the names that a caller without the provider may have meant.
func (c *Catalog) Ending(name string, allowed func(id string) bool, limit int) (ids []string) {
	for _, m := range c.index.Load().byEnd[lastPart(name)] {
		if before, ok := strings.CutSuffix(m.ID, name); ok && strings.HasSuffix(before, "/") && allowed(m.ID) {
			if ids = append(ids, m.ID); len(ids) == limit {
				break
			}
		}
	}
	return ids
}
