package why

import (
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
	"github.com/gatehouse-proxy/gatehouse/internal/terminal"
)

// page is text for a terminal: sections of lines with a name.
type page struct{ strings.Builder }

// line adds a line. A line without a name goes on from the one before. Control characters, which a
// caller may have put into the name of a model, are replaced.
func (p *page) line(name, format string, args ...any) {
	text := strings.TrimRight(fmt.Sprintf("%-*s%s", terminal.NameWidth, name+" ", fmt.Sprintf(format, args...)), " ")
	p.WriteString(terminal.Printable(text) + "\n")
}

func (p *page) gap() { p.WriteString("\n") }

// Text is the explanation for a terminal.
func (e *Explanation) Text() string {
	p := new(page)
	if e.Kind == "session" {
		p.line("Session", "%s", e.ID)
	} else {
		p.line("Call", "%s", e.ID)
	}
	if e.RequestID != e.ID {
		p.line("Request", "%s", withText(e.RequestID, "; the client's id ", e.ClientRequestID))
	}
	if e.UpstreamID != "" {
		p.line("Upstream", "%s", e.UpstreamID)
	}
	if e.TraceID != "" {
		p.line("Trace", "%s", e.TraceID)
	}
	p.line("When", "%s", e.when())
	p.line("Who", "key %s, tenant %s", e.Key, e.Tenant)
	p.line("What", "%s", withText(e.Route, ", "+e.subject(), e.Model))
	for _, f := range e.Facts {
		p.line(f.Name, "%s", f.Value)
	}
	e.until(p)
	p.gap()
	e.outcome(p)
	if e.Session == nil {
		e.providers(p)
		e.skipped(p)
	}
	e.times(p)
	e.usage(p)
	e.standings(p)
	return p.String()
}

func (e *Explanation) when() string {
	return e.CreatedAt.UTC().Format("2006-01-02 15:04:05.000 UTC")
}

// until says since when rows may be missing.
func (e *Explanation) until(p *page) {
	if e.Until != nil {
		p.line("Until", "%s", activity.Missing(e.Until.Format(time.RFC3339Nano), time.Now()))
	}
}

// subject is what the model of the record is, in words.
func (e *Explanation) subject() string {
	if e.Kind == kindTool && e.Model != e.Provider {
		return "tool "
	} else if e.Kind == kindTool {
		return "server "
	}
	return "model "
}

func withText(text, separator, more string) string {
	if more == "" {
		return text
	}
	return text + separator + more
}

// outcome adds how it ended, and what to do.
func (e *Explanation) outcome(p *page) {
	switch {
	case e.Session != nil && e.Session.Ended != "":
		p.line("Ended", "%s", withText(e.Session.Ended, ", ", e.Code))
	case e.Code == "" && e.Session == nil:
		p.line("Outcome", "%d, answered%s", e.Status, whole(e.Stream))
	default:
		p.line("Outcome", "%d %s", e.Status, e.Code)
	}
	if e.RefusedBy != "" {
		name := "Refused by"
		if e.Session != nil && e.Session.Ended != "" {
			name = "Option"
		}
		p.line(name, "%s", e.RefusedBy)
	}
	if e.Meaning != "" {
		p.lines("Meaning", terminal.Wrap(plain(e.Meaning)))
		p.lines("What to do", terminal.Wrap(plain(e.Advice)))
	}
}

func whole(stream bool) string {
	if stream {
		return " as a stream"
	}
	return " in one piece"
}

// plain takes the marks of code out of a text of the manual.
func plain(text string) string { return strings.ReplaceAll(text, "`", "") }

// providers adds the targets that were tried.
func (e *Explanation) providers(p *page) {
	p.gap()
	if len(e.Attempted) == 0 {
		name, none := "Providers", "none was asked"
		if e.Kind == kindTool {
			name, none = "Server", "it was not asked"
		}
		switch {
		case e.Attempts == 0:
			p.line(name, "%s", none)
		case e.Attempts == 1 && e.Code == "":
			p.line(name, "%s answered at the first attempt", e.Provider)
		case e.Attempts == 1:
			p.line(name, "%s was asked once", e.Provider)
		default:
			p.line(name, "%s was asked %d times", e.Provider, e.Attempts)
		}
		return
	}
	var rows strings.Builder
	table := tabwriter.NewWriter(&rows, 0, 0, 2, ' ', 0)
	for i, a := range e.Attempted {
		answer := "no answer"
		if a.Status != 0 {
			answer = fmt.Sprint(a.Status)
		}
		if a.Code == "" {
			a.Code = "ok"
		}
		fmt.Fprintf(table, "%d. %s\t%s\t%s\t%s\t%s\n", i+1, terminal.Printable(a.Target), answer, terminal.Printable(a.Code), terminal.Duration(a.LatencyMS), plain(a.Meaning))
	}
	_ = table.Flush() // into memory
	p.lines("Providers", rows.String())
}

