package console

import (
	"cmp"
	"html/template"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/keys"
)

// sourceConfiguration is the source of keys of the configuration, in GET /api/v1/keys and in the URL of
// a page.
const sourceConfiguration = "configuration"

// keyPage is what the page of one key shows: parts, each for a scope of the key that looks.
type keyPage struct {
	keyRow

	Tenants  bool
	Most     *mostOfKey // nil for a key of the configuration
	Calls    callsOfKey
	Limits   limitsOfKey
	Reach    []toolReach
	Desktops desktopsOfKey
}

// showKey shows one key: by its hash one that was made at run time, by its name one of the configuration.
func showKey(v *visit) error { return showKeyOf(v, v.r.PathValue("key")) }

func showKeyOf(v *visit, id string) (err error) {
	p := keyPage{Tenants: v.caller.AllTenants}
	if p.keyRow, err = readAnyKey(v, id); err != nil {
		return err
	}
	if p.Made() {
		if p.Most, err = readMost(v); err != nil {
			return err
		}
	}
	if p.Reach, err = reachOf(v, p.Tools); err != nil {
		return err
	}
	if err := p.Calls.lacks(p.Calls.read(v, p.ID())); err != nil {
		return err
	}
	if err := p.Limits.lacks(p.Limits.read(v, &p.keyRow, "tenant:"+p.Tenant, "gateway")); err != nil {
		return err
	}
	if err := p.Desktops.lacks(p.Desktops.read(v, &p.keyRow)); err != nil {
		return err
	}
	titled(v, p.Name)
	return v.render("key", &p)
}

// readAnyKey reads a key by its hash or its name. A name can look like a hash.
func readAnyKey(v *visit, id string) (k keyRow, err error) {
	var answer struct{ Data keyRow }
	path := "/api/v1/keys/" + url.PathEscape(id)
	if isMadeKey(id) {
		if err = v.get(path, nil, &answer); !isNotFound(err) {
			return answer.Data, err
		}
	}
	made := err
	err = v.get(path, url.Values{"source": {sourceConfiguration}}, &answer)
	if made != nil && isNotFound(err) {
		err = made
	}
	return answer.Data, err
}

// Ends reports whether the key ends at a time that is to come.
func (p *keyPage) Ends(now time.Time) bool { return p.Expires.After(now) }

// atDesktops are what scopes let a key do at desktops.
var atDesktops = map[string]string{
	keys.WorkstationsConnect.String():  "open the workstations of its tenant",
	keys.WorkstationsAutomate.String(): "act at them as an agent, where their automation allows it",
	keys.WorkstationsObserve.String():  "watch the sessions of its tenant",
	keys.WorkstationsManage.String():   "register and release workstations, and end sessions",
}

// AtDesktops are what the key may do at desktops.
func (p *keyPage) AtDesktops() (may []string) {
	scopes := p.Scopes
	if len(scopes) == 0 && p.Most != nil {
		scopes = p.Most.Scopes
	}
	for _, name := range scopes {
		if text := atDesktops[name]; text != "" {
			may = append(may, text)
		}
	}
	return may
}

// keyCallRows is how many of the newest calls the page of a key shows.
const keyCallRows = 20

// callsOfKey are the calls of a key, and the sessions of its desktops.
type callsOfKey struct {
	block

	Periods []callPeriod
	Strip   template.HTML // its requests of each day, "" for none
	LastDay string        // the last day of the month before now with a call, "" for none
	Refused []refusalRow
	Week    seriesPoint // of the refusals
	Newest  activityTable
	All     string // the list of them
}

// callPeriod is a time with what the key has done in it.
type callPeriod struct {
	Name, Rows string
	seriesPoint
}

// Note is what of the calls was refused, and what they cost.
func (p *callPeriod) Note() string {
	spent := p.Spent()
	note := spent.Amount
	switch {
	case spent.Amount == unknown:
		note = "cost unknown"
	case spent.Reason != "":
		note += " " + spent.Reason
	}
	if p.Errors > 0 {
		note += "; " + count(p.Errors) + " refused or failed"
	}
	return note
}

