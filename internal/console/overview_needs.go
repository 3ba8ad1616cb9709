package console

import (
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/keys"
)

// need is a line about what needs a person: Name: Text, When. More.
type need struct {
	Name        string
	Text, More  string    // with code between backquotes
	When        time.Time // in words after Text; zero: no time
	Href        string    // "" for the page of its kind
	Badge, Tone string    // of its kind
}

// needsBlock has what needs a person now. Without any it is not there.
type needsBlock struct {
	Lines  []need
	Unread []string // public routes that failed, of those that no other block reads
}

// needKind is a row of the table of what can need a person. It finds its lines in what the page has read
// from the route, or asks the route if no other block does.
type needKind struct {
	route       string
	scopes      []keys.Scope // the key needs one of these; none: any key
	badge, tone string
	page        string // where its lines lead, below Prefix
	lines       func(v *visit, p *overviewPage, route string) []need
}

// needKinds is the table, in the order of the lines: first what keeps people and calls out.
var needKinds = []needKind{
	{"/v1/about", nil, "trouble", "bad", "/about", needyParts}, // shown only to a key with all_tenants
	{"/api/v1/limits", nil, "used up", "bad", "/limits?min_used=1&type=budget", spentBudgets},
	{"/api/v1/key", nil, "used up", "bad", "/limits", spentAbove},
	{"/v1/providers", []keys.Scope{keys.ProvidersRead}, "fails", "bad", "/providers", failingProviders},
	{"/v1/providers", []keys.Scope{keys.ProvidersRead}, "no credential", "bad", "/providers", withoutCredential},
	{"/v1/providers", []keys.Scope{keys.ProvidersRead}, "no list", "warn", "/providers", withoutList},
	{"/v1/mcp", []keys.Scope{keys.MCPCall}, "fails", "bad", "/tools", failingServers},
	{"/v1/workstations", seeDesktops, "away", "bad", "/workstations", awaySources},
	{"/v1/workstations", seeDesktops, "asks for help", "warn", "/workstations", askingAgents},
	{"/v1/recordings", watchRecordings, "incomplete", "warn", "/recordings", cutRecordings},
	{"/api/v1/limits", nil, "running out", "warn", "/limits?type=budget", hastyBudgets},
}

// read finds the lines, after the other blocks are read. A kind has at most overviewRows.
func (b *needsBlock) read(v *visit, p *overviewPage) {
	for i := range needKinds {
		k := &needKinds[i]
		if !(&page{scopes: k.scopes}).allows(v.caller.Key) {
			continue
		}
		found := k.lines(v, p, k.route)
		if more := len(found) - overviewRows; more > 0 {
			found = append(found[:overviewRows], need{Name: count(int64(more)) + " more"})
		}
		for _, n := range found {
			if n.Badge, n.Tone = k.badge, k.tone; n.Href == "" {
				n.Href = Prefix + k.page
			}
			if kind, name, _ := strings.Cut(n.Name, ":"); kind == "key" {
				n.Name = kind + ":" + keyName(v, name) // only of lines that are shown: a name is a call
			}
			b.Lines = append(b.Lines, n)
		}
	}
}

// get asks a route that no other block reads. One that fails is named on the page.
func (b *needsBlock) get(v *visit, route string, query url.Values, into any) {
	if err := v.get(route, query, into); err != nil && !isUnknownURL(err) { // unknown: the gateway has none of these
		b.Unread = append(b.Unread, route)
	}
}

func spentBudgets(v *visit, p *overviewPage, _ string) (found []need) {
	for i := range p.Budgets.all {
		r := &p.Budgets.all[i]
		if !r.Exhausted {
			continue
		}
		more := "Calls are refused until it is raised: it never resets"
		if !r.ResetsAt.IsZero() {
			more = "Calls are refused until it resets in " + inWords(r.ResetsAt.Sub(v.now)) + ", or is raised"
		}
		found = append(found, need{Name: r.Subject, Text: "nothing is left of the budget " + r.Configured, More: more})
	}
	return found
}

// spentAbove are budgets that keep calls of the key out, and whose amounts the key may not see.
func spentAbove(_ *visit, p *overviewPage, _ string) (found []need) {
	for _, subject := range p.Budgets.Exhausted {
		if !slices.ContainsFunc(p.Budgets.all, func(r limitRow) bool { return r.Subject == subject && r.Exhausted }) {
			found = append(found, need{Name: subject, Text: "its budget is used up", More: "Calls of this key are refused"})
		}
	}
	return found
}

// enoughSpent is the share of a budget from which its rate says something: a call in the first minutes
// of a month says nothing.
const enoughSpent = 0.1

// budgetPeriods are the lengths of periods that end.
var budgetPeriods = map[string]struct{ months, days int }{"day": {0, 1}, "week": {0, 7}, "month": {1, 0}}

