package why

import (
	"context"
	"encoding/json"
	"io"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
	"github.com/gatehouse-proxy/gatehouse/internal/limits"
	"github.com/gatehouse-proxy/gatehouse/internal/report"
	"github.com/gatehouse-proxy/gatehouse/internal/terminal"
)

// kindRun is the kind of all that was done under one trace.
const kindRun = "run"

// Run is what was done under one trace: calls of models and of tools, and sessions, in their order.
type Run struct {
	// EndedAt is when its last step ended.
	EndedAt time.Time `json:"ended_at"`
	// CostUSD is what all steps were charged, a decimal number.
	CostUSD string `json:"cost_usd"`
	// Unpriced is how many steps used something without a known price.
	Unpriced int64 `json:"unpriced,omitempty"`
	// Failed is how many steps were refused, failed, or called a tool that failed.
	Failed int64 `json:"failed,omitempty"`
	// Older reports whether it has earlier steps, which are left out.
	Older bool `json:"older,omitempty"`
	// Steps are its rows as GET /api/v1/activity has them, the first one first.
	Steps []json.RawMessage `json:"steps"`
}

// findRun explains the run of a trace of any tenant; nil if nothing has it.
func findRun(ctx context.Context, log activity.Log, trace string) (*Explanation, error) {
	rows, older, err := report.Run(ctx, log, trace)
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	steps, err := recordsOf(rows)
	if err != nil {
		return nil, err
	}
	var sum activity.Run
	e := &Explanation{Kind: kindRun, ID: trace, TraceID: trace, Key: steps[0].Key, Tenant: steps[0].Tenant}
	for i := range steps {
		r := &steps[i]
		sum.Add(r)
		if r.Key != e.Key || r.Tenant != e.Tenant {
			e.Key, e.Tenant = "", ""
		}
	}
	e.CreatedAt, e.Time.Total = sum.Begun, ms(sum.Ended.Sub(sum.Begun))
	e.Run = &Run{
		EndedAt: sum.Ended, CostUSD: limits.FormatMoney(sum.CostNano), Unpriced: sum.Unpriced, Failed: sum.Failed,
		Older: older, Steps: rows,
	}
	return e, nil
}

func recordsOf(all []json.RawMessage) ([]activity.Record, error) {
	rows := make([]activity.Record, len(all))
	for i, raw := range all {
		if err := json.Unmarshal(raw, &rows[i]); err != nil {
			return nil, err
		}
	}
	return rows, nil
}

// Print prints an explanation for a terminal.
func (e *Explanation) Print(out io.Writer) error {
	if e.Run == nil {
		_, err := io.WriteString(out, e.Text())
		return err
	}
	p := new(page)
	p.line("Run", "%s", e.ID)
	p.line("When", "%s, %s in all", e.when(), terminal.Duration(e.Time.Total))
	if e.Key != "" {
		p.line("Who", "key %s, tenant %s", e.Key, e.Tenant)
	} else {
		p.line("Who", "several keys")
	}
	p.line("Steps", "%d, %d of them failed", len(e.Run.Steps), e.Run.Failed)
	p.line("Cost", "%s USD", e.Run.CostUSD)
	if e.Run.Unpriced > 0 {
		p.line("", "with what was reserved for %s of unknown price", terminal.Plural(int(e.Run.Unpriced), "step"))
	}
	if e.Run.Older {
		p.line("", "Only the newest %d steps: there are older ones.", len(e.Run.Steps))
	}
	e.until(p)
	p.gap()
	steps, err := recordsOf(e.Run.Steps)
	if err == nil {
		_, err = io.WriteString(out, p.String())
	}
	if err == nil {
		terminal.Calls(out, steps)
	}
	return err
}