func (c *callsOfKey) read(v *visit, key string) error {
	if !v.has(keys.ActivityRead) {
		c.Needs = keys.ActivityRead.String()
		return nil
	}
	const days, weekDays = 30, 7
	day := v.now.UTC().Truncate(24 * time.Hour)
	end, week := day.AddDate(0, 0, 1), day.AddDate(0, 0, 1-weekDays)
	sums, err := linesOf(v, "day", day.AddDate(0, 0, -days), end, key)
	if err != nil {
		return err
	}
	rows := func(from time.Time, code string) string {
		filters := url.Values{"key": {key}}
		setParam(filters, "code", code)
		return activityLink(&span{Choice: customSpan, From: from.Format(time.DateOnly)}, filters)
	}
	for _, p := range []struct {
		name string
		from time.Time
	}{{"Calls today", day}, {"Calls in 7 days", week}, {"Calls this month", day.AddDate(0, 0, 1-day.Day())}} {
		c.Periods = append(c.Periods, callPeriod{p.name, rows(p.from, ""), sumUp(sums.Total.Points, p.from, end)})
	}
	if len(sums.Total.Points) > 0 {
		c.Strip = sums.strip()
	}
	c.Week, c.All = c.Periods[1].seriesPoint, rows(day.AddDate(0, 0, -days), "")
	for i := range sums.Data {
		line := seriesLine{Name: sums.Data[i].Name, Total: sumUp(sums.Data[i].Points, week, end)}
		if line.Total.Errors > 0 {
			c.Refused = append(c.Refused, refusal(&line, i, c.Week.Errors, rows(week, line.Name)))
		}
	}
	slices.SortStableFunc(c.Refused, func(x, y refusalRow) int { return cmp.Compare(y.Count, x.Count) })
	return c.readNewest(v, key, sums)
}

// readNewest reads the newest rows. To find the few rows of one key takes as long as the time has rows of
// all, so only hours are read in which the sums have calls of the key.
func (c *callsOfKey) readNewest(v *visit, key string, sums *seriesAnswer) error {
	c.Newest.OneKey = true
	if !sums.Complete {
		return c.addRows(v, key, sums.From, sums.To)
	}
	for _, day := range slices.Backward(sums.Total.Points) {
		c.LastDay = cmp.Or(c.LastDay, day.At.Format(time.DateOnly))
		hours, err := linesOf(v, "hour", day.At, day.At.Add(stepLengths["day"]), key)
		if err != nil {
			return err
		}
		for _, hour := range slices.Backward(hours.Total.Points) {
			before := len(c.Newest.Rows)
			err := c.addRows(v, key, hour.At, hour.At.Add(time.Hour))
			if n := len(c.Newest.Rows); err != nil || n == keyCallRows || n == before { // older rows are deleted
				return err
			}
		}
	}
	return nil
}

// addRows adds the newest rows of a time, up to keyCallRows in all.
func (c *callsOfKey) addRows(v *visit, key string, from, to time.Time) error {
	var rows activityAnswer
	q := url.Values{
		"key": {key}, "limit": {strconv.Itoa(keyCallRows - len(c.Newest.Rows))}, "from": {from.UTC().Format(time.RFC3339)}, "to": {to.UTC().Format(time.RFC3339)},
	}
	err := v.get("/api/v1/activity", q, &rows)
	rows.Data = append(c.Newest.Rows, rows.Data...)
	c.Newest.setRows(v, rows)
	return err
}

// linesOf asks for the sums of a key by code.
func linesOf(v *visit, step string, from, to time.Time, key string) (*seriesAnswer, error) {
	return sumsOf(v, url.Values{
		"key": {key}, "by": {"code"}, "step": {step}, "top": {strconv.Itoa(refusalsTop)}, "from": {from.UTC().Format(time.RFC3339)}, "to": {to.UTC().Format(time.RFC3339)},
	})
}

// LastUse is when the newest row was made, the zero time if no row is left.
func (c *callsOfKey) LastUse() (at time.Time) {
	if len(c.Newest.Rows) > 0 {
		at = c.Newest.Rows[0].CreatedAt
	}
	return at
}
