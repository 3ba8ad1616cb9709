package terminal

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
)

// Activity prints an answer of the activity: a row for each call.
func Activity(out io.Writer, answer io.Reader) error {
	var list struct {
		Data []activity.Record
		Next *string `json:"next_cursor"`
	}
	if err := json.NewDecoder(answer).Decode(&list); err != nil {
		return fmt.Errorf("reading the activity: %w", err)
	}
	if len(list.Data) == 0 {
		_, err := fmt.Fprintln(out, "No calls.")
		return err
	}
	Calls(out, list.Data)
	if list.Next != nil {
		fmt.Fprintf(out, "There are more: see --limit and --csv.\n")
	}
	return nil
}

// Calls prints a row for each call.
func Calls(out io.Writer, rows []activity.Record) {
	t := grid{columns: []gridColumn{{name: "TIME (UTC)"}, {name: "KEY"}, {name: "MODEL"}, {name: "STATUS"}, {name: "IN", right: true, drop: 2},
		{name: "OUT", right: true, drop: 2}, {name: "USD", right: true, drop: 4}, {name: "FIRST", right: true, drop: 1}, {name: "TOOK", right: true, drop: 3},
		{name: "REQUEST"}}}
	several := false
	for _, r := range rows {
		several = several || r.Tenant != rows[0].Tenant
	}
	for _, r := range rows {
		t.rows = append(t.rows, cells(&r, several))
	}
	t.print(out, roomOf(out))
}

// cells are the cells of a call. With several tenants the cell of the key has its tenant.
func cells(r *activity.Record, several bool) []string {
	key, subject, status := KeyName(r.Key), r.Model, strconv.Itoa(r.Status)
	if several {
		key = r.Tenant + "/" + key
	}
	switch {
	case r.Workstation != "" && r.Method == "":
		subject = "desktop " + r.Workstation
		if _, what, found := strings.Cut(r.Route, "{id}/"); found {
			subject += " " + what
		}
	case subject == "":
		subject = r.Route
	}
	if r.Method != "" && r.Model == r.Provider {
		subject += " " + r.Method
	}
	if r.Code != "" {
		status += " " + r.Code
	} else if r.IsError {
		status += " tool error"
	} else if r.Ended != "" {
		status += " " + r.Ended
	}
	in, out, cost, first := "-", "-", "-", "-"
	if r.UsageSource != activity.UsageNone {
		in, out = compact(r.PromptTokens), compact(r.CompletionTokens)
		cost = "unknown"
		if r.Priced {
			cost = strconv.FormatFloat(float64(r.CostNano)/1e9, 'f', 6, 64)
		}
	}
	if r.Method != "" {
		in, out = compact(r.RequestBytes)+"B", compact(r.AnswerBytes)+"B"
		if r.CostNano > 0 {
			cost = strconv.FormatFloat(float64(r.CostNano)/1e9, 'f', 6, 64)
		}
	}
	if r.FirstToken > 0 {
		first = whole(r.FirstToken)
	}
	id := r.RequestID
	if id == "" || r.Ended != "" { // a session is ended and found by its own name
		id = r.ID
	}
	return []string{r.CreatedAt.UTC().Format("2006-01-02 15:04:05"), key, subject, status, in, out, cost, first, whole(r.Latency), id}
}

// whole is a duration that is known in whole milliseconds.
func whole(d time.Duration) string {
	if d < time.Microsecond {
		return "<1ms"
	}
	return Duration(float64(d.Microseconds()) / 1000)
}