// skipped adds the targets that were not asked.
func (e *Explanation) skipped(p *page) {
	var rows strings.Builder
	table := tabwriter.NewWriter(&rows, 0, 0, 2, ' ', 0)
	for _, s := range e.Skipped {
		fmt.Fprintf(table, "%s\t%s\t%s\n", terminal.Printable(s.Target), terminal.Printable(withText(s.Code, ", ", s.RefusedBy)), plain(s.Meaning))
	}
	_ = table.Flush() // into memory
	p.lines("Not asked", rows.String())
}

// lines adds the lines of a text under one name.
func (p *page) lines(name, text string) {
	for line := range strings.Lines(text) {
		p.line(name, "%s", strings.TrimRight(line, "\n"))
		name = ""
	}
}

// times adds the duration, and the parts of it that are known.
func (e *Explanation) times(p *page) {
	p.gap()
	if e.Session != nil {
		p.line("Time", "%s, %s to the viewer, %s to the workstation", terminal.Duration(e.Time.Total), terminal.Size(e.Session.BytesDown), terminal.Size(e.Session.BytesUp))
		p.line("Desktop", "%s", e.Session.Workstation)
		return
	}
	t := e.Time
	var parts []string
	add := func(name string, ms float64) {
		if ms > 0 {
			parts = append(parts, name+" "+terminal.Duration(ms))
		}
	}
	add("queued", t.Queued)
	if t.FirstToken > 0 {
		add("until the first token", t.FirstToken-t.Queued)
		add("stream", t.Total-t.FirstToken)
	} else {
		add("answer", t.Total-t.Queued)
	}
	more := ""
	if t.Overhead > 0 {
		more = ", of which the gateway itself took " + terminal.Duration(t.Overhead)
	}
	p.line("Time", "%s in all%s", terminal.Duration(t.Total), more)
	if len(parts) > 1 {
		p.line("", "%s", strings.Join(parts, "   "))
	}
}

// usage adds tokens and cost.
func (e *Explanation) usage(p *page) {
	u := e.Usage
	if u == nil || u.Source == activity.UsageNone && e.Code != "" {
		return
	}
	p.gap()
	if e.Kind == kindTool {
		p.line("Cost", "%s USD", u.CostUSD)
		return
	}
	tokens := fmt.Sprintf("%d in", u.Prompt)
	if u.Cached > 0 {
		tokens += fmt.Sprintf(" (%d from the cache)", u.Cached)
	}
	tokens += fmt.Sprintf(", %d out", u.Completion)
	if u.Reasoning > 0 {
		tokens += fmt.Sprintf(" (%d of them reasoning)", u.Reasoning)
	}
	source, known := usageSources[u.Source]
	if !known {
		source = u.Source
	}
	p.line("Tokens", "%s; %s", tokens, source)
	switch {
	case u.Source == activity.UsageNone:
		p.line("Cost", "nothing")
	case u.Priced:
		p.line("Cost", "%s USD", u.CostUSD)
	default:
		p.line("Cost", "unknown: the model has no price; %s USD was charged to budgets", u.CostUSD)
	}
	if u.OutputCap > 0 {
		p.line("Cap", "the gateway limited the output to %d tokens", u.OutputCap)
	}
	if u.FinishReason != "" {
		p.line("Finish", "%s", u.FinishReason)
	}
}

// usageSources say where the counts come from.
var usageSources = map[string]string{
	activity.UsageProvider:  "counted by the provider",
	activity.UsageEstimated: "estimated, the provider counted none",
	activity.UsageCrashed:   "as reserved, because the gateway was killed",
	activity.UsageNone:      "nothing was used",
}

// standings adds how the limits stand now.
func (e *Explanation) standings(p *page) {
	if len(e.Limits) == 0 {
		return
	}
	p.gap()
	var rows strings.Builder
	table := tabwriter.NewWriter(&rows, 0, 0, 2, ' ', 0)
	for _, l := range e.Limits {
		resets := ""
		if l.ResetsAt != nil {
			resets = "until " + l.ResetsAt.Format("2006-01-02 15:04:05")
		}
		fmt.Fprintf(table, "%s\t%s\t%3d%%\t%s of %s\t%s\n", terminal.Printable(terminal.Subject(l.Subject)), l.Option,
			l.Percent, l.Used, l.Limit, resets)
	}
	_ = table.Flush() // into memory
	p.lines("Limits now", rows.String())
}
