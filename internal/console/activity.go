package console

import (
	"errors"
	"html/template"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
)

// activityRows is how many rows a page of the list has.
const activityRows = 50

// activityPage is what its template shows.
type activityPage struct {
	activityTable
	activityForm
	activitySums

	Failure *Failure
	Slow    bool // the rows could not be read in time
	Empty   *emptyActivity
	Live    bool   // the newest rows appear by themselves
	Toggle  string // the page with that turned on or off
	Export  activityFile
	Kept    retention
}

// activityTable is a page of the list. It has the columns that some row has a value for.
type activityTable struct {
	Rows   []activityRow
	Next   string // the cursor of the next page
	Later  bool   // this is not the first page
	Rising bool   // the oldest row is the first
	OneKey bool   // all rows are of a key that the page names

	Tenants, Tokens, Bytes, Costs, First bool // the columns; tenants, if there are several
}

// activityForm is what chooses the rows.
type activityForm struct {
	Search string
	Time   timeChoice
	Range  string // in the URL
	Off    bool   // the live rows, by a choice in the URL
	Fields []filterField
	More   []filterField // those that are needed less often
	Opened bool          // one of these is set
	Active []activeFilter
}

// activitySums are of all rows that are chosen, not only of this page.
type activitySums struct {
	Strip     template.HTML
	Step      string // minute, hour, 6 hours or day
	Total     *seriesPoint
	Uncharted bool // the sums know nothing of one of the filters
}

type activityAnswer struct {
	Data []activityRow
	Next string `json:"next_cursor"`
}

// activityList shows the calls and the sessions of desktops, newest first.
func activityList(v *visit) error {
	p := &activityPage{Kept: readRetention(v)}
	p.Search, p.Later = strings.TrimSpace(v.query.Get("id")), v.query.Has("cursor")
	if p.Search != "" {
		return p.find(v)
	}
	s := spanOf(v)
	status := http.StatusOK
	if err := p.list(v, &s); err != nil {
		failed := (*Failure)(nil)
		if !errors.As(err, &failed) || failed.Status != http.StatusBadRequest && failed.Status != http.StatusServiceUnavailable {
			return err
		}
		p.Failure, status = failed, failed.Status
		p.Slow = status == http.StatusServiceUnavailable
	}
	if err := p.controls(v, &s); err != nil {
		return err
	}
	if status == http.StatusOK && len(p.Rows) == 0 {
		var err error
		if p.Empty, err = explainEmpty(v, &s, p.Active); err != nil {
			return err
		}
	}
	return v.show(status, "activity", p)
}

// list reads the sums and the rows. Reading rows that match a filter takes as long as the time has
// rows, so what the sums know is used first: in which hours there are any.
func (p *activityPage) list(v *visit, s *span) error {
	answer, err := p.sums(v, s)
	if err != nil {
		return err
	}
	q := activityQuery(v, s)
	// Without a filter the newest rows are found at once, and sums may be older than they are. Names of
	// unknown models are in no sum.
	if answer != nil && answer.Complete && len(filterValues(v)) > 0 && q.Get("model") == "" {
		if len(answer.Total.Points) == 0 {
			return nil
		}
		narrow(q, answer)
	}
	q.Set("limit", strconv.Itoa(activityRows))
	setParam(q, "cursor", v.query.Get("cursor"))
	var rows activityAnswer
	if err := v.get("/api/v1/activity", q, &rows); err != nil {
		return err
	}
	p.setRows(v, rows)
	return nil
}

// narrow leaves the hours or days out before the first and after the last that has a row.
func narrow(q url.Values, answer *seriesAnswer) {
	points := answer.Total.Points
	if first := points[0].At; first.After(answer.From) {
		q.Set("from", first.UTC().Format(time.RFC3339))
	}
	if end := points[len(points)-1].At.Add(answer.length()); end.Before(answer.To) {
		q.Set("to", end.UTC().Format(time.RFC3339))
	}
}