// RunsOut is when the budget is used up if calls go on at the rate of its period so far, the zero time
// if that is not before it resets, or not known yet.
func (r *limitRow) RunsOut(now time.Time) time.Time {
	period, ends := budgetPeriods[r.Period]
	if !ends || r.Exhausted || r.Spent == nil || r.Limit <= 0 {
		return time.Time{}
	}
	begins := r.ResetsAt.AddDate(0, -period.months, -period.days)
	elapsed, spent := now.Sub(begins), *r.Spent/r.Limit
	if elapsed <= 0 || spent < enoughSpent || spent*float64(r.ResetsAt.Sub(begins)) <= float64(elapsed) {
		return time.Time{}
	}
	return begins.Add(time.Duration(float64(elapsed) / spent))
}

func hastyBudgets(v *visit, p *overviewPage, _ string) (found []need) {
	for i := range p.Budgets.all {
		r := &p.Budgets.all[i]
		if at := r.RunsOut(v.now); !at.IsZero() {
			found = append(found, need{
				Name: r.Subject, Text: "at this rate the budget " + r.Configured + " is used up", When: at,
				More: "It resets in " + inWords(r.ResetsAt.Sub(v.now)),
			})
		}
	}
	return found
}

func failingProviders(_ *visit, p *overviewPage, _ string) (found []need) {
	for i := range p.Providers.all {
		c := &p.Providers.all[i]
		if c.Worst.Tone() != "bad" {
			continue
		}
		n := need{Name: c.ID, Text: c.Worst.Model + " is " + c.Worst.Text(), More: strings.TrimSuffix(c.Worst.Why(), "."), Href: c.Path()}
		if n.When = c.Worst.Until; !n.When.IsZero() {
			n.Text += ", and is tried again"
		}
		found = append(found, n)
	}
	return found
}

func withoutCredential(_ *visit, p *overviewPage, _ string) (found []need) {
	for i := range p.Providers.all {
		c := &p.Providers.all[i]
		for _, e := range c.Endpoints {
			if e.Credential == nil || e.Credential.Valid {
				continue
			}
			text := e.Credential.Cloud + " gives the gateway no credential"
			if e.Name != "" {
				text += " for " + e.Name
			}
			found = append(found, need{Name: c.ID, Text: text + ", so calls fail: " + e.Credential.Failure, Href: c.Path()})
		}
	}
	return found
}

func withoutList(_ *visit, p *overviewPage, _ string) (found []need) {
	for i := range p.Providers.all {
		if c := &p.Providers.all[i]; c.NoList {
			found = append(found, need{
				Name: c.ID, Text: "its list of models has never come, and the log has the cause", Href: c.Path(),
				More: "Until it comes, `models NAME` or `discover off` in its block lets calls through",
			})
		}
	}
	return found
}

func failingServers(_ *visit, p *overviewPage, _ string) (found []need) {
	for i := range p.Tools.all {
		if s := &p.Tools.all[i]; s.Failing() {
			why := apierror.Code(s.LastError).Meaning().Text
			found = append(found, need{Name: s.ID, Text: "the last requests to this MCP server failed, `" + s.LastError + "`", More: strings.TrimSuffix(why, "."), Href: s.Path()})
		}
	}
	return found
}

func awaySources(_ *visit, p *overviewPage, _ string) (found []need) {
	for _, s := range p.Desktops.sources {
		if s.List == "unavailable" {
			found = append(found, need{Name: s.Source, Text: "this source of workstations gives no list now", More: "The log has the cause"})
		}
	}
	return found
}

func askingAgents(_ *visit, p *overviewPage, _ string) (found []need) {
	for i := range p.Desktops.all {
		r := &p.Desktops.all[i]
		switch {
		case r.Requests == 1:
			found = append(found, need{Name: r.ID, Text: "an agent waits for a person at this desktop", Href: r.Open()})
		case r.Requests > 1:
			found = append(found, need{Name: r.ID, Text: count(r.Requests) + " agents wait for a person at this desktop", Href: r.Open()})
		}
	}
	return found
}

// cutRecordings are recordings of the last 24 hours of which the end is missing.
func cutRecordings(v *visit, p *overviewPage, route string) (found []need) {
	var answer struct{ Data []recordingRow }
	p.Needs.get(v, route, url.Values{"limit": {"1000"}, "from": {v.now.UTC().Add(-trafficHours * time.Hour).Format(time.RFC3339)}}, &answer)
	for i := range answer.Data {
		if r := &answer.Data[i]; r.State == "incomplete" {
			found = append(found, need{Name: r.Workstation, Text: "the recording of " + r.Begun.UTC().Format("2 Jan 15:04") + " UTC ends before its session", Href: r.Path()})
		}
	}
	return found
}

// needyParts are parts of the gateway that are not well. What providers need has rows of its own.
func needyParts(v *visit, p *overviewPage, route string) (found []need) {
	var a aboutPage
	if v.caller.AllTenants {
		p.Needs.get(v, route, nil, &a)
	}
	if a.Condition == nil {
		return nil
	}
	for _, part := range a.Condition.Parts {
		if part.State != "ok" && (part.Name != "providers" || !v.has(keys.ProvidersRead)) {
			found = append(found, need{Name: part.Name, Text: part.Detail})
		}
	}
	return found
}
