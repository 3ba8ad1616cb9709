package caddymodule

import (
	"fmt"
	"os"
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
	text := strings.TrimRight(fmt.Sprintf("%-*s%s", terminal.NameWidth, name, fmt.Sprintf(format, args...)), " ")
	p.WriteString(terminal.Printable(text) + "\n")
}

func (p *page) gap() { p.WriteString("\n") }

// text is the story for a terminal.
func (s *story) text() string {
	p := new(page)
	if s.Kind == "session" {
		p.line("Session", "%s", s.ID)
	} else {
		p.line("Call", "%s", s.ID)
	}
	if s.RequestID != s.ID {
		p.line("Request", "%s", withText(s.RequestID, "; the client's id ", s.ClientRequestID))
	}
	if s.UpstreamID != "" {
		p.line("Upstream", "%s", s.UpstreamID)
	}
	if s.TraceID != "" {
		p.line("Trace", "%s", s.TraceID)
	}
	p.line("When", "%s", s.CreatedAt.UTC().Format("2006-01-02 15:04:05.000 UTC"))
	p.line("Who", "key %s, tenant %s", s.Key, s.Tenant)
	p.line("What", "%s", withText(s.Route, ", model ", s.Model))
	for _, f := range s.Facts {
		p.line(f.Name, "%s", f.Value)
	}
	if s.Until != nil {
		p.line("Until", "%s", activity.Missing(s.Until.Format(time.RFC3339Nano), time.Now()))
	}
	p.gap()
	s.outcome(p)
	if s.Session == nil {
		s.providers(p)
	}
	s.times(p)
	s.usage(p)
	s.standings(p)
	return p.String()
}

func withText(text, separator, more string) string {
	if more == "" {
		return text
	}
	return text + separator + more
}

// outcome adds how it ended, and what to do.
func (s *story) outcome(p *page) {
	switch {
	case s.Session != nil && s.Session.Ended != "":
		p.line("Ended", "%s", withText(s.Session.Ended, ", ", s.Code))
	case s.Code == "" && s.Session == nil:
		p.line("Outcome", "%d, answered%s", s.Status, whole(s.Stream))
	default:
		p.line("Outcome", "%d %s", s.Status, s.Code)
	}
	if s.RefusedBy != "" {
		name := "Refused by"
		if s.Session != nil && s.Session.Ended != "" {
			name = "Option"
		}
		p.line(name, "%s", s.RefusedBy)
	}
	if s.Meaning != "" {
		p.lines("Meaning", terminal.Wrap(plain(s.Meaning)))
		p.lines("What to do", terminal.Wrap(plain(s.Advice)))
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
func (s *story) providers(p *page) {
	p.gap()
	if len(s.Attempted) == 0 {
		switch {
		case s.Attempts == 0:
			p.line("Providers", "none was asked")
		case s.Attempts == 1 && s.Code == "":
			p.line("Providers", "%s answered at the first attempt", s.Provider)
		case s.Attempts == 1:
			p.line("Providers", "%s was asked once", s.Provider)
		default:
			p.line("Providers", "%s was asked %d times", s.Provider, s.Attempts)
		}
		return
	}
	var rows strings.Builder
	table := tabwriter.NewWriter(&rows, 0, 0, 2, ' ', 0)
	for i, a := range s.Attempted {
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

// lines adds the lines of a text under one name.
func (p *page) lines(name, text string) {
	for line := range strings.Lines(text) {
		p.line(name, "%s", strings.TrimRight(line, "\n"))
		name = ""
	}
}

// barWidth is the width of a bar, in characters.
const barWidth = 40

// times adds the parts of the duration, the known ones as a bar.
func (s *story) times(p *page) {
	p.gap()
	if s.Session != nil {
		p.line("Time", "%s, %s to the viewer, %s to the workstation", terminal.Duration(s.Time.Total), terminal.Size(s.Session.BytesDown), terminal.Size(s.Session.BytesUp))
		p.line("Desktop", "%s", s.Session.Workstation)
		return
	}
	t := s.Time
	type part struct {
		name, fill string
		ms         float64
	}
	light, medium, dark := terminal.Shades()
	parts := []part{{"queued", light, t.Queued}}
	if t.FirstToken > 0 {
		parts = append(parts, part{"until the first token", medium, max(t.FirstToken-t.Queued, 0)}, part{"stream", dark, max(t.Total-t.FirstToken, 0)})
	} else {
		parts = append(parts, part{"answer", dark, max(t.Total-t.Queued, 0)})
	}
	bar, legend := "", []string(nil)
	for _, part := range parts {
		if part.ms <= 0 {
			continue
		}
		n := int(part.ms/max(t.Total, part.ms)*barWidth + 0.5)
		bar += strings.Repeat(part.fill, max(n, 1))
		legend = append(legend, part.fill+" "+part.name+" "+terminal.Duration(part.ms))
	}
	more := ""
	if t.Overhead > 0 {
		more = ", of which the gateway itself took " + terminal.Duration(t.Overhead)
	}
	p.line("Time", "%s in all%s", terminal.Duration(t.Total), more)
	if len(legend) > 1 {
		p.line("", "%s", bar)
		p.line("", "%s", strings.Join(legend, "   "))
	}
}

// usage adds tokens and cost.
func (s *story) usage(p *page) {
	u := s.Usage
	if u == nil || u.Source == activity.UsageNone && s.Code != "" {
		return
	}
	p.gap()
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
func (s *story) standings(p *page) {
	if len(s.Limits) == 0 {
		return
	}
	p.gap()
	var rows strings.Builder
	table, meter := tabwriter.NewWriter(&rows, 0, 0, 2, ' ', 0), terminal.Meter(os.Stdout)
	for _, l := range s.Limits {
		resets := ""
		if l.ResetsAt != nil {
			resets = "until " + l.ResetsAt.Format("2006-01-02 15:04:05")
		}
		fmt.Fprintf(table, "%s\t%s\t%s %3d%%\t%s of %s\t%s\n", terminal.Printable(terminal.Subject(l.Subject)), l.Option,
			meter(float64(l.Percent)/100), l.Percent, l.Used, l.Limit, resets)
	}
	_ = table.Flush() // into memory
	p.lines("Limits now", rows.String())
}
