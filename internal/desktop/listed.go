package desktop

import (
	"cmp"
	"errors"
	"regexp"
	"slices"

	"github.com/gatehouse-proxy/gatehouse/caddymodule/guest"
)

// Lists of sources.
const (
	ListComplete    = "complete"
	ListMissing     = "missing"     // the source has none
	ListUnavailable = "unavailable" // it does not answer
)

// SourceList says what a list of workstations has of a source.
type SourceList struct {
	Tenant string `json:"tenant"`
	Source string `json:"source"`
	List   string `json:"list"`
}

// Lists says what the list of the workstations of tenants has of their sources, by tenant.
func (x *Sources) Lists(sees func(tenant string) bool) (lists []SourceList) {
	for tenant, s := range x.inventory.config.sources {
		if !sees(tenant) {
			continue
		}
		list := SourceList{tenant, s.Name(), ListComplete}
		switch _, err := s.List(tenant); {
		case errors.Is(err, guest.ErrNoList):
			list.List = ListMissing
		case err != nil:
			list.List = ListUnavailable
		}
		lists = append(lists, list)
	}
	slices.SortFunc(lists, func(a, b SourceList) int { return cmp.Compare(a.Tenant, b.Tenant) })
	return lists
}

// listed returns the workstations of sources that the query matches.
func (x *Sources) listed(q *Query) (views []View) {
	for tenant, s := range x.inventory.config.sources {
		if !q.Sees(tenant) {
			continue
		}
		items, _ := s.List(tenant) // see Lists
		seen := make(map[string]bool, len(items))
		for i := range items {
			id := ID{tenant, items[i].Name}
			if seen[id.Name] || id.check() != nil || x.of(id) == nil {
				continue
			}
			seen[id.Name] = true
			if view := s.viewOf(id, &items[i]); q.matches(&view) {
				views = append(views, view)
			}
		}
	}
	return views
}

// validState is a state as lists can show it.
var validState = regexp.MustCompile(`^[a-z][a-z_]{0,31}$`)

func (s *Source) viewOf(id ID, item *guest.Item) View {
	view := View{Tenant: id.Tenant, Name: id.Name, Source: s.Name(), State: StateAvailable}
	if validState.MatchString(item.State) {
		view.State = item.State
	}
	if labels := (&Registration{Labels: item.Labels}); len(item.Labels) > 0 {
		if _, err := labels.checkForm(); err == nil {
			view.Labels = item.Labels
		}
	}
	return view
}

// view returns a workstation as the list of its source has it. The state is "" if a list does not have
// it, and StateUnlisted without a list.
func (s *Source) view(id ID) View {
	view := View{Tenant: id.Tenant, Name: id.Name, Source: s.Name()}
	items, err := s.List(id.Tenant)
	if err != nil {
		view.State = StateUnlisted
		return view
	}
	for i := range items {
		if items[i].Name == id.Name {
			return s.viewOf(id, &items[i])
		}
	}
	return view
}
