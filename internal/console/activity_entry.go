package console

import (
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"strings"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
	"github.com/gatehouse-proxy/gatehouse/internal/chart"
)

// entryPage is one call, or one session of a desktop.
type entryPage struct {
	activityRow
	Phases template.HTML
	Legend []chart.Phase
	Trace  string // the address of its trace
	Codes  string // the table of codes in the manual
	Same   []option
}

// activityEntry shows all that is recorded of one row.
func activityEntry(v *visit) error {
	id := v.r.PathValue("id")
	rows, err := rowsWithID(v, id)
	if err != nil {
		return err
	}
	if len(rows.Data) == 0 {
		return &Failure{
			Status: http.StatusNotFound, Code: "not_found",
			Message: fmt.Sprintf("nothing with the id %q is recorded: old rows are deleted, a call that is under way has no row yet, and one without a valid key leaves none", id),
		}
	}
	p := &entryPage{activityRow: rows.Data[0], Codes: codesLink}
	nameKey(v, &p.activityRow)
	p.RefusedBy = strings.Replace(p.RefusedBy, p.Key, p.ShownKey(), 1)
	p.drawPhases()
	p.Trace = traceLink(v, p.TraceID)
	p.link()
	page := *v.page
	page.title = "Request " + p.ID
	if p.Session() {
		page.title = "Session " + p.ID
	}
	v.page = &page
	return v.render("activity_entry", p)
}

// drawPhases makes the bar of where the time went.
func (p *entryPage) drawPhases() {
	if p.Session() || p.Latency == 0 {
		return
	}
	add := func(name, class string, ms float64) {
		if ms > 0 {
			p.Legend = append(p.Legend, chart.Phase{Name: name, Class: class, Milliseconds: ms, Text: milliseconds(ms)})
		}
	}
	total, queued := inMilliseconds(p.Latency), inMilliseconds(p.Queued)
	add("Waited for a slot", "s3", queued)
	if first := inMilliseconds(p.FirstToken); first > 0 {
		add("Until the first token", "s1", first-queued)
		add("Stream", "s2", total-first)
	} else {
		add("Answer", "s1", total-queued)
	}
	p.Phases = chart.Phases{ID: "phases", Title: "Where the time went", Parts: p.Legend}.SVG()
}

// link makes the addresses that the page leads to.
func (p *entryPage) link() {
	model, provider := "Model", "Provider"
	if p.Method != "" {
		model, provider = "Tool", "Server"
	}
	for _, same := range [][3]string{
		{"key", "Key", p.Key}, {"model", model, p.Model}, {"provider", provider, p.Provider}, {"code", "Code", p.Code},
		{"workstation", "Workstation", p.Workstation},
	} {
		if same[2] != "" {
			q := url.Values{same[0]: {same[2]}, "range": {"7d"}}
			p.Same = append(p.Same, option{Name: same[1], Href: Prefix + "/activity?" + q.Encode()})
		}
	}
}

// traceLink is the address at which a trace can be seen, "" for none.
func traceLink(v *visit, id string) string {
	if id == "" {
		return ""
	}
	return strings.ReplaceAll(v.console.config.TraceURL, "{trace_id}", url.QueryEscape(id))
}

// fact is a field that has no place of its own on the page.
type fact struct{ Name, Value string }

// Facts are the fields that the list names as such, with their values.
func (p *entryPage) Facts() (all []fact) {
	for i := range activity.Fields {
		if f := &activity.Fields[i]; f.Fact != "" && !f.Empty(&p.Record) {
			all = append(all, fact{f.Fact, f.Text(&p.Record)})
		}
	}
	return all
}

// sources say where the counts of tokens come from.
var sources = map[string]string{
	activity.UsageProvider:  "counted by the provider",
	activity.UsageEstimated: "estimated, because the provider counted none",
	activity.UsageCrashed:   "as reserved, because the gateway was killed",
	activity.UsageNone:      "nothing was used",
}

// SourceText says where the counts come from.
func (r *activityRow) SourceText() string {
	if text, known := sources[r.UsageSource]; known {
		return text
	}
	return r.UsageSource
}
