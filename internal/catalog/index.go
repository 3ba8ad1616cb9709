package catalog

import (
	"cmp"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/gatehouse-proxy/gatehouse/internal/pattern"
)

// index answers Resolve, List and Ending. It never changes after it is published.
type index struct {
	callable map[string]*Model   // by id
	sorted   []*Model            // callable, by id
	byEnd    map[string][]*Model // callable, by what follows the last slash of the id; each sorted by id
	denied   map[string]struct{} // IDs that are known and not callable
	open     map[string]bool     // providers with any name callable; false: the provider is skipped
	awaited  map[string]source   // providers that discover and have not answered yet
}

// source is a Source prepared for building.
type source struct {
	Source
	exact map[string]struct{}
	list  pattern.List
	any   bool
}

func newSource(s Source) source {
	if s.CatalogName == "" {
		s.CatalogName = s.Provider
	}
	out := source{Source: s, exact: map[string]struct{}{}, list: slices.Clone(s.Patterns)}
	for _, p := range s.Patterns {
		if pattern.IsExact(p) {
			out.exact[p] = struct{}{}
		}
		out.any = out.any || p == "*"
	}
	for name := range s.Deployments {
		out.exact[name] = struct{}{}
	}
	return out
}

// build makes the index from everything known now.
func (c *Catalog) build() *index {
	x := &index{callable: map[string]*Model{}, denied: map[string]struct{}{}, open: map[string]bool{}, awaited: map[string]source{}}
	configured := map[string]struct{}{}
	for _, s := range c.sources {
		configured[s.Provider] = struct{}{}
		known, discovered := c.known[s.CatalogName], c.discovered[s.Provider]
		if s.any && (!s.Discover || len(known) > 0) {
			x.open[s.Provider] = !s.Skipped
		}
		if s.Discover && !s.Skipped && discovered == nil {
			x.awaited[s.Provider] = s
		}
		x.addSource(s, known, discovered)
	}
	for provider, byName := range c.known {
		if _, ok := configured[provider]; ok {
			continue
		}
		for name := range byName {
			x.denied[provider+"/"+name] = struct{}{}
		}
	}
	x.sorted = slices.SortedFunc(maps.Values(x.callable), func(a, b *Model) int { return strings.Compare(a.ID, b.ID) })
	x.byEnd = make(map[string][]*Model, len(x.sorted))
	for _, m := range x.sorted {
		end := lastPart(m.ID)
		x.byEnd[end] = append(x.byEnd[end], m)
	}
	return x
}

// addSource adds every name that the source is known to have. discovered is nil until the provider
// has answered once.
func (x *index) addSource(s source, known, discovered map[string]Model) {
	names := make(map[string]struct{}, len(known)+len(discovered)+len(s.exact))
	for name := range known {
		names[name] = struct{}{}
	}
	for name := range discovered {
		names[name] = struct{}{}
	}
	maps.Copy(names, s.exact)
	for name := range names {
		fromFile, inCatalog := known[name]
		fromProvider, listed := discovered[name]
		base := cmp.Or(s.Deployments[name], fromProvider.Base)
		if base != "" {
			fromFile = fromFile.over(known[base])
		}
		m := fromFile.over(fromProvider).as(s.Provider, name)
		m.Base, m.Known = base, true
		m.Price = m.priced(s.Variant)
		serves := m.callable()
		switch {
		case serves && s.routes(name, inCatalog, listed, discovered != nil):
			x.callable[m.ID] = &m
		case serves && x.awaits(s.Provider, name): // the provider's answer decides
		default:
			x.denied[m.ID] = struct{}{}
		}
	}
}

// routes implements the callable rule of the package comment, except for the mode and for unknown
// names.
func (s source) routes(name string, inCatalog, listed, answered bool) bool {
	if s.Skipped {
		return false
	}
	if _, ok := s.exact[name]; ok {
		return true
	}
	if len(s.list) == 0 {
		return listed
	}
	return s.list.Match(name) && (listed || inCatalog && !answered)
}

// awaits reports whether the provider's first list can make the name callable.
func (x *index) awaits(provider, name string) bool {
	s, ok := x.awaited[provider]
	return ok && s.admits(name)
}

// admits reports whether the name is callable once the provider lists it.
func (s source) admits(name string) bool {
	return (len(s.list) == 0 || s.list.Match(name)) && checkName(name) == nil
}

// lastPart returns the text after the last slash of an ID.
func lastPart(id string) string { return id[strings.LastIndexByte(id, '/')+1:] }

// equal saves a rebuild when a refresh changes nothing.
func equal(a, b Model) bool { return reflect.DeepEqual(a, b) }
