package caddymodule

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

// defaultRows is how many calls a terminal shows.
const defaultRows = 30

// activityFlags are what `caddy gatehouse activity` and `series` have in common.
type activityFlags struct {
	tenant, key, model, provider, code, from, to string
	since                                        time.Duration
	asJSON, asCSV                                bool
}

func (f *activityFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.tenant, "tenant", "", "only this tenant (default: all)")
	flags.StringVar(&f.key, "key", "", "only calls of this key, by name")
	flags.StringVar(&f.model, "model", "", "only calls of this model, as the callers named it")
	flags.StringVar(&f.provider, "provider", "", "only calls of this provider")
	flags.StringVar(&f.code, "code", "", "only calls that ended with this code, such as rate_limit_exceeded")
	flags.StringVar(&f.from, "from", "", "first instant: RFC 3339, a date as YYYY-MM-DD, or unix seconds")
	flags.StringVar(&f.to, "to", "", "last instant, or last date")
	flags.DurationVar(&f.since, "since", 0, "instead of --from: how long ago, such as 36h")
	flags.BoolVar(&f.asJSON, "json", false, "print the answer as JSON")
	flags.BoolVar(&f.asCSV, "csv", false, "print the rows as CSV")
	cmd.MarkFlagsMutuallyExclusive("json", "csv")
	cmd.MarkFlagsMutuallyExclusive("from", "since")
}

// query returns the parameters of the admin API.
func (f *activityFlags) query() url.Values {
	q := url.Values{}
	for name, value := range map[string]string{
		"tenant": f.tenant, "key": f.key, "model": f.model, "provider": f.provider, "code": f.code, "from": f.from, "to": f.to,
	} {
		setParam(q, name, value)
	}
	if f.since > 0 {
		q.Set("from", strconv.FormatInt(time.Now().Add(-f.since).Unix(), 10))
	}
	if f.asCSV {
		q.Set("format", "csv")
	}
	return q
}

func setParam(q url.Values, name, value string) {
	if value != "" {
		q.Set(name, value)
	}
}

// newActivityCommand is `caddy gatehouse activity`.
func newActivityCommand() *cobra.Command {
	o := new(operator)
	var f activityFlags
	var workstation, requestID string
	var status, limit int
	var slower time.Duration
	cmd := &cobra.Command{
		Use: "activity", Short: "Calls and VNC sessions of the running Caddy, newest first", Args: cobra.NoArgs,
		Example: "  caddy gatehouse activity --code rate_limit_exceeded --since 1h\n  caddy gatehouse activity --slower 10s --key dev\n  caddy gatehouse activity --from 2026-03-01 --csv > march.csv",
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.out = cmd.OutOrStdout()
			q := f.query()
			setParam(q, "workstation", workstation)
			setParam(q, "request_id", requestID)
			if status != 0 {
				q.Set("status", strconv.Itoa(status))
			}
			if slower > 0 {
				q.Set("min_latency_ms", strconv.FormatInt(slower.Milliseconds(), 10))
			}
			if !f.asCSV || cmd.Flags().Changed("limit") {
				q.Set("limit", strconv.Itoa(limit))
			}
			return showActivity(o, q, &f)
		},
	}
	o.addFlags(cmd)
	f.add(cmd)
	cmd.Flags().StringVar(&workstation, "workstation", "", "only sessions of this workstation")
	cmd.Flags().StringVar(&requestID, "request-id", "", "only this call")
	cmd.Flags().IntVar(&status, "status", 0, "only calls with this HTTP status")
	cmd.Flags().DurationVar(&slower, "slower", 0, "only calls that took at least this long, such as 10s")
	cmd.Flags().IntVar(&limit, "limit", defaultRows, "how many; CSV has all unless this is given")
	return cmd
}

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

func showActivity(o *operator, q url.Values, f *activityFlags) error {
	if f.asJSON || f.asCSV {
		return copyAnswer(o, activityPath, q, f.asJSON)
	}
	var answer struct {
		Data []activityRow
		Next *string `json:"next_cursor"`
	}
	if err := o.call(http.MethodGet, activityPath+"?"+q.Encode(), nil, &answer); err != nil {
		return err
	}
	if len(answer.Data) == 0 {
		_, err := fmt.Fprintln(o.out, "no calls")
		return err
	}
	t := grid{columns: []gridColumn{{name: "TIME (UTC)"}, {name: "KEY"}, {name: "MODEL"}, {name: "STATUS"}, {name: "IN", right: true}, {name: "OUT", right: true},
		{name: "USD", right: true}, {name: "FIRST", right: true}, {name: "TOOK", right: true}, {name: "REQUEST"}}}
	several := false
	for _, r := range answer.Data {
		several = several || r.Tenant != answer.Data[0].Tenant
	}
	for _, r := range answer.Data {
		t.rows = append(t.rows, r.cells(several))
	}
	t.print(o.out)
	if answer.Next != nil {
		fmt.Fprintf(o.out, "There are more: see --limit, --csv.\n")
	}
	return nil
}

// cells are those of a call. With several tenants the key's has its tenant.
func (r *activityRow) cells(several bool) []string {
	key, subject, status := r.Key, r.Model, strconv.Itoa(r.Status)
	if several {
		key = r.Tenant + "/" + r.Key
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
			cost = string(r.Usage)
		}
	}
	if r.FirstToken != nil {
		first = duration(*r.FirstToken)
	}
	id := r.RequestID
	if id == "" {
		id = r.ID
	}
	return []string{r.CreatedAt.UTC().Format("2006-01-02 15:04:05"), key, subject, status, in, out, cost, first, duration(r.Latency), id}
}

// copyAnswer prints the answer as it is, or indented JSON.
func copyAnswer(o *operator, path string, q url.Values, indent bool) error {
	resp, err := o.request(http.MethodGet, path+"?"+q.Encode(), nil)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if !indent {
		_, err := io.Copy(o.out, resp.Body)
		if err != nil {
			return fmt.Errorf("the export is not whole: %w", err)
		}
		return nil
	}
	raw, err := io.ReadAll(io.LimitReader(resp.Body, maxAdminAnswer))
	if err != nil {
		return fmt.Errorf("reading the answer: %w", err)
	}
	var out bytes.Buffer
	if err := json.Indent(&out, raw, "", "  "); err != nil {
		return fmt.Errorf("reading the answer: %w", err)
	}
	_, err = fmt.Fprintln(o.out, strings.TrimSpace(out.String()))
	return err
}
