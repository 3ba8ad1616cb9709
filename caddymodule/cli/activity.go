package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/spf13/cobra"

	"github.com/gatehouse-proxy/gatehouse/internal/report"
	"github.com/gatehouse-proxy/gatehouse/internal/terminal"
)

// defaultRows is how many calls a terminal shows.
const defaultRows = 30

// activityFlags are what `caddy gatehouse activity` and `series` have in common.
type activityFlags struct {
	tenant, key, model, provider, code, from, to string
	since                                        duration
	asJSON, asCSV                                bool
}

func (f *activityFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.tenant, "tenant", "", "only of this tenant (default: all)")
	flags.StringVar(&f.key, "key", "", "only of this key: its name; of a key made at run time the beginning of its name or hash is enough")
	flags.StringVar(&f.model, "model", "", "only calls of this model, as the callers named it")
	flags.StringVar(&f.provider, "provider", "", "only calls of this provider")
	flags.StringVar(&f.code, "code", "", "only calls that ended with this code, such as rate_limit_exceeded, \"*\" for all that were refused or failed, or \"upstream\" for those that failed at the provider")
	flags.StringVar(&f.from, "from", "", "first instant: RFC 3339, a date as YYYY-MM-DD, or unix seconds")
	flags.StringVar(&f.to, "to", "", "last instant, or last date")
	flags.Var(&f.since, "since", "instead of --from: how long ago, such as 36h or 14d")
	addJSON(cmd, &f.asJSON)
	flags.BoolVar(&f.asCSV, "csv", false, "print CSV")
	cmd.MarkFlagsMutuallyExclusive("json", "csv")
	cmd.MarkFlagsMutuallyExclusive("from", "since")
}

// duration is the value of a flag. It takes days too, such as 14d.
type duration time.Duration

// Set implements pflag.Value.
func (d *duration) Set(text string) error {
	value, err := caddy.ParseDuration(text)
	*d = duration(value)
	return err
}

func (d *duration) String() string { return time.Duration(*d).String() }

// Type implements pflag.Value.
func (*duration) Type() string { return "duration" }

// query returns the parameters of the admin API.
func (f *activityFlags) query(o *operator) (url.Values, error) {
	key, err := findKey(o, f.key)
	if err != nil {
		return nil, err
	}
	q := url.Values{}
	for name, value := range map[string]string{
		"tenant": f.tenant, "key": key, "model": f.model, "provider": f.provider, "code": f.code, "from": f.from, "to": f.to,
	} {
		setParam(q, name, value)
	}
	if f.since < 0 {
		return nil, fmt.Errorf("--since %s: want a time that is not negative", time.Duration(f.since))
	}
	if f.since > 0 {
		q.Set("from", strconv.FormatInt(time.Now().Add(-time.Duration(f.since)).Unix(), 10))
	}
	if f.asCSV {
		q.Set("format", "csv")
	}
	return q, nil
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
	var workstation, family, requestID, trace, endUser, app string
	var status, limit int
	var slower time.Duration
	cmd := &cobra.Command{
		Use: "activity", Short: "Calls and VNC sessions of the running Caddy, newest first", Args: cobra.NoArgs,
		Example: "  caddy gatehouse activity --code rate_limit_exceeded --since 1h\n  caddy gatehouse activity --slower 10s --key dev\n  caddy gatehouse activity --from 2026-03-01 --csv > march.csv",
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.writeTo(cmd)
			q, err := f.query(o)
			if err != nil {
				return err
			}
			if slower < 0 {
				return fmt.Errorf("--slower %s: want a time that is not negative", slower)
			}
			setParam(q, "workstation", workstation)
			setParam(q, "family", family)
			setParam(q, "request_id", requestID)
			setParam(q, "trace_id", trace)
			setParam(q, "end_user", endUser)
			setParam(q, "app", app)
			if status != 0 {
				q.Set("status", strconv.Itoa(status))
			}
			if slower > 0 {
				q.Set("min_latency_ms", strconv.FormatInt(slower.Milliseconds(), 10))
			}
			if !f.asCSV || cmd.Flags().Changed("limit") {
				q.Set("limit", strconv.Itoa(limit))
			}
			return showRows(o, "/gatehouse/activity", q, &f, terminal.Activity)
		},
	}
	o.addFlags(cmd)
	f.add(cmd)
	cmd.Flags().StringVar(&workstation, "workstation", "", "only sessions of this workstation")
	cmd.Flags().StringVar(&family, "family", "", "only of this API: openai, openrouter, anthropic, google, mcp (tools) or vnc (desktops)")
	cmd.Flags().StringVar(&requestID, "request-id", "", "only this call")
	cmd.Flags().StringVar(&trace, "trace", "", "only of this trace: 32 hexadecimal digits")
	cmd.Flags().StringVar(&endUser, "end-user", "", "only calls for this end user, as callers say")
	cmd.Flags().StringVar(&app, "app", "", "only calls by this app, as callers say")
	cmd.Flags().IntVar(&status, "status", 0, "only calls with this HTTP status")
	cmd.Flags().DurationVar(&slower, "slower", 0, "only calls that took at least this long, such as 10s")
	cmd.Flags().IntVar(&limit, "limit", defaultRows, "how many; CSV has all unless this is given")
	return cmd
}

// showRows prints the answer as it is, or as a table.
func showRows(o *operator, path string, q url.Values, f *activityFlags, table func(io.Writer, io.Reader) error) error {
	resp, err := o.request(http.MethodGet, path+"?"+q.Encode(), nil)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	answer := io.LimitReader(resp.Body, maxAdminAnswer)
	if missing := report.Missing(resp.Header, time.Now()); missing != "" {
		to := o.out
		if f.asCSV || f.asJSON {
			to = o.notes
		}
		fmt.Fprintln(to, missing)
	}
	switch {
	case f.asCSV:
		if _, err := io.Copy(o.out, resp.Body); err != nil {
			return fmt.Errorf("the export is not whole: %w", err)
		}
		return nil
	case !f.asJSON:
		return table(o.out, answer)
	}
	raw, err := io.ReadAll(answer)
	if err != nil {
		return fmt.Errorf("reading the answer: %w", err)
	}
	var out bytes.Buffer
	if err := json.Indent(&out, raw, "", "  "); err != nil {
		return fmt.Errorf("reading the answer: %w", err)
	}
	_, err = fmt.Fprintln(o.out, out.String())
	return err
}
