package console

import (
	"net/url"
	"slices"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
)

// activityFilter is a filter of the list. Its name is the same in the URL of the page and of the
// route.
type activityFilter struct {
	Name, Label, Unit string
	summed            bool // the series route has it, and names its values
	choice            bool // it has few values, which are offered as a list
	rare, number      bool
	values            []string // all that there are
}

var activityFilters = []activityFilter{
	{Name: "model", Label: "Model", summed: true},
	{Name: "key", Label: "Key", summed: true},
	{Name: "provider", Label: "Provider", summed: true, choice: true},
	{Name: "code", Label: "Code", summed: true, choice: true},
	{Name: "tenant", Label: "Tenant", summed: true},
	{Name: "family", Label: "API", rare: true, choice: true, values: []string{"openai", "openrouter", "anthropic", "google", "mcp", "vnc"}},
	{Name: "status", Label: "Status", rare: true, number: true},
	{Name: "workstation", Label: "Workstation", rare: true},
	{Name: "end_user", Label: "End user", rare: true},
	{Name: "app", Label: "App", rare: true},
	{Name: "trace_id", Label: "Trace", rare: true},
	{Name: "min_latency_ms", Label: "Slower than", Unit: "ms", rare: true, number: true},
}

// As a code, anyCode stands for all of them, and upstreamFailures for those of providers and MCP servers, as
// the routes have it.
const (
	anyCode          = activity.AnyCode
	upstreamFailures = activity.UpstreamFailures
)

// filterText is the value of a filter in words.
func filterText(value string) string {
	switch value {
	case anyCode:
		return "any error"
	case upstreamFailures:
		return "failed at the provider or server"
	}
	return value
}

// shownFilter is the value of the filter of this name, as a page shows it.
func shownFilter(v *visit, name, value string) string {
	switch name {
	case "key":
		return keyName(v, value)
	case "code":
		return filterText(value)
	}
	return value
}

// filterField is a filter in the form.
type filterField struct {
	activityFilter
	Value  string
	Values []string // to choose from
	Select bool     // nothing else can be chosen
	Number bool
}

// fields makes the form. The values are those that were called in this time.
func (p *activityPage) fields(v *visit, s *span) {
	for _, f := range activityFilters {
		if f.Name == "tenant" && !v.caller.Key.AllTenants {
			continue
		}
		field := filterField{activityFilter: f, Value: v.query.Get(f.Name), Values: slices.Clone(f.values), Select: f.choice, Number: f.number}
		if f.summed && !isPoll(v.r) {
			field.Values = namesOf(v, f.Name, s)
		}
		if f.Name == "code" {
			field.Values = slices.Insert(field.Values, 0, anyCode, upstreamFailures)
		}
		if field.Select && field.Value != "" && !slices.Contains(field.Values, field.Value) {
			field.Values = append(field.Values, field.Value)
		}
		if f.rare {
			p.More = append(p.More, field)
			p.Opened = p.Opened || field.Value != ""
		} else {
			p.Fields = append(p.Fields, field)
		}
	}
}

// maxNames is how many values of a filter are offered: as many as the route names.
const maxNames = "50"

// namesWithin is the time whose names are offered: the last week of a longer one. The sums of a month
// take long to read, and name little more.
const namesWithin = 7 * 24 * time.Hour

// namesOf returns the values of a filter in a time, those with the greatest cost first. Without them
// the page is as good but for a help, so a failure is none of its own.
func namesOf(v *visit, by string, s *span) (names []string) {
	q := s.query()
	q.Set("by", by)
	q.Set("top", maxNames)
	q.Set("step", "day") // the cheapest: only the names count
	from, begins := parseDay(s.from)
	to, ends := parseDay(s.to)
	if begins && ends && to.Sub(from) > namesWithin {
		q.Set("from", to.Add(-namesWithin).Format(time.RFC3339))
	}
	var answer struct{ Data []struct{ Name string } }
	if err := v.get(seriesRoute, q, &answer); err != nil {
		return nil
	}
	for _, series := range answer.Data {
		if series.Name != "" {
			names = append(names, series.Name)
		}
	}
	slices.Sort(names)
	return names
}

// activeFilter is a filter that is set, with the page without it.
type activeFilter struct{ Name, Label, Value, Unit, Without string }

// Words are the name of the filter within a sentence.
func (f activeFilter) Words() string { return inPlainWords(f.Name) }

// activeFilters are the filters of these names that the URL has.
func activeFilters(v *visit, names []string) (all []activeFilter, err error) {
	for _, name := range names {
		value := v.query.Get(name)
		if value == "" {
			continue
		}
		f := activityFilters[slices.IndexFunc(activityFilters, func(f activityFilter) bool { return f.Name == name })]
		without, err := query(v.r.URL.RequestURI(), name, "")
		if err != nil {
			return nil, err
		}
		all = append(all, activeFilter{name, f.Label, shownFilter(v, name, value), f.Unit, without})
	}
	return all, nil
}

// activityFilterNames are the names of all filters of the list.
func activityFilterNames() (names []string) {
	for _, f := range activityFilters {
		names = append(names, f.Name)
	}
	return names
}

// emptyActivity is why a list has no rows, and what to do.
type emptyActivity struct {
	ID string // that nothing has
	// Drop are the filters that are set, with how many rows there are without each; -1 is unknown.
	Drop []droppedFilter
	// Newest is the newest row of any time, if there is one.
	Newest *activityRow
	// All is the page with the longest time.
	All   string
	First *firstCall // nothing was ever called
}

type droppedFilter struct {
	activeFilter
	Rows int64
}

// explainEmpty finds out why there are no rows.
func explainEmpty(v *visit, s *span, active []activeFilter) (*emptyActivity, error) {
	empty := &emptyActivity{}
	for i := range active {
		empty.Drop = append(empty.Drop, droppedFilter{active[i], rowsWithout(v, s, active[i].Name)})
	}
	var err error
	if empty.All, err = query(v.r.URL.RequestURI(), "range", "30d", "from", "", "to", ""); err != nil || len(active) > 0 {
		return empty, err
	}
	var newest activityAnswer
	if err := v.get("/api/v1/activity", url.Values{"limit": {"1"}}, &newest); err != nil {
		return nil, err
	}
	if len(newest.Data) > 0 {
		empty.Newest = &newest.Data[0]
		return empty, nil
	}
	first := newFirstCall(v)
	empty.First = &first
	return empty, nil
}

// rowsWithout returns how many rows there are without one of the filters, -1 if the sums cannot say.
func rowsWithout(v *visit, s *span, dropped string) int64 {
	q := s.query()
	q.Set("top", "1")
	for i := range activityFilters {
		f := &activityFilters[i]
		switch value := v.query.Get(f.Name); {
		case value == "" || f.Name == dropped:
		case !f.summed:
			return -1
		default:
			q.Set(f.Name, value)
		}
	}
	var answer seriesAnswer
	if err := v.get(seriesRoute, q, &answer); err != nil {
		return -1
	}
	return answer.Total.Total.Requests
}
