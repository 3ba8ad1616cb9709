package console

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
)

// runPage is what its template shows: all that was done under one trace.
type runPage struct {
	activityTable
	activity.Run

	ID    string
	Older bool   // there are earlier steps, which are left out
	Trace string // the address of the trace
}

// showRun shows the steps of a run in their order.
func showRun(v *visit) error {
	p := &runPage{ID: v.r.PathValue("trace"), activityTable: activityTable{Rising: true}}
	var rows activityAnswer
	q := url.Values{"trace_id": {p.ID}, "limit": {strconv.Itoa(activity.MaxLimit)}}
	if err := v.get("/api/v1/activity", q, &rows); err != nil {
		return err
	}
	if len(rows.Data) == 0 {
		return &Failure{
			Status: http.StatusNotFound, Code: "not_found",
			Message: "nothing of this trace is recorded: old rows are deleted, and what is under way has no row yet",
		}
	}
	p.Older = rows.Next != ""
	slices.Reverse(rows.Data)
	p.setRows(v, rows)
	for i := range p.Rows {
		p.Add(&p.Rows[i].Record)
	}
	p.Trace = traceLink(v, p.ID)
	page := *v.page
	page.title = "Run " + p.ID
	v.page = &page
	return v.render("run", p)
}

// Duration is from the beginning of the first step to the end of the last one.
func (p *runPage) Duration() time.Duration { return p.Ended.Sub(p.Begun) }

// USD is what it cost.
func (p *runPage) USD() float64 { return float64(p.CostNano) / 1e9 }

// Note says what the cost leaves out.
func (p *runPage) Note() string {
	if p.Unpriced == 0 {
		return ""
	}
	return "with what was reserved for " + count(p.Unpriced) + " of unknown price"
}