// activityQuery is the time and the filters of the URL as the route takes them.
func activityQuery(v *visit, s *span) url.Values {
	q := url.Values{}
	for _, name := range activityFilterNames() {
		setParam(q, name, v.query.Get(name))
	}
	setParam(q, "from", s.from)
	if s.Choice == customSpan {
		setParam(q, "to", s.to)
	}
	return q
}

func (p *activityTable) setRows(v *visit, answer activityAnswer) {
	p.Rows, p.Next = answer.Data, answer.Next
	for i := range p.Rows {
		r := &p.Rows[i]
		nameKey(v, r)
		p.Tenants = p.Tenants || r.Tenant != p.Rows[0].Tenant
		p.Tokens = p.Tokens || r.Used()
		p.Bytes = p.Bytes || r.Bytes() != nil
		p.Costs = p.Costs || r.Cost().Short != ""
		p.First = p.First || r.FirstToken > 0
	}
}

// SameDay reports whether the row before this one is of the same day: each day is said once.
func (p *activityTable) SameDay(i int) bool {
	const day = 24 * time.Hour
	return i > 0 && p.Rows[i].CreatedAt.Truncate(day).Equal(p.Rows[i-1].CreatedAt.Truncate(day))
}

// find leads to the page of the row that has an id.
func (p *activityPage) find(v *visit) error {
	rows, err := rowsWithID(v, p.Search)
	if err != nil {
		return err
	}
	if len(rows.Data) > 0 {
		return v.redirect(rows.Data[0].Path(), "")
	}
	if activity.IsTrace(p.Search) {
		return v.redirect(Prefix+"/runs/"+p.Search, "")
	}
	s := spanOf(v)
	if err := p.controls(v, &s); err != nil {
		return err
	}
	p.Live, p.Toggle, p.Empty = false, "", &emptyActivity{ID: p.Search}
	return v.render("activity", p)
}

// rowsWithID asks for the row that has an id of ours or of the provider's, with all that is kept of it.
func rowsWithID(v *visit, id string) (answer activityAnswer, err error) {
	if len(id) > maxID {
		return answer, nil // no row has one that long
	}
	return answer, v.get("/api/v1/activity", url.Values{"id": {id}}, &answer)
}

// maxID is the length of the longest id that a row may have, in bytes.
const maxID = 256

// leastSteps is from how many hours or days on a chart says something.
const leastSteps = 3

// sums draws the requests over time, of all rows with these filters, not only of this page. The
// answer is nil if the sums do not know the filters or the time.
func (p *activityPage) sums(v *visit, s *span) (*seriesAnswer, error) {
	for i := range activityFilters {
		f := &activityFilters[i]
		p.Uncharted = p.Uncharted || !f.summed && v.query.Get(f.Name) != ""
	}
	if p.Uncharted {
		return nil, nil
	}
	answer, err := sumsOf(v, seriesQuery(v, s, "code", 1))
	if s.hourly(err) { // whole hours are not the time of the rows
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	answer.joinHours()
	p.Total, p.Step = &answer.Total.Total, answer.Step
	if answer.steps() < leastSteps || p.Total.Requests == 0 {
		return answer, nil
	}
	p.Strip = answer.strip()
	return answer, nil
}

// controls makes what chooses the rows.
func (p *activityPage) controls(v *visit, s *span) (err error) {
	uri := v.r.URL.RequestURI()
	if p.Time, err = chooseTime(v, s, &seriesAnswer{Complete: true}); err != nil {
		return err
	}
	p.Range, p.Off = s.Choice, v.query.Get("live") == "off"
	if p.Active, err = activeFilters(v, activityFilterNames()); err != nil {
		return err
	}
	p.fields(v, s)
	p.Export = p.file(v, s)

	if p.Later || s.Choice == customSpan && s.to != "" {
		return nil // nothing new appears there
	}
	toggle := "off"
	if p.Live = !p.Off; p.Off {
		toggle = ""
	}
	p.Toggle, err = query(uri, "live", toggle)
	return err
}

// Path is the page of a row.
func (r *activityRow) Path() string { return Prefix + "/activity/" + url.PathEscape(r.ID) }
