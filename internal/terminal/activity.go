package terminal

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"time"
)

// activityRow is what a table shows of a row of the admin API.
type activityRow struct {
	CreatedAt   time.Time `json:"created_at"`
	RequestID   string    `json:"request_id"`
	ID          string
	Tenant, Key string
	Route       string
	Model       string
	Provider    string `json:"provider_name"`
	Status      int
	Code        string
	Usage       json.Number
	UsageSource string `json:"usage_source"`
	Priced      bool
	Prompt      int64    `json:"prompt_tokens"`
	Completion  int64    `json:"completion_tokens"`
	Latency     float64  `json:"latency_ms"`
	FirstToken  *float64 `json:"first_token_ms"`
	Workstation string
	Ended       string
}

// Activity prints an answer of the activity: a row for each call.
func Activity(out io.Writer, answer io.Reader) error {
	var list struct {
		Data []activityRow
		Next *string `json:"next_cursor"`
	}
	if err := json.NewDecoder(answer).Decode(&list); err != nil {
		return fmt.Errorf("reading the activity: %w", err)
	}
	if len(list.Data) == 0 {
		_, err := fmt.Fprintln(out, "No calls.")
		return err
	}
	t := grid{columns: []gridColumn{{name: "TIME (UTC)"}, {name: "KEY"}, {name: "MODEL"}, {name: "STATUS"}, {name: "IN", right: true, drop: 2},
		{name: "OUT", right: true, drop: 2}, {name: "USD", right: true, drop: 4}, {name: "FIRST", right: true, drop: 1}, {name: "TOOK", right: true, drop: 3},
		{name: "REQUEST"}}}
	several := false
	for _, r := range list.Data {
		several = several || r.Tenant != list.Data[0].Tenant
	}
	for _, r := range list.Data {
		t.rows = append(t.rows, r.cells(several))
	}
	t.print(out, screenOf(out))
	if list.Next != nil {
		fmt.Fprintf(out, "There are more: see --limit and --csv.\n")
	}
	return nil
}

// cells are those of a call. With several tenants the key's has its tenant.
func (r *activityRow) cells(several bool) []string {
	key, subject, status := KeyName(r.Key), r.Model, strconv.Itoa(r.Status)
	if several {
		key = r.Tenant + "/" + key
	}
	switch {
	case r.Workstation != "":
		subject = "desktop " + r.Workstation
	case subject == "":
		subject = r.Route
	}
	if r.Code != "" {
		status += " " + r.Code
	} else if r.Ended != "" {
		status += " " + r.Ended
	}
	in, out, cost, first := "-", "-", "-", "-"
	if r.UsageSource != "none" {
		in, out = compact(r.Prompt), compact(r.Completion)
		cost = "unknown"
		if r.Priced {
			usd, _ := r.Usage.Float64()
			cost = strconv.FormatFloat(usd, 'f', 6, 64)
		}
	}
	if r.FirstToken != nil {
		first = whole(*r.FirstToken)
	}
	id := r.RequestID
	if id == "" || r.Ended != "" { // a session is ended and found by its own name
		id = r.ID
	}
	return []string{r.CreatedAt.UTC().Format("2006-01-02 15:04:05"), key, subject, status, in, out, cost, first, whole(r.Latency), id}
}

// whole is a duration that is known in whole milliseconds.
func whole(ms float64) string {
	if ms <= 0 {
		return "<1ms"
	}
	return Duration(ms)
}
