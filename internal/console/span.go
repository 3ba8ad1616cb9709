package console

import (
	"html/template"
	"net/url"
	"time"
)

// span is the time that a page shows. It is chosen in the URL: range is one of [spans], or custom
// with from and to.
type span struct {
	Choice   string
	From, To string // of custom, as given
	step     string // minute, hour or day
	from, to string // as the series route takes them
}

// spans are the choices, with how many steps each has up to now.
var spans = []struct {
	choice, step string
	steps        int
}{
	{"1h", "minute", 60},
	{"24h", "hour", 24},
	{"7d", "hour", 7 * 24},
	{"30d", "day", 30},
}

const (
	customSpan = "custom"
	// mostMinutes and mostHours are the longest custom times of which each minute or hour is shown.
	mostMinutes = 5 * time.Hour
	mostHours   = 8 * 24 * time.Hour
)

// sixHours is a step that the series route does not have: see joinHours.
const sixHours = "6 hours"

// stepLengths has the length of each step.
var stepLengths = map[string]time.Duration{"minute": time.Minute, "hour": time.Hour, sixHours: 6 * time.Hour, "day": 24 * time.Hour}

// byStep says how long the steps of figures are.
func byStep(step string) string {
	if step == sixHours {
		return "by " + step
	}
	return "by the " + step
}

// spanOf returns the time that the visit asks for.
func spanOf(v *visit) span {
	s := span{Choice: v.query.Get("range"), From: v.query.Get("from"), To: v.query.Get("to")}
	if s.Choice == customSpan || s.Choice == "" && (s.From != "" || s.To != "") {
		return s.custom(v.now)
	}
	return s.named(v.now)
}

func (s span) named(now time.Time) span {
	known := spans[1] // 24 hours
	for _, choice := range spans {
		if choice.choice == s.Choice {
			known = choice
		}
	}
	length := stepLengths[known.step]
	to := now.UTC().Truncate(length).Add(length)
	from := to.Add(-time.Duration(known.steps) * length)
	return span{Choice: known.choice, step: known.step, from: from.Format(time.RFC3339), to: to.Format(time.RFC3339)}
}

// custom chooses the step by the length. The route checks both times.
func (s span) custom(now time.Time) span {
	s.Choice, s.step, s.from, s.to = customSpan, "day", s.From, s.To
	from, ok := parseDay(s.From)
	to, given := parseDay(s.To)
	switch {
	case !given:
		to = now
	case len(s.To) == len(time.DateOnly): // with that day
		to = to.AddDate(0, 0, 1)
	}
	switch length := to.Sub(from); {
	case !ok:
	case length <= mostMinutes:
		s.step = "minute"
	case length < mostHours:
		s.step = "hour"
	}
	return s
}

// hourly reports whether the route has refused minutes because there are too many calls. The span is by
// the hour then.
func (s *span) hourly(err error) bool {
	if s.step != "minute" || !isAbout(err, "step") {
		return false
	}
	s.step = "hour"
	return true
}

// parseDay reads a date or a time, as the routes take them.
func parseDay(text string) (time.Time, bool) {
	for _, layout := range []string{time.DateOnly, time.RFC3339} {
		if t, err := time.Parse(layout, text); err == nil {
			return t, true
		}
	}
	return time.Time{}, false
}

// query is the time as parameters of the series route.
func (s *span) query() url.Values {
	q := url.Values{"step": {s.step}}
	setParam(q, "from", s.from)
	setParam(q, "to", s.to)
	return q
}

// shared are the parameters that a link to another page keeps: the time.
func (s *span) shared() url.Values {
	if s.Choice != customSpan {
		return url.Values{"range": {s.Choice}}
	}
	q := url.Values{"range": {customSpan}}
	setParam(q, "from", s.From)
	setParam(q, "to", s.To)
	return q
}

// option is a choice among several: a link to this page with a parameter changed.
type option struct {
	Name, Href string
	Current    bool
}

// timeChoice is the choice of the time at the top of a page.
type timeChoice struct {
	Options  []option
	Custom   bool
	From, To string  // of the form, as given
	Hidden   []field // what the form keeps of the URL
	Path     string
	Start    template.HTML // of the answer
	End      template.HTML
	Step     string
	Unfilled bool // sums are too small: older rows are still added
}

// field is a parameter of the URL that a form keeps.
type field struct{ Name, Value string }

func chooseTime(v *visit, s *span, a *seriesAnswer) (timeChoice, error) {
	uri := v.r.URL.RequestURI()
	u, err := url.Parse(uri)
	if err != nil {
		return timeChoice{}, err
	}
	c := timeChoice{Custom: s.Choice == customSpan, From: s.From, To: s.To, Path: u.Path, Start: minute(a.From), End: "now", Step: a.Step, Unfilled: !a.Complete}
	if !a.To.After(v.now) {
		c.End = minute(a.To)
	}
	if c.Custom && s.From == "" && s.To == "" && !a.To.IsZero() {
		c.From, c.To = a.From.Format(time.DateOnly), a.To.Add(-1).Format(time.DateOnly)
	}
	for _, name := range append([]string{"by", "metric"}, filterNames...) {
		if value := u.Query().Get(name); value != "" {
			c.Hidden = append(c.Hidden, field{name, value})
		}
	}
	named, err := query(uri, "from", "", "to", "")
	if err != nil {
		return timeChoice{}, err
	}
	c.Options, err = choices(named, "range", s.Choice, "1h", "1 hour", "24h", "24 hours", "7d", "7 days", "30d", "30 days", customSpan, "Custom")
	return c, err
}

// minute is a time to the minute, as the steps of charts have it.
func minute(t time.Time) template.HTML {
	return localElement(t, "minute", t.UTC().Format("Mon 2 Jan 2006 15:04"))
}

// choices are links to this page with a parameter changed, from values and names in turn.
func choices(path, param, current string, valuesAndNames ...string) (all []option, err error) {
	for i := 0; i < len(valuesAndNames); i += 2 {
		href, err := query(path, param, valuesAndNames[i])
		if err != nil {
			return nil, err
		}
		all = append(all, option{valuesAndNames[i+1], href, valuesAndNames[i] == current})
	}
	return all, nil
}
